"""What is decoded of a record: the few members that any format asks for. All else is skipped, never built.

Every type here is total: each member has a default, and a member of an unexpected type is left at it (see
:mod:`pipeline.decoding`), because a log holds what its writer put there and not what a specification says.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from pipeline.decoding import Decoder

NOTHING = Raw()


class Item(Struct, gc=False):
    """One entry of a Responses ``output`` list."""

    type: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Raw = NOTHING
    input: Any = None
    status: Any = None
    tools: Raw = NOTHING


class Function(Struct, gc=False):
    """The function half of a Chat Completions tool call, or a legacy ``function_call``."""

    name: Any = None
    arguments: Raw = NOTHING


class Custom(Struct, gc=False):
    """The custom half of a Chat Completions tool call: free text."""

    name: Any = None
    input: Any = None


class ToolCall(Struct, gc=False):
    """One entry of a message's ``tool_calls``."""

    id: Any = None
    type: Any = None
    function: Function | None = None
    custom: Custom | None = None


class Message(Struct, gc=False):
    """The assistant message of a choice."""

    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None


class Choice(Struct, gc=False):
    """One choice of a Chat Completions answer. ``delta`` marks a chunk of a stream."""

    index: Any = None
    finish_reason: Any = None
    message: Message | None = None
    delta: Raw = NOTHING


class Usage(Struct, gc=False):
    """Token counts, under the names of both OpenAI APIs."""

    input_tokens: Any = None
    output_tokens: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None


class Body(Struct, gc=False):
    """A request, an answer, or a record that holds them: one type, since the names of the three don't collide."""

    id: Any = None
    object: Any = None
    type: Any = None
    created_at: Any = None
    created: Any = None
    status: Any = None
    incomplete_details: Any = None
    model: Any = None
    output: list[Item] | dict[str, Raw] | str | float | bool | None = None
    choices: list[Choice] | None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Any = None
    function_call: Any = None
    parallel_tool_calls: Any = None
    max_output_tokens: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    usage: Usage | None = None
    error: Any = None
    data: Raw = NOTHING
    has_more: Any = None
    messages: Raw = NOTHING
    custom_id: Any = None
    body: Raw = NOTHING
    request: Raw = NOTHING
    response: Raw = NOTHING
    req: Raw = NOTHING
    res: Raw = NOTHING
    input: Raw = NOTHING
    prompt: Raw = NOTHING
    completion: Raw = NOTHING
    kwargs: Raw = NOTHING
    params: Raw = NOTHING
    result: Raw = NOTHING
    request_body: Raw = NOTHING
    response_body: Raw = NOTHING
    ts: Any = None
    time: Any = None
    timestamp: Any = None


def text_of(member: Raw | list[Item] | dict[str, Raw] | str | float | bool | None) -> bytes:
    """The JSON text of a member that may hold a whole body; empty where it is missing."""
    if member is NOTHING or member is None:
        return b""
    return bytes(member) if isinstance(member, Raw) else msgspec.json.encode(member)


class Exchange(Struct):
    """One answer, with the request beside it where the log has it, and the time that the record gives for both.

    ``document`` is the answer's text where it is not the whole record.
    """

    answer: Body
    request: Body | None = None
    logged_at: Any = None
    streamed: bool = False
    document: bytes = b""


decode_body = Decoder(Body)
decode_string = Decoder(str)
decode_array = Decoder(list[Raw])
decode_anything = Decoder(Raw)
