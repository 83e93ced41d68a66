"""``dispatchable report``: the canned questions, and any others that someone keeps as ``.sql`` files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import pyarrow as pa

from pipeline.cli.answers import chosen_format, lake_option, listed_parts, output_options, print_answer
from pipeline.cli.tabular import print_rows
from pipeline.errors import PipelineError
from pipeline.reports.catalogue import Report, find_report, read_reports
from pipeline.reports.parameters import COMMON, Parameter, Value


def _sentence(common: str) -> str:
    text = COMMON[common].help
    return text[0].upper() + text[1:] + "."


@click.command("report", short_help="Run a canned report over the lake, or list them.")
@click.argument("name", required=False, metavar="[NAME]")
@lake_option
@click.option("--since", metavar="TIME", help=_sentence("since"))
@click.option("--until", metavar="TIME", help=_sentence("until"))
@click.option("--model", metavar="NAME", help=_sentence("model"))
@click.option("--tool", metavar="NAME", help=_sentence("tool"))
@click.option("--min-calls", metavar="N", help=_sentence("min_calls"))
@click.option("--param", "others", multiple=True, metavar="NAME=VALUE", help="Any other option that the report takes.")
@output_options
@click.option("--sql", "print_sql", is_flag=True, help="Print the query, ready to run in plain DuckDB, and no rows.")
@click.option(
    "--dir",
    "directories",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Also take the reports (.sql files) in DIR.",
)
def command(
    name: str | None,
    lake: str | None,
    others: tuple[str, ...],
    output_format: str | None,
    out: Path | None,
    print_sql: bool,
    directories: tuple[Path, ...],
    **common: str | None,
) -> None:
    """Run the report NAME over a lake; without NAME, list the reports and the options that each takes.

    Rates are findings out of findings and usable calls, each with its 95 % interval (Wilson): where few calls stand
    behind a rate, the interval is wide. Times are UTC. With --since or --until, calls of unknown time are left out.

    \b
    Examples:
      dispatchable report
      dispatchable report rate-by-tool --lake lake --since 2026-05-01 --min-calls 100
      dispatchable report top-violations --lake lake --tool 'search_*' --param top=10
      dispatchable report rate-by-day --lake lake --out days.parquet
    """  # noqa: D301 - \b is what tells click to keep the lines
    reports = read_reports(directories)
    if name is None:
        print_rows(listing(reports).to_reader(), chosen_format(output_format, out), out)
        return
    report = find_report(reports, name)
    values = report.values(_given(common, others))
    if lake is None:
        raise PipelineError("no-lake", f"report {name} needs the lake to ask", "add --lake DIR")
    # DuckDB takes a while to import, and neither the listing nor a mistyped option needs it.
    from pipeline.reports.engine import check_report

    check_report(report)
    if print_sql:
        from pipeline.reports.standalone import standalone_sql

        click.echo(standalone_sql(report, values, lake, listed_parts(lake)), nl=False)
        return
    print_answer(lake, report.sql, values, chosen_format(output_format, out), out, _heading(report, values))


def listing(reports: Mapping[str, Report]) -> pa.Table:
    """One row a report: its name, what it answers, and the options it takes with their defaults."""
    return pa.table(
        {
            "report": list(reports),
            "answers": [report.answers for report in reports.values()],
            "options": [" ".join(map(_option, report.parameters)) for report in reports.values()],
        },
        schema=pa.schema([("report", pa.string()), ("answers", pa.string()), ("options", pa.string())]),
    )


def _option(parameter: Parameter) -> str:
    flag = f"--{parameter.option}" if parameter.name in COMMON else f"--param {parameter.option}"
    return flag if parameter.name in COMMON else f"{flag}={'' if parameter.default is None else parameter.default}"


def _given(common: Mapping[str, str | None], others: tuple[str, ...]) -> dict[str, str]:
    """What the options say, by parameter name.

    Raises: PipelineError ``parameter-invalid`` for a ``--param`` without ``=``, and for one that is given twice.
    """
    given = {name: text for name, text in common.items() if text is not None}
    for other in others:
        option, equals, text = other.partition("=")
        key = option.replace("-", "_")
        if not equals or key in given:
            what = "is given twice" if equals else "has no value"
            raise PipelineError(
                "parameter-invalid", f"--param {other}: it {what}", "write --param NAME=VALUE, once each"
            )
        given[key] = text
    return given


def _heading(report: Report, values: Mapping[str, Value]) -> str:
    asked = [
        f"{parameter.option} {values[parameter.name]}"
        for parameter in report.parameters
        if values[parameter.name] != parameter.default
    ]
    return click.style(report.title, bold=True) + (f" ({', '.join(asked)})" if asked else "")
