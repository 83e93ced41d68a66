"""JSON text to Python values, exactly as RFC 8259 has it: every digit kept, every flaw named, at any depth and size.

Two looks. :func:`certain_object` lets orjson parse and then makes sure, cheaply, that nothing was lost. Where it is
not sure, :func:`decode` reads the text itself: slower, linear, without recursion.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from pipeline.exactjson.numbers import EXACT_FLOAT, MAX_DIGITS, MAX_EXPONENT
from pipeline.exactjson.scanner import EndsEarlyError, Scanner, StopError
from pipeline.exactjson.spelling import SURROGATE_SHIFT, quoted, without_surrogates

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_EXPONENT",
    "SURROGATE_SHIFT",
    "Document",
    "Flaw",
    "certain_object",
    "decode",
    "quoted",
    "without_surrogates",
]

#: Nesting that is judged. Each level costs stack in the validator, which is native code and cannot be caught.
MAX_DEPTH = 5_000

_SPACES_AND_COLON = (" :", "\n:", "\t:", "\r:")
_LARGE_FLOAT = re.compile(r"e[0-9]")
_LONG_NUMBER = 300  # characters without which no number underflows, save by its exponent


class Document(NamedTuple):
    """What a text holds. Integers are exact; what neither ``int`` nor ``float`` holds exactly is a ``Decimal``."""

    value: Any
    duplicate_keys: bool


class Flaw(NamedTuple):
    """Why a text is no JSON document: the fault's name, a sentence with the place, and whether the text was cut."""

    name: str
    detail: str
    ends_early: bool


def certain_object(text: str) -> dict[str, Any] | None:
    """Return the object that ``text`` holds; None where it may be anything but a plain object with distinct keys."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    return value if _is_as_written(text, value) or _has_lost_nothing(text, value) else None


def _is_as_written(text: str, value: dict[str, Any]) -> bool:
    """Whether the value is written as ``text`` again, letter for letter: then no key was lost, and no digit.

    The quicker of the two ways, for text without blanks. Of a float so large that it is written with an exponent it
    cannot be said, and so of no text that looks as if it held one.
    """
    try:
        return orjson.dumps(value) == text.encode() and _LARGE_FLOAT.search(text) is None
    except orjson.JSONEncodeError:  # deeper than orjson writes
        return False


def _has_lost_nothing(text: str, value: dict[str, Any]) -> bool:
    """Whether the keys of ``text`` are distinct and its numbers exact in ``value``, which orjson made of it."""
    members = 0
    pending: list[Any] = [value]
    for node in pending:  # it grows under the loop
        items = node
        if type(node) is dict:
            members += len(node)
            items = node.values()
        for item in items:
            kind = type(item)
            if kind is str or kind is int or kind is bool:
                continue
            if kind is dict or kind is list:
                pending.append(item)
            elif (kind is float and not -EXACT_FLOAT < item < EXACT_FLOAT) or (item == 0.0 and _may_underflow(text)):
                return False
    # Every member has a colon of its own, so as many colons as distinct keys means that no key came twice.
    return text.count(":") == members or _most_members(text) == members


def _may_underflow(text: str) -> bool:
    """Whether a zero may have been written as ``1e-400``."""
    return "e-" in text or "E-" in text or len(text) > _LONG_NUMBER


def _most_members(text: str) -> int:
    r"""Count the colons that can belong to a member: those behind a quote or a space, less those behind ``\"``."""
    count = text.count('":')
    if '\\":' in text and '\\\\":' not in text:  # no key ends in a backslash: a quote behind one is inside a string
        count -= text.count('\\":')
    for space in _SPACES_AND_COLON:
        if space in text:
            count += text.count(space)
    return count


def decode(text: str, max_depth: int = MAX_DEPTH) -> Document | Flaw:
    """Read one document, slowly and exactly.

    The first flaw gives the name. Reading goes on behind it where its end is plain, so that ``ends_early`` is right
    for a text that is both flawed and cut.
    """
    scanner = Scanner(text, 0, max_depth)
    value: Any = None
    ends_early = False
    try:
        value = scanner.read()
        ends_early = _read_rest(scanner, max_depth)
    except EndsEarlyError:
        ends_early = True
        scanner.note("cut-off", len(text), f"the text ends {scanner.where()}")
    except StopError:
        pass
    if scanner.flaw is not None:
        name, at, reason = scanner.flaw
        return Flaw(name, f"{reason} ({_place(text, at)})", ends_early)
    if scanner.limit:
        return Flaw("too-deep", scanner.limit, ends_early=False)
    return Document(value, scanner.duplicate_keys)


def _place(text: str, at: int) -> str:
    """Say where a character index lies, for a person: 1-based line, and column in characters."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _read_rest(scanner: Scanner, max_depth: int) -> bool:
    """Name what follows a document; returns whether the last of several glued documents is cut."""
    text, first = scanner.text, scanner.skip_space()
    at, cut, documents = first, False, 1
    while at < len(text) and text[at] in "{[" and not cut:
        following = Scanner(text, at, max_depth)
        try:
            following.read()
        except EndsEarlyError:
            cut = True
        except StopError:
            break
        documents += 1
        at = following.skip_space()
    if documents > 1:
        scanner.note("several-documents", first, "another document follows the first")
    elif at < len(text):
        scanner.note("trailing-text", first, "text follows the document")
    return cut
