"""Parts: the Parquet files of the lake, and the only place that writes or reads Parquet.

Every part of a table has the same schema, zstd pages and statistics. Columns of few distinct values get a dictionary,
and so do counts, which then take half the time and less room. Keys, arguments and other text that hardly repeats get
none, since building one only to give it up costs a third of the writing time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from pipeline.lake import checkpoints
from pipeline.tables import TABLES, arrow_schema

#: A row group ends at whichever comes first: enough rows for a reader to skip by statistics, or as many bytes of
#: Arrow memory as a worker may hold for one table, of which it may have one being gathered and two being written.
ROW_GROUP_ROWS = 65_536
ROW_GROUP_BYTES = 16 * 1024 * 1024
_BATCH_ROWS = 32_768
# Level 1 took two thirds of the time of level 3 on call arguments, for files of the same size.
_ZSTD_LEVEL = 1

DICTIONARY_COLUMNS = frozenset(
    {
        *("source_file", "format", "model", "ingested_at", "response_status", "finish_reason", "truncation"),
        *("tool_name", "tool_namespace", "tool_key", "call_index", "calls_in_turn", "arguments_form", "state"),
        *("outcome", "fault", "violation_count", "nearest_tool", "logger_truncation"),
        *("violation_index", "keyword", "path", "path_pattern", "schema_path", "expected"),
        *("choice_index", "calls", "tools_declared", "reason"),
        *("arguments_bytes", "input_tokens", "output_tokens"),
    }
)


class PartSize(Struct, frozen=True):
    """How big a part is: rows and bytes on disk."""

    rows: int
    size_bytes: int


class PartWriter:
    """One part being written, batch by batch. Memory is bounded by a row group.

    :meth:`write` and :meth:`close` are all it takes. Who would write behind the reading takes the row groups from
    :meth:`gather` and :meth:`rest`, and has them put in that order.

    Raises:
        OSError: the disk refused.
        ValueError: a batch is not of the table's schema, or has a null where the table allows none.

    """

    def __init__(self, path: Path, table: str) -> None:
        self.path = path
        self._schema = arrow_schema(table)
        self._table = table
        self._rows = 0
        self._batches: list[pa.RecordBatch] = []
        self._batched_rows = 0
        self._batched_bytes = 0
        self._sink = pa.OSFile(str(path), "wb")
        self._writer = pq.ParquetWriter(
            self._sink,
            self._schema,
            compression="zstd",
            compression_level=_ZSTD_LEVEL,
            use_dictionary=[column.name for column in TABLES[table] if column.name in DICTIONARY_COLUMNS],
            write_statistics=True,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; they reach the disk a row group at a time."""
        group = self.gather(batch)
        if group is not None:
            self.put(group)

    def gather(self, batch: pa.RecordBatch) -> pa.Table | None:
        """Append rows, without writing: the row group that they complete, to be put."""
        if not batch.num_rows:
            return None
        self._check(batch)
        self._batches.append(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))
        self._batched_rows += batch.num_rows
        self._batched_bytes += batch.nbytes
        is_due = self._batched_rows >= ROW_GROUP_ROWS or self._batched_bytes >= ROW_GROUP_BYTES
        return self.rest() if is_due else None

    def rest(self) -> pa.Table | None:
        """The rows gathered and not yet handed out, if any, as a last row group to be put."""
        if not self._batches:
            return None
        group = pa.Table.from_batches(self._batches, self._schema)
        self._batches, self._batched_rows, self._batched_bytes = [], 0, 0
        return group

    def put(self, group: pa.Table) -> None:
        """Bring a row group to the disk; Arrow lets go of the interpreter meanwhile."""
        self._writer.write_table(group, row_group_size=group.num_rows)
        self._rows += group.num_rows

    def close(self) -> PartSize:
        """Finish the part and wait until the disk has it.

        A manifest may name only what survives a power cut, and asking for that here lets workers wait side by side.
        """
        group = self.rest()
        if group is not None:
            self.put(group)
        self._writer.close()
        self._sink.close()
        sync(self.path)
        return PartSize(self._rows, self.path.stat().st_size)

    def abort(self) -> None:
        """Give the part up and remove what was written of it."""
        for end in (self._writer.close, self._sink.close):
            try:
                end()
            except OSError:  # a full disk refuses the footer as well; the file goes anyway
                continue
        self.path.unlink(missing_ok=True)

    def _check(self, batch: pa.RecordBatch) -> None:
        if not batch.schema.equals(self._schema, check_metadata=False):
            raise ValueError(f"rows for {self._table} have another schema: {batch.schema} is not {self._schema}")
        for field, column in zip(self._schema, batch.columns, strict=True):
            if not field.nullable and column.null_count:
                raise ValueError(f"{self._table}.{field.name} has {column.null_count} nulls and may have none")


def read_batches(path: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of a part, a bounded number at a time. Raises: OSError, pyarrow.ArrowInvalid."""
    with pq.ParquetFile(path) as part:
        yield from part.iter_batches(_BATCH_ROWS, columns=columns)


def count_values(path: Path, column: str) -> dict[str, int]:
    """How often each value of a text column stands in a part. Raises: OSError, pyarrow.ArrowInvalid."""
    counts: Counter[str] = Counter()
    for batch in read_batches(path, [column]):
        for count in pc.value_counts(batch.column(0)).to_pylist():
            counts[count["values"]] += count["counts"]
    return dict(counts)


def rewrite(
    source: Path, target: Path, table: str, change: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> PartSize | None:
    """Write a part again with ``change`` done to each of its batches; None, and no file, where no row is left."""
    return merge([source], target, table, change)


def merge(
    sources: list[Path],
    target: Path,
    table: str,
    change: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda batch: batch,
) -> PartSize | None:
    """Write the rows of several parts as one, in order. Raises: OSError, pyarrow.ArrowInvalid."""
    writer = PartWriter(target, table)
    try:
        for source in sources:
            for batch in read_batches(source):
                writer.write(change(batch))
        size = writer.close()
    except BaseException:
        writer.abort()
        raise
    checkpoints.reached("part-rewritten")
    if not size.rows:
        target.unlink()
        return None
    return size


def sync(path: Path) -> None:
    """Wait until the disk has a file, or, for a directory, the names in it. Raises: OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
