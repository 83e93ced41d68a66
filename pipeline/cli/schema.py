"""``dispatchable schema``: the data dictionary of the lake."""

from __future__ import annotations

import difflib

import click
import pyarrow as pa

from pipeline.cli.tabular import FORMATS, print_rows
from pipeline.errors import PipelineError
from pipeline.tables import TABLE_MEANINGS, TABLES


@click.command("schema", short_help="Print the data dictionary of the lake.")
@click.argument("table", required=False, metavar="[TABLE]")
@click.option(
    "--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print."
)
def command(table: str | None, output_format: str) -> None:
    """Print what each column of TABLE holds; without TABLE, of all tables.

    Null means not recorded or not judged, never fine.

    \b
    Examples:
      dispatchable schema
      dispatchable schema calls --format markdown
    """  # noqa: D301 - \b is what tells click to keep the lines
    if table is not None and table not in TABLES:
        near = difflib.get_close_matches(table, TABLES, n=1, cutoff=0.4)
        raise PipelineError(
            "unknown-table",
            f"the lake has no table {table!r}",
            f"did you mean {near[0]}?" if near else f"it has {', '.join(TABLES)}",
        )
    chosen = list(TABLES) if table is None else [table]
    if output_format == "table":
        for name in chosen:
            click.echo(f"{name}: {TABLE_MEANINGS[name]}", err=True)
    print_rows(dictionary(chosen).to_reader(), output_format)


def dictionary(tables: list[str]) -> pa.Table:
    """One row a column of those tables, in their order: table, column, type, nullable, meaning."""
    rows = [(name, column) for name in tables for column in TABLES[name]]
    return pa.table(
        {
            "table": [name for name, _ in rows],
            "column": [column.name for _, column in rows],
            "type": [_type_name(column.type) for _, column in rows],
            "nullable": [column.nullable for _, column in rows],
            "meaning": [column.meaning for _, column in rows],
        }
    )


def _type_name(kind: pa.DataType) -> str:
    return {pa.date32(): "date"}.get(kind, str(kind).replace("tz=", ""))
