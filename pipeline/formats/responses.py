"""The OpenAI Responses object: an answer with a list of ``output`` items, its tools echoed beside them."""

from __future__ import annotations

from msgspec import Raw

from pipeline.formats.shapes import NOTHING, Exchange, Item
from pipeline.formats.turns import arguments_of, declared_toolset, text_or_none, turn_of
from pipeline.interning import Toolsets
from pipeline.records import FORM_ABSENT, FORM_TEXT, Call, Turn

NAME = "openai-responses"

FUNCTION_CALL = "function_call"
CUSTOM_CALL = "custom_tool_call"
#: Items that bring definitions with them; what they list counts as declared.
LOADING = frozenset({"tool_search_output", "additional_tools"})
#: An answer that is still being made. Its final form is another record.
UNFINISHED = frozenset({"in_progress", "queued"})
INCOMPLETE = "incomplete"


def read(exchange: Exchange, toolsets: Toolsets) -> list[Turn] | None:
    """The one turn of a Responses answer; None where the answer has another shape.

    Calls that the provider ran itself (remote MCP, web search, code interpreter) are no calls of the dispatcher and are
    left out. An unfinished answer is a turn without calls. Some servers leave an item's type out; a name with arguments
    is still a call.

    Raises:
        UndecodableError: the output cannot be decoded.
    """
    answer = exchange.answer
    items = answer.output
    if not isinstance(items, list):
        return None
    status = text_or_none(answer.status)
    calls: list[Call] = []
    loaded: list[Raw] = []
    strangers = 0
    for item in items:
        kind = item.type
        if kind == FUNCTION_CALL or (kind is None and item.name is not None and item.arguments is not NOTHING):
            arguments, form = arguments_of(item.arguments, toolsets)
            if item.name or arguments:
                calls.append(_call(item, arguments, form))
        elif kind == CUSTOM_CALL:
            text = text_or_none(item.input)
            calls.append(_call(item, text, FORM_ABSENT if text is None else FORM_TEXT))
        elif not isinstance(kind, str):
            strangers += 1
        elif kind in LOADING and item.tools is not NOTHING:
            loaded.append(item.tools)
    if items and strangers == len(items):
        return None
    if status in UNFINISHED:
        calls = []
    return [
        turn_of(
            exchange,
            toolsets,
            NAME,
            declared_toolset(exchange, toolsets, loaded),
            calls,
            response_status=status,
            truncation=truncation_of(answer.incomplete_details) if status == INCOMPLETE else None,
        )
    ]


def _call(item: Item, arguments: str | None, form: str) -> Call:
    return Call(
        text_or_none(item.call_id),
        text_or_none(item.name),
        text_or_none(item.namespace),
        arguments,
        form,
        item.type == CUSTOM_CALL,
        item.status == INCOMPLETE,
    )


def truncation_of(details: object) -> str:
    """Evidence that the turn stopped at a ceiling: the recorded reason, or the bare status where none is given."""
    reason = details.get("reason") if isinstance(details, dict) else None
    return reason if isinstance(reason, str) and reason else INCOMPLETE
