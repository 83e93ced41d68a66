r"""ECMA-262 patterns in the dialect of the engine that runs them (Rust's ``regex`` and ``fancy-regex``).

The engine already reads ``\d``, ``\w``, ``\s``, ``.`` and ``$`` as ECMA-262 does. What is mended here: it took Python's
and Perl's syntax (``(?P<n>…)``, ``(?i)…``, ``a++``, ``\A``, ``\z``), gave ``\b`` and ``\<`` meanings of its own, and
refused good patterns (``\0``, ``[\b]``, ``[]``, ``[^]``, ``\k<n>``, surrogate pairs, a brace that is no quantifier).

Escapes of letters that mean nothing (``\Z``, ``\h``) are refused, as the ``u`` flag has it that JSON Schema recommends:
without it they are the bare letter, which no author ever meant. Still unlike ECMA-262: a back reference to a group that
took no part matches nothing rather than the empty text, a lone script name (``\p{Han}``) is taken, a group name cannot
be used twice.
"""

from __future__ import annotations

import re

from pipeline.exactjson import SURROGATE_SHIFT

_GROUP_NAME = re.compile(r"\(\?<([^=!>][^>]*)>")
_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
_GROUP_START = re.compile(r"\((?:\?(?::|=|!|<=|<!|<[^=!>][^>]*>|[ims]*(?:-[ims]+)?:))?(?!\?)")
_HEX_ESCAPE = re.compile(r"\\x[0-9a-fA-F]{2}")
_UNICODE_ESCAPE = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{0*([0-9a-fA-F]{1,6})\})")
_PROPERTY = re.compile(r"\\[pP]\{[A-Za-z0-9_=]+\}")
_CONTROL = re.compile(r"\\c[A-Za-z]")
_NAMED_REFERENCE = re.compile(r"\\k<([^>]*)>")
_NUMBERED_REFERENCE = re.compile(r"\\([1-9][0-9]*)")
_WORD = "[A-Za-z0-9_]"
_BOUNDARY = rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY = rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_SPECIAL = frozenset("^$\\.*+?()[]{}|/")
_SPECIAL_IN_CLASS = frozenset("\\]^[-&~")


class PatternError(ValueError):
    """A pattern that ECMA-262 does not have; the message says what in it."""


def to_engine(pattern: str) -> str:
    """Write an ECMA-262 pattern as the engine takes it.

    Raises:
        PatternError: it is no ECMA-262 pattern. Not all that are none are found here: the engine finds the rest.

    """
    return _Translation(pattern).run()


class _Translation:
    """One pass over a pattern, token by token."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.names: dict[str, int] = {}
        self.groups = 0
        self._count_groups()

    def _count_groups(self) -> None:
        """Number the groups beforehand: a reference may stand before its group."""
        at, in_class = 0, False
        while at < len(self.pattern):
            here = self.pattern[at]
            if here == "[":
                in_class = True
            elif here == "]":
                in_class = False
            elif here == "(" and not in_class:
                name = _GROUP_NAME.match(self.pattern, at)
                if name or not self.pattern.startswith("(?", at):
                    self.groups += 1
                if name:
                    self.names[name.group(1)] = self.groups
            at += 2 if here == "\\" else 1

    def run(self) -> str:
        repeatable = False  # whether the token before can take a quantifier
        while self.at < len(self.pattern):
            quantifier = _QUANTIFIER.match(self.pattern, self.at)
            if quantifier:
                if not repeatable:
                    raise PatternError(f"there is nothing that {quantifier.group()} could repeat")
                self._copy(quantifier)
                if self.pattern.startswith("?", self.at):
                    self._emit(1, "?")
                repeatable = False
            else:
                repeatable = self._token()
        return "".join(self.out)

    def _emit(self, length: int, text: str) -> None:
        self.at += length
        self.out.append(text)

    def _copy(self, match: re.Match[str]) -> None:
        self._emit(len(match.group()), match.group())

    def _token(self) -> bool:
        here = self.pattern[self.at]
        if here == "\\":
            self._escape(in_class=False)
        elif here == "[":
            self._class()
        elif here == "(":
            start = _GROUP_START.match(self.pattern, self.at)
            if start is None:
                raise PatternError(f"{self.pattern[self.at : self.at + 4]} opens no group of ECMA-262")
            self._copy(start)
            return False
        elif here in "{}]":  # a literal one, as every engine without the u flag has it
            self._emit(1, "\\" + here)
        else:
            self._emit(1, here)
            return here not in "|^"
        return True

    def _class(self) -> None:
        for empty, meaning in (("[]", r"[^\s\S]"), ("[^]", r"[\s\S]")):
            if self.pattern.startswith(empty, self.at):
                self._emit(len(empty), meaning)
                return
        self._emit(1, "[")
        while self.at < len(self.pattern):
            here = self.pattern[self.at]
            if here == "\\":
                self._escape(in_class=True)
                continue
            self._emit(1, "\\[" if here == "[" else here)
            if here == "]":
                return
        raise PatternError("a [ has no ]")

    def _escape(self, *, in_class: bool) -> None:
        following = self.pattern[self.at + 1 : self.at + 2]
        if not following:
            raise PatternError("it ends in a backslash")
        if following in "dDwWsSfnrtv":
            self._emit(2, "\\" + following)
        elif following in "bB" and not in_class:
            self._emit(2, _BOUNDARY if following == "b" else _NO_BOUNDARY)
        elif following == "b":
            self._emit(2, r"\x08")
        elif following == "0" and not self.pattern[self.at + 2 : self.at + 3].isdigit():
            self._emit(2, r"\x00")
        elif following == "u":
            self._unicode()
        elif following.isascii() and following.isalnum():
            self._lettered(following, in_class=in_class)
        else:
            special = _SPECIAL_IN_CLASS if in_class else _SPECIAL
            self._emit(2, "\\" + following if following in special else following)

    def _lettered(self, letter: str, *, in_class: bool) -> None:
        known = {"x": _HEX_ESCAPE, "p": _PROPERTY, "P": _PROPERTY, "c": _CONTROL}.get(letter)
        match = known.match(self.pattern, self.at) if known else None
        if match:
            self._copy(match)
            return
        number = None
        if not in_class:
            named = _NAMED_REFERENCE.match(self.pattern, self.at)
            numbered = _NUMBERED_REFERENCE.match(self.pattern, self.at)
            match = named or numbered
            number = self.names.get(named.group(1)) if named else int(numbered.group(1)[:6]) if numbered else None
        if match is None or number is None or number > self.groups:
            raise PatternError(f"\\{letter} is no escape of ECMA-262 there")
        self._emit(len(match.group()), f"(?:\\{number})")

    def _unicode(self) -> None:
        match = _UNICODE_ESCAPE.match(self.pattern, self.at)
        if match is None:
            raise PatternError("\\u has no hexadecimal digits")
        point, length = int(match.group(1) or match.group(2), 16), len(match.group())
        low = _UNICODE_ESCAPE.match(self.pattern, match.end())
        if 0xD800 <= point <= 0xDBFF and match.group(1) and low and low.group(1):
            trail = int(low.group(1), 16)
            if 0xDC00 <= trail <= 0xDFFF:
                point = 0x10000 + ((point - 0xD800) << 10) + (trail - 0xDC00)
                length += len(low.group())
        if 0xD800 <= point <= 0xDFFF:  # alone, so it is looked for as it is read
            point += SURROGATE_SHIFT
        if point > 0x10FFFF:
            raise PatternError("\\u names no character")
        self._emit(length, f"\\u{{{point:X}}}")
