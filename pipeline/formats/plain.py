"""Records as the API writes them, decoded many at a time: the quick way for logs that are all of one kind.

Every type here is the strict twin of one in :mod:`pipeline.formats.shapes`: the same members under the same names, so
that the same reader reads both, but of exactly the types that the API writes. What does not fit, and every member that
would make the record something else (a batch line, a page, another pair), fails to decode, and the record is read the
forgiving way. So a record reads the same whichever way it goes; only the cost differs, since one call decodes many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Raw, Struct

from pipeline.formats.shapes import NOTHING, Body, Exchange


class PlainItem(Struct, gc=False):
    """An :class:`Item` as the API writes it, and nothing else."""

    type: str
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | None = None
    input: str | None = None
    status: str | None = None
    tools: Raw = NOTHING


class PlainUsage(Struct, gc=False):
    """A :class:`Usage` as the Responses API writes it."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt_tokens: None = None
    completion_tokens: None = None


class PlainResponse(Struct, gc=False):
    """A :class:`Body` that is a Responses object as the API writes it, with no other member that a reader looks at.

    Strict where ``Body`` is forgiving: what does not fit exactly, and every member that would make the record something
    else (a pair, a batch line, a page), fails to decode, and the record is read as a ``Body``. So it reads the same.
    """

    output: list[PlainItem]
    id: str | None = None
    model: str | None = None
    created_at: int | None = None
    status: str | None = None
    incomplete_details: Any = None
    tools: Raw = NOTHING
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    usage: PlainUsage | None = None
    functions: Raw = NOTHING
    function_call: None = None
    created: None = None
    max_tokens: None = None
    max_completion_tokens: None = None
    choices: None = None
    custom_id: None = None
    data: None = None
    request: None = None
    req: None = None
    input: None = None
    body: None = None
    ts: None = None
    time: None = None
    timestamp: None = None


class PlainFunction(Struct, gc=False):
    """A :class:`~pipeline.formats.shapes.Function` with its arguments as text."""

    name: str | None = None
    arguments: str | None = None


class PlainToolCall(Struct, gc=False):
    """A ``ToolCall`` of a function."""

    id: str | None = None
    type: str | None = None
    function: PlainFunction | None = None
    custom: None = None


class PlainMessage(Struct, gc=False):
    """A ``Message`` as the API writes it."""

    tool_calls: list[PlainToolCall] | None = None
    function_call: PlainFunction | None = None


class PlainChoice(Struct, gc=False):
    """A ``Choice`` as the API writes it."""

    index: int | None = None
    finish_reason: str | None = None
    message: PlainMessage | None = None
    delta: Raw = NOTHING


class PlainChatUsage(Struct, gc=False):
    """A ``Usage`` as the Chat Completions API writes it."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: None = None
    output_tokens: None = None


class PlainCompletion(Struct, gc=False):
    """A ``Body`` that is an answer of Chat Completions and nothing else."""

    choices: list[PlainChoice]
    id: str | None = None
    model: str | None = None
    created: int | None = None
    created_at: None = None
    status: None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Any = None
    function_call: Any = None
    parallel_tool_calls: bool | None = None
    usage: PlainChatUsage | None = None
    max_output_tokens: None = None
    max_tokens: None = None
    max_completion_tokens: None = None
    output: None = None
    body: None = None


class PlainRequest(Struct, gc=False):
    """A ``Body`` that is a request and nothing else."""

    model: str | None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Any = None
    function_call: Any = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    output: None = None
    choices: None = None
    body: None = None


class PlainPair(Struct, gc=False):
    """A record with a request and an answer of Chat Completions under their usual names, both as objects."""

    request: PlainRequest
    response: PlainCompletion
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    output: None = None
    choices: None = None
    custom_id: None = None
    data: None = None
    ts: Any = None
    timestamp: Any = None
    time: Any = None
    created_at: Any = None


class Kind(NamedTuple):
    """One kind of plain record: what decodes many of them, the prefix of their format, and the exchange that one is."""

    decode_lines: Callable[[bytes], list[Any]]
    prefix: str
    exchange: Callable[[Any], Exchange]


def _response(record: PlainResponse) -> Exchange:
    return Exchange(cast("Body", record))


def _pair(record: PlainPair) -> Exchange:
    request = record.request
    if request.tools is NOTHING and request.functions is NOTHING:
        request.tools, request.functions = record.tools, record.functions
    logged_at = next((t for t in (record.ts, record.timestamp, record.time, record.created_at) if t is not None), None)
    return Exchange(cast("Body", record.response), cast("Body", request), logged_at)


KINDS: tuple[Kind, ...] = (
    Kind(msgspec.json.Decoder(PlainResponse).decode_lines, "", _response),
    Kind(msgspec.json.Decoder(PlainPair).decode_lines, "pair/", _pair),
)


def exchanges_of(kind: Kind, documents: Sequence[bytes]) -> list[Exchange] | None:
    """The exchanges of documents (each on one line) that are of this kind one and all; None where one may not be."""
    try:
        records = kind.decode_lines(b"\n".join(documents))
    except (msgspec.DecodeError, RecursionError):
        return None
    # A document that spreads over lines would come out as several.
    return [kind.exchange(record) for record in records] if len(records) == len(documents) else None
