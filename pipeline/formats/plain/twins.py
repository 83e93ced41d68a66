"""Strict twins of the types in :mod:`pipeline.formats.shapes`: records exactly as the API writes them.

The same members under the same names, but only of the types that the API writes. What does not fit, and every member
that would make the record something else (a batch line, a page, another pair), fails to decode, and the record is read
the forgiving way. Numbers are bounded to what their columns hold, so that nobody has to look at each. Members stand in
the order in which the API writes them, in which they are found soonest.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from msgspec import Meta, Raw, Struct

from pipeline.formats.shapes import NOTHING

#: Seconds since 1970, at least one and before numbers mean milliseconds.
Seconds = Annotated[int, Meta(gt=0, lt=100_000_000_000)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Index = Annotated[int, Meta(ge=0, lt=2**31)]


class PlainItem(Struct, gc=False, kw_only=True):
    """An ``Item`` as the API writes it, and nothing else."""

    type: str
    status: str | None = None
    arguments: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    input: str | None = None
    tools: Raw = NOTHING


class PlainUsage(Struct, gc=False):
    """A ``Usage`` as the Responses API writes it."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    prompt_tokens: None = None
    completion_tokens: None = None


class PlainResponse(Struct, gc=False, kw_only=True):
    """A ``Body`` that is a Responses object, with no other member that a reader looks at."""

    id: str | None = None
    created_at: Seconds | None = None
    status: str | None = None
    incomplete_details: Any = None
    max_output_tokens: Count | None = None
    model: str | None = None
    output: list[PlainItem]
    parallel_tool_calls: bool | None = None
    tool_choice: Any = None
    tools: Raw = NOTHING
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
    """A ``Function`` with its arguments as text."""

    name: str | None = None
    arguments: str | None = None


class PlainToolCall(Struct, gc=False, kw_only=True):
    """A ``ToolCall`` of a function."""

    id: str | None = None
    type: str | None = None
    function: PlainFunction
    custom: None = None


class PlainMessage(Struct, gc=False):
    """A ``Message`` as the API writes it."""

    tool_calls: list[PlainToolCall] | None = None
    function_call: None = None


class PlainChoice(Struct, gc=False, kw_only=True):
    """A ``Choice`` as the API writes it, with a message."""

    index: Index | None = None
    message: PlainMessage
    finish_reason: str | None = None
    delta: Raw = NOTHING


class PlainChatUsage(Struct, gc=False):
    """A ``Usage`` as the Chat Completions API writes it."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    input_tokens: None = None
    output_tokens: None = None


class PlainCompletion(Struct, gc=False, kw_only=True):
    """A ``Body`` that is an answer of Chat Completions and nothing else."""

    id: str | None = None
    created: Seconds | None = None
    model: str | None = None
    choices: Annotated[list[PlainChoice], Meta(min_length=1)]
    usage: PlainChatUsage | None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Any = None
    function_call: Any = None
    parallel_tool_calls: bool | None = None
    created_at: None = None
    status: None = None
    max_output_tokens: None = None
    max_tokens: None = None
    max_completion_tokens: None = None
    output: None = None
    body: None = None
    custom_id: None = None
    data: None = None
    request: None = None
    req: None = None
    input: None = None
    ts: None = None
    time: None = None
    timestamp: None = None


class PlainRequest(Struct, gc=False):
    """A ``Body`` that is a request and nothing else."""

    model: str | None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Any = None
    function_call: Any = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: Count | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    output: None = None
    choices: None = None
    body: None = None


Answer = TypeVar("Answer", PlainResponse, PlainCompletion)


class PlainPair(Struct, Generic[Answer], gc=False):
    """A record with a request and an answer under their usual names, both as objects."""

    request: PlainRequest
    response: Answer
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


class PlainBatchResponse(Struct, Generic[Answer], gc=False):
    """The HTTP response in a line of a Batch output file."""

    body: Answer
    output: None = None
    choices: None = None


class PlainBatchLine(Struct, Generic[Answer], gc=False):
    """A line of a Batch output file that has an answer."""

    custom_id: str
    response: PlainBatchResponse[Answer]
    data: None = None
