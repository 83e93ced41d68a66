"""What ``report`` and ``sql`` share: the options for the lake and the output, and the way from a query to its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pipeline.cli.tabular import FORMAT_BY_SUFFIX, FORMATS, print_rows
from pipeline.lake import committed_parts

Command = TypeVar("Command", bound=Callable[..., Any])

lake_option = click.option("--lake", metavar="DIR", help="The lake to read.")


def output_options(command: Command) -> Command:
    """Add ``--format`` and ``--out``."""
    formats = click.Choice(FORMATS)
    command = click.option("--format", "output_format", type=formats, help="How to print.  [default: table]")(command)
    return click.option(
        "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE; its suffix names the format."
    )(command)


def chosen_format(output_format: str | None, out: Path | None) -> str:
    """Format that was asked for, else what the suffix of ``--out`` says, else a table."""
    return output_format or (FORMAT_BY_SUFFIX.get(out.suffix, "table") if out else "table")


def listed_parts(lake: str) -> Mapping[str, Sequence[str]]:
    """Files of each table that count at this moment."""
    return committed_parts(Path(lake))


def print_answer(
    lake: str, sql: str, values: Mapping[str, Any], form: str, out: Path | None, report_heading: str = ""
) -> None:
    """Run one SELECT over the lake and print its rows; a report's heading, where it is a table, to standard error."""
    from pipeline.reports.engine import answer

    session, result = answer(lake, lambda: listed_parts(lake), sql, values)
    with session:
        if report_heading and form == "table":
            click.echo(report_heading, err=True)
        rows = print_rows(result, form, out, fractions=bool(report_heading))
    if form == "table" and not rows:
        click.echo("(no rows)", err=True)
