"""What has been read so far and not been handed on yet."""

from __future__ import annotations

from pipeline.records import RecordBlock, Reject

# A reject weighs more than its few bytes.
_REJECT_WEIGHT = 256


class Gathering:
    """Records and rejects of one file in the order of the text, until they leave as a block.

    ``weight`` is about the bytes they hold; ``torn`` whether the last of them was a reject.
    """

    def __init__(self, source_file: str) -> None:
        self.weight = 0
        self.torn = False
        self._source_file = source_file
        self._raws: list[bytes] = []
        self._lines: list[int] = []
        self._offsets: list[int] = []
        self._rejects: list[Reject] = []

    def add(self, raw: bytes, line: int, offset: int) -> None:
        """One record."""
        self._raws.append(raw)
        self._lines.append(line)
        self._offsets.append(offset)
        self.weight += len(raw)
        self.torn = False

    def add_lines(self, raws: list[bytes], line: int, offsets: list[int]) -> None:
        """Records that are consecutive lines, the first of them line number ``line``."""
        self._raws += raws
        self._lines += range(line, line + len(raws))
        self._offsets += offsets
        self.weight += offsets[-1] - offsets[0] + len(raws[-1])
        self.torn = False

    def reject(self, reject: Reject) -> None:
        """Something that could not be read."""
        self._rejects.append(reject)
        self.weight += _REJECT_WEIGHT
        self.torn = True

    def block(self, end_offset: int, end_line: int, unterminated: bool = False) -> RecordBlock:
        """All of it as a block, and begin anew."""
        block = RecordBlock(
            self._source_file,
            self._raws,
            self._lines,
            self._offsets,
            self._rejects,
            end_offset,
            end_line,
            unterminated,
        )
        self._raws, self._lines, self._offsets, self._rejects = [], [], [], []
        self.weight = 0
        return block
