"""Work on several cores: results in the order of the work, a bounded number ahead, a clear word when one is lost."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pipeline.errors import PipelineError

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """``work`` on every item, results in their order, a bounded number of them ahead; with one job in this process.

    Raises:
        PipelineError: ``worker-lost`` or ``out-of-memory``; and whatever ``work`` raises.
    """
    try:
        if jobs <= 1:
            yield from map(work, items)
            return
        from pipeline.workers.processes import map_in_processes  # slow to import, and a small log needs none

        yield from map_in_processes(work, items, jobs)
    except MemoryError as error:
        raise PipelineError(
            "out-of-memory", "there is not enough memory", "run the same command again with a smaller --jobs"
        ) from error


def leave_garbage() -> None:
    """Stop looking for reference cycles in this process: records make millions of values and no cycles.

    The collector would walk all values that wait for their batch, again and again, and find nothing; and all that was
    imported once more, when the interpreter ends.
    """
    gc.disable()
    atexit.register(gc.freeze)
