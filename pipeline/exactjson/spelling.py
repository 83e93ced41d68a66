"""Characters that JSON text and Python strings spell differently: lone surrogates, and what a terminal must not see."""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring

#: A lone surrogate cannot be encoded, so U+D800..U+DFFF are read as U+10F800..U+10FFFF, one character for one: lengths
#: stay as they are, and different surrogates stay different. Text that really uses that last corner of the private
#: planes cannot be told from it.
SURROGATE_SHIFT = 0x10F800 - 0xD800

_SURROGATES = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")


def without_surrogates(text: str) -> str:
    """Join surrogate pairs, and put one stand-in character for each surrogate that is alone."""
    return text if text.isascii() else _SURROGATES.sub(_stand_in, text)


def quoted(text: str) -> str:
    """Write a string as JSON text for a person: letters as they are, escapes for all that a terminal may act upon."""
    literal = encode_basestring(text)
    return literal if literal.isascii() and literal.isprintable() else _NOT_ASCII.sub(_escape, literal)


def _stand_in(match: re.Match[str]) -> str:
    high, low = match.group(1, 2)
    if low:
        return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))
    return chr(ord(match.group()) + SURROGATE_SHIFT)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character.isprintable():
        return character
    if ord(character) >= 0xD800 + SURROGATE_SHIFT:
        character = chr(ord(character) - SURROGATE_SHIFT)
    return json.dumps(character)[1:-1]
