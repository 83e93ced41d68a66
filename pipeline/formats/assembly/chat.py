"""Chunks of Chat Completions -> ``chat.completion`` objects: whose chunk it is, whose call a delta continues.

Servers of many makers write this stream, each in its own way, so every decision stands on what the stream itself shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.formats.assembly.calls import CallList, NamedText
from pipeline.formats.assembly.fragments import Fragments, index_of, text_or_none

#: Endings that say why a call may be cut. A router that appends an ending of its own takes nothing of that back.
_CEILINGS = frozenset({"length", "content_filter"})


def assemble_chat(chunks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One answer a stream, in order of their first chunks. Several streams may be interleaved."""
    times_seen = Counter(chunk_id for chunk in chunks if (chunk_id := text_or_none(chunk.get("id"))))
    answers: list[_Answer] = []
    by_id: dict[str, _Answer] = {}
    current: _Answer | None = None
    for chunk in chunks:
        chunk_id = text_or_none(chunk.get("id"))
        once = chunk_id is not None and times_seen[chunk_id] == 1
        known = by_id.get(chunk_id) if chunk_id else None
        if known is not None:
            current = known
        elif current is None or (chunk_id and not current.continues_with(chunk, once=once)):
            current = _Answer()
            answers.append(current)
        if chunk_id:
            by_id[chunk_id] = current
        current.take(chunk, chunk_id, once=once)
    return [answer.result() for answer in answers]


@dataclass(slots=True)
class _Choice:
    """One choice of an answer."""

    content: Fragments = field(default_factory=Fragments)
    refusal: Fragments = field(default_factory=Fragments)
    calls: CallList = field(default_factory=CallList)
    function_call: NamedText = field(default_factory=lambda: NamedText("arguments"))
    finish_reason: str | None = None

    def take(self, choice: dict[str, Any]) -> None:
        """Take one delta, or a whole message where a server sent that."""
        self._end(choice.get("finish_reason"))
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if not isinstance(delta, dict):
            return
        for key, fragments in (("content", self.content), ("refusal", self.refusal)):
            if isinstance(delta.get(key), str):
                fragments.add(delta[key])
        if "tool_calls" in delta:
            self.calls.take(delta["tool_calls"])
        if isinstance(delta.get("function_call"), dict):
            self.function_call.take(delta["function_call"])

    def _end(self, reason: Any) -> None:
        if not isinstance(reason, str) or self.finish_reason in _CEILINGS:
            return
        if reason or self.finish_reason is None:
            self.finish_reason = reason

    def result(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content.result()}
        if self.refusal.seen:
            message["refusal"] = self.refusal.result()
        calls = self.calls.result()
        if calls:
            message["tool_calls"] = calls
        if not self.function_call.is_stub:
            message["function_call"] = self.function_call.result()
        return {"index": index, "finish_reason": self.finish_reason, "message": message}


@dataclass(slots=True)
class _Answer:
    """One answer in the making. ``once``: the id it began with stands on one chunk only."""

    id: str | None = None
    once: bool = False
    created: Any = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    choices: dict[int, _Choice] = field(default_factory=dict)
    #: How many of the choices have a finish reason.
    ended: int = 0
    #: Whether the first delta named the role, as the first of a stream does; None before any.
    opened_with_role: bool | None = None

    def continues_with(self, chunk: dict[str, Any], *, once: bool) -> bool:
        """Whether a chunk with an id not seen before belongs here all the same. ``once``: that id never comes again.

        Some servers give each chunk an id of its own, or change it on the way, or leave it empty at first; in other
        logs a new id is a new answer. A stream's first delta names the role, and an answer that ended goes on in no
        other stream.
        """
        deltas = _deltas(chunk)
        if not deltas and once:
            return True  # the trailer that brings the usage
        if self.choices and self.ended == len(self.choices):
            return False
        if self.id is None:
            return True
        if not deltas or any(text_or_none(delta.get("role")) for delta in deltas):
            return once and self.once
        return once or self.opened_with_role is True

    def take(self, chunk: dict[str, Any], chunk_id: str | None, *, once: bool) -> None:
        if self.id is None:
            self.id, self.once = chunk_id, once
        self.created = self.created or chunk.get("created")
        self.model = self.model or text_or_none(chunk.get("model"))
        self.usage = _usage(chunk) or self.usage
        if self.opened_with_role is None and (deltas := _deltas(chunk)):
            self.opened_with_role = any(text_or_none(delta.get("role")) for delta in deltas)
        choices = chunk.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                index = index_of(choice.get("index"))
                known = self.choices.setdefault(position if index is None else index, _Choice())
                had_ended = bool(known.finish_reason)
                known.take(choice)
                self.ended += bool(known.finish_reason) - had_ended

    def result(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [self.choices[index].result(index) for index in sorted(self.choices)],
        }
        if self.usage is not None:
            answer["usage"] = self.usage
        return answer


def _deltas(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return []
    deltas = [choice.get("delta") or choice.get("message") for choice in choices if isinstance(choice, dict)]
    return [delta for delta in deltas if isinstance(delta, dict)]


def _usage(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """Token counts, which one host keeps in a member of its own."""
    extension = chunk.get("x_groq")
    usage = chunk.get("usage") or (extension.get("usage") if isinstance(extension, dict) else None)
    return usage if isinstance(usage, dict) else None
