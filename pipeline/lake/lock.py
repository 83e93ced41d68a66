"""One run at a time: an advisory lock on a file of the lake, which dies with the process that holds it."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pipeline.errors import PipelineError

LOCK_NAME = "_lock"

# A POSIX record lock belongs to the process: a worker forked from the run does not inherit it, so that workers which
# outlive a killed run cannot keep the lake locked (a flock lock would live on in their copies of the descriptor).
# The price is that it says nothing within one process, and goes when any descriptor of the file is closed: hence this
# set, asked before the file is opened a second time.
_held: set[str] = set()


class LakeLock:
    """The right to write to a lake, from construction to :meth:`release`. A dead process never holds it.

    Raises:
        PipelineError: ``lake-locked`` when another run holds it, saying which process and since when.
        OSError: the lock file cannot be made.

    """

    def __init__(self, lake: Path) -> None:
        self._key = os.path.realpath(lake)
        self._pid = os.getpid()
        path = lake / LOCK_NAME
        if self._key in _held:
            raise _locked(lake, f"pid {os.getpid()}, this very process")
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            holder = os.pread(self._fd, 200, 0).decode("utf-8", "replace").strip()
            os.close(self._fd)
            raise _locked(lake, holder) from None
        _held.add(self._key)
        with suppress(OSError):  # a full disk: the lock holds all the same, it only does not say whose it is
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"pid {self._pid}, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n".encode(), 0)

    def release(self) -> None:
        """Let the next run in. The file stays: removing it would race with a run that has just opened it."""
        if self._key in _held and os.getpid() == self._pid:
            _held.discard(self._key)
            os.close(self._fd)


def _locked(lake: Path, holder: str) -> PipelineError:
    return PipelineError(
        "lake-locked",
        f"another run is writing to {lake} ({holder or 'it has not said who it is'})",
        "wait until it has ended, or write to another lake",
    )
