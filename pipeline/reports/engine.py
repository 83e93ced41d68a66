"""A locked DuckDB session over the committed parts of a lake, and the answers it gives.

A query can come from anyone who may read the lake, so a session reads the parts it was given and nothing else: no
other file, no network, no extension, no Python variable, no setting; and only one statement that SELECTs runs in it.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.errors import PipelineError
from pipeline.reports.catalogue import Report
from pipeline.reports.definitions import MACROS, TABLE_NAMES, literal_glob, macro_sql, quoted, view_sql
from pipeline.reports.parameters import Value

Parts = Mapping[str, Sequence[str]]

MEMORY_LIMIT = "2GiB"
BATCH_ROWS = 8192
ERROR_LINES = 6

#: Set before the session opens; each of them would let a query reach beyond the lake.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "memory_limit": MEMORY_LIMIT,
}


class PartsChangedError(PipelineError):
    """Parts went away between being listed and being read: an ingest replaced them. A fresh listing mends it."""

    def __init__(self, lake: str) -> None:
        super().__init__(
            "lake-changed", f"An ingest replaced parts of {lake} while they were being read", "run the command again"
        )


class Session:
    """DuckDB over one listing of a lake's parts. Close it, or use it as a context manager."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, lake: str, files: Sequence[str]) -> None:
        self._connection = connection
        self._lake = lake
        self._files = files

    def query(self, sql: str, values: Mapping[str, Value] | None = None) -> pa.RecordBatchReader:
        """Rows of one SELECT, as they are made; ``values`` are bound to its ``$name`` parameters.

        Raises: PipelineError ``sql-refused`` for anything but one SELECT, ``sql-error`` for what DuckDB cannot do,
        PartsChangedError where parts went away. The reader itself raises the same while it is read.
        """
        with self._errors():
            _only_select(self._connection, sql)
            relation = self._connection.sql(sql, params=dict(values) if values else None)
            if relation is None:
                raise _refused("it returns no rows")
            reader: pa.RecordBatchReader = relation.to_arrow_reader(BATCH_ROWS)
            first = next(reader, None)
        batches = chain([] if first is None else [first], self._rest(reader))
        return pa.RecordBatchReader.from_batches(reader.schema, batches)

    def close(self) -> None:
        """Give back memory and spilled files."""
        self._connection.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rest(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        while True:
            with self._errors():
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        # Once rows are on their way, DuckDB's errors come wrapped by Arrow, as OSError or ArrowInvalid.
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            if not all(os.path.exists(file) for file in self._files):  # noqa: PTH110 - thousands of them, as text
                raise PartsChangedError(self._lake) from error
            lines = str(error).strip().split("\n")
            raise PipelineError("sql-error", "\n".join(lines[:ERROR_LINES]).rstrip()) from error


def open_lake(lake: str, parts: Parts | None = None) -> Session:
    """Session over a lake's parts: table name -> its files. A table without any is a view without rows.

    ``parts`` None stands for whatever ``<table>/*.parquet`` holds at this moment.

    Raises: PipelineError ``not-a-lake``, ``lake-unreadable``, PartsChangedError.
    """
    if parts is None and not any(Path(lake, table).is_dir() for table in TABLE_NAMES):
        raise PipelineError(
            "not-a-lake",
            f"{lake} is not a lake: it has no directory of {', '.join(TABLE_NAMES)}",
            f"make one with: dispatchable ingest PATH --lake {lake}",
        )
    if parts is None:
        root = Path(lake).resolve()
        parts = {table: [str(file) for file in sorted((root / table).glob("*.parquet"))] for table in TABLE_NAMES}
    listed = {table: [os.path.abspath(file) for file in parts.get(table, ())] for table in TABLE_NAMES}  # noqa: PTH100
    files = [file for table_files in listed.values() for file in table_files]
    connection = duckdb.connect(":memory:", config=CONFIG)
    try:
        _lock_to(connection, files, listed)
    except duckdb.Error as error:
        connection.close()
        if not all(os.path.exists(file) for file in files):  # noqa: PTH110
            raise PartsChangedError(lake) from error
        raise PipelineError(
            "lake-unreadable", f"{lake}: {str(error).splitlines()[0]}", "read the logs anew into a fresh lake"
        ) from error
    return Session(connection, lake, files)


def _lock_to(connection: duckdb.DuckDBPyConnection, files: Sequence[str], listed: Parts) -> None:
    """Define macros and views, then let nothing be reached but ``files`` and nothing be set any more."""
    # Sorts that outgrow the memory limit spill here; DuckDB makes the directory when needed and removes it.
    spill = os.path.join(tempfile.gettempdir(), f"dispatchable-{secrets.token_hex(8)}")  # noqa: PTH118
    connection.execute(f"SET temp_directory = {quoted(spill)}")
    connection.execute("SET TimeZone = 'UTC'")
    # A name with * or [ in it is read by a pattern that matches it alone, and the pattern must be allowed as well.
    allowed = sorted({name for file in files for name in (file, literal_glob(file))})
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, allowed))}]")
    connection.execute("SET enable_external_access = false")
    for name in MACROS:
        connection.execute(macro_sql(name))
    for table, table_files in listed.items():
        connection.execute(view_sql(table, [literal_glob(file) for file in table_files]))
    connection.execute("SET lock_configuration = true")


