"""What a log was read as, written down as plain values: one turn, unrecognised record or reject after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.decoding import UndecodableError
from pipeline.formats import Page, Unread, read_record
from pipeline.interning import Toolsets
from pipeline.records import FORM_TEXT, Call, LineBlock, ToolDefinition, Turn
from pipeline.sources import FileSlice, frame_lines, read_blocks


def read_log(log: Path) -> list[dict[str, Any]]:
    """Every record of a log in its order. Members at their usual value are left out; ``line`` is that of the record."""
    toolsets = Toolsets()
    return [
        {"line": line, **outcome}
        for found in read_blocks(FileSlice(str(log)))
        for block in (frame_lines(found) if isinstance(found, LineBlock) else [found])
        for raw, line in zip(block.raws, block.lines, strict=True)
        for outcome in read_one(raw, toolsets)
    ]


def read_one(raw: bytes, toolsets: Toolsets) -> list[dict[str, Any]]:
    """One record, spliced as in a run."""
    try:
        outcome = read_record(toolsets.splice(raw), toolsets)
    except UndecodableError as error:
        return [{"reject": error.reason}]
    outcomes = outcome.outcomes if isinstance(outcome, Page) else [outcome]
    found: list[dict[str, Any]] = [{"has_more": True}] if isinstance(outcome, Page) and outcome.has_more else []
    for one in outcomes:
        if isinstance(one, Unread):
            found.append({"unrecognised": one.reason, "keys": list(one.keys)})
        else:
            found += [_turn(turn, toolsets) for turn in one]
    return found


def _turn(turn: Turn, toolsets: Toolsets) -> dict[str, Any]:
    tools = None if turn.toolset is None else [_tool(tool) for tool in toolsets[turn.toolset].definitions]
    picture = {
        "format": turn.format,
        "response_id": turn.response_id,
        "choice": turn.choice_index or None,
        "model": turn.model,
        "created_at_us": turn.created_at_us,
        "response_status": turn.response_status,
        "finish_reason": turn.finish_reason,
        "truncation": turn.truncation,
        "token_limit_reached": turn.token_limit_reached or None,
        "parallel_tool_calls": turn.parallel_tool_calls,
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
        "allowed_tools": None if turn.allowed_tools is None else sorted(turn.allowed_tools),
    }
    return {
        **{name: value for name, value in picture.items() if value is not None},
        "tools": tools,
        "calls": [_call(call) for call in turn.calls],
    }


def _tool(tool: ToolDefinition) -> str:
    name = tool.name if tool.namespace is None else f"{tool.namespace}/{tool.name}"
    return name + (" strict" if tool.strict else "") + (" freeform" if tool.freeform else "")


def _call(call: Call) -> dict[str, Any]:
    picture = {
        "call_id": call.call_id,
        "namespace": call.tool_namespace,
        "name": call.tool_name,
        "arguments": call.arguments,
        "form": None if call.arguments_form == FORM_TEXT else call.arguments_form,
        "freeform": call.freeform or None,
        "item_incomplete": call.item_incomplete or None,
    }
    return {name: value for name, value in picture.items() if value is not None}
