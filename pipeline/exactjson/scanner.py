"""The tokens of one document in a text, one after the other, and what is wrong with the first that is none.

An explicit stack instead of recursion, and every character seen once, so that neither depth nor size can hurt. What a
token is worth and in which order they come is for those who scan: :class:`~pipeline.exactjson.reader.Reader` keeps
what it reads, :class:`~pipeline.exactjson.skimmer.Skimmer` only looks for flaws.
"""

from __future__ import annotations

import re
from typing import Any

from pipeline.exactjson.numbers import OverLimitError, read_number
from pipeline.exactjson.spelling import quoted, without_surrogates

_BLANKS = " \t\n\r"
_SPACE = re.compile(f"[{_BLANKS}]*")
_WORD = re.compile(r"\w*")
_SINGLE_QUOTED = re.compile(r"[^'\\]*")
_HEX = re.compile(r"[0-9a-fA-F]{0,4}")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NUMBER_STUBS = frozenset({".", "e", "E", "e+", "e-", "E+", "E-"})
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = (("true", True), ("false", False), ("null", None))
#: What a text may hold that ends inside a word, or behind the sign of a number.
_CUT_VALUES = frozenset({"-"} | {word[:size] for word, _ in _WORDS for size in range(1, len(word))})
#: What other languages print, and the fault that it is; a reader gets past it.
_FOREIGN_WORDS = {
    "NaN": "nan-or-infinity",
    "-NaN": "nan-or-infinity",
    "Infinity": "nan-or-infinity",
    "-Infinity": "nan-or-infinity",
    "+Infinity": "nan-or-infinity",
    "None": "not-json",
    "True": "not-json",
    "False": "not-json",
}
_FOREIGN_WORD = re.compile("|".join(map(re.escape, _FOREIGN_WORDS)))
_COMMENTS = ("//", "/*")
OBJECT = ord("{")
#: What stands for a value whose end is not reached.
OPENED = object()


class EndsEarlyError(Exception):
    """The text ends inside the document."""


class StopError(Exception):
    """A flaw behind which nothing can be read with meaning."""


