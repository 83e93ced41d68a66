"""The other shapes of log: lean Responses objects, chat pairs with the tools in the request, Batch output lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.bench.logs import (
    FAULT_SHARE,
    FIRST_SECOND,
    SEED,
    MadeCall,
    ResponsesLog,
    Skeleton,
    Texts,
    identity,
    make_calls,
    spelling,
)
from tests.bench.toolsets import Tool, make_toolsets
from tests.bench.vocabulary import MODELS, WORDS

CHAT_TOOLS_MIN, CHAT_TOOLS_MAX = 2, 8
_PLACES = ("Oslo", "Rome", "Lyon", "Graz", "Cork", "Gent", "Bern", "Riga")


class LeanLog:
    """Writes small Responses objects: one small tool, one call a record, about 0.6 kB."""

    def __init__(self, seed: int, spaced: bool) -> None:
        del seed  # nothing in the fixed parts is drawn by lot
        parameters = {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
            "additionalProperties": False,
        }
        call = {"type": "function_call", "id": "@item@", "call_id": "@call@", "name": "@name@"}
        self._skeleton = Skeleton(
            {
                "id": "@id@",
                "object": "response",
                "created_at": "@created@",
                "status": "completed",
                "model": "@model@",
                "output": [{**call, "arguments": "@arguments@", "status": "completed"}],
                "tools": [{"type": "function", "name": "forecast", "parameters": parameters, "strict": True}],
                "usage": {"input_tokens": "@input_tokens@", "output_tokens": "@output_tokens@"},
            },
            spelling(spaced),
        )

    def record(self, rng: Random, index: int) -> str:
        """The record of this number, as one line without its line feed."""
        place, name, days = f"{rng.choice(_PLACES)} {rng.randrange(10**6)}", "forecast", str(rng.randrange(15))
        text = f'{{"city":"{place}","days":{days}}}'
        if rng.random() < FAULT_SHARE:
            fault = rng.randrange(4)
            name = "weather" if fault == 0 else name
            text = (text, f'{{"city":"{place}"}}', f'{{"city":"{place}","days":"{days}"}}', text[:-1])[fault]
        return self._skeleton.fill(
            id=f'"resp_{identity(rng)}"',
            created=str(FIRST_SECOND + index // 50),
            model=f'"{rng.choice(MODELS)}"',
            item=f'"fc_{identity(rng, 16)}"',
            call=f'"call_{identity(rng, 16)}"',
            name=f'"{name}"',
            arguments=json.dumps(text, ensure_ascii=False),
            input_tokens=str(rng.randrange(60, 400)),
            output_tokens=str(rng.randrange(12, 40)),
        )


class ChatPairsLog:
    """Writes request and response pairs of Chat Completions, about 8 kB, the tools in the request."""

    def __init__(self, seed: int, spaced: bool) -> None:
        self._dumps = spelling(spaced)
        self._comma = ", " if spaced else ","
        self._toolsets = make_toolsets(seed, CHAT_TOOLS_MIN, CHAT_TOOLS_MAX)
        self._texts = Texts(seed)
        self._skeletons = [Skeleton(_pair_value(tools), self._dumps) for tools in self._toolsets]
        function = {"name": "@name@", "arguments": "@arguments@"}
        self._call = Skeleton({"id": "@id@", "type": "function", "function": function}, self._dumps)

    def record(self, rng: Random, index: int) -> str:
        """The record of this number, as one line without its line feed."""
        chosen = rng.randrange(len(self._toolsets))
        calls = make_calls(rng, self._toolsets[chosen])
        cut = bool(calls) and calls[-1].cut
        moment = datetime.fromtimestamp(FIRST_SECOND + index, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        tokens = rng.randrange(40, 900)
        return self._skeletons[chosen].fill(
            ts=f'"{moment}"',
            instructions=rng.choice(self._texts.instructions),
            question=self._texts.message(rng),
            earlier=self._texts.message(rng),
            result=self._texts.message(rng),
            replayed=json.dumps(f'{{"query":"{rng.choice(WORDS)} {rng.randrange(10**6)}"}}'),
            limit=str(tokens) if cut else "4096",
            model=f'"{rng.choice(MODELS)}"',
            id=f'"chatcmpl-{identity(rng)}"',
            created=str(FIRST_SECOND + index),
            content="null" if calls else self._texts.message(rng),
            calls=self._comma.join(self._items(rng, calls)).join("[]") if calls else "null",
            finish='"length"' if cut else '"tool_calls"' if calls else '"stop"',
            input_tokens=str(rng.randrange(800, 9000)),
            output_tokens=str(tokens),
        )

    def _items(self, rng: Random, calls: list[MadeCall]) -> Iterator[str]:
        for call in calls:
            yield self._call.fill(
                id=f'"call_{identity(rng, 24)}"',
                name=f'"{call.name}"',
                arguments=json.dumps(call.arguments, ensure_ascii=False),
            )


def _pair_value(tools: list[Tool]) -> dict[str, Any]:
    """A pair with holes. The request replays an earlier call, which is not one of this turn."""
    replayed = {"id": "call_0", "type": "function", "function": {"name": tools[0].name, "arguments": "@replayed@"}}
    messages = [
        {"role": "system", "content": "@instructions@"},
        {"role": "user", "content": "@earlier@"},
        {"role": "assistant", "content": None, "tool_calls": [replayed]},
        {"role": "tool", "tool_call_id": "call_0", "content": "@result@"},
        {"role": "user", "content": "@question@"},
    ]
    request = {
        "model": "@model@",
        "messages": messages,
        "tools": [tool.chat_form() for tool in tools],
        "max_completion_tokens": "@limit@",
    }
    answer = {"role": "assistant", "content": "@content@", "tool_calls": "@calls@", "refusal": None}
    response = {
        "id": "@id@",
        "object": "chat.completion",
        "created": "@created@",
        "model": "@model@",
        "choices": [{"index": 0, "message": answer, "logprobs": None, "finish_reason": "@finish@"}],
        "usage": {"prompt_tokens": "@input_tokens@", "completion_tokens": "@output_tokens@"},
        "service_tier": "default",
    }
    return {"ts": "@ts@", "request": request, "response": response}


class BatchLog:
    """Writes Batch output lines whose bodies are Responses objects; every fiftieth one expired."""

    def __init__(self, seed: int, spaced: bool) -> None:
        dumps = spelling(spaced)
        response = {"status_code": 200, "request_id": "@request@", "body": "@body@"}
        self._line = Skeleton({"id": "@id@", "custom_id": "@custom@", "response": response, "error": None}, dumps)
        error = {"code": "batch_expired", "message": "The request was not run within its window."}
        self._expired = Skeleton({"id": "@id@", "custom_id": "@custom@", "response": None, "error": error}, dumps)
        self._bodies = ResponsesLog(seed, spaced)

    def record(self, rng: Random, index: int) -> str:
        """The record of this number, as one line without its line feed."""
        place = {"id": f'"batch_req_{identity(rng)}"', "custom": f'"job-{index}"'}
        if index % 50 == 49:
            return self._expired.fill(**place)
        return self._line.fill(**place, request=f'"{identity(rng)}"', body=self._bodies.record(rng, index))


def make_log(shape: str, seed: int = SEED, spaced: bool = False) -> ResponsesLog | LeanLog | ChatPairsLog | BatchLog:
    """The log of this shape: ``rich``, ``fresh-tools``, ``lean``, ``chat-pairs`` or ``batch``."""
    if shape == "lean":
        return LeanLog(seed, spaced)
    if shape == "chat-pairs":
        return ChatPairsLog(seed, spaced)
    if shape == "batch":
        return BatchLog(seed, spaced)
    return ResponsesLog(seed, spaced, fresh_tools=shape == "fresh-tools")


def records(shape: str, seed: int = SEED, spaced: bool = False) -> Iterator[str]:
    """Endless records of a shape; the same seed gives the same records."""
    log = make_log(shape, seed, spaced)
    rng = Random(f"{shape}-{seed}")
    index = 0
    while True:
        yield log.record(rng, index)
        index += 1
