"""The processes that share out the work, and what ends them: a lost one, an interrupt, the end of their parent."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from pathlib import Path
from threading import Thread
from typing import TypeVar

from pipeline.errors import PipelineError
from pipeline.workers import leave_garbage

T = TypeVar("T")
R = TypeVar("R")

#: Results that may wait for an earlier one.
_AHEAD_PER_WORKER = 2
_THREADS = Path("/proc/self/task")


def map_in_processes(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """``work`` on every item in ``jobs`` processes, results in the order of the items.

    Raises:
        PipelineError: ``worker-lost``; and whatever ``work`` raises.
    """
    try:
        with ProcessPoolExecutor(jobs, _context(), initializer=_begin_worker) as executor:
            yield from _in_order(executor, work, items, jobs * _AHEAD_PER_WORKER)
    except BrokenProcessPool as error:
        raise PipelineError(
            "worker-lost",
            "a worker process was killed, or died without a word",
            "most often that is the system being out of memory: run the same command again with a smaller --jobs",
        ) from error


def _context() -> BaseContext:
    """How workers begin. A forked one is there at once, and that is safe while this process has just one thread.

    Libraries have threads of their own (Arrow, once it has read Parquet), so the system is asked and not Python.
    Otherwise a worker is spawned, which takes as long as starting the command.
    """
    alone = _THREADS.is_dir() and len(list(_THREADS.iterdir())) == 1
    return get_context("fork" if alone else "spawn")


def _in_order(executor: Executor, work: Callable[[T], R], items: Iterable[T], ahead: int) -> Iterator[R]:
    def submit(item: T) -> Future[R]:
        # A worker may be started here. Until it is set up it would answer an interrupt with a traceback.
        _hold_interrupts(held=True)
        try:
            return executor.submit(work, item)
        finally:
            _hold_interrupts(held=False)

    waiting = iter(items)
    running: deque[Future[R]] = deque(map(submit, islice(waiting, ahead)))
    try:
        while running:
            yield running.popleft().result()
            running.extend(map(submit, islice(waiting, 1)))
    except KeyboardInterrupt:
        # Nobody waits for what they are at. Cancelled futures would trip up an executor whose workers are gone.
        running.clear()
        for worker in active_children():
            worker.terminate()
        raise
    finally:
        for future in running:
            future.cancel()


def _hold_interrupts(*, held: bool) -> None:
    """Let interrupts of this thread wait, or come. A process started meanwhile inherits that."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, {signal.SIGINT})


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it, however it ends.

    A worker that waits for work holds both ends of the pipe it waits at, so that it would never learn of a parent that
    was killed, and would wait for ever.
    """
    leave_garbage()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _hold_interrupts(held=False)
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
