"""Lines that are records as they stand: the hot loop of a JSON Lines file.

A line counts as a record by its two ends alone, ``{`` and ``}``, unless the next line goes on where it stops: a
document that somebody broke before a comma or a closing bracket.
"""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter

from pipeline.sources.documents import BLANKS, BRACE, BRACE_END, SOLID, trim
from pipeline.sources.gathering import Gathering
from pipeline.sources.window import Window

_CONTINUES = frozenset(b",}]")
_STRIDE_BYTES = 1 << 20
_SHORT_STRIDE_BYTES = 1 << 10
_BATCH_BYTES = 1 << 18
_LARGEST_BATCH_BYTES = 1 << 26
_LIMIT_BYTES = 1 << 16
_first, _last = itemgetter(0), itemgetter(-1)


def _all_records(lines: list[bytes]) -> bool:
    """Whether every line begins with ``{`` and ends with ``}``, without a step of Python for each."""
    try:
        return bytes(map(_first, lines)) == b"{" * len(lines) and bytes(map(_last, lines)) == b"}" * len(lines)
    except IndexError:  # an empty line
        return False


class Lines:
    """Takes lines out of a window into a gathering. No line over ``longest`` bytes is taken."""

    def __init__(self, window: Window, found: Gathering, longest: int) -> None:
        self._window = window
        self._found = found
        self._longest = longest
        self._stride = min(_STRIDE_BYTES, longest)
        self._limit = min(_LIMIT_BYTES, longest)
        self._usual = _LIMIT_BYTES

    def take_batch(self) -> bool:
        """Read some lines and take them, if they are records one and all; else leave them in the window.

        A line goes from the reader's buffer to its record without a chunk between them. How many are read at a time
        goes by their usual length, and so that a batch is bounded should all of them be as long as is allowed.
        """
        window, found = self._window, self._found
        data, at = window.data, window.at
        if window.ended or len(data) - at > self._limit or data.find(b"\n", at) >= 0 or data[at : at + 1] not in b"{":
            return False
        left, limit = data[at:], self._limit
        read = window.pull_lines(max(1, min(_BATCH_BYTES // self._usual, _LARGEST_BATCH_BYTES // limit)), limit)
        longest = len(max(read, key=len))
        read[0] = left + read[0]
        lines = [line[:-1] for line in read]
        # A line that is shorter than the limit has its line feed, save the last of the file.
        if longest >= limit or read[-1][-1:] != b"\n" or window.next_byte() != b"{" or not _all_records(lines):
            self._limit = min(limit * 4, self._longest) if longest >= limit else limit
            window.data, window.at, window.base = b"".join(read), 0, window.offset
            return False
        offsets = list(accumulate(map(len, read), initial=window.offset))
        behind = offsets.pop()
        found.add_lines(lines, window.line, offsets)
        self._usual = (behind - window.offset) // len(lines)
        window.replace(behind, window.line + len(lines))
        return True

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
