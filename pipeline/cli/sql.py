"""``dispatchable sql``: any one SELECT over the tables of a lake."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pipeline.cli.answers import chosen_format, lake_option, output_options, print_answer
from pipeline.errors import PipelineError


@click.command("sql", short_help="Run any query over the same views, read-only.")
@click.argument("query", metavar="QUERY")
@lake_option
@output_options
def command(query: str, lake: str | None, output_format: str | None, out: Path | None) -> None:
    """Run QUERY, one SELECT in DuckDB's SQL, over the tables of a lake; - reads it from standard input.

    The tables are calls, violations, turns, tools, rejects and duplicates: `dispatchable schema` says what is in
    them. The macros of the reports are there too: share(k, n), wilson_low(k, n), wilson_high(k, n).

    A query reads the lake and nothing else: it cannot write, open another file, reach the network, load an extension
    or change a setting.

    \b
    Examples:
      dispatchable sql "SELECT state, count(*) FROM calls GROUP BY ALL" --lake lake
      dispatchable sql "FROM calls WHERE outcome = 'finding'" --lake lake --out findings.csv
      dispatchable sql - --lake lake --format jsonl < query.sql
    """  # noqa: D301 - \b is what tells click to keep the lines
    if lake is None:
        raise PipelineError("no-lake", "sql needs the lake to ask", "add --lake DIR")
    print_answer(lake, _standard_input() if query == "-" else query, {}, chosen_format(output_format, out), out)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PipelineError("sql-error", "the query on standard input is not UTF-8", "save it as UTF-8") from None
