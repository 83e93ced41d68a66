"""A report as text that runs in plain DuckDB over the Parquet files: macros, views, values, and then the SELECT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from pipeline.errors import PipelineError
from pipeline.reports.catalogue import Report
from pipeline.reports.definitions import MACROS, TABLE_NAMES, literal_glob, macro_sql, view_sql
from pipeline.reports.parameters import Value

_WORDS = (duckdb.token_type.identifier, duckdb.token_type.keyword)


def standalone_sql(
    report: Report, values: Mapping[str, Value], lake: str, parts: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Statements that give the report's rows in a DuckDB that knows nothing of us; the values stand as variables.

    The views read ``<table>/*.parquet``, so that the text still holds after the next ingest; ``parts`` says which
    tables have no file yet, None that all have.
    """
    root = literal_glob(str(Path(lake).resolve()))
    body, words = _with_variables(report)
    lines = ["-- Runs in plain DuckDB (1.5 or newer), over the Parquet files of the lake.", "SET TimeZone = 'UTC';"]
    lines += [macro_sql(name) for name in MACROS if name in words]
    for table in TABLE_NAMES:
        # A word may name a column as well; a view too many does no harm.
        if table in words:
            landed = parts is None or bool(parts.get(table))
            lines.append(view_sql(table, [f"{root}/{table}/*.parquet"] if landed else []))
    lines += [
        f"SET VARIABLE {parameter.name} = {parameter.literal(values[parameter.name])};"
        for parameter in report.parameters
    ]
    body = body.strip().removesuffix(";")
    # A semicolon behind a comment would be part of it.
    end = "\n;\n" if "--" in body.rpartition("\n")[2] else ";\n"
    return "\n".join([*lines, "", body + end])


def _with_variables(report: Report) -> tuple[str, set[str]]:
    """SELECT with ``getvariable('name')`` in the place of each ``$name``, and all words in it.

    DuckDB's own tokens say where a parameter stands and where a ``$`` is text. Offsets count bytes.
    """
    source = report.sql.encode()
    tokens = duckdb.tokenize(report.sql)
    ends = [offset for offset, _ in tokens[1:]] + [len(source)]
    pieces: list[bytes] = []
    words: set[str] = set()
    replaced: set[str] = set()
    copied = 0
    for index, ((offset, kind), end) in enumerate(zip(tokens, ends, strict=True)):
        text = source[offset:end].decode().rstrip()
        if kind not in _WORDS:
            continue
        words.add(text.strip('"').lower())
        if index and source[tokens[index - 1][0] : offset] == b"$":
            pieces += [source[copied : offset - 1], f"getvariable('{text}')".encode()]
            copied = offset + len(text.encode())
            replaced.add(text)
    if replaced != {parameter.name for parameter in report.parameters}:
        raise PipelineError(
            "report-invalid", f"{report.path}: its parameters cannot be told apart", "write each as $name"
        )
    return b"".join([*pieces, source[copied:]]).decode(), words
