"""Where a JSON document ends: brackets and quotes are read, and lines are held against each other; no value is built.

A log may be torn anywhere, so the end of a document is never looked for past the point where JSON cannot go on. JSON
has no raw line feed inside a string, and at each line feed between tokens the grammar says which bytes may follow:
that is enough to tell a pretty-printed document from a half line with the next record below it.
"""

from __future__ import annotations

import re
from functools import cache

BLANKS = b" \t\r\n"
QUOTE, COMMA, BACKSLASH = b'",\\'
BRACE, BRACE_END, BRACKET, BRACKET_END = b"{}[]"
_VALUE_START = frozenset(b'{["-0123456789tfnNI')
_VALUE_END = frozenset(b'}]"0123456789abcdefghijklmnopqrstuvwxyzN')

_STRING_REST = re.compile(rb'(?:[^"\\\n]++|\\[^\n])*+')

#: A byte that is not blank.
SOLID = re.compile(rb"[^ \t\r\n]")
_SCALAR = re.compile(
    rb'-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|"(?:[^"\\\x00-\x1f]++|\\.)*+"'
)
# One step: text and whole strings, then what needs a look (opening, closing, line feed, string without its end).
_STEP = rb'(?:[^"{}\[\]\n]++|"(?:[^"\\\n]++|\\[^\n])*+"%s)*+(?:([{\[])|([}\]])|(\n)|(")|\Z)'
_FIRST_LINE = re.compile(_STEP % b"")


@cache
def _later_lines(indent: int) -> re.Pattern[bytes]:
    """The step below the first line: of the line feeds, only those before a bracket at most ``indent`` blanks in."""
    return re.compile(_STEP % (rb"|\n(?![ \t]{0,%d}(?:[{\[]|\Z))" % indent))


def is_scalar(text: bytes) -> bool:
    """Whether the text is one JSON string, number, ``true``, ``false`` or ``null``, or an array of just one of them."""
    if text.startswith(b"[") and text.endswith(b"]"):
        text = text[1:-1].strip(BLANKS)
    return _SCALAR.fullmatch(text) is not None


def may_break(before: int, after: int, inside: int) -> bool:
    """Whether JSON allows a line break between two bytes, blanks left out, inside the bracket ``inside``."""
    if before == BRACE:
        return after in (QUOTE, BRACE_END)
    if before == COMMA and inside == BRACE:
        return after == QUOTE
    if before in (COMMA, BRACKET, 0x3A):
        return after in _VALUE_START or (before == BRACKET and after == BRACKET_END)
    if before not in _VALUE_END:
        return False
    return after in (COMMA, inside + 2) or (before == QUOTE and after == 0x3A)