def answer(
    lake: str, list_parts: Callable[[], Parts | None], sql: str, values: Mapping[str, Value] | None = None
) -> tuple[Session, pa.RecordBatchReader]:
    """Session over a fresh listing and the rows of one SELECT in it; a listing that went stale is taken once more.

    The caller closes the session when the rows are read. Raises: as ``open_lake`` and ``Session.query``.
    """
    try:
        return _answer_once(lake, list_parts(), sql, values)
    except PartsChangedError:
        return _answer_once(lake, list_parts(), sql, values)


def _answer_once(
    lake: str, parts: Parts | None, sql: str, values: Mapping[str, Value] | None
) -> tuple[Session, pa.RecordBatchReader]:
    session = open_lake(lake, parts)
    try:
        return session, session.query(sql, values)
    except BaseException:
        session.close()
        raise


def check_report(report: Report) -> None:
    """See that a report is one SELECT which uses what it declares and declares what it uses, by DuckDB's own reading.

    Raises: PipelineError ``report-invalid``.
    """
    with duckdb.connect(":memory:", config=CONFIG) as connection:
        try:
            _only_select(connection, report.sql)
            used = connection.extract_statements(report.sql)[0].named_parameters
        except (duckdb.Error, PipelineError) as error:
            reason = error.message if isinstance(error, PipelineError) else str(error).splitlines()[0]
            raise PipelineError("report-invalid", f"{report.path}: {reason}", "a report is one SELECT") from None
    declared = {parameter.name for parameter in report.parameters}
    for names, what in ((used - declared, "is used but not declared"), (declared - used, "is declared but not used")):
        if names:
            raise PipelineError(
                "report-invalid",
                f"{report.path}: ${min(names)} {what}",
                "each `-- param:` line of the head stands in the SELECT as $name, and the other way round",
            )


def _only_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise _refused(f"it holds {len(statements)} statements" if statements else "it is empty")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise _refused(f"it is a statement of type {statements[0].type.name}")


def _refused(why: str) -> PipelineError:
    return PipelineError(
        "sql-refused",
        f"the query was not run: {why}",
        "only one SELECT runs here (FROM, WITH, DESCRIBE, SUMMARIZE and SHOW count); to change anything, read the"
        " Parquet files with a DuckDB of your own",
    )


def write_parquet(result: pa.RecordBatchReader, path: str) -> None:
    """Write rows to a Parquet file, zstd, through a DuckDB of their own (the one that reads a lake cannot write).

    Raises: PipelineError ``output-unwritable``.
    """
    with duckdb.connect(":memory:") as connection:
        try:
            connection.from_arrow(result).write_parquet(path, compression="zstd")
        except duckdb.Error as error:
            raise PipelineError(
                "output-unwritable", f"{path}: {str(error).splitlines()[0]}", "give --out a place that can be written"
            ) from error
