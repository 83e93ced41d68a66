"""Compressed bytes -> plain bytes: members and frames in a row, and all that comes out before a tear.

The usual readers lose what the failing call had already decompressed; here a tear gives its text first and is told
afterwards, as a ``Fault``.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator

from pipeline.sources.streams import ChunkStream, Fault

_PIECE_BYTES = 1 << 14  # of gzip: comes to 16 MiB at the very most
_OUTPUT_BYTES = 1 << 16


class _GzipMember:
    """One member: ``feed`` it until ``eof``; ``unused_data`` is what follows it."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        # A call that fails keeps what it had decompressed. A copy from before it gives that up byte by byte, until it
        # fails too.
        before = self._decoder.copy()
        try:
            text = self._decoder.decompress(data)
        except zlib.error:
            for byte in data:
                yield before.decompress(bytes((byte,)))
            raise
        yield text


class _Bzip2Stream:
    """One stream, like :class:`_GzipMember`; asked for a little at a time, since a call that fails gives nothing."""

    def __init__(self) -> None:
        self._decoder = bz2.BZ2Decompressor()

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield self._decoder.decompress(data, _OUTPUT_BYTES)
        while not (self._decoder.eof or self._decoder.needs_input):
            yield self._decoder.decompress(b"", _OUTPUT_BYTES)


def gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Text of all gzip members in a row; zero bytes between and after them are padding. Raises: Fault."""
    return _members(chunks, "gzip", b"\x1f\x8b", _GzipMember)


def bunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Text of all bzip2 streams in a row; zero bytes between and after them are padding. Raises: Fault."""
    return _members(chunks, "bzip2", b"BZh", _Bzip2Stream)


def _members(
    chunks: Iterator[bytes], name: str, magic: bytes, start: Callable[[], _GzipMember | _Bzip2Stream]
) -> Iterator[bytes]:
    member: _GzipMember | _Bzip2Stream | None = start()
    between = b""
    for piece in _pieces(chunks):
        data = between + piece
        while data:
            if member is None:
                data = data.lstrip(b"\0")
                if len(data) < len(magic) and magic.startswith(data):
                    break
                if not data.startswith(magic):
                    raise Fault(f"what follows the {name} data is not {name}")
                member = start()
            try:
                yield from member.feed(data)
            except (zlib.error, OSError) as error:
                raise Fault(f"the {name} data is damaged here ({error})") from error
            data = b""
            if member.eof:
                data, member = member.unused_data, None
        between = data
    if member is not None:
        raise Fault(f"the {name} data is cut off here")
    if between:
        raise Fault(f"what follows the {name} data is not {name}")


def _pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE_BYTES):
            yield chunk[start : start + _PIECE_BYTES]


def unzstd(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Text of all Zstandard frames in a row. Raises: Fault.

    A read that fails says nothing of the bytes it has already put into the buffer. They are found by filling the
    buffer with 0xFF first, which no UTF-8 text contains.
    """
    from pyarrow import CompressedInputStream, PythonFile  # slow to import, and few files need it

    file = ChunkStream(chunks)
    stream = CompressedInputStream(PythonFile(file, "r"), "zstd")
    buffer = bytearray(_OUTPUT_BYTES)
    while True:
        buffer[:] = b"\xff" * _OUTPUT_BYTES
        try:
            count = stream.readinto(buffer)
        except OSError as error:
            yield bytes(buffer.rstrip(b"\xff"))
            where = "cut off" if "runcated" in str(error) else "damaged"
            raise Fault(file.fault or f"the zstd data is {where} here") from error
        if not count:
            break
        yield bytes(buffer[:count])
    if file.fault:
        raise Fault(file.fault)
