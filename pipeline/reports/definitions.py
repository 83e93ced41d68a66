"""SQL that every session over a lake begins with: macros for rates, and one view a table.

The same text opens the queries that ``report --sql`` prints, so that each number is defined once.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from pipeline.tables import TABLES, TIMESTAMP, arrow_schema

#: 97.5 % quantile of the normal distribution: two-sided 95 %.
Z = 1.959963984540054

#: Macro name -> its definition. ``k`` of ``n``; null where ``n`` is 0, since no call says nothing about a rate.
MACROS: dict[str, str] = {
    "share": "(k, n) AS k / nullif(n, 0)",
    "wilson_low": (
        "(k, n) AS CASE WHEN n > 0 AND k = 0 THEN 0.0::DOUBLE WHEN n > 0 THEN\n"
        f"    (k + {Z}::DOUBLE ^ 2 / 2 - {Z} * sqrt(k / n * (n - k) + {Z}::DOUBLE ^ 2 / 4)) / (n + {Z}::DOUBLE ^ 2) END"
    ),
    "wilson_high": (
        "(k, n) AS CASE WHEN n > 0 AND k = n THEN 1.0::DOUBLE WHEN n > 0 THEN\n"
        f"    (k + {Z}::DOUBLE ^ 2 / 2 + {Z} * sqrt(k / n * (n - k) + {Z}::DOUBLE ^ 2 / 4)) / (n + {Z}::DOUBLE ^ 2) END"
    ),
    "made_between": (
        "(moment, since, until) AS (since IS NULL OR moment >= since) AND (until IS NULL OR moment < until)"
    ),
    "matches": "(name, pattern) AS pattern IS NULL OR name = pattern OR name GLOB pattern",
    "tool_label": (
        "(namespace, name) AS CASE WHEN namespace IS NULL OR namespace = name THEN name\n"
        "    ELSE namespace || '.' || name END"
    ),
}

_SQL_TYPES: dict[pa.DataType, str] = {
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
}


def macro_sql(name: str) -> str:
    """Statement that defines one macro."""
    return f"CREATE OR REPLACE TEMP MACRO {name}{MACROS[name]};"


def view_sql(table: str, files: Sequence[str]) -> str:
    """Statement that makes ``table`` a view over those Parquet files (paths, or globs); without any, an empty one."""
    if files:
        listed = ", ".join(quoted(file) for file in files)
        # A directory called day=1 above the lake is no column of ours.
        body = f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false)"  # noqa: S608 - quoted
    else:
        columns = ", ".join(f"CAST(NULL AS {_SQL_TYPES[field.type]}) AS {field.name}" for field in arrow_schema(table))
        body = f"SELECT {columns} WHERE false"
    return f"CREATE OR REPLACE TEMP VIEW {table} AS {body};"


def quoted(text: str) -> str:
    """``text`` as a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal_glob(path: str) -> str:
    """``path`` as a glob pattern that matches nothing but itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)


TABLE_NAMES = tuple(TABLES)
