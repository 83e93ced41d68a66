"""One slice of a file -> blocks of records, whatever its compression, encoding and layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from io import BufferedIOBase, FileIO
from typing import cast

from pipeline.errors import PipelineError
from pipeline.records import RecordBlock, Reject
from pipeline.sources.decoding import Text, decode
from pipeline.sources.framing import MAX_RECORD_BYTES, Framer
from pipeline.sources.paths import STDIN
from pipeline.sources.splits import FileSlice
from pipeline.sources.streams import FileStream
from pipeline.sources.window import Window


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
        if piece.start and isinstance(file, FileIO):
            file.seek(piece.start)
        stream = FileStream(file, None if piece.end is None else piece.end - piece.start, on_bytes)
        text = Text(stream, None, True) if piece.start else decode(stream)
        if text.binary:
            size = max(stream.count, os.fstat(file.fileno()).st_size if isinstance(file, FileIO) else 0)
            stream.note(size - stream.count)
            yield RecordBlock(piece.path, [], [], [], [Reject(1, 0, size, text.binary)], size)
            return
        window = Window(text.stream, piece.start, piece.first_line, block_bytes)
        yield from Framer(window, piece.path, block_bytes, max_record_bytes).blocks()


def _open(path: str) -> AbstractContextManager[FileIO | BufferedIOBase]:
    if path == STDIN:
        return nullcontext(cast("BufferedIOBase", sys.stdin.buffer))
    try:
        return FileIO(path)
    except OSError as error:
        raise PipelineError(
            "file-unreadable",
            f"{path!r} cannot be opened ({error.strerror})",
            "Look at its name and at your right to read it.",
        ) from error
