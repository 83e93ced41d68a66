"""What a worker writes: the parts of one split, beside their place, named by nobody until the run commits them."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import TracebackType

import pyarrow as pa
from msgspec import Struct

from pipeline.lake import checkpoints
from pipeline.lake.behind import Behind
from pipeline.lake.failures import disk_trouble
from pipeline.lake.keys import KEY_COLUMNS, Run, mix, sorted_run
from pipeline.lake.parts import PartSize, PartWriter

_SPLIT_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")


class StagedParts(Struct, frozen=True):
    """The finished parts of one split: table to file and size; a table without rows has none. Pickles.

    ``runs`` are the keys of turns and tools as the index of the lake takes them, eight bytes a key: so the run need not
    read back what a worker has just written.
    """

    split_id: str
    parts: dict[str, tuple[str, PartSize]]
    runs: dict[str, Run]


class StagedWriter:
    """Writes the rows of one split into ``staging`` (``Lake.staging``), one part a table that has rows.

    Row groups are encoded and written by a thread of its own, which ends with :meth:`finish` or :meth:`abort`.
    Made in a worker process; ``split_id`` must be unique in the run (letters, digits, ``.``, ``_``, ``-``). As a
    context manager it removes what it wrote when the block fails.

    Raises:
        PipelineError: ``disk-full``, ``lake-not-writable`` or ``lake-io``.
        ValueError: a batch that is not of its table's schema, or has a null where there may be none.

    """

    def __init__(self, staging: Path, split_id: str) -> None:
        if not _SPLIT_ID.fullmatch(split_id):
            raise ValueError(f"not a name for a split: {split_id!r}")
        self._staging = staging
        self._split_id = split_id
        self._writers: dict[str, PartWriter] = {}
        self._mixed: dict[str, list[pa.Array]] = {}
        self._behind = Behind()

    def __enter__(self) -> StagedWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self.abort()

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Append rows to the split's part of a table."""
        if not batch.num_rows:
            return
        with disk_trouble(self._staging.parent.parent, "writing rows"):
            writer = self._writers.get(table)
            if writer is None:
                path = self._staging / f"{self._split_id}.{table}.parquet"
                writer = self._writers[table] = PartWriter(path, table)
            group = self._noted(table, writer.gather(batch))
            if group is not None:
                self._behind.do(partial(writer.put, group), group.nbytes)

    def finish(self) -> StagedParts:
        """Close the parts, on the disk for good; the run lands what this returns."""
        staged: dict[str, tuple[str, PartSize]] = {}
        with disk_trouble(self._staging.parent.parent, "writing rows"):
            closing = {
                table: self._behind.do_last(partial(_close, writer, self._noted(table, writer.rest())))
                for table, writer in self._writers.items()
            }
            runs = {table: sorted_run(mixed) for table, mixed in self._mixed.items()}
            self._behind.wait()
            for table, writer in self._writers.items():
                staged[table] = (str(writer.path), closing[table].result())
                checkpoints.reached("part-staged")
        self._behind.end()
        self._writers = {}
        return StagedParts(self._split_id, staged, runs)

    def abort(self) -> None:
        """Remove what was written."""
        self._behind.end()
        for writer in self._writers.values():
            writer.abort()
        self._writers = {}

    def _noted(self, table: str, group: pa.Table | None) -> pa.Table | None:
        """The row group, its keys taken note of: here, so that the thread need not ask for the interpreter again."""
        if group is not None and table in KEY_COLUMNS:
            self._mixed.setdefault(table, []).append(mix(group.column(KEY_COLUMNS[table]).combine_chunks()))
        return group


def _close(writer: PartWriter, last_group: pa.Table | None) -> PartSize:
    if last_group is not None:
        writer.put(last_group)
    return writer.close()
