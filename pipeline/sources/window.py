"""The part of a text that is in memory: a buffer that knows its place in the file, and reads on when asked."""

from __future__ import annotations

import re

from pipeline.sources.streams import Stream, buffered

#: What is kept in front of the present place, so that the last few bytes read can still be looked at.
MARGIN_BYTES = 256
_BLANK_RUN = re.compile(rb"[ \t\r\n]*+")


class Window:
    """A text read from front to back. ``data[at]`` is the present place, ``base`` the offset of ``data[0]``.

    ``line`` is the line of the present place, from 1. ``indent`` is how many blanks that line begins with, and
    ``line_is_blank`` says that nothing else has stood on it yet. ``fault`` is why the text ends too early, None where
    it does not.
    """

    def __init__(self, stream: Stream, offset: int, line: int, block_bytes: int) -> None:
        self.data = b""
        self.at = 0
        self.base = offset
        self.line = line
        self.indent = 0
        self.line_is_blank = True
        self.ended = False
        self.fault: str | None = None
        self._stream = stream
        self._reader = buffered(stream, block_bytes)
        self._block_bytes = block_bytes
        self._buffer = bytearray()
        self._ahead = self._ahead_end = 0
        self._one_line_until = 0  # no line feed stands between the present place and here

    @property
    def offset(self) -> int:
        """Offset of the present place in the file."""
        return self.base + self.at

    def pull(self) -> bytes:
        """The next bytes of the text, which the caller must put somewhere; empty at the end."""
        chunk = self._reader.read1(self._block_bytes)
        if not chunk:
            self.ended, self.fault = True, self._stream.fault
        return chunk

    def may_read_ahead(self) -> bool:
        """Whether the present place begins a line, with no more text at hand than :meth:`read_ahead` takes.

        The end of the line before it is stepped over.
        """
        if self.data.startswith(b"\n", self.at):
            self.at, self.line, self.indent, self.line_is_blank = self.at + 1, self.line + 1, 0, True
        return self.line_is_blank and not self.indent and len(self.data) - self.at <= 2 * self._block_bytes

    def read_ahead(self) -> tuple[bytearray, int]:
        """The text from the present place on, about a block of it: ``buffer[:stop]``, valid until the next call.

        One buffer serves for a whole file: memory that has just been used is still at hand, and new memory is not.
        Before anything else is asked of the window, :meth:`stay` or :meth:`go_ahead` must say where it goes on.
        """
        rest = self.data[self.at :] or self._buffer[self._ahead : self._ahead_end]
        self.data, self.base, self.at = b"", self.base + self.at, 0
        left = len(rest)
        if len(self._buffer) < left + self._block_bytes:
            self._buffer = bytearray(left + self._block_bytes)
        buffer = self._buffer
        buffer[:left] = rest
        self._ahead, self._ahead_end = 0, left
        if not self.ended and left < self._block_bytes:
            count = self._reader.readinto1(memoryview(buffer)[left : left + self._block_bytes])
            if not count:
                self.ended, self.fault = True, self._stream.fault
            self._ahead_end += count
        return buffer, self._ahead_end

    def stay(self) -> None:
        """Put what was read ahead before the present place, where all others look for it."""
        self.data, self.at = bytes(self._buffer[self._ahead : self._ahead_end]), 0
        self._ahead = self._ahead_end = 0

    def go_ahead(self, index: int, line: int) -> None:
        """Move on to ``buffer[index]``, the beginning of a line. What lies behind it is kept for reading ahead."""
        self.base += index - self._ahead
        self._ahead = index
        self.line, self.indent, self.line_is_blank = line, 0, True

    def grow(self) -> None:
        """Drop what lies behind and double what lies ahead, so that a long record is copied only a few times."""
        drop = max(0, self.at - MARGIN_BYTES)
        pieces = [self.data[drop:]]
        self.data = b""
        wanted = max(self._block_bytes, len(pieces[0]))
        while wanted > 0 and (chunk := self.pull()):
            pieces.append(chunk)
            wanted -= len(chunk)
        self.data = b"".join(pieces)
        self.base += drop
        self.at -= drop

    def need(self, count: int) -> None:
        """Have ``count`` bytes from the present place on, or all there are."""
        while len(self.data) - self.at < count and not self.ended:
            self.grow()

    def advance(self, index: int) -> None:
        """Move on to ``data[index]``, not over blanks alone."""
        self.leap(index, self.line + self.data.count(b"\n", self.at, index))

    def leap(self, index: int, line: int) -> None:
        """Move on to ``data[index]``, of which the line is known."""
        self.line_is_blank = False
        if line > self.line:
            start = self.data.rfind(b"\n", self.at, index) + 1
            run = _BLANK_RUN.match(self.data, start, index)
            self.line = line
            self.indent = run.end() - start if run else 0
            self.line_is_blank = start + self.indent == index
        self.at = index

    def skip_blanks(self) -> bool:
        """Move on to the next byte that is not blank; false at the end of the text."""
        while True:
            run = _BLANK_RUN.match(self.data, self.at)
            end = run.end() if run else self.at
            breaks = self.data.count(b"\n", self.at, end)
            if breaks:
                self.line += breaks
                self.line_is_blank = True
                self.indent = end - self.data.rfind(b"\n", self.at, end) - 1
            elif self.line_is_blank:
                self.indent += end - self.at
            self.at = end
            if end < len(self.data):
                return True
            if self.ended:
                return False
            self.grow()

    def line_end(self, limit: int) -> int:
        """Index of the line feed or the end of the text that ends the present line; -1: over ``limit`` bytes away."""
        while True:
            # Many documents may stand on one long line, and each asks for its end.
            begin = max(self.at, self._one_line_until - self.base)
            index = self.data.find(b"\n", begin, self.at + limit + 1)
            if index >= 0:
                return index
            self._one_line_until = self.base + min(len(self.data), self.at + limit + 1)
            if len(self.data) - self.at > limit:
                return -1
            if self.ended:
                return len(self.data)
            self.grow()
