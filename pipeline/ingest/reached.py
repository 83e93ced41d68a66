"""How far a worker has read each slice of its split, and where the next run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from pipeline.intake import source_name
from pipeline.records import LineBlock, RecordBlock
from pipeline.run import Batch
from pipeline.sources import FileSlice, can_be_resumed

#: Byte offset and line.
Place = tuple[int, int]
_NOWHERE: Place = (-1, 0)


class Reached(Struct):
    """How far one file was read. Small, and pickles.

    ``end_offset`` and ``end_line`` are where the next run goes on: the end, or the beginning of what the file ends in
    where that cannot be read (``torn``), since it may be whole by then. ``complete``: this was the file's last slice.
    ``digest`` is of samples, taken before the first slice was read.
    """

    path: str
    end_offset: int
    end_line: int
    complete: bool = True
    resumable: bool = False
    torn: bool = False
    digest: str = ""


class Account:
    """Follows the reading of a split, block by block and batch by batch."""

    def __init__(self, pieces: Sequence[FileSlice]) -> None:
        self._slices = [_Slice(piece) for piece in pieces]
        self._waiting: Iterator[_Slice] = iter(self._slices)
        self._current: _Slice | None = None
        self._rejects: dict[str, Place] = {}

    def take_block(self, block: RecordBlock | LineBlock) -> None:
        """Take note of a block. Blocks come in order, at least one a slice."""
        while self._current is None or self._current.piece.path != block.source_file:
            self._current = next(self._waiting)
        self._current.take(block)

    def take_batch(self, batch: Batch) -> None:
        """Take note of the rejects of a batch: of each file the last, unless something readable came after it."""
        last = {located.source_file: located.what for located in batch.rejects}
        turns = batch.rows.turns
        last_turn = dict(zip(turns.source_file, turns.offset, strict=True)) if last else {}
        for name, reject in last.items():
            self._rejects[name] = (reject.offset, reject.line)
            if last_turn.get(name, -1) > reject.offset:
                del self._rejects[name]

    def close(self, is_last: Callable[[FileSlice], bool]) -> list[Reached]:
        """How far each slice was read. ``is_last`` tells the last slice of a file."""
        return [
            part.reached(self._rejects.get(source_name(part.piece.path), _NOWHERE), last=is_last(part.piece))
            for part in self._slices
        ]


class _Slice:
    """A slice with the end of what has been read of it, and where the last thing in it begins."""

    def __init__(self, piece: FileSlice) -> None:
        self.piece = piece
        self._end: Place = (piece.start, piece.first_line)
        self._last: Place = _NOWHERE
        self._is_closed = True
        self._is_terminated = True

    def take(self, block: RecordBlock | LineBlock) -> None:
        self._end = (block.end_offset, block.end_line)
        if block.offsets:
            self._last = (block.offsets[-1], block.last_line)
            self._is_closed = block.last_is_closed
        if block.rejects and block.rejects[-1].offset >= self._last[0]:
            self._last = (block.rejects[-1].offset, block.rejects[-1].line)
        self._is_terminated = not block.unterminated

    def reached(self, reject: Place, *, last: bool) -> Reached:
        piece = self.piece
        if not last:
            return Reached(piece.path, *self._end, complete=False, resumable=True)
        resumable = can_be_resumed(piece.path)
        if resumable and reject >= self._last > _NOWHERE:
            return Reached(piece.path, *reject, resumable=True, torn=True)
        # Of a number or a word it is not known whether that was all, unless its line has ended.
        may_go_on = resumable and not self._is_closed and not self._is_terminated
        return Reached(piece.path, *(self._last if may_go_on else self._end), resumable=resumable)
