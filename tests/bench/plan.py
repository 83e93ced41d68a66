"""What is measured: one row a command, with the log it reads, its yardstick and the ratio it must not exceed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of results.

    ``command`` may hold ``{log}`` and ``{lake}``, a directory that is new for every run, or, with ``keeps_lake``, that
    the row before has filled. ``yardstick`` is the log that the ``orjson.loads`` loop reads (it has the same records).
    ``limit`` is the ratio to it that this row must not exceed, where one is promised; ``limit_s`` the same in seconds.
    ``size_mb`` overrides the size of the log, for what would take minutes.
    """

    label: str
    log: str
    command: tuple[str, ...]
    limit: float | None = None
    limit_s: float | None = None
    yardstick: str = ""
    size_mb: float | None = None
    keeps_lake: bool = False


def _ingest(jobs: int) -> tuple[str, ...]:
    return ("dispatchable", "ingest", "{log}", "--lake", "{lake}", "--jobs", str(jobs))


def _check(jobs: int) -> tuple[str, ...]:
    return ("dispatchable", "check", "{log}", "--jobs", str(jobs))


#: Whole processes over logs of ``--size-mb``.
SPEED: tuple[Row, ...] = (
    Row("ingest, rich, 1 worker", "rich", _ingest(1), 0.35),
    Row("ingest, rich, 2 workers", "rich", _ingest(2), 0.22),
    Row("check, rich, 1 worker", "rich", _check(1), 0.30),
    Row("check, rich, 2 workers", "rich", _check(2)),
    Row("ingest, rich spelled with blanks, 1 worker", "rich-spaced", _ingest(1)),
    Row("ingest, lean, 1 worker", "lean", _ingest(1), 1.5),
    Row("check, lean, 1 worker", "lean", _check(1), 1.3),
    Row("check, chat pairs, 1 worker", "chat-pairs", _check(1), 0.6),
    Row("ingest, chat pairs, 1 worker", "chat-pairs", _ingest(1), 0.6),
    Row("ingest, Batch output, 1 worker", "batch", _ingest(1)),
    Row("ingest, every toolset new, 1 worker", "fresh-tools", _ingest(1)),
    Row("ingest, one JSON array, 1 worker", "array", _ingest(1), yardstick="rich"),
    Row("ingest, gzip, 1 worker", "gzip", _ingest(1), yardstick="rich"),
    Row("ingest, zstd, 1 worker", "zstd", _ingest(1), yardstick="rich"),
    Row("the plain loop: orjson.loads and nothing else", "rich", ("python", "baselines/orjson_loop.py", "{log}")),
    Row("DuckDB read_json and a query, 1 thread", "rich", ("python", "baselines/duckdb_query.py", "{log}", "1")),
    Row("DuckDB read_json and a query, 2 threads", "rich", ("python", "baselines/duckdb_query.py", "{log}", "2")),
    Row("plain script: json and jsonschema", "rich", ("python", "baselines/plain_script.py", "{log}"), size_mb=64),
)

#: Ten thousand files of one record, the same records in one file, and the same files a second time.
SMALL_FILES: tuple[Row, ...] = (
    Row("ingest, the same records in one file", "small-files.jsonl", _ingest(1)),
    Row("ingest, 10,000 files of one record", "small-files", _ingest(1), yardstick="small-files.jsonl"),
    Row(
        "ingest again, nothing new",
        "small-files",
        _ingest(1),
        limit_s=1.5,
        yardstick="small-files.jsonl",
        keeps_lake=True,
    ),
)

#: Starting up: each against ``python -c "import click"``.
START_UP: tuple[Row, ...] = (
    Row('python -c "import click"', "", ("python", "-c", "import click")),
    Row("dispatchable --help", "", ("dispatchable", "--help"), 2.0),
    Row("check of one small file", "rich-small", ("dispatchable", "check", "{log}"), limit_s=0.4),
)

#: Sizes in megabytes for growth and memory; the last is ten times the one before.
GROWTH_SIZES_MB: tuple[float, ...] = (100, 512, 5120)
GROWTH_LIMIT = 10.5
LAKE_CALLS = 10_000_000
REPORT_LIMIT_S = 2.0
