"""The quick look for flaws: what is sound is passed many members at a time, and only what may not be is scanned.

Sound here is a little less than sound by the grammar, so that nothing that is passed needs a second look: numbers are
too short to be beyond any limit, and a level that would be too deep is not entered.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pipeline.exactjson.scanner import OPENED, Scanner

_BLANK = r"[ \t\n\r]*+"
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_SOUND = rf'(?:[^"\\\x00-\x1f]++|{_ESCAPE})*+'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,299}+)(?:\.[0-9]{1,300}+)?+(?:[eE][+-]?[0-9]{1,5}+)?+(?=[ \t\n\r,}\]])"
_WORDS = "true|false|null"
#: Once a text is flawed, all that matters is whether it is cut. So strings may hold anything, stand in single quotes,
#: and be words of other languages, as for a scanner that has its first flaw.
_LAX_STRING = r'"(?:[^"\\]++|\\.)*+"|' + r"'(?:[^'\\]++|\\.)*+'"
_LAX_WORDS = r"-?NaN|[+-]?Infinity|None|True|False"
_LEFT = 1


class _Strides(NamedTuple):
    """What is passed at once, by the kind of the level: ``first`` behind its bracket, ``further`` behind a value.

    Group 1 (``_LEFT``) is the bracket that closes the level, any other group the bracket that opens the next one.
    """

    first: dict[int, re.Pattern[str]]
    further: dict[int, re.Pattern[str]]


@lru_cache(maxsize=2)
def _strides(sound: bool) -> _Strides:
    """Compile the patterns, those for a sound text or those for a flawed one: most runs need neither."""
    string = f'"{_SOUND}"' if sound else _LAX_STRING
    words = _WORDS if sound else f"{_WORDS}|{_LAX_WORDS}"
    scalar = rf"(?:{string}|{_NUMBER}|{words}|\{{{_BLANK}\}}|\[{_BLANK}\])"
    strides = _Strides({}, {})
    for opening, closing, key in (("{", "}", rf"(?:{string}){_BLANK}:{_BLANK}"), ("[", "]", "")):
        comma = f"{_BLANK},{_BLANK}{key}"
        further = rf"(?:{comma}{scalar})*+(?:{_BLANK}(\{closing})|{comma}([{{\[]))?"
        first = rf"{_BLANK}{key}(?:{scalar}{further}|([{{\[]))"
        strides.first[ord(opening)] = re.compile(first, re.DOTALL)
        strides.further[ord(opening)] = re.compile(further, re.DOTALL)
    return strides


class Skimmer(Scanner):
    """Finds the first flaw of a document, and whether it is cut, and keeps nothing of what it passes."""

    plain = re.compile(_SOUND)
    _sound_string = re.compile(f'"{_SOUND}"')

    def skim(self) -> None:
        """Move behind the document.

        Raises:
            EndsEarlyError: the text ends inside the document.
            StopError: a flaw that cannot be read past; it is noted.

        """
        opened = self._value() is OPENED
        while self._kinds:
            opened = self._stride(opened)
            if not self._kinds:
                return
            if self._peek() in "]}" if opened else not self._comma():
                self._leave()
                opened = False
            else:
                self._key_if_due()
                opened = self._value() is OPENED

    def _stride(self, opened: bool) -> bool:
        """Move behind what is sound; returns whether a level was opened last, so that its first value is due."""
        text, at, kinds = self.text, self.at, self._kinds
        first, further = _strides(self.flaw is None)
        while kinds and len(kinds) < self._max_depth:
            match = (first if opened else further)[kinds[-1]].match(text, at)
            if match is None:
                break
            at = match.end()
            group = match.lastindex
            opened = group is not None and group != _LEFT
            if opened:
                self._enter(ord(text[at - 1]))
            elif group:
                kinds.pop()
            else:
                break
        self.at = at
        return opened

    def _string(self) -> str:
        match = self._sound_string.match(self.text, self.at)
        if match is None:
            return super()._string()
        self.at = match.end()
        return ""