class Scanner:
    """One document of ``text``, read from character ``at``; ``flaw`` is (name, character index, reason), the first."""

    plain = re.compile(r'[^"\\\x00-\x1f]*')  # what is passed at once inside a string

    def __init__(self, text: str, at: int, max_depth: int) -> None:
        self.text = text
        self.at = at
        self.flaw: tuple[str, int, str] | None = None
        self.limit = ""
        self._max_depth = max_depth
        self._kinds = bytearray()  # the opening bracket of every level
        self._in_string = False

    def note(self, name: str, at: int, reason: str) -> None:
        """Keep the first flaw."""
        if self.flaw is None:
            self.flaw = (name, at, reason)

    def where(self) -> str:
        """Say what the end of the text interrupts."""
        if not self._kinds:
            return "inside its first value"
        inside = "a string" if self._in_string else "an object" if self._kinds[-1] == OBJECT else "an array"
        depth = len(self._kinds)
        return f"inside {inside}, {depth:,} level{'s' if depth > 1 else ''} deep"

    def skip_space(self) -> int:
        """Move behind white space and return the position."""
        match = _SPACE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return self.at

    def _take(self, pattern: re.Pattern[str]) -> str:
        """Move behind what a pattern that also matches nothing matches here, and return it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def _peek(self) -> str:
        """Return the next character that is no white space, and stand before it."""
        found = self.text[self.at : self.at + 1]
        if found in _BLANKS:
            found = self.text[self.skip_space() : self.at + 1]
            if not found:
                raise EndsEarlyError
        return found

    def _stop(self, reason: str) -> StopError:
        self.note("not-json", self.at, reason)
        return StopError()

    def _unexpected(self, found: str, wanted: str) -> StopError:
        comment = self.text.startswith(_COMMENTS, self.at)
        return self._stop("JSON has no comments" if comment else f"expected {wanted}, not {quoted(found)}")

    def _value(self) -> Any:
        first = self._peek()
        if first == '"':
            return self._string()
        if first in "{[":
            self.at += 1
            self._enter(ord(first))
            return OPENED
        match = _NUMBER.match(self.text, self.at)
        if match:
            return self._number(match)
        for word, value in _WORDS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self._no_value(first)

    def _no_value(self, first: str) -> Any:
        rest = self.text[self.at : self.at + 9]
        if rest in _CUT_VALUES:
            raise EndsEarlyError
        foreign = _FOREIGN_WORD.match(rest)
        if foreign:
            word = foreign.group()
            self.note(_FOREIGN_WORDS[word], self.at, f"{word} is no JSON value")
            self.at += len(word)
            return None
        if first == "'":
            return self._single_quoted()
        start = self.at
        found = self._take(_WORD)[:40] or first
        self.at = start
        raise self._unexpected(found, "a value")

    def _number(self, match: re.Match[str]) -> Any:
        self.at = match.end()
        if self.text[self.at : self.at + 3] in _NUMBER_STUBS:
            raise EndsEarlyError
        try:
            return read_number(*match.groups(default=""))
        except OverLimitError as limit:
            self.limit = self.limit or str(limit)
            return 0

    def _enter(self, bracket: int) -> None:
        """Begin a level."""
        self._kinds.append(bracket)
        if len(self._kinds) > self._max_depth:
            self.limit = self.limit or f"it is nested deeper than {self._max_depth:,} levels, the limit"

    def _leave(self) -> None:
        """End a level, at its closing bracket."""
        bracket = self.text[self.at]
        if (bracket == "}") != (self._kinds[-1] == OBJECT):
            raise self._stop(f'"{bracket}" closes what it did not open')
        self.at += 1
        self._kinds.pop()

    def _comma(self) -> bool:
        """Move behind a comma; returns whether there was one, and a member behind it."""
        found = self._peek()
        if found in "]}":
            return False
        if found != ",":
            kind = "object" if self._kinds[-1] == OBJECT else "array"
            raise self._unexpected(found, f"a comma or the end of the {kind}")
        comma = self.at
        self.at += 1
        if self._peek() not in "]}":
            return True
        self.note("trailing-comma", comma, "a comma stands before a closing bracket")
        return False

    def _key_if_due(self) -> str | None:
        """Move behind the colon of a key and return the key; None in an array, which has none."""
        if self._kinds[-1] != OBJECT:
            return None
        found = self._peek()
        if found == '"':
            key = self._string()
        elif found == "'":
            key = self._single_quoted()
        else:
            raise self._unexpected(found, "a key in double quotes")
        if self._peek() != ":":
            raise self._stop("expected a colon behind the key")
        self.at += 1
        return key

    def _string(self) -> str:
        text = self.text
        self._in_string = True
        self.at += 1
        parts = [self._take(self.plain)]
        while text[self.at : self.at + 1] != '"':
            if self.at == len(text):
                raise EndsEarlyError
            if text[self.at] == "\\":
                parts.append(self._escape())
            else:
                self.note("control-character", self.at, f"the raw character U+{ord(text[self.at]):04X} in a string")
                parts.append(text[self.at])
                self.at += 1
            parts.append(self._take(self.plain))
        self.at += 1
        self._in_string = False
        return without_surrogates("".join(parts))

    def _escape(self) -> str:
        start, following = self.at, self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following in _ESCAPES:
            return _ESCAPES[following]
        if following == "u":
            digits = self._take(_HEX)
            if len(digits) == 4:
                return chr(int(digits, 16))
        if self.at >= len(self.text):
            self.at = len(self.text)
            raise EndsEarlyError
        self.note("bad-escape", start, f"a backslash before {quoted(following)} is no escape of JSON")
        self.at = start + 1  # what follows is read as it stands
        return ""

    def _single_quoted(self) -> str:
        self.note("single-quotes", self.at, "a string stands in single quotes")
        self._in_string = True
        start = self.at + 1
        while True:
            self.at += 1
            self._take(_SINGLE_QUOTED)
            if self.at >= len(self.text):
                raise EndsEarlyError
            if self.text[self.at] == "'":
                break
            self.at += 1  # the character behind a backslash ends nothing
        self.at += 1
        self._in_string = False
        return without_surrogates(self.text[start : self.at - 1])
