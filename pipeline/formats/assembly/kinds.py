"""Whose stream an event belongs to, told by the event alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Kinds of stream that can be assembled.
CHAT = "OpenAI Chat Completions"
RESPONSES = "OpenAI Responses"
#: An error notice, which any stream may carry.
ERROR = "error"

_MESSAGES = frozenset({"delta", "message"})

#: Member of an event, beginnings of its value, whose stream it is: what is not assembled can still be called by name.
_OTHER_MARKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("type", ("message_start", "message_delta", "message_stop", "content_block_", "ping"), "Anthropic Messages"),
    ("type", ("message-", "content-", "tool-call-", "tool-plan-"), "Cohere"),
    ("type", ("session.", "conversation.", "input_audio_buffer."), "OpenAI Realtime"),
    ("type", ("thread.",), "OpenAI Assistants"),
    ("object", ("thread",), "OpenAI Assistants"),
    ("object", ("text_completion",), "OpenAI Completions"),
    ("event_type", ("",), "Cohere"),
)
#: The same for members that are told by being there.
_OTHER_MEMBERS: tuple[tuple[str, str], ...] = (
    ("candidates", "Gemini"),
    ("contentBlockStart", "Bedrock Converse"),
    ("contentBlockDelta", "Bedrock Converse"),
    ("messageStart", "Bedrock Converse"),
    ("done", "Ollama"),
)


def unwrapped(event: dict[str, Any]) -> dict[str, Any]:
    """The event itself, where it lies in a wrapper of ``event`` (its type) and ``data``."""
    inner = event.get("data")
    if not isinstance(inner, dict) or not (len(event) == 1 or "event" in event):
        return event
    name = event.get("event")
    if isinstance(name, str) and not isinstance(inner.get("type"), str):
        return {**inner, "type": name}
    return inner


def kind_of(event: Mapping[str, Any]) -> str:
    """Whose stream an (unwrapped) event belongs to: ``CHAT``, ``RESPONSES``, ``ERROR``, another's name, or ``""``."""
    type_ = event.get("type")
    if (isinstance(type_, str) and type_.startswith("response.")) or is_whole_response(event):
        return RESPONSES
    if event.get("object") == "chat.completion.chunk" or _holds_messages(event):
        return CHAT
    for member, beginnings, name in _OTHER_MARKS:
        value = event.get(member)
        if isinstance(value, str) and value.startswith(beginnings):
            return name
    if type_ == ERROR or event.get("error"):
        return ERROR
    return next((name for member, name in _OTHER_MEMBERS if member in event), "")


def is_stream_event(event: dict[str, Any]) -> bool:
    """Like ``kind_of``, but a whole answer does not count: alone in a string it is no stream."""
    event = unwrapped(event)
    kind = kind_of(event)
    if kind == RESPONSES:
        return not is_whole_response(event)
    if kind == CHAT and event.get("object") != "chat.completion.chunk":
        return any(isinstance(choice, dict) and "delta" in choice for choice in event["choices"])
    return kind not in ("", ERROR)


def name_stream(events: Iterable[object]) -> str:
    """A few words on what a stream is that could not be assembled: its API, or else what its first event looks like."""
    objects = [unwrapped(event) for event in events if isinstance(event, dict)]
    if not objects:
        return "a stream without events"
    kinds = [kind_of(event) for event in objects]
    known = next((kind for kind in kinds if kind and kind != ERROR), "")
    if known:
        return f"a stream of {known} events"
    if ERROR in kinds:
        return "a stream that holds only an error"
    type_ = objects[0].get("type")
    if isinstance(type_, str):
        return f"a stream of unknown events, the first of type {type_[:40]!r}"
    return f"a stream of unknown events, the first with the keys {', '.join(key[:40] for key in list(objects[0])[:8])}"


def is_whole_response(event: Mapping[str, Any]) -> bool:
    """A server that was asked to stream may answer with one finished object all the same."""
    return event.get("object") == "response" and isinstance(event.get("output"), list)


def _holds_messages(event: Mapping[str, Any]) -> bool:
    """Empty choices stand in the first chunk of one host and in the usage chunk of all others."""
    choices = event.get("choices")
    if not isinstance(choices, list) or event.get("object") == "text_completion":
        return False
    return not choices or any(
        isinstance(choice, dict) and not choice.keys().isdisjoint(_MESSAGES) for choice in choices
    )
