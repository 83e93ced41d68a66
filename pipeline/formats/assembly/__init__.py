"""Streamed answers put together: event objects -> answers as the same API gives them when it does not stream.

The ordinary readers then read them, and need not know that streams exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from pipeline.formats.assembly.chat import assemble_chat
from pipeline.formats.assembly.kinds import CHAT, ERROR, RESPONSES, kind_of, name_stream, unwrapped
from pipeline.formats.assembly.responses import assemble_responses

__all__ = ["assemble", "encode_answer", "name_stream"]


def assemble(events: Iterable[object]) -> list[dict[str, Any]]:
    """The answers of a stream in their non-streamed shape; none where the events are of neither OpenAI API.

    Events may be bare or wrapped as ``{"event", "data"}``; those of other kinds between them are passed over. Shares
    values with ``events``, and changes none of them.
    """
    chunks: list[dict[str, Any]] = []
    reports: list[dict[str, Any]] = []
    for wrapped in events:
        if not isinstance(wrapped, dict):
            continue
        event = unwrapped(wrapped)
        kind = kind_of(event)
        if kind == CHAT:
            chunks.append(event)
        elif kind == RESPONSES or (kind == ERROR and reports):
            reports.append(event)
    return assemble_chat(chunks) + assemble_responses(reports)


def encode_answer(answer: dict[str, Any]) -> bytes:
    """An assembled answer as JSON text in UTF-8, whatever it holds; lone surrogates as escapes.

    Raises:
        RecursionError: the answer is nested too deeply to be written.
    """
    try:
        return msgspec.json.encode(answer)
    except (UnicodeEncodeError, OverflowError):
        # Integers beyond 64 bits and half characters are what the fast encoder does not write.
        return json.dumps(answer).encode()
