"""What each worker reads: byte ranges of large JSON Lines files, batches of small files, and all others whole."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path

from msgspec import Struct

from pipeline.sources.decoding import decode
from pipeline.sources.paths import STDIN
from pipeline.sources.streams import FileStream

_READ_BYTES = 1 << 18
HEAD_BYTES = 1 << 12
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r")
# No JSON value holds these bytes, so that the framer starts afresh there, whatever came before.
_CUT = re.compile(rb"\}\r?\n(?=\{)")
_CUT_BYTES = 3


class FileSlice(Struct, frozen=True):
    """A file, or the records of it that begin in ``[start, end)``; ``end`` None is the end of the file.

    ``first_line`` is the line at ``start``, from 1. ``size`` is how many bytes of the file that is, 0 where nobody
    knows. Only plain UTF-8 files of one document after another are cut; others have one slice, from 0 to the size that
    was given for them, compressed as they are.
    """

    path: str
    start: int = 0
    end: int | None = None
    first_line: int = 1
    size: int = 0


class Split(Struct, frozen=True):
    """What one worker reads, in order."""

    slices: tuple[FileSlice, ...]


def plan_splits(
    files: Sequence[str],
    *,
    split_bytes: int,
    slices_per_split: int = 256,
    resume: Mapping[str, tuple[int, int]] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[Split]:
    """Cut and batch files into splits of about ``split_bytes``, found as they are asked for.

    Large files of JSON Lines are cut between two lines, and the line feeds before a slice are counted for its
    ``first_line``. ``resume``: per path, the offset and the line at which a file is to be read on, if it is one of
    those and still that long; else it is read whole. ``sizes``: per path, how many bytes of the file there are to read,
    however long it is by now; its last slice then ends there and not at the end of the file. A file that cannot be
    opened is left for its reader to say so.
    """
    batch: list[FileSlice] = []
    batch_bytes = 0
    for path in files:
        start, line = (resume or {}).get(path, (0, 1))
        for piece in _slices(path, split_bytes, start, line, (sizes or {}).get(path)):
            if batch and (batch_bytes + piece.size > split_bytes or len(batch) >= slices_per_split):
                yield Split(tuple(batch))
                batch, batch_bytes = [], 0
            batch.append(piece)
            batch_bytes += piece.size
    if batch:
        yield Split(tuple(batch))


def can_be_resumed(path: str) -> bool:
    """Whether a file that grows can be read on from where it was left: plain text, one document after another."""
    try:
        with FileIO(path) as file:
            return _can_be_cut(file)
    except OSError:
        return False


def _slices(path: str, split_bytes: int, start: int, line: int, limit: int | None) -> Iterator[FileSlice]:
    if path == STDIN:
        yield FileSlice(path)
        return
    if limit is not None and not start and limit <= split_bytes:
        yield FileSlice(path, end=limit, size=limit)
        return
    try:
        status = Path(path).stat()
        size = status.st_size if limit is None else limit
        if not stat.S_ISREG(status.st_mode) or not (start or size > split_bytes):
            yield FileSlice(path, end=limit, size=size)
            return
        with FileIO(path) as file:
            if start > size or not _can_be_cut(file):
                yield FileSlice(path, end=limit, size=size)
            elif start < size or not start:
                yield from _cut(file, FileSlice(path, start, limit, line, size - start), split_bytes)
    except OSError:
        yield FileSlice(path, end=limit)


def is_plain_object(head: bytes) -> bool:
    """Whether a file that begins so is plain text of one object or more: not compressed, not an archive, not binary."""
    return head.startswith(b"{") and len(head.translate(None, _CONTROLS)) == len(head) and b"ustar" not in head


def _can_be_cut(file: FileIO) -> bool:
    """Whether the file is plain text, and no array by its first byte."""
    head = file.read(HEAD_BYTES)
    if is_plain_object(head):
        return True  # as decoding would find, which takes ten times as long
    file.seek(0)
    text = decode(FileStream(file, HEAD_BYTES))
    head = text.stream.read(HEAD_BYTES) or b""
    return text.plain and text.binary is None and head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"["


def _cut(file: FileIO, whole: FileSlice, split_bytes: int) -> Iterator[FileSlice]:
    """The slice in pieces. The file is read once, in order, no further than the last place to cut, without copies."""
    start, first_line, stop = whole.start, whole.first_line, whole.start + whole.size
    buffer = bytearray(_READ_BYTES)
    view = memoryview(buffer)
    base, line, kept = start, first_line, 0  # offset and line of the buffer's first byte; bytes of the read before
    file.seek(start)
    while start + split_bytes < stop and (count := file.readinto(view[kept : kept + stop - file.tell()])):
        filled = kept + count
        while match := _CUT.search(buffer, max(0, start + split_bytes - base), filled):
            cut, cut_line = base + match.end(), line + _line_feeds(buffer, match.end())
            yield FileSlice(whole.path, start, cut, first_line, cut - start)
            start, first_line = cut, cut_line
        kept = min(_CUT_BYTES, filled)
        line += _line_feeds(buffer, filled - kept)
        base += filled - kept
        buffer[:kept] = buffer[filled - kept : filled]
    yield FileSlice(whole.path, start, whole.end, first_line, stop - start)


def _line_feeds(buffer: bytearray, end: int) -> int:
    """Line feeds before ``end``. In lines as long as a log's, finding each is many times faster than ``count``."""
    found = 0
    at = buffer.find(b"\n", 0, end)
    while at >= 0:
        found += 1
        at = buffer.find(b"\n", at + 1, end)
    return found