class Scan:
    """The search for the end of one document, as its text arrives. All positions are offsets in the file.

    ``end`` is set when the document closes; ``torn`` when it cannot go on, or the text ends: the first line break that
    does not belong to it. ``restarts`` are the lines inside it that could each begin a document of their own, being
    indented no deeper than the first; ``unclosed`` those of them that were still open at ``torn``, and so would fail
    there too. ``sound`` is false once a bracket closed another one's pair, or a string held a line feed.
    """

    def __init__(self, start: int, indent: int = 0) -> None:
        self.start = self.at = start
        self.end: int | None = None
        self.torn: int | None = None
        self.restarts: list[int] = []
        self.sound = True
        self._unclosed: list[tuple[int, int]] = []
        self._stack = bytearray()
        self._in_string = False
        self._string_torn = False
        self._indent = indent
        self._step = _FIRST_LINE

    @property
    def unclosed(self) -> list[int]:
        """Those of ``restarts`` that no bracket has closed."""
        return [offset for offset, _ in self._unclosed]

    def run(self, data: bytes, base: int, ended: bool) -> bool:
        """Read on in ``data``, which begins at offset ``base``; false: more text is needed (``ended``: there is none).

        Cost is linear whatever the sizes of the pieces: nothing before ``at`` is looked at again.
        """
        while self.end is None and self.torn is None:
            known = self._walk(data, base, ended) if not self._in_string else self._leave_string(data, base)
            if not known:
                if not ended:
                    return False
                self.torn = base + len(data)
        return True

    def _leave_string(self, data: bytes, base: int) -> bool:
        index = self._rest_of_string(data, self.at - base)
        self.at = base + index
        return not self._in_string

    def _rest_of_string(self, data: bytes, index: int) -> int:
        """Index behind the string, or of the line feed that tears it; ``_in_string`` stays set where the data ends."""
        match = _STRING_REST.match(data, index)
        stop = match.end() if match else index
        if stop == len(data) or (data[stop] == BACKSLASH and stop + 1 == len(data)):
            self._in_string = True
            return stop
        self._in_string = False
        if data[stop] == QUOTE:
            return stop + 1
        self._string_torn, self.sound = True, False
        return stop + (data[stop] == BACKSLASH)

    def _walk(self, data: bytes, base: int, ended: bool) -> bool:
        """Take steps until something is decided (true) or the data ends (false)."""
        stack = self._stack
        for step in self._step.finditer(data, self.at - base):
            kind, index = step.lastindex, step.end()
            self.at = base + index
            if kind == 1:
                stack.append(data[index - 1])
            elif kind == 2:
                self._close(data[index - 1])
                if not stack:
                    self.end = self.at
                    return True
            elif kind == 3:
                return self._line_break(data, base, index - 1, ended)
            elif kind == 4:
                self.at = base + self._rest_of_string(data, index)
                return not self._in_string
            else:
                break
        return False

    def _close(self, bracket: int) -> None:
        """Close the innermost bracket of this kind, with all that stands open inside it; none: pass it over."""
        stack = self._stack
        opening = stack.rfind(bracket - 2)
        if opening != len(stack) - 1:
            self.sound = False
        if opening >= 0:
            del stack[opening:]
        while self._unclosed and self._unclosed[-1][1] >= len(stack):
            self._unclosed.pop()

    def _line_break(self, data: bytes, base: int, index: int, ended: bool) -> bool:
        """Whether the document goes on behind the line feed at ``index``; a false one is where it is torn."""
        following = SOLID.search(data, index)
        if following is None:
            self.at = base + (len(data) if ended else index)
            return False
        after = following.start()
        low = max(self.start - base, 0)
        before = data[trim(data, low, index) - 1] if index > low else 0
        if self._string_torn or not may_break(before, data[after], self._stack[-1]):
            self.torn = base + index + 1
            return True
        column = after - data.rfind(b"\n", index, after) - 1
        if data[after] in (BRACE, BRACKET) and column <= self._indent:
            self.restarts.append(base + after)
            self._unclosed.append((base + after, len(self._stack)))
        self.at = base + after
        self._step = _later_lines(self._indent)
        return True


def trim(data: bytes, low: int, index: int) -> int:
    """Index behind the last byte of ``data[low:index]`` that is not blank; ``low`` where there is none."""
    while index > low:
        floor = max(low, index - 64)
        piece = data[floor:index].rstrip(BLANKS)
        if piece:
            return floor + len(piece)
        index = floor
    return low


def split_documents(raw: bytes) -> list[tuple[int, bytes]] | None:
    """The JSON values that stand glued together in one record, each with its offset in it; None: it is not that.

    ``raw``: text that did not parse as one document. Brackets and quotes of every piece are whole; whether a piece
    parses is for whoever decodes it.
    """
    pieces: list[tuple[int, bytes]] = []
    at = 0
    while following := SOLID.search(raw, at):
        start = following.start()
        end = _value_end(raw, start)
        if end is None:
            return None
        pieces.append((start, raw[start:end]))
        at = end
    return pieces if len(pieces) > 1 else None


def _value_end(raw: bytes, start: int) -> int | None:
    if raw[start] not in (BRACE, BRACKET):
        scalar = _SCALAR.match(raw, start)
        return scalar.end() if scalar else None
    scan = Scan(start)
    scan.run(raw, 0, ended=True)
    return scan.end if scan.sound else None
