"""Where bytes come from: the one kind of object that files, pipes and decompressors are read through."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

# Small enough to stay in the processor's cache between the system that fills it and the copy that leaves it.
_BUFFER_BYTES = 1 << 17


class Fault(Exception):  # noqa: N818 - it ends one file, whose reader makes a reject of it; a user never meets it
    """The bytes end here although they should not: why, as half a sentence."""


class Stream(io.RawIOBase):
    """Bytes that can be read once, from front to back. ``fault``, at their end: why it comes too early, or None."""

    fault: str | None = None

    def readable(self) -> bool:
        """True."""
        return True


class FileStream(Stream):
    """The next ``limit`` bytes of a file, or all. ``on_bytes`` is told of all that are read; ``count`` is how many."""

    def __init__(
        self,
        file: io.FileIO | io.BufferedIOBase,
        limit: int | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        self.count = 0
        # Of a pipe, take what is there.
        self._readinto = file.readinto if isinstance(file, io.FileIO) else file.readinto1
        self._limit = limit
        self._on_bytes = on_bytes

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer; 0 at the end."""
        if self._limit is not None:
            buffer = memoryview(buffer)[: self._limit - self.count]  # what ``read`` hands over is a bytearray
        try:
            count = self._readinto(buffer) or 0
        except OSError as error:
            self.fault = f"the file cannot be read from here on ({error.strerror})"
            return 0
        self.note(count)
        return count

    def note(self, count: int) -> None:
        """Count bytes as read."""
        self.count += count
        if self._on_bytes:
            self._on_bytes(count)


class ChunkStream(Stream):
    """Chunks as a stream. A :class:`Fault` that they raise ends it, and is kept."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer from one chunk; 0 at the end."""
        try:
            while not self._rest:
                self._rest = memoryview(next(self._chunks))
        except StopIteration:
            return 0
        except Fault as fault:
            self.fault, self._chunks = str(fault), iter(())
            return 0
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class PrefixedStream(Stream):
    """Bytes that have been read already, and then the rest of the stream they came from."""

    def __init__(self, head: bytes, stream: Stream) -> None:
        self._head = memoryview(head)
        self._stream = stream

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer; 0 at the end."""
        known = min(len(buffer), len(self._head))
        buffer = memoryview(buffer)  # what ``read`` hands over is a bytearray
        buffer[:known] = self._head[:known]
        self._head = self._head[known:]
        count = 0 if self._head or known == len(buffer) else self._stream.readinto(buffer[known:]) or 0
        self.fault = self._stream.fault
        return known + count


def chunks_of(stream: Stream) -> Iterator[bytes]:
    """A stream in pieces. Raises: Fault where it ends too early."""
    while chunk := stream.read(_BUFFER_BYTES):
        yield chunk
    if stream.fault:
        raise Fault(stream.fault)


def buffered(stream: Stream, block_bytes: int) -> io.BufferedReader:
    """A stream with a buffer: what is asked of it in small pieces is read in large ones."""
    return io.BufferedReader(stream, min(_BUFFER_BYTES, block_bytes))
