"""The run: what is to be read, shared out to workers; what they stage, landed in the order of the logs, committed."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct, field

from pipeline.errors import PipelineError
from pipeline.findings import Checked
from pipeline.ingest.staging import StagedSplit, Task, stage
from pipeline.intake import source_name
from pipeline.lake.decisions import Decision
from pipeline.lake.files import FileRead
from pipeline.lake.store import Lake
from pipeline.run import Settings
from pipeline.sources import STDIN, Split, plan_splits
from pipeline.workers import map_in_order

#: What a worker stages at a time at the very most. A part of a table is what one split brings.
SPLIT_BYTES = 128 << 20
#: The same where there are no other workers to share with. To find where to cut a file is to read it, once more.
SPLIT_BYTES_ALONE = 512 << 20
_SPLIT_FILES = 2048
#: Less than this is not worth another worker, which takes a third of a second to start.
_SMALLEST_SPLIT_BYTES = 24 << 20
_SMALLEST_SPLIT_FILES = 512
#: How long rows may wait for a commit. It costs some fsyncs; what waits for it when a run is killed is read again.
_COMMIT_EVERY_S = 20.0


class Ingested(Struct):
    """What a run did: files by what was decided about them, rows landed by table, and what the calls landed came to.

    ``unread`` are files that could not be opened, and ``torn`` how many ended in something that cannot be read yet.
    """

    decisions: Counter[str] = field(default_factory=Counter)
    replaced: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    torn: int = 0
    checked: Checked = field(default_factory=Checked)


def ingest(
    files: Sequence[str],
    root: Path,
    settings: Settings,
    *,
    jobs: int,
    full: bool = False,
    on_plan: Callable[[int], None] | None = None,
    on_split: Callable[[int, int], None] | None = None,
) -> Ingested:
    """Land the verdicts of files in the lake at ``root``: each record once, however often and under whatever name.

    ``full`` reads everything anew. ``on_plan`` is told how many bytes there are to read, ``on_split`` how many of them
    have just been read, and how many calls have just landed. Files that cannot be opened are left out and named.

    Raises:
        PipelineError: something that is no file, the lake cannot be opened or written, a worker is lost; in a ``full``
            run also a file that cannot be opened. The lake is then as the last commit left it.

    """
    done = Ingested()
    readable = list(_readable(files, done.unread))
    _refuse_to_replace_by_less(full, done.unread)
    with Lake(root, full=full) as lake:
        decisions = lake.plan(readable)
        lake.begin(decisions)
        done.decisions.update(decision.action for decision in decisions)
        done.replaced = [decision.path for decision in decisions if decision.action == "replaced"]
        to_read = [decision for decision in decisions if decision.to_read]
        if on_plan is not None:
            on_plan(sum(map(_bytes_left, to_read)))
        _Reading(lake, to_read, done, on_split).run(settings, jobs)
        _refuse_to_replace_by_less(full, done.unread)
        lake.finish()
    return done


def _readable(files: Sequence[str], unread: list[str]) -> Iterator[str]:
    for file in files:
        if file == STDIN:
            raise PipelineError(
                "no-standard-input",
                "standard input has no name by which to know it again",
                "save it to a file, and give that",
            )
        if not os.access(file, os.R_OK):
            unread.append(file)
        elif not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116 -- ten thousand times, a Path would cost more
            raise PipelineError(
                "not-a-file",
                f"{file!r} is a pipe or a device, which has no content by which to know it again",
                "save what comes from it to a file, and give that",
            )
        else:
            yield file


def _refuse_to_replace_by_less(full: bool, unread: Sequence[str]) -> None:
    if full and unread:
        raise PipelineError(
            "file-unreadable",
            f"{unread[0]!r} cannot be opened, and --full would lose what the lake holds of it",
            "look at its name and at your right to read it, or leave it out",
        )


class _Reading:
    """The files to be read, on their way into the lake."""

    def __init__(
        self, lake: Lake, to_read: Sequence[Decision], done: Ingested, on_split: Callable[[int, int], None] | None
    ) -> None:
        self._lake = lake
        self._decisions = {decision.path: decision for decision in to_read}
        self._done = done
        self._on_split = on_split
        self._told_bytes = 0
        self._committed_at = time.monotonic()

    def run(self, settings: Settings, jobs: int) -> None:
        """Read them all, in this process where there is only one split to read."""
        tasks = self._tasks(jobs)
        first_two = list(islice(tasks, 2))
        jobs = jobs if len(first_two) > 1 else 1
        work = partial(stage, staging=self._lake.staging, settings=settings, ingested_at=datetime.now(UTC))
        if jobs == 1:
            work = partial(work, on_bytes=self._tell_bytes)
        for staged in map_in_order(work, chain(first_two, tasks), jobs):
            self._land(staged)

    def _tell_bytes(self, size_bytes: int) -> None:
        """Tell of bytes that were read in this process, for a split here may take a while."""
        self._told_bytes += size_bytes
        if self._on_split is not None:
            self._on_split(size_bytes, 0)

    def _tasks(self, jobs: int) -> Iterator[Task]:
        decisions = list(self._decisions.values())
        splits = plan_splits(
            list(self._decisions),
            split_bytes=_share(
                sum(map(_bytes_left, decisions)),
                jobs,
                _SMALLEST_SPLIT_BYTES,
                SPLIT_BYTES if jobs > 1 else SPLIT_BYTES_ALONE,
            ),
            slices_per_split=_share(len(decisions), jobs, _SMALLEST_SPLIT_FILES, _SPLIT_FILES),
            resume={one.path: (one.start_offset, one.start_line) for one in decisions if one.start_offset},
            sizes={one.path: one.stat.size for one in decisions},
        )
        return (self._task(number, split) for number, split in enumerate(splits))

    def _task(self, number: int, split: Split) -> Task:
        task = Task(number, split)
        for piece in split.slices:
            decision = self._decisions[piece.path]
            task.places[source_name(piece.path)] = decision.place_name
            task.sizes[piece.path] = decision.stat.size
            if piece.start > decision.start_offset:
                task.begun.add(piece.path)
            elif decision.digest:
                task.digests[piece.path] = decision.digest
        return task

    def _land(self, result: StagedSplit) -> None:
        done = self._done
        reads = [
            FileRead(
                self._decisions[at.path],
                at.end_offset,
                at.end_line,
                complete=at.complete,
                resumable=at.resumable,
                torn=at.torn,
                digest=at.digest,
            )
            for at in result.reached
        ]
        landed = self._lake.land(result.staged, reads)
        done.rows.update(landed.rows)
        done.duplicates += landed.duplicates
        done.torn += sum(read.torn for read in reads)
        done.unread += result.lost
        if landed.duplicates:
            result.checked.calls = landed.rows.get("calls", 0)
            result.checked.states = Counter(landed.states)
        done.checked.add(result.checked)
        if self._on_split is not None:
            self._on_split(result.size_bytes - self._told_bytes, landed.rows.get("calls", 0))
            self._told_bytes = 0
        if time.monotonic() - self._committed_at > _COMMIT_EVERY_S:
            self._lake.commit()
            self._committed_at = time.monotonic()


def _bytes_left(decision: Decision) -> int:
    return decision.stat.size - decision.start_offset


def _share(total: int, jobs: int, least: int, most: int) -> int:
    """How much a split should hold: no more than ``most``, and the same for every worker."""
    rounds = -(-total // (jobs * most)) or 1
    return max(-(-total // (jobs * rounds)), least)
