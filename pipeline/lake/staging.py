"""What a worker writes: the parts of one split, beside their place, named by nobody until the run commits them."""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

import pyarrow as pa
from msgspec import Struct

from pipeline.lake import checkpoints
from pipeline.lake.failures import disk_trouble
from pipeline.lake.parts import PartSize, PartWriter

_SPLIT_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")


class StagedParts(Struct, frozen=True):
    """The finished parts of one split: table to file and size; a table without rows has none. Small, and pickles."""

    split_id: str
    parts: dict[str, tuple[str, PartSize]]


class StagedWriter:
    """Writes the rows of one split into ``staging`` (``Lake.staging``), one part a table that has rows.

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
            writer.write(batch)

    def finish(self) -> StagedParts:
        """Close the parts, on the disk for good; the run lands what this returns."""
        staged: dict[str, tuple[str, PartSize]] = {}
        with disk_trouble(self._staging.parent.parent, "writing rows"):
            for table, writer in self._writers.items():
                staged[table] = (str(writer.path), writer.close())
                checkpoints.reached("part-staged")
        self._writers = {}
        return StagedParts(self._split_id, staged)

    def abort(self) -> None:
        """Remove what was written."""
        for writer in self._writers.values():
            writer.abort()
        self._writers = {}
