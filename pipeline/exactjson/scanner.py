"""The slow look: reads one document of a text, names its first flaw, and keeps every digit of its numbers.

An explicit stack instead of recursion, and every character seen once, so that neither depth nor size can hurt.
"""

from __future__ import annotations

import re
from typing import Any

from pipeline.exactjson.numbers import OverLimitError, read_number
from pipeline.exactjson.spelling import quoted, without_surrogates

_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"\w*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_SINGLE_QUOTED = re.compile(r"[^'\\]*")
_HEX = re.compile(r"[0-9a-fA-F]{0,4}")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NUMBER_STUBS = frozenset({".", "e", "E", "e+", "e-", "E+", "E-"})
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = (("true", True), ("false", False), ("null", None))
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
_COMMENTS = ("//", "/*")
_OBJECT = ord("{")
_OPENED = object()


class EndsEarlyError(Exception):
    """The text ends inside the document."""


class StopError(Exception):
    """A flaw behind which nothing can be read with meaning."""


class Scanner:
    """One document of ``text``, read from character ``at``; ``flaw`` is (name, character index, reason), the first."""

    def __init__(self, text: str, at: int, max_depth: int) -> None:
        self.text = text
        self.at = at
        self.flaw: tuple[str, int, str] | None = None
        self.limit = ""
        self.duplicate_keys = False
        self._max_depth = max_depth
        self._kinds = bytearray()  # the opening bracket of every level, also of those too deep to be built
        self._nodes: list[Any] = []
        self._keys: list[str] = []
        self._in_string = False

    def read(self) -> Any:
        """Return the value of the document, and stand behind it.

        Raises:
            EndsEarlyError: the text ends inside the document.
            StopError: a flaw that cannot be read past; it is noted.

        """
        while True:
            value = self._value()
            if value is _OPENED:
                if self._peek() not in "]}":
                    self._key_if_due()
                    continue
                value = self._close()
            while self._kinds:
                self._attach(value)
                if self._comma():
                    self._key_if_due()
                    break
                value = self._close()
            else:
                return value

    def note(self, name: str, at: int, reason: str) -> None:
        """Keep the first flaw."""
        if self.flaw is None:
            self.flaw = (name, at, reason)

    def where(self) -> str:
        """Say what the end of the text interrupts."""
        if not self._kinds:
            return "inside its first value"
        inside = "a string" if self._in_string else "an object" if self._kinds[-1] == _OBJECT else "an array"
        depth = len(self._kinds)
        return f"inside {inside}, {depth:,} level{'s' if depth > 1 else ''} deep"

    def skip_space(self) -> int:
        """Move behind white space and return the position."""
        self._take(_SPACE)
        return self.at

    def _take(self, pattern: re.Pattern[str]) -> str:
        """Move behind what a pattern that also matches nothing matches here, and return it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def _peek(self) -> str:
        if self.skip_space() == len(self.text):
            raise EndsEarlyError
        return self.text[self.at]

    def _stop(self, reason: str) -> StopError:
        self.note("not-json", self.at, reason)
        return StopError()

    def _value(self) -> Any:
        first = self._peek()
        if first == '"':
            return self._string()
        if first in "{[":
            return self._open(first)
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
        if rest == "-" or any(word.startswith(rest) for word, _ in _WORDS):
            raise EndsEarlyError
        for word, name in _FOREIGN_WORDS.items():
            if rest.startswith(word):
                self.note(name, self.at, f"{word} is no JSON value")
                self.at += len(word)
                return None
        if first == "'":
            return self._single_quoted()
        if rest.startswith(_COMMENTS):
            raise self._stop("JSON has no comments")
        start = self.at
        found = self._take(_WORD)[:40] or first
        self.at = start
        raise self._stop(f"expected a value, not {quoted(found)}")

    def _number(self, match: re.Match[str]) -> Any:
        self.at = match.end()
        if self.text[self.at : self.at + 3] in _NUMBER_STUBS:
            raise EndsEarlyError
        try:
            return read_number(*match.groups(default=""))
        except OverLimitError as limit:
            self.limit = self.limit or str(limit)
            return 0

    def _open(self, bracket: str) -> object:
        self.at += 1
        self._kinds.append(ord(bracket))
        if len(self._kinds) <= self._max_depth:
            self._nodes.append({} if bracket == "{" else [])
        else:
            self.limit = self.limit or f"it is nested deeper than {self._max_depth:,} levels, the limit"
        return _OPENED

    def _close(self) -> Any:
        bracket = self.text[self.at]
        if (bracket == "}") != (self._kinds[-1] == _OBJECT):
            raise self._stop(f'"{bracket}" closes what it did not open')
        self.at += 1
        self._kinds.pop()
        return self._nodes.pop() if len(self._kinds) < self._max_depth else None

    def _attach(self, value: Any) -> None:
        key = self._keys.pop() if self._kinds[-1] == _OBJECT else None
        if len(self._kinds) > self._max_depth:
            return
        node = self._nodes[-1]
        if key is None:
            node.append(value)
        else:
            self.duplicate_keys = self.duplicate_keys or key in node
            node[key] = value

    def _comma(self) -> bool:
        """Move behind a comma; returns whether there was one, and a member behind it."""
        found = self._peek()
        if found in "]}":
            return False
        if found != ",":
            reason = f"expected a comma or the end of the {'object' if self._kinds[-1] == _OBJECT else 'array'}"
            comment = self.text.startswith(_COMMENTS, self.at)
            raise self._stop("JSON has no comments" if comment else f"{reason}, not {quoted(found)}")
        comma = self.at
        self.at += 1
        if self._peek() not in "]}":
            return True
        self.note("trailing-comma", comma, "a comma stands before a closing bracket")
        return False

    def _key_if_due(self) -> None:
        if self._kinds[-1] != _OBJECT:
            return
        found = self._peek()
        if found == '"':
            key = self._string()
        elif found == "'":
            key = self._single_quoted()
        else:
            comment = self.text.startswith(_COMMENTS, self.at)
            raise self._stop(
                "JSON has no comments" if comment else f"expected a key in double quotes, not {quoted(found)}"
            )
        if self._peek() != ":":
            raise self._stop("expected a colon behind the key")
        self.at += 1
        self._keys.append(key)

    def _string(self) -> str:
        text = self.text
        self._in_string = True
        self.at += 1
        parts = [self._take(_PLAIN)]
        while text[self.at : self.at + 1] != '"':
            if self.at == len(text):
                raise EndsEarlyError
            if text[self.at] == "\\":
                parts.append(self._escape())
            else:
                self.note("control-character", self.at, f"the raw character U+{ord(text[self.at]):04X} in a string")
                parts.append(text[self.at])
                self.at += 1
            parts.append(self._take(_PLAIN))
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
