"""Logs into a lake, only what is new: workers stage the rows of their splits, this process lands them in order and commits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from pipeline.errors import PipelineError
from pipeline.findings import Checked, check_batch
from pipeline.landing import land, tools
from pipeline.lake.decisions import Decision
from pipeline.lake.files import FileRead
from pipeline.lake.staging import StagedParts, StagedWriter
from pipeline.lake.store import Lake
from pipeline.records import RecordBlock, ToolDefinition
from pipeline.run import Judge, Settings, map_splits, source_name
from pipeline.sources import STDIN, FileSlice, Split, can_be_resumed, plan_splits

#: What a worker stages at a time. A part of a table is what one split brings.
SPLIT_BYTES = 128 << 20
_SLICES_PER_SPLIT = 2048
#: How long rows may wait for a commit. A commit costs some fsyncs; what is not committed when a run is killed is read again.
_COMMIT_EVERY_S = 20.0


class Ingested(Struct):
    """What a run did: files by what was decided about them, rows landed by table, and what the calls came to."""

    decisions: Counter[str] = field(default_factory=Counter)
    replaced: list[str] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    torn: int = 0
    checked: Checked = field(default_factory=Checked)


class _Reached(Struct):
    """How far a slice was read, and where its last record or reject begins."""

    path: str
    end_offset: int = 0
    end_line: int = 1
    last_offset: int = -1
    last_line: int = 0
    unterminated: bool = False
    torn: bool = False
    resumable: bool = False


class _StagedSplit(Struct):
    """What a worker hands back: small, and pickles."""

    staged: StagedParts
    reached: list[_Reached]
    checked: Checked


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
    and how many rows have just landed.

    Raises:
        PipelineError: a file cannot be read, or the lake cannot be opened or written.
    """
    if STDIN in files:
        raise PipelineError(
            "no-standard-input", "standard input has no name by which to know it again", "save it to a file, and give that"
        )
    done = Ingested()
    with Lake(root, full=full) as lake:
        decisions = lake.plan(files)
        lake.begin(decisions)
        done.decisions.update(decision.action for decision in decisions)
        done.replaced = [decision.path for decision in decisions if decision.action == "replaced"]
        to_read = [decision for decision in decisions if decision.to_read]
        if on_plan is not None:
            on_plan(sum(decision.stat.size - decision.start_offset for decision in to_read))
        if to_read:
            _read_all(lake, to_read, settings, jobs, done, on_split)
        lake.finish()
    return done


def _read_all(
    lake: Lake,
    to_read: Sequence[Decision],
    settings: Settings,
    jobs: int,
    done: Ingested,
    on_split: Callable[[int, int], None] | None,
) -> None:
    by_path = {decision.path: decision for decision in to_read}
    resume = {d.path: (d.start_offset, d.start_line) for d in to_read if d.start_offset}
    splits = plan_splits(
        list(by_path), split_bytes=_split_bytes(to_read, jobs), slices_per_split=_SLICES_PER_SPLIT, resume=resume
    )
    numbered = (_Numbered(number, split) for number, split in enumerate(splits))
    places = {source_name(decision.path): decision.place_name for decision in to_read}
    work = partial(_stage, staging=lake.staging, settings=settings, places=places, ingested_at=datetime.now(UTC))
    committed_at = time.monotonic()
    for numbered_split, result in map_splits(work, numbered, jobs):
        reads = [_file_read(by_path, piece, at) for piece, at in zip(numbered_split.slices, result.reached, strict=True)]
        landed = lake.land(result.staged, reads)
        done.rows.update(landed.rows)
        done.duplicates += landed.duplicates
        done.torn += sum(read.torn for read in reads)
        done.checked.add(result.checked)
        if on_split is not None:
            on_split(sum(piece.size for piece in numbered_split.slices), landed.rows.get("calls", 0))
        if time.monotonic() - committed_at > _COMMIT_EVERY_S:
            lake.commit()
            committed_at = time.monotonic()


class _Numbered(NamedTuple):
    number: int
    split: Split


def _split_bytes(to_read: Sequence[Decision], jobs: int) -> int:
    """As large as memory likes, and small enough that every worker has something to do."""
    total = sum(decision.stat.size - decision.start_offset for decision in to_read)
    return max(min(SPLIT_BYTES, total // max(jobs, 1) + 1), 4 << 20)


def _file_read(by_path: Mapping[str, Decision], piece: FileSlice, at: _Reached) -> FileRead:
    return FileRead(
        by_path[piece.path],
        at.last_offset if at.torn else at.end_offset,
        at.last_line if at.torn else at.end_line,
        complete=piece.end is None,
        resumable=at.resumable,
        torn=at.torn,
    )


@lru_cache(maxsize=1)
def _judge_of_run(staging: Path, settings: Settings) -> Judge:  # noqa: ARG001 -- the directory stands for the run
    """The judge of this process, which keeps what it has learned from one split to the next of the same run."""
    return Judge(settings)


def _stage(
    numbered: _Numbered, staging: Path, settings: Settings, places: Mapping[str, str], ingested_at: datetime
) -> tuple[Split, _StagedSplit]:
    """Judge one split and write its rows beside their place. Runs in any process."""
    split = numbered.split
    judge = _judge_of_run(staging, settings)
    reached = [_Reached(piece.path, piece.start, piece.first_line) for piece in split.slices]
    checked = Checked()
    rejected: set[tuple[str, int]] = set()
    with StagedWriter(staging, f"{numbered.number:06d}") as writer:
        for batch in judge.batches(split, on_block=_tracker(reached), places=places):
            for table, rows in land(batch, ingested_at).items():
                writer.write(table, rows)
            writer.write("tools", tools(_distinct(batch.definitions)))
            rejected.update((located.source_file, located.what.offset) for located in batch.rejects)
            part = check_batch(batch, show_all=False)
            part.findings = []
            checked.add(part)
        staged = writer.finish()
    for at, piece in zip(reached, split.slices, strict=True):
        if piece.end is None:
            at.resumable = can_be_resumed(at.path)
            at.torn = at.resumable and at.unterminated and (source_name(at.path), at.last_offset) in rejected
    return split, _StagedSplit(staged, reached, checked)


def _tracker(reached: Sequence[_Reached]) -> Callable[[RecordBlock], None]:
    """Keeps account of how far each slice has been read, as its blocks go by."""
    waiting: Iterator[_Reached] = iter(reached)
    current: list[_Reached] = []

    def track(block: RecordBlock) -> None:
        while not current or current[0].path != block.source_file:
            current[:] = [next(waiting)]
        at = current[0]
        at.end_offset, at.end_line, at.unterminated = block.end_offset, block.end_line, block.unterminated
        begins = [(block.offsets[-1], block.lines[-1])] if block.offsets else []
        begins += [(reject.offset, reject.line) for reject in block.rejects[-1:]]
        if begins:
            at.last_offset, at.last_line = max(begins)

    return track


def _distinct(definitions: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    return list({definition.key: definition for definition in definitions}.values())
