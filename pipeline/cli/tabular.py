"""Rows of an answer on standard output or in a file: table, csv, json, jsonl, markdown or parquet.

Every format but ``table`` is for machines and stays as it is. Rows are written as they come; a table is laid out a
block of rows at a time.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from pipeline.cli.cells import FRACTION, cell, csv_cell, json_bytes, markdown_cell
from pipeline.errors import PipelineError
from pipeline.printable import printable

BLOCK_ROWS = 1000

Rows = Iterator[list[Any]]


def print_rows(result: pa.RecordBatchReader, form: str, out: Path | None = None, fractions: bool = False) -> int:
    """Write all rows of ``result`` in one of ``FORMATS`` to ``out``, or to standard output; how many they were.

    ``fractions``: columns named like a rate or a share are fractions, and tables show them as per cent. A file
    appears under its name whole or not at all.

    Raises: PipelineError ``output-unwritable`` for a file that cannot be written, ``output-binary`` for Parquet on a
    terminal; and whatever ends the reading of ``result``.
    """
    if out is None:
        stream = sys.stdout.buffer
        if form == "parquet" and stream.isatty():
            raise PipelineError(
                "output-binary", "Parquet is no text for a terminal", "add --out FILE.parquet, or pipe it to a file"
            )
        return _write(result, form, stream, fractions)
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            rows = _write(result, form, stream, fractions)
        part.replace(out)
    except OSError as error:
        raise PipelineError(
            "output-unwritable", f"{out}: {error.strerror or error}", "give --out a place that can be written"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return rows


def _write(result: pa.RecordBatchReader, form: str, stream: BinaryIO, fractions: bool) -> int:
    counted = _Counted(result)
    WRITERS[form](counted, stream, fractions)
    stream.flush()
    return counted.rows


class _Counted:
    """The batches of an answer, counted as they pass; columns of one name told apart, as in n and n_2."""

    def __init__(self, result: pa.RecordBatchReader) -> None:
        self._result = result
        self.names = _told_apart(result.schema.names)
        self.types: list[pa.DataType] = result.schema.types
        self.rows = 0
        self.failure: PipelineError | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._result:
                self.rows += batch.num_rows
                yield batch.rename_columns(self.names)
        except PipelineError as error:
            self.failure = error
            raise

    def lists(self) -> Rows:
        """Rows as lists of Python values, in the order of the columns (names may repeat)."""
        for batch in self.batches():
            yield from map(list, zip(*(_values(column) for column in batch.columns), strict=True))


def _told_apart(names: list[str]) -> list[str]:
    unique: list[str] = []
    for name in names:
        candidates = chain([name], (f"{name}_{number}" for number in count(2)))
        unique.append(next(n for n in candidates if n not in unique and (n == name or n not in names)))
    return unique


def _values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):  # nanoseconds, and years that Python's dates do not reach
        values = column.cast(pa.string()).to_pylist()
    return values


def _csv(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    # A terminal that is shown CSV is still a terminal; a file or a pipe gets every character as it is.
    shown: Callable[[str], str] = printable if stream.isatty() else str
    stream.write((",".join(shown(csv_cell(name)) for name in answer.names) + "\n").encode())
    stream.writelines((",".join(shown(csv_cell(value)) for value in row) + "\n").encode() for row in answer.lists())


def _jsonl(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    stream.writelines(json_bytes(dict(zip(answer.names, row, strict=True))) + b"\n" for row in answer.lists())


def _json(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    separator = b"["
    for row in answer.lists():
        stream.write(separator + b"\n  " + json_bytes(dict(zip(answer.names, row, strict=True))))
        separator = b","
    stream.write(b"[]\n" if separator == b"[" else b"\n]\n")


def _markdown(answer: _Counted, stream: BinaryIO, fractions: bool) -> None:
    def line(cells: Iterable[str]) -> bytes:
        return ("| " + " | ".join(map(markdown_cell, cells)) + " |\n").encode()

    stream.write(line(answer.names))
    stream.write(("|" + "|".join("---:" if right else "---" for right in _right_aligned(answer)) + "|\n").encode())
    stream.writelines(map(line, _cells(answer, fractions)))


def _parquet(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    from pipeline.reports.engine import write_parquet

    with tempfile.TemporaryDirectory(prefix="dispatchable-") as directory:
        path = Path(directory, "answer.parquet")
        schema = pa.schema(list(zip(answer.names, answer.types, strict=True)))
        try:
            write_parquet(pa.RecordBatchReader.from_batches(schema, answer.batches()), str(path))
        except PipelineError as error:
            # Whatever ended the reading has been through two libraries on its way here.
            raise answer.failure or error from None
        with path.open("rb") as written:
            shutil.copyfileobj(written, stream)


def _table(answer: _Counted, stream: BinaryIO, fractions: bool) -> None:
    from pipeline.cli.layout import Heading, drawn, plain

    columns = [Heading(name, right) for name, right in zip(answer.names, _right_aligned(answer), strict=True)]
    width = shutil.get_terminal_size().columns if stream.isatty() else None
    rows = _cells(answer, fractions)
    block = list(islice(rows, BLOCK_ROWS))
    head = True
    while block or head:
        text = plain(columns, block, head) if width is None else drawn(columns, block, width)
        stream.write(text.encode())
        block, head = list(islice(rows, BLOCK_ROWS)), False


def _cells(answer: _Counted, fractions: bool) -> Iterator[list[str]]:
    percents = [fractions and bool(FRACTION.fullmatch(name)) for name in answer.names]
    return ([cell(value, p) for value, p in zip(row, percents, strict=True)] for row in answer.lists())


def _right_aligned(answer: _Counted) -> list[bool]:
    return [pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t) for t in answer.types]


WRITERS: dict[str, Callable[[_Counted, BinaryIO, bool], None]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "markdown": _markdown,
    "parquet": _parquet,
}
FORMATS = tuple(WRITERS)
#: What --out FILE means where no --format is given.
FORMAT_BY_SUFFIX = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".parquet": "parquet"}
