"""What a worker does: read one split, judge it, and write its rows beside their place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field

from pipeline.findings import Checked, count_batch
from pipeline.ingest.reached import Account, Reached
from pipeline.lake.identity import sampled_digest
from pipeline.lake.staging import StagedParts, StagedWriter
from pipeline.landing import land, tools
from pipeline.records import ToolDefinition
from pipeline.run import Judge, Settings
from pipeline.sources import Split

#: Keys of definitions that a process keeps, so as not to stage them again and again.
_DEFINITIONS_KEPT = 100_000


class Task(Struct):
    """One split to be staged. ``places``: of each source file, the name of its place.

    By path: ``sizes``, the bytes there are to read of each file; ``digests``, where one has been taken already; and
    ``begun``, the files whose reading began in an earlier split.
    """

    number: int
    split: Split
    places: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)


class StagedSplit(Struct):
    """What a worker hands back: small, and pickles. ``lost`` are files that could not be opened any more."""

    size_bytes: int
    staged: StagedParts
    reached: list[Reached]
    lost: list[str]
    checked: Checked


class _Bench:
    """What a process keeps from one split of a run to the next: what it learned of toolsets, and has told of tools."""

    def __init__(self, settings: Settings) -> None:
        self.judge = Judge(settings)
        self._told: set[str] = set()

    def untold(self, definitions: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        """Definitions not staged by this process yet, each once: its splits land in the order of their staging."""
        if len(self._told) > _DEFINITIONS_KEPT:
            self._told.clear()
        new = {one.key: one for one in definitions if one.key not in self._told}
        self._told.update(new)
        return list(new.values())


@lru_cache(maxsize=1)
def _bench(staging: Path, settings: Settings) -> _Bench:  # noqa: ARG001 -- the directory stands for the run
    return _Bench(settings)


def stage(
    task: Task,
    staging: Path,
    settings: Settings,
    ingested_at: datetime,
    on_bytes: Callable[[int], None] | None = None,
) -> StagedSplit:
    """Judge one split and write its rows beside their place. Runs in any process.

    ``on_bytes`` is told how many bytes of the files have been read since the last time.

    Raises:
        PipelineError: a file cannot be read, or the disk refuses.

    """
    digests, lost = _digests(task)
    pieces = [piece for piece in task.split.slices if piece.path not in lost]
    account = Account(pieces)
    checked = Checked()
    bench = _bench(staging, settings)
    with StagedWriter(staging, f"{task.number:06d}") as writer:
        for batch in bench.judge.batches(Split(tuple(pieces)), on_bytes, account.take_block, task.places):
            for table, rows in land(batch, ingested_at).items():
                writer.write(table, rows)
            writer.write("tools", tools(bench.untold(batch.definitions)))
            account.take_batch(batch)
            checked.add(count_batch(batch))
        staged = writer.finish()
    reached = account.close(lambda piece: piece.end == task.sizes[piece.path])
    for one in reached:
        one.digest = digests.get(one.path, "")
    return StagedSplit(sum(piece.size for piece in task.split.slices), staged, reached, lost, checked)


def _digests(task: Task) -> tuple[dict[str, str], list[str]]:
    """Samples of each file, taken before it is read; and the files that are gone.

    Were they taken afterwards, a file rewritten meanwhile would be known by what nobody has read. Of a file in several
    splits none may be left out alone: that one is for its reader to complain of.
    """
    digests = task.digests.copy()
    lost = []
    for piece in task.split.slices:
        path, size = piece.path, task.sizes[piece.path]
        if path not in task.begun:
            try:
                digests[path] = digests.get(path) or sampled_digest(path, size)
                os.stat(path)  # noqa: PTH116 -- ten thousand times, a Path would cost more
            except OSError:
                if piece.end == size:
                    lost.append(path)
    return digests, lost
