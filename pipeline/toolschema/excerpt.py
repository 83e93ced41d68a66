"""A JSON value as a short piece of JSON text, whatever its size and depth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

from pipeline.exactjson import quoted
from pipeline.records import JSONValue

#: Characters of an excerpt, the mark of a cut included.
MAX_CHARS = 200
_CUT = "…"


def excerpt(value: JSONValue, max_chars: int = MAX_CHARS) -> str:
    """Write a value as JSON text of at most ``max_chars`` characters; what is left out is marked by an ellipsis."""
    parts: list[str] = []
    size = 0
    for part in _parts(value, max_chars):
        parts.append(part)
        size += len(part)
        if size > max_chars:
            break
    return shorten("".join(parts), max_chars)


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


def _parts(value: JSONValue, room: int) -> Iterator[str]:
    """Yield a value's text in pieces; every level has a piece of its own, so the reader's patience bounds the depth."""
    if isinstance(value, str):
        yield quoted(value[: room + 1])
    elif isinstance(value, dict):
        opening = "{"
        for key, item in value.items():
            yield f"{opening}{quoted(key[: room + 1])}: "
            yield from _parts(item, room)
            opening = ", "
        yield "}" if value else "{}"
    elif isinstance(value, (list, tuple)):
        opening = "["
        for item in value:
            yield opening
            yield from _parts(item, room)
            opening = ", "
        yield "]" if value else "[]"
    else:
        yield _scalar(value)


def _scalar(value: JSONValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return str(value) if isinstance(value, (int, float, Decimal)) else quoted(str(value))
