"""Endless streams of log records with a fixed seed: parts serialised once, and ids, arguments and texts new each time.

Nothing here is judged or parsed. A record is put together from text around holes, so that a gigabyte takes a minute.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.bench.toolsets import (
    UNPARSEABLE,
    VIOLATING,
    Tool,
    arguments,
    make_toolsets,
    unparseable_arguments,
    violating_arguments,
)
from tests.bench.vocabulary import MODELS, WORDS, prose

SEED = 20260501
FAULT_SHARE = 0.05
FIRST_SECOND = 1_777_593_600  # 1 May 2026, UTC
_CALLS_IN_TURN = (0,) * 5 + (1,) * 70 + (2,) * 15 + (3,) * 10  # 1.3 on the average
_HOLE = re.compile(r'"@(\w+)@"')
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

Dumps = Callable[[Any], str]


def spelling(spaced: bool) -> Dumps:
    """JSON as the APIs' exports spell it: without blanks, or with one after each comma and colon."""
    separators = (", ", ": ") if spaced else (",", ":")
    return json.JSONEncoder(separators=separators, ensure_ascii=False).encode


class Skeleton:
    """A value serialised once, with holes: strings of the form ``@name@`` in it stand for JSON text to be filled in."""

    def __init__(self, value: Any, dumps: Dumps) -> None:
        pieces = _HOLE.split(dumps(value))
        self._fixed, self._names = pieces[::2], pieces[1::2]

    def fill(self, **values: str) -> str:
        """The JSON text with every hole filled."""
        parts = [self._fixed[0]]
        for name, fixed in zip(self._names, self._fixed[1:], strict=True):
            parts += (values[name], fixed)
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One call to be written: the name that is called, its arguments text, and whether the turn ends inside it."""

    name: str
    arguments: str
    cut: bool = False


def make_call(rng: Random, tools: list[Tool], is_last: bool, fault_share: float = FAULT_SHARE) -> MadeCall:
    """A call of one of the tools; the share of faults is spread over all kinds. Only a last call can be cut."""
    tool = rng.choice(tools)
    if rng.random() >= fault_share:
        return MadeCall(tool.name, arguments(rng, tool))
    family = rng.choice(("violating", "violating", "unparseable", "unknown", "cut"))
    if family == "cut" and is_last:
        text = arguments(rng, tool)
        return MadeCall(tool.name, text[: rng.randrange(1, len(text))], cut=True)
    if family == "unknown":
        return MadeCall(rng.choice((tool.name + "s", "functions." + tool.name, "python")), arguments(rng, tool))
    if family == "unparseable":
        return MadeCall(tool.name, unparseable_arguments(rng, tool, rng.choice(UNPARSEABLE)))
    return MadeCall(tool.name, violating_arguments(rng, tool, rng.choice(VIOLATING)))


def make_calls(rng: Random, tools: list[Tool]) -> list[MadeCall]:
    """The calls of one turn: none to three, 1.3 on the average."""
    count = rng.choice(_CALLS_IN_TURN)
    return [make_call(rng, tools, index == count - 1) for index in range(count)]


def identity(rng: Random, digits: int = 32) -> str:
    """So many random hexadecimal digits (at most 64)."""
    return f"{rng.getrandbits(256):064x}"[:digits]


class Texts:
    """Instructions, user texts and reasoning that repeat now and then, as real ones do; a pool of each, made once."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"texts-{seed}")
        self.instructions = [json.dumps(prose(rng, 900)) for _ in range(12)]
        self.messages = [prose(rng, rng.randrange(80, 700)) for _ in range(500)]
        self._blob = "".join(rng.choices(_BASE64, k=200_000))

    def message(self, rng: Random) -> str:
        """JSON text of a message that is new each time."""
        return f'"{rng.choice(self.messages)} {rng.choice(WORDS)} {rng.randrange(10**9)}"'

    def blob(self, rng: Random) -> str:
        """JSON text of what encrypted reasoning looks like: some 700 to 1,500 opaque characters."""
        start = rng.randrange(190_000)
        return f'"gAAAAAB{self._blob[start : start + rng.randrange(700, 1500)]}{rng.getrandbits(64):x}"'


