"""A JSON value as a short piece of JSON text, whatever its size and depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from pipeline.exactjson import quoted
from pipeline.records import JSONValue

#: Characters of an excerpt, the mark of a cut included.
MAX_CHARS = 200
_CUT = "…"


def excerpt(value: JSONValue, max_chars: int = MAX_CHARS) -> str:
    """Write a value as JSON text of at most ``max_chars`` characters; what is left out is marked by an ellipsis."""
    return shorten(_written(value, max_chars), max_chars)


def shorten(text: str, max_chars: int = MAX_CHARS) -> str:
    """Cut a text to at most ``max_chars`` characters, and mark the cut."""
    return text if len(text) <= max_chars else text[: max_chars - len(_CUT)] + _CUT


def listed(values: list[JSONValue], max_chars: int = MAX_CHARS) -> str:
    """Write some values as JSON texts with commas between, the last ones left out where there is no room."""
    shown: list[str] = []
    room = max_chars - 20
    for value in values:
        text = excerpt(value, max_chars)
        room -= len(text) + 2
        if room < 0 and shown:
            return f"{', '.join(shown)}{_CUT} ({len(values)} in all)"
        shown.append(text)
    return shorten(", ".join(shown), max_chars)


def _written(value: JSONValue, room: int) -> str:
    """Write a value, or the beginning of it that is longer than ``room``; nothing where there is less than no room.

    Every level takes room for its bracket, which bounds the depth.
    """
    if room < 0:
        return ""
    kind = type(value)
    if kind is str:
        return quoted(value if len(value) <= room else value[: room + 1])
    if kind is int:
        return str(value)
    if kind is dict:
        return _written_object(value, room - 1) if value else "{}"
    if kind is list or kind is tuple:
        return _written_array(value, room - 1) if value else "[]"
    return _scalar(value)


def _written_object(members: dict[str, JSONValue], room: int) -> str:
    parts: list[str] = []
    for key, item in members.items():
        if room < 0:
            parts.append("")  # for the comma before it, which there is no room for
            break
        name = quoted(key if len(key) <= room else key[: room + 1])
        room -= len(name) + len(": ")
        text = _written(item, room)
        room -= len(text) + len(", ")
        parts.append(f"{name}: {text}")
    return f"{{{', '.join(parts)}}}"


def _written_array(items: Sequence[JSONValue], room: int) -> str:
    parts: list[str] = []
    for item in items:
        if room < 0:
            parts.append("")  # for the comma before it, which there is no room for
            break
        text = _written(item, room)
        room -= len(text) + len(", ")
        parts.append(text)
    return f"[{', '.join(parts)}]"


def _scalar(value: JSONValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return str(value) if isinstance(value, (int, float, Decimal)) else quoted(str(value))
