"""Lines that are records as they stand: the hot loop of a JSON Lines file.

Where each line begins with ``{`` they leave as they lie, a buffer full at a time, for a reader who takes them all at
once. Else a line counts as a record by its two ends, ``{`` and ``}``, unless the next line goes on where it stops: a
document that somebody broke before a comma or a closing bracket.
"""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter, sub

from pipeline.records import LineBlock
from pipeline.sources.documents import BLANKS, BRACE, BRACE_END, SOLID, trim
from pipeline.sources.gathering import Gathering
from pipeline.sources.window import Window

_CONTINUES = frozenset(b",}]")
_STRIDE_BYTES = 1 << 20
_SHORT_STRIDE_BYTES = 1 << 10
_first, _last = itemgetter(0), itemgetter(-1)


def _all_records(lines: list[bytes]) -> bool:
    """Whether every line begins with ``{`` and ends with ``}``, without a step of Python for each."""
    try:
        return bytes(map(_first, lines)) == b"{" * len(lines) and bytes(map(_last, lines)) == b"}" * len(lines)
    except IndexError:  # an empty line
        return False


def _begins_of_lines(text: bytearray, stop: int, *, ended: bool) -> tuple[list[int], int]:
    """Where the lines of ``text[:stop]`` begin that can be taken together, and where the last of them ends."""
    find = text.find
    if not stop or text[0] != BRACE:
        return [], 0
    begins = [0]
    end = find(b"\n", 0, stop) + 1
    while end and end < stop and text[end] == BRACE:
        begins.append(end)
        end = find(b"\n", end, stop) + 1
    if not (end == stop and ended):
        end = begins.pop()  # of that line the end is not known, or what comes after it
    while begins and text[end - 2] != BRACE_END:
        end = begins.pop()
    return begins, end


class Lines:
    """Takes lines out of a window into a gathering. No line over ``longest`` bytes is taken."""

    def __init__(self, window: Window, found: Gathering, longest: int) -> None:
        self._window = window
        self._found = found
        self._longest = longest
        self._stride = min(_STRIDE_BYTES, longest)
        self._next_try = 0  # offset up to which lines are taken one by one, since they were refused as a block

    def take_block(self, source_file: str) -> LineBlock | None:
        """Take as many whole lines as are at hand, each of which begins with ``{``; None if the present one does not.

        The last of them ends in ``}``, and the next one begins with ``{`` or is not there: where that is so, reading
        may begin afresh whatever came before, so the lines can be looked into later, and by themselves.
        """
        window = self._window
        if window.offset < self._next_try or not window.may_read_ahead():
            return None
        text, stop = window.read_ahead()
        begins, end = _begins_of_lines(text, stop, ended=window.ended and not window.fault)
        if not begins or max(map(sub, (*begins[1:], end), begins)) > self._longest:
            window.stay()
            self._next_try = window.base + len(window.data)
            return None
        first_line, offset = window.line, window.base
        window.go_ahead(end, first_line + len(begins))
        return LineBlock(
            source_file,
            text,
            end,
            begins,
            [offset + begin for begin in begins],
            first_line,
            window.base,
            window.line,
        )

    def take(self) -> bool:
        """Take the lines in the window up to the first that is no record; false where the present one is none."""
        window = self._window
        end = self._known_end()
        if end < 0:
            return False
        data, at = window.data, window.at
        stop = max(end, data.rfind(b"\n", end, at + self._stride))
        following = SOLID.search(data, stop)
        # Whether the last line is whole shows only by the one below it. Of the first it is known.
        certain = window.ended if following is None else data[following.start()] not in _CONTINUES
        lines = data[at:stop].split(b"\n")
        if _all_records(lines):
            last = lines.pop() if not certain and stop > end else b""
            ends = accumulate((len(line) + 1 for line in lines), initial=window.offset)
            self._found.add_lines(lines, window.line, list(ends)[:-1])
            self._stride = min(self._stride * 2, _STRIDE_BYTES, self._longest)
            window.advance(stop - len(last) - bool(last))
        else:
            window.advance(self._take_some(lines, certain))
        return True

    def _known_end(self) -> int:
        """Index of the end of the present line if it is a record and does not go on below; else -1."""
        window = self._window
        end = window.line_end(self._longest)
        if end < 0 or window.data[trim(window.data, window.at, end) - 1] != BRACE_END:
            return -1
        length = end - window.at
        while (following := SOLID.search(window.data, window.at + length)) is None and not window.ended:
            window.grow()
        if following and window.data[following.start()] in _CONTINUES:
            return -1
        end = window.at + length
        # Where the file is torn, a line that happens to end in a brace may not be all of it.
        return -1 if window.fault and end == len(window.data) else end

    def _take_some(self, lines: list[bytes], certain: bool) -> int:
        """Take records, pass over blank lines, stop at anything else; returns the index of the line feed before that.

        The first line is known to be a record.
        """
        window = self._window
        taken: list[tuple[bytes, int, int]] = []
        at, broken = window.at, False
        for line, text in enumerate(lines, window.line):
            record = text.strip(BLANKS)
            if record:
                broken = record[0] != BRACE or record[-1] != BRACE_END
                if broken:
                    certain = record[0] not in _CONTINUES
                    break
                taken.append((record, line, at + text.index(b"{")))
            at += len(text) + 1
        if broken:
            self._stride = max(self._stride // 4, min(_SHORT_STRIDE_BYTES, self._longest))
        if not certain and len(taken) > 1:
            at = taken.pop()[2]
            at = window.data.rfind(b"\n", 0, at) + 1
        for record, line, start in taken:
            self._found.add(record, line, window.base + start)
        return at - 1
