"""Work on several cores: results in the order of the work, and a clear word when a worker is lost."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from pipeline.errors import PipelineError
from pipeline.run import leave_garbage

T = TypeVar("T")
R = TypeVar("R")

#: Results that may wait for an earlier one.
_AHEAD_PER_WORKER = 2


def map_in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """``work`` on every item, results in their order, a bounded number of them ahead.

    With one job all runs in this process. Workers are spawned, not forked: threads of Arrow do not survive a fork.

    Raises:
        PipelineError: ``worker-lost`` or ``out-of-memory``; and whatever ``work`` raises.

    """
    try:
        if jobs <= 1:
            yield from map(work, items)
            return
        with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin_worker) as executor:
            yield from _in_order(executor, work, items, jobs * _AHEAD_PER_WORKER)
    except BrokenProcessPool as error:
        raise PipelineError(
            "worker-lost",
            "a worker process was killed, or died without a word",
            "most often that is the system being out of memory: run the same command again with a smaller --jobs",
        ) from error
    except MemoryError as error:
        raise PipelineError(
            "out-of-memory", "there is not enough memory", "run the same command again with a smaller --jobs"
        ) from error


def _in_order(executor: Executor, work: Callable[[T], R], items: Iterable[T], ahead: int) -> Iterator[R]:
    waiting = iter(items)
    running: deque[Future[R]] = deque(executor.submit(work, item) for item in islice(waiting, ahead))
    try:
        while running:
            yield running.popleft().result()
            running.extend(executor.submit(work, item) for item in islice(waiting, 1))
    finally:
        for future in running:
            future.cancel()


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it, however it ends.

    A worker that waits for work holds both ends of the pipe it waits at, so that it would never learn of a parent that
    was killed, and would wait for ever.
    """
    leave_garbage()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
