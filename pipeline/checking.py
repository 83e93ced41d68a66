"""Files to what a check shows of them: in this process, or shared out to workers; the same either way."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path

from pipeline.findings import Checked, check_batch
from pipeline.intake import Located, source_name
from pipeline.records import Reject
from pipeline.run import Judge, Settings
from pipeline.sources import STDIN, Split, plan_splits
from pipeline.workers import map_in_order

#: What one worker reads at a time: large enough that starting on it costs nothing, small enough to share out.
SPLIT_BYTES = 32 << 20


def check_files(
    files: Sequence[str],
    settings: Settings,
    *,
    show_all: bool = False,
    jobs: int = 1,
    split_bytes: int = SPLIT_BYTES,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[Checked]:
    """What the batches of some files come to, in log order, whatever the number of ``jobs``.

    In this process, or in workers where there is more than one split of about ``split_bytes`` to share out; standard
    input is this process's alone. A file that cannot be opened is a reject. ``on_bytes`` is told how many bytes of the
    files have been read since the last time.

    Raises:
        PipelineError: a file cannot be opened any more.
    """
    readable = [file for file in files if file == STDIN or os.access(file, os.R_OK)]
    if len(readable) < len(files):
        yield _unopened([file for file in files if file not in set(readable)])
    jobs = 1 if STDIN in readable else jobs
    splits = plan_splits(readable, split_bytes=split_bytes if jobs > 1 else sys.maxsize)
    first_two = list(islice(splits, 2))
    splits = chain(first_two, splits)
    if jobs > 1 and len(first_two) > 1:
        yield from _check_in_workers(splits, settings, show_all, jobs, on_bytes)
        return
    judge = Judge(settings)
    for split in splits:
        for batch in judge.batches(split, on_bytes):
            yield check_batch(batch, show_all)


def _check_in_workers(
    splits: Iterable[Split], settings: Settings, show_all: bool, jobs: int, on_bytes: Callable[[int], None] | None
) -> Iterator[Checked]:
    sizes: deque[int] = deque()

    def noted() -> Iterator[Split]:
        for split in splits:
            sizes.append(sum(piece.size for piece in split.slices))
            yield split

    for parts in map_in_order(partial(_check_split, settings=settings, show_all=show_all), noted(), jobs):
        yield from parts
        if on_bytes is not None:
            on_bytes(sizes.popleft())


@lru_cache(maxsize=1)
def _judge_of(settings: Settings) -> Judge:
    """The judge of a worker, which keeps what it has learned from one split to the next."""
    return Judge(settings)


def _check_split(split: Split, settings: Settings, show_all: bool) -> list[Checked]:
    return [check_batch(batch, show_all) for batch in _judge_of(settings).batches(split)]


def _unopened(files: Sequence[str]) -> Checked:
    """Files that are there and may not be read, or links that lead nowhere: a reject each, so that all else counts."""
    names = [source_name(file) for file in files]
    reasons = ["no right to read it" if Path(file).exists() else "a link that leads nowhere" for file in files]
    rejects = [
        Located(name, Reject(1, 0, 0, f"the file cannot be opened: {reason}"))
        for name, reason in zip(names, reasons, strict=True)
    ]
    return Checked(
        records=len(files),
        reject_count=len(files),
        rejects=rejects,
        files_rejected={one.source_file: one.what.reason for one in rejects},
    )
