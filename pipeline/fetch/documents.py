"""Bodies as they came: checked to be JSON, put on one line, and a page cut into its items, with no byte re-encoded.

The standard library's scanner does the work because it says where a value ends: msgspec's ``Raw`` would cut a page
faster, and refuses all of it for one lone surrogate escape.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

_BLANKS = " \t\r\n"


class MalformedError(Exception):
    """A body that is not what it should be; the text says how."""


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON object of the API: its own ``id`` and ``created`` (seconds since 1970), and itself on one line."""

    id: object
    created_s: float | None
    line: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: its items in order, and what it says of further ones (None where it says nothing)."""

    items: list[Document]
    has_more: bool | None


def read_document(body: bytes) -> Document:
    """Check that ``body`` is one JSON object (RFC 8259, UTF-8) and put it on one line.

    Raises:
        MalformedError: It is not.
    """
    text = _text(body)
    start = _skip(text, 0)
    value, end = _scan(text, start)
    _expect_end(text, end)
    return _document(value, body)


def read_page(body: bytes) -> Page:
    """Cut the items of a page's ``data`` out of its bytes.

    Raises:
        MalformedError: The page is not one JSON object with a list of objects called ``data``.
    """
    text = _text(body)
    items: list[Document] | None = None
    has_more: object = None
    index = _skip(text, 0)
    if text[index : index + 1] != "{":
        raise MalformedError("it is not a JSON object")
    index = _skip(text, index + 1)
    closed = text[index : index + 1] == "}"
    while not closed:
        _expect(text, index, '"')
        name, index = _scan(text, index)
        index = _skip(text, index)
        _expect(text, index, ":")
        index = _skip(text, index + 1)
        if name == "data":
            items, index = _items(text, index)
        else:
            value, index = _scan(text, index)
            has_more = value if name == "has_more" else has_more
        index, closed = _next(text, index, "}")
    _expect_end(text, index + 1)
    if items is None:
        raise MalformedError("it has no list of completions")
    return Page(items, has_more if isinstance(has_more, bool) else None)


def _items(text: str, index: int) -> tuple[list[Document], int]:
    if text[index : index + 1] != "[":
        raise MalformedError("its data is not a list")
    items: list[Document] = []
    index = _skip(text, index + 1)
    closed = text[index : index + 1] == "]"
    while not closed:
        value, end = _scan(text, index)
        items.append(_document(value, text[index:end].encode()))
        index, closed = _next(text, end, "]")
    return items, index + 1


def _next(text: str, index: int, closing: str) -> tuple[int, bool]:
    """Past the comma to the next value, or at the closing bracket; and which of the two."""
    index = _skip(text, index)
    mark = text[index : index + 1]
    if mark not in (",", closing):
        raise MalformedError(f"it is not JSON (character {index})")
    return (_skip(text, index + 1), False) if mark == "," else (index, True)


def _document(value: object, raw: bytes) -> Document:
    if not isinstance(value, dict):
        raise MalformedError("it is not a JSON object")
    # No raw line break can stand inside a JSON string, so all that go are between tokens.
    return Document(value.get("id"), _seconds(value.get("created")), raw.translate(None, b"\r\n"))


def _seconds(created: object) -> float | None:
    try:
        return float(created) if isinstance(created, str) else None
    except ValueError:
        return None


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise MalformedError("it is not UTF-8") from None


def _skip(text: str, index: int) -> int:
    while index < len(text) and text[index] in _BLANKS:
        index += 1
    return index


def _expect(text: str, index: int, mark: str) -> None:
    if text[index : index + 1] != mark:
        raise MalformedError(f"it is not JSON (character {index})")


def _expect_end(text: str, index: int) -> None:
    if _skip(text, index) != len(text):
        raise MalformedError("something follows the JSON document")


def _refuse(constant: str) -> NoReturn:
    raise MalformedError(f"it is not JSON ({constant})")


# Numbers stay text: nobody asks for their value, and neither 1e400 nor ten thousand digits can then do any harm.
_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    parse_constant=_refuse, parse_int=str, parse_float=str
).raw_decode


def _scan(text: str, index: int) -> tuple[Any, int]:
    try:
        return _decode(text, index)
    except json.JSONDecodeError as error:
        raise MalformedError(f"it is not JSON (character {error.pos})") from None
    except RecursionError:
        raise MalformedError("it is nested too deep to be checked") from None
