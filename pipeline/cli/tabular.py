"""Rows of an answer on standard output or in a file: table, csv, json, jsonl, markdown or parquet.

Every format but ``table`` is for machines and stays as it is. Rows are written as they come; a table is laid out a
block of rows at a time.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click
import pyarrow as pa
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from pipeline.cli.cells import FRACTION, cell, csv_cell, json_bytes, markdown_cell, printable
from pipeline.errors import PipelineError

BLOCK_ROWS = 1000
#: A terminal narrower than this many cells a column shows each row as a list of its columns.
LEAST_CELLS = 7

Rows = Iterator[list[Any]]


def print_rows(result: pa.RecordBatchReader, form: str, out: Path | None = None, fractions: bool = False) -> int:
    """Write all rows of ``result`` in one of ``FORMATS`` to ``out``, or to standard output; how many they were.

    ``fractions``: columns named like a rate or a share are fractions, and tables show them as per cent. A file
    appears under its name whole or not at all.

    Raises: PipelineError ``output-unwritable`` for a file that cannot be written, ``output-binary`` for Parquet on a
    terminal; and whatever ends the reading of ``result``.
    """
    if out is None:
        stream = click.get_binary_stream("stdout")
        if form == "parquet" and stream.isatty():
            raise PipelineError(
                "output-binary", "Parquet is no text for a terminal.", "Add --out FILE.parquet, or pipe it to a file."
            )
        return _write(result, form, stream, fractions)
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            rows = _write(result, form, stream, fractions)
        part.replace(out)
    except OSError as error:
        raise PipelineError(
            "output-unwritable", f"{out}: {error.strerror or error}.", "Give --out a place that can be written."
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
    """The batches of an answer, counted as they pass."""

    def __init__(self, result: pa.RecordBatchReader) -> None:
        self.result = result
        self.names: list[str] = result.schema.names
        self.rows = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.result:
            self.rows += batch.num_rows
            yield batch

    def lists(self) -> Rows:
        """Rows as lists of Python values, in the order of the columns (names may repeat)."""
        for batch in self.batches():
            yield from map(list, zip(*(_values(column) for column in batch.columns), strict=True))


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
    for row in answer.lists():
        stream.write((",".join(shown(csv_cell(value)) for value in row) + "\n").encode())


def _jsonl(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    for row in answer.lists():
        stream.write(json_bytes(dict(zip(answer.names, row, strict=True))) + b"\n")


def _json(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    separator = b"["
    for row in answer.lists():
        stream.write(separator + b"\n  " + json_bytes(dict(zip(answer.names, row, strict=True))))
        separator = b","
    stream.write(b"[]\n" if separator == b"[" else b"\n]\n")


def _markdown(answer: _Counted, stream: BinaryIO, fractions: bool) -> None:
    def line(cells: list[str]) -> bytes:
        return ("| " + " | ".join(cells) + " |\n").encode()

    percents = [fractions and bool(FRACTION.fullmatch(name)) for name in answer.names]
    stream.write(line([markdown_cell(name) for name in answer.names]))
    stream.write(line(["---:" if right else "---" for right in _right_aligned(answer)]))
    for row in answer.lists():
        stream.write(line([markdown_cell(cell(value, p)) for value, p in zip(row, percents, strict=True)]))


def _parquet(answer: _Counted, stream: BinaryIO, _: bool) -> None:
    from pipeline.reports.engine import write_parquet

    with tempfile.TemporaryDirectory(prefix="dispatchable-") as directory:
        path = Path(directory, "answer.parquet")
        reader = pa.RecordBatchReader.from_batches(answer.result.schema, answer.batches())
        write_parquet(reader, str(path))
        with path.open("rb") as written:
            shutil.copyfileobj(written, stream)


def _table(answer: _Counted, stream: BinaryIO, fractions: bool) -> None:
    percents = [fractions and bool(FRACTION.fullmatch(name)) for name in answer.names]
    right = _right_aligned(answer)
    rows = answer.lists()
    width = _terminal_width(stream)
    first = True
    while block := [
        [cell(value, p) for value, p in zip(row, percents, strict=True)] for row, _ in zip(rows, range(BLOCK_ROWS))
    ] or ([] if not first else [[]]):
        body = [cells for cells in block if cells]
        if width is None:
            text = _plain(answer.names if first else None, body, right)
        elif len(answer.names) * LEAST_CELLS > width:
            text = _listed(answer.names, body)
        else:
            text = _drawn(answer.names, body, right, width)
        stream.write(text.encode("utf-8", "backslashreplace"))
        first = False


def _terminal_width(stream: BinaryIO) -> int | None:
    return shutil.get_terminal_size().columns if stream.isatty() else None


def _right_aligned(answer: _Counted) -> list[bool]:
    types = answer.result.schema.types
    return [pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t) for t in types]
