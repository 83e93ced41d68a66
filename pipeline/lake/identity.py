"""What a file is known by: its size, its times and inode, and a digest of samples of its content.

The digest is of samples because reading five gigabytes to learn that nothing is new would cost as much as the work
itself. The head tells one export from another, the tail shows that something was added, and windows spread over
the rest catch most edits in the middle; a file of up to :data:`WHOLE_BYTES` is digested whole. Where two files must be
told apart for certain (is this one a copy?), :func:`same_content` compares every byte.
"""

from __future__ import annotations

import hashlib
import os

from msgspec import Struct

_END_BYTES = 64 * 1024
_WINDOW_BYTES = 4 * 1024
_WINDOWS = 16
WHOLE_BYTES = 2 * _END_BYTES + _WINDOWS * _WINDOW_BYTES
_COMPARE_BYTES = 1024 * 1024


class FileStat(Struct, frozen=True):
    """What the file system says about a file: size in bytes, time of last change in nanoseconds, device and inode."""

    size: int
    mtime_ns: int
    device: int
    inode: int

    @classmethod
    def of(cls, path: str) -> FileStat:
        """Ask the file system. Raises: OSError."""
        stat = os.stat(path)  # noqa: PTH116  (ten thousand files: a Path each would cost more than the call)
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_dev, stat.st_ino)


def source_name(path: str) -> str:
    """Name under which a file is recorded and stands in ``source_file``: its path, undecodable bytes escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def sampled_digest(path: str, size: int) -> str:
    """Digest of samples of the first ``size`` bytes, as 32 hexadecimal digits; empty where the file is shorter.

    The same for the same first ``size`` bytes whatever follows them, so that a file that grew is recognised.

    Raises:
        OSError: the file cannot be read.

    """
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for offset, length in _samples(size):
            data = _read_at(descriptor, offset, length)
            if len(data) < length:
                return ""
            digest.update(data)
    finally:
        os.close(descriptor)
    return digest.hexdigest()[:32]


def same_content(left: str, right: str, size: int) -> bool:
    """Whether the first ``size`` bytes of two files are the same, every one compared. Raises: OSError."""
    first = os.open(left, os.O_RDONLY | os.O_CLOEXEC)
    try:
        second = os.open(right, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for offset in range(0, size, _COMPARE_BYTES):
                length = min(_COMPARE_BYTES, size - offset)
                data = _read_at(first, offset, length)
                if len(data) < length or data != _read_at(second, offset, length):
                    return False
        finally:
            os.close(second)
    finally:
        os.close(first)
    return True


def _samples(size: int) -> list[tuple[int, int]]:
    if size <= WHOLE_BYTES:
        return [(0, size)]
    room = size - 2 * _END_BYTES - _WINDOW_BYTES
    windows = [(_END_BYTES + room * step // (_WINDOWS - 1), _WINDOW_BYTES) for step in range(_WINDOWS)]
    return [(0, _END_BYTES), *windows, (size - _END_BYTES, _END_BYTES)]


def _read_at(descriptor: int, offset: int, length: int) -> bytes:
    data = os.pread(descriptor, length, offset)
    while len(data) < length:
        more = os.pread(descriptor, length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data
