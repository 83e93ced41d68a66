"""Where fetched documents go: a JSONL file that a later run continues, or a stream that is written and forgotten.

A line and its line feed go out in one append, so a killed run leaves whole lines and at most one torn tail, which has
no line feed. The next run cuts the tail off before it writes. Killing a process loses nothing that was appended; for
a power failure the file is synced at each bookmark and at the end.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Protocol

from pipeline.errors import PipelineError
from pipeline.fetch.documents import MalformedError, read_document
from pipeline.fetch.ids import is_good_id

if sys.platform != "win32":
    import fcntl


class Sink(Protocol):
    """Somewhere to append documents to. ``ids`` are those it holds; ``path`` is None where it cannot be continued."""

    ids: set[str]
    path: Path | None

    def append(self, id_: str, line: bytes) -> None:
        """Write one document (no line break in it) and its line feed."""

    def sync(self) -> None:
        """Do not return before what was appended is safe."""


class LineStream:
    """A stream such as standard output: each line is flushed as it comes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.ids: set[str] = set()
        self.path: Path | None = None
        self._stream = stream

    def append(self, id_: str, line: bytes) -> None:
        """Write and flush one line.

        Raises:
            OSError: The reader has gone.
        """
        self._stream.write(line + b"\n")
        self._stream.flush()
        self.ids.add(id_)

    def sync(self) -> None:
        """Nothing to do: each line was flushed."""


class LineFile:
    """A JSONL file of documents, opened for appending, its ids known and its torn tail gone. A context manager.

    Raises:
        PipelineError: ``out-unwritable``, ``out-in-use`` (another run holds it), or ``out-not-ours``: a line of it is
            no document with the id of a stored answer. Such a file is left as it is.
    """

    def __init__(self, path: Path) -> None:
        self.ids: set[str] = set()
        self.path: Path | None = path
        self._name = str(path)
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise unwritable(self._name, error) from None
        try:
            self._lock()
            self._size = self._take_up() if stat.S_ISREG(os.fstat(self._descriptor).st_mode) else None
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def append(self, id_: str, line: bytes) -> None:
        """Append one line whole, or nothing of it.

        Raises:
            PipelineError: ``out-unwritable``: the disk is full, say.
        """
        data = memoryview(line + b"\n")
        rest = data
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            if self._size is not None:
                os.ftruncate(self._descriptor, self._size)
            raise unwritable(self._name, error) from None
        if self._size is not None:
            self._size += len(data)
        self.ids.add(id_)

    def sync(self) -> None:
        """Have the system put the file on its disk."""
        if self._size is not None:
            os.fsync(self._descriptor)

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PipelineError(
                "out-in-use", f"{self._name} is being written by another run.", "Wait for it, or give another --out."
            ) from None
        except OSError:
            return  # a file system without locks: two runs at once are then the user's care

    def _take_up(self) -> int:
        """Learn the ids of the whole lines, mend the end, and return the size in bytes."""
        size = 0
        with os.fdopen(os.dup(self._descriptor), "rb") as reader:
            reader.seek(0)
            for number, line in enumerate(reader, 1):
                if line.endswith(b"\n"):
                    self._know(line, number)
                    size += len(line)
                else:
                    size += self._mend(line, number, size)
        return size

    def _know(self, line: bytes, number: int) -> None:
        if not line.strip():
            return
        try:
            id_ = read_document(line).id
        except MalformedError as error:
            raise self._not_ours(number, str(error)) from None
        if not isinstance(id_, str) or not is_good_id(id_):
            raise self._not_ours(number, "it has no id of a stored answer")
        self.ids.add(id_)

    def _mend(self, tail: bytes, number: int, offset: int) -> int:
        """Finish a last line that lacks only its line feed, cut a torn one off; returns the bytes that stay."""
        if _is_torn(tail):
            os.ftruncate(self._descriptor, offset)
            return 0
        self._know(tail, number)
        os.write(self._descriptor, b"\n")
        return len(tail) + 1

    def _not_ours(self, number: int, why: str) -> PipelineError:
        return PipelineError(
            "out-not-ours",
            f"{self._name}:{number} is not a record that fetch wrote: {why}. The file was left as it is.",
            "Give a new file as --out, or one that an earlier fetch wrote.",
        )


def _is_torn(tail: bytes) -> bool:
    """Whether this is the beginning of a document and not a whole one, nor text of some other kind."""
    text = tail.strip(b"\0 \t\r")  # after a power failure some file systems show zeros where the data was to be
    if not text:
        return True
    try:
        read_document(text)
    except MalformedError:
        return text.startswith(b"{")
    return False


def unwritable(name: str, error: OSError) -> PipelineError:
    """The error for a file that cannot be written."""
    return PipelineError("out-unwritable", f"Cannot write {name}: {error.strerror or error}.")


def write_unreadable(path: Path, ids: list[str]) -> None:
    """Write ids, one a line, in place of what the file held: itself a list that ``--ids`` reads.

    Raises:
        PipelineError: ``out-unwritable``.
    """
    try:
        path.write_text("".join(f"{id_}\n" for id_ in ids), encoding="ascii")
    except OSError as error:
        raise unwritable(str(path), error) from None