class ResponsesLog:
    """Writes Responses objects over the given toolsets. With ``fresh_tools`` no two records have an equal toolset."""

    def __init__(self, seed: int, spaced: bool, fresh_tools: bool = False) -> None:
        dumps = spelling(spaced)
        self._dumps = dumps
        self._comma = ", " if spaced else ","
        self._toolsets = make_toolsets(seed)
        self._texts = Texts(seed)
        self._skeletons = [Skeleton(_response_value(tools, fresh_tools), dumps) for tools in self._toolsets]
        self._reasoning = Skeleton(
            {"id": "@id@", "type": "reasoning", "encrypted_content": "@blob@", "summary": []}, dumps
        )
        text = {"type": "output_text", "annotations": [], "logprobs": [], "text": "@text@"}
        message = {"id": "@id@", "type": "message", "status": "completed", "content": [text], "role": "assistant"}
        self._message = Skeleton(message, dumps)
        call = {"status": "@status@", "arguments": "@arguments@", "call_id": "@call@", "name": "@name@"}
        self._call = Skeleton({"id": "@id@", "type": "function_call", **call}, dumps)

    def record(self, rng: Random, index: int) -> str:
        """The record of this number, as one line without its line feed."""
        chosen = rng.randrange(len(self._toolsets))
        calls = make_calls(rng, self._toolsets[chosen])
        cut = bool(calls) and calls[-1].cut
        tokens = rng.randrange(40, 900)
        details = self._dumps({"reason": "max_output_tokens"}) if cut else "null"
        return self._skeletons[chosen].fill(
            id=f'"resp_{identity(rng, 48)}"',
            created=str(FIRST_SECOND + index),
            completed=str(FIRST_SECOND + index + 3),
            status='"incomplete"' if cut else '"completed"',
            details=details,
            limit=str(tokens) if cut else "null",
            instructions=rng.choice(self._texts.instructions),
            model=f'"{rng.choice(MODELS)}"',
            output=self._comma.join(self._items(rng, calls)).join("[]"),
            input_tokens=str(rng.randrange(800, 9000)),
            output_tokens=str(tokens),
            fresh=f'"{identity(rng, 16)}"',
        )

    def _items(self, rng: Random, calls: list[MadeCall]) -> Iterator[str]:
        yield self._reasoning.fill(id=f'"rs_{identity(rng, 48)}"', blob=self._texts.blob(rng))
        if not calls or rng.random() < 0.4:
            yield self._message.fill(id=f'"msg_{identity(rng, 48)}"', text=self._texts.message(rng))
        for call in calls:
            yield self._call.fill(
                id=f'"fc_{identity(rng, 48)}"',
                status='"incomplete"' if call.cut else '"completed"',
                arguments=json.dumps(call.arguments, ensure_ascii=False),
                call=f'"call_{identity(rng, 24)}"',
                name=f'"{call.name}"',
            )


def _response_value(tools: list[Tool], fresh_tools: bool) -> dict[str, Any]:
    """A Responses object with holes. A fresh toolset differs from all others in the schema of its first tool."""
    definitions = [tool.responses_form() for tool in tools]
    if fresh_tools:  # as when a session's own choices are written into an enum
        schema = tools[0].schema
        properties = {**schema["properties"], "session": {"type": "string", "enum": ["@fresh@"]}}
        definitions[0]["parameters"] = {**schema, "properties": properties}
    usage = {
        "input_tokens": "@input_tokens@",
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": "@output_tokens@",
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "@id@",
        "object": "response",
        "created_at": "@created@",
        "status": "@status@",
        "background": False,
        "completed_at": "@completed@",
        "error": None,
        "incomplete_details": "@details@",
        "instructions": "@instructions@",
        "max_output_tokens": "@limit@",
        "max_tool_calls": None,
        "model": "@model@",
        "output": "@output@",
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": "medium", "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": definitions,
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    }
