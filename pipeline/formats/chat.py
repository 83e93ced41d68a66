"""The OpenAI Chat Completions answer: a list of ``choices``, each a turn of its own.

Tools stand on the request, or on the record itself where stored completions were exported. Servers of many makers speak
this shape, so the presence of tool calls decides, not the ``finish_reason``.
"""

from __future__ import annotations

from pipeline.formats.shapes import NOTHING, Choice, Exchange, Function, ToolCall
from pipeline.formats.turns import arguments_of, count_or_none, declared_toolset, text_or_none, turn_of
from pipeline.interning import Toolsets
from pipeline.records import FORM_ABSENT, FORM_TEXT, Call, Turn

NAME = "openai-chat"

#: Endings that mean a ceiling or a filter, in lower case: OpenAI's, and those of servers that speak the same shape.
CEILINGS = frozenset({"length", "content_filter", "max_tokens", "model_length", "max_output_tokens"})
_CUSTOM = "custom"


def read(exchange: Exchange, toolsets: Toolsets) -> list[Turn] | None:
    """One turn a choice, in their order; None where the answer has another shape or is a chunk of a stream.

    Raises:
        UndecodableError: arguments cannot be decoded.
    """
    answer = exchange.answer
    choices = answer.choices
    if choices is None or any(choice.delta is not NOTHING and choice.message is None for choice in choices):
        return None
    toolset = declared_toolset(exchange, toolsets)
    turns = []
    for position, choice in enumerate(choices):
        finish_reason = text_or_none(choice.finish_reason)
        index = count_or_none(choice.index)
        turns.append(
            turn_of(
                exchange,
                toolsets,
                NAME,
                toolset,
                _calls(choice, toolsets),
                response_status=text_or_none(answer.status),
                finish_reason=finish_reason,
                truncation=finish_reason if finish_reason is not None and finish_reason.lower() in CEILINGS else None,
                choice_index=position if index is None or not 0 <= index < 2**31 else index,
                answers=len(choices),
            )
        )
    return turns


def _calls(choice: Choice, toolsets: Toolsets) -> list[Call]:
    message = choice.message
    if message is None:
        return []
    calls = [call for entry in message.tool_calls or () if (call := _tool_call(entry, toolsets)) is not None]
    if not calls and message.function_call is not None:
        legacy = _function_call(None, message.function_call, toolsets)
        if legacy is not None:
            calls.append(legacy)
    return calls


def _tool_call(entry: ToolCall, toolsets: Toolsets) -> Call | None:
    """A call of a custom tool or of a function. Gateways put an empty stub of the one beside the other."""
    call_id = text_or_none(entry.id)
    custom = entry.custom
    if custom is not None and (custom.name or (entry.type == _CUSTOM and entry.function is None)):
        text = text_or_none(custom.input)
        return Call(
            call_id, text_or_none(custom.name), None, text, FORM_ABSENT if text is None else FORM_TEXT, freeform=True
        )
    return None if entry.function is None else _function_call(call_id, entry.function, toolsets)


def _function_call(call_id: str | None, function: Function, toolsets: Toolsets) -> Call | None:
    """None for the stub that stands for "no call": neither a name nor arguments."""
    arguments, form = arguments_of(function.arguments, toolsets)
    if not function.name and not arguments:
        return None
    return Call(call_id, text_or_none(function.name), None, arguments, form)
