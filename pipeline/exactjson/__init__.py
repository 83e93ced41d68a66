"""JSON text to Python values, exactly as RFC 8259 has it: every digit kept, every flaw named, at any depth and size.

Three looks. :func:`certain_object` lets orjson parse and then makes sure, cheaply, that nothing was lost. Where it is
not sure, :func:`first_flaw` says what is wrong with the text, and :func:`decode` reads one without a flaw: slower,
linear, without recursion.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import orjson

from pipeline.exactjson.numbers import EXACT_FLOAT, MAX_DIGITS, MAX_EXPONENT
from pipeline.exactjson.reader import Reader
from pipeline.exactjson.scanner import EndsEarlyError, StopError
from pipeline.exactjson.skimmer import Skimmer
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
    "first_flaw",
    "quoted",
    "read_sound",
    "sound_string",
    "without_surrogates",
]

#: Nesting that is judged. Each level costs stack in the validator, which is native code and cannot be caught.
MAX_DEPTH = 5_000

_loads, _LOADS_ERROR, _dumps = orjson.loads, orjson.JSONDecodeError, orjson.dumps
_BLANKS = b" \t\n\r"
_SPACES_AND_COLON = (" :", "\n:", "\t:", "\r:")
#: How orjson writes a float so large that digits may be lost in it: ``1e+16``, and ``1e16`` in older releases. The plus
#: sign is rare in a text, so that one glance mostly says that there is no such float.
_LARGE_FLOAT = re.compile(r"e\+?[0-9]")
_EXPONENT_MARK = "+" if b"+" in orjson.dumps(1e16) else "e"
#: How it writes one that is hardly as large and exact. The pattern begins with what is rare in a text.
_LONG_FLOAT = re.compile(r"\.(?<=[0-9]{16}\.)0")
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
    """Return the object that ``text`` holds; None where it may be anything but a plain object with distinct keys.

    All in one function, since every text of a log goes through it. The value written again tells what was lost: where
    the two texts hold the same characters but for blanks, they consist of the same members, and their numbers of the
    same digits. Blanks inside strings go from both, which moves no quote and no bracket.
    """
    try:
        value = _loads(text)
    except _LOADS_ERROR:
        return None
    if type(value) is not dict:
        return None
    try:
        written, given = _dumps(value), text.encode()
    except orjson.JSONEncodeError:  # deeper than orjson writes
        return value if _has_lost_nothing(text, value) else None
    alike = written == given or (
        ("\\" not in text or "\\u" not in text)  # an escape that orjson hardly writes again
        and written.translate(None, _BLANKS) == given.translate(None, _BLANKS)
        and _LONG_FLOAT.search(text) is None
    )
    if alike and (_EXPONENT_MARK not in text or _LARGE_FLOAT.search(text) is None):
        return value
    return value if _has_lost_nothing(text, value) else None


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


def decode(text: str) -> Document | Flaw:
    """Read one document, exactly, or say why it is none."""
    return first_flaw(text) or read_sound(text)


def read_sound(text: str) -> Document:
    """Read a document in which no flaw was found."""
    reader = Reader(text, 0, MAX_DEPTH)
    value = reader.read()
    return Document(value, reader.duplicate_keys)


def sound_string(text: str) -> str:
    """Return the string that a document consists of in which no flaw was found."""
    string: str = json.loads(text)
    return without_surrogates(string)


def first_flaw(text: str, max_depth: int = MAX_DEPTH) -> Flaw | None:
    """Say why a text is no document that can be judged; None where it is one.

    The first flaw gives the name. Reading goes on behind it where its end is plain, so that ``ends_early`` is right
    for a text that is both flawed and cut.
    """
    scanner = Skimmer(text, 0, max_depth)
    ends_early = False
    try:
        scanner.skim()
        if scanner.skip_space() < len(text):
            ends_early = _skim_rest(scanner, max_depth)
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
    return None


def _place(text: str, at: int) -> str:
    """Say where a character index lies, for a person: 1-based line, and column in characters."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _skim_rest(scanner: Skimmer, max_depth: int) -> bool:
    """Name what follows a document; returns whether the last of several glued documents is cut."""
    text, first = scanner.text, scanner.at
    at, cut, documents = first, False, 1
    while at < len(text) and text[at] in "{[" and not cut:
        following = Skimmer(text, at, max_depth)
        try:
            following.skim()
        except EndsEarlyError:
            cut = True
        except StopError:
            break
        documents += 1
        at = following.skip_space()
    if documents > 1:
        scanner.note("several-documents", first, "another document follows the first")
    else:
        scanner.note("trailing-text", first, "text follows the document")
    return cut
