"""One slice of a file -> blocks of records, whatever its compression, encoding and layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from io import BufferedIOBase, FileIO
from typing import cast

from pipeline.errors import PipelineError
from pipeline.records import LineBlock, RecordBlock, Reject
from pipeline.sources.decoding import Text, decode
from pipeline.sources.framing import MAX_RECORD_BYTES, Framer
from pipeline.sources.paths import STDIN
from pipeline.sources.splits import HEAD_BYTES, FileSlice, is_plain_object
from pipeline.sources.streams import ChunkStream, FileStream
from pipeline.sources.window import Window

#: A file up to this size is looked at whole: it may be one line.
_SMALL_BYTES = 1 << 20


def read_blocks(
    piece: FileSlice,
    *,
    block_bytes: int = 1 << 20,
    max_record_bytes: int = MAX_RECORD_BYTES,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[RecordBlock | LineBlock]:
    """Records of a slice in the order of the file, in blocks of about ``block_bytes``; at least one block.

    What cannot be read is a reject in its block, and all else is read. ``on_bytes`` is told of every so many bytes of
    the file (compressed ones, if it is) as they are read. Lines that look like a record each come out as they are.

    Raises: PipelineError: ``file-unreadable`` where the file cannot be opened.
    """
    with _open(piece.path) as file:
        if isinstance(file, FileIO) and not piece.start:
            block = _one_line(file, piece, max_record_bytes)
            if block is not None:
                if on_bytes is not None:
                    on_bytes(block.end_offset)
                yield block
                return
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
        yield from Framer(window, piece.path, block_bytes, max_record_bytes).blocks(whole_lines=True)


def frame_lines(block: LineBlock, *, max_record_bytes: int = MAX_RECORD_BYTES) -> Iterator[RecordBlock]:
    """The records of lines that could not be read all at once, in blocks; at least one block.

    The same as they would have been, had nobody tried: lines come out only where reading may begin afresh.
    """
    text = bytes(block.text[: block.end])
    block_bytes = len(text) + 1  # so that they are one block, if nothing is wrong with them
    window = Window(ChunkStream(iter([text])), block.offsets[0], block.first_line, block_bytes)
    for framed in Framer(window, block.source_file, block_bytes, max_record_bytes).blocks(whole_lines=False):
        yield cast("RecordBlock", framed)


def _one_line(file: FileIO, piece: FileSlice, max_record_bytes: int) -> LineBlock | None:
    """The block of a small plain file that is one line, an object by its two ends; None where it is anything else.

    What the framer would say of it, for a third of the cost: directories of one answer a file are common.
    """
    if not 0 < piece.size <= _SMALL_BYTES or (piece.end is not None and piece.end > _SMALL_BYTES):
        return None
    wanted = _SMALL_BYTES + 1 if piece.end is None else piece.end
    data = file.read(wanted)
    line = data[:-1] if data.endswith(b"\n") else data
    if (
        len(data) > _SMALL_BYTES
        or len(line) > max_record_bytes
        or not line.endswith(b"}")
        or b"\n" in line
        or b"\r" in line
        or not is_plain_object(line[:HEAD_BYTES])
    ):
        file.seek(0)
        return None
    ended = len(line) < len(data)
    return LineBlock(piece.path, data, len(data), [0], [0], 1, len(data), 2 if ended else 1, not ended)


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
