"""One slice of a file -> blocks of records, whatever its compression, encoding and layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from io import FileIO
from typing import Protocol

from pipeline.errors import PipelineError
from pipeline.records import RecordBlock, Reject
from pipeline.sources.compression import Fault
from pipeline.sources.decoding import Text, decode
from pipeline.sources.framing import MAX_RECORD_BYTES, Framer
from pipeline.sources.paths import STDIN
from pipeline.sources.splits import FileSlice
from pipeline.sources.window import Window


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def read_blocks(
    piece: FileSlice,
    *,
    block_bytes: int = 1 << 20,
    max_record_bytes: int = MAX_RECORD_BYTES,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[RecordBlock]:
    """Records of a slice in the order of the file, in blocks of about ``block_bytes``; at least one block.

    What cannot be read is a reject in its block, and all else is read. ``on_bytes`` is told of every so many bytes of
    the file (compressed ones, if it is) as they are read.

    Raises: PipelineError: ``file-unreadable`` where the file cannot be opened.
    """
    with _open(piece.path) as file:
        meter = _Meter(on_bytes)
        if piece.start and isinstance(file, FileIO):
            file.seek(piece.start)
        limit = None if piece.end is None else piece.end - piece.start
        chunks = _chunks(file, limit, block_bytes, meter)
        text = Text(chunks, None, True) if piece.start else decode(chunks)
        if text.binary:
            size = max(_size(file), meter.count)
            meter.add(size - meter.count)
            yield RecordBlock(piece.path, [], [], [], [Reject(1, 0, size, text.binary)], size)
            return
        window = Window(text.chunks, piece.start, piece.first_line, block_bytes)
        yield from Framer(window, piece.path, block_bytes, max_record_bytes).blocks()


class _Meter:
    """Counts bytes, and passes the counts on."""

    def __init__(self, on_bytes: Callable[[int], None] | None) -> None:
        self.count = 0
        self._on_bytes = on_bytes

    def add(self, count: int) -> None:
        self.count += count
        if self._on_bytes:
            self._on_bytes(count)


def _open(path: str) -> AbstractContextManager[_Readable]:
    if path == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        return FileIO(path)
    except OSError as error:
        raise PipelineError(
            "file-unreadable",
            f"{path!r} cannot be opened ({error.strerror})",
            "Look at its name and at your right to read it.",
        ) from error


def _size(file: _Readable) -> int:
    return os.fstat(file.fileno()).st_size if isinstance(file, FileIO) else 0


def _chunks(file: _Readable, limit: int | None, size: int, meter: _Meter) -> Iterator[bytes]:
    """The file from where it stands, at most ``limit`` bytes. Raises: Fault where the disk does not give them."""
    read = getattr(file, "read1", file.read)  # of a pipe, what is there
    while limit is None or limit > 0:
        try:
            chunk = read(size if limit is None else min(size, limit))
        except OSError as error:
            raise Fault(f"the file cannot be read from here on ({error.strerror})") from error
        if not chunk:
            return
        if limit is not None:
            limit -= len(chunk)
        meter.add(len(chunk))
        yield chunk
