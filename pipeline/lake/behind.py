"""Row groups encoded, compressed and written behind the reading: by one thread, a bounded number of them at a time.

Arrow lets go of the interpreter while it does that, so that a second core can read the next records meanwhile. What
is handed over is whole row groups and nothing else: each time the thread wants the interpreter it waits for it, five
milliseconds as a rule, and then the reading waits for the thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

#: Row groups that may be on their way to the disk, and bytes of them; with more, the reading waits. Two tables have
#: many rows, and of large arguments a single batch makes a row group several times as large as others.
_UNDER_WAY = 2
_UNDER_WAY_BYTES = 32 << 20


class Behind:
    """One thread that does what it is given, in that order. What fails in it is raised here, by a later call."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._under_way: deque[tuple[Future[None], int]] = deque()

    def do(self, work: Callable[[], None], size_bytes: int = 0) -> None:
        """Have something done that holds on to so many bytes, and wait while too much is under way.

        Raises:
            Whatever was raised by what has been done by now.

        """
        self._under_way.append((self._thread.submit(work), size_bytes))
        while len(self._under_way) > _UNDER_WAY or sum(held for _, held in self._under_way) > _UNDER_WAY_BYTES:
            self._wait_for_first()

    def do_last(self, work: Callable[[], T]) -> Future[T]:
        """Have something done after all that was given before, whose failure :meth:`wait` must be asked for first."""
        return self._thread.submit(work)

    def wait(self) -> None:
        """Wait for all that was given to :meth:`do`. Raises: whatever that raised."""
        while self._under_way:
            self._wait_for_first()

    def end(self) -> None:
        """Let nothing more be begun, and wait for what has been; what fails now does not matter any more."""
        self._thread.shutdown(cancel_futures=True)

    def _wait_for_first(self) -> None:
        self._under_way.popleft()[0].result()
