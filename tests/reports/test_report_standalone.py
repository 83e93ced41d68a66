"""What ``--sql`` prints runs in a DuckDB that knows nothing of us, and gives the rows of the report."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from small_lake import make_lake

from pipeline.cli import main
from pipeline.lake import committed_parts
from pipeline.reports.catalogue import read_report, read_reports
from pipeline.reports.engine import answer
from pipeline.reports.standalone import standalone_sql

REPORTS = read_reports()
GIVEN = {"since": "2026-05-02", "until": "2026-05-04", "model": "gpt-5*", "tool": "*_*", "min_calls": "2"}
HEAD = "-- title: One\n-- answers: How many?\n"


def plain_rows(text: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(text).fetchall()


def report_rows(lake: Path, name: str, given: dict[str, str]) -> list[tuple[object, ...]]:
    report = REPORTS[name]
    session, rows = answer(str(lake), lambda: committed_parts(lake), report.sql, report.values(given))
    with session:
        return [tuple(row.values()) for row in rows.read_all().to_pylist()]


@pytest.mark.parametrize("asked", [{}, GIVEN], ids=["as it is", "with options"])
@pytest.mark.parametrize("name", REPORTS)
def test_the_printed_query_gives_the_rows_of_the_report(name: str, asked: dict[str, str], lake: Path) -> None:
    given = {key: text for key, text in asked.items() if key in {p.name for p in REPORTS[name].parameters}}
    options = [piece for key, text in given.items() for piece in (f"--{key.replace('_', '-')}", text)]
    result = CliRunner().invoke(main, ["report", name, "--lake", str(lake), "--sql", *options])
    assert (result.exit_code, result.stderr) == (0, "")
    assert plain_rows(result.stdout) == report_rows(lake, name, given)


@pytest.mark.parametrize("name", REPORTS)
def test_the_printed_query_runs_over_a_lake_without_parts(name: str, empty_lake: Path) -> None:
    result = CliRunner().invoke(main, ["report", name, "--lake", str(empty_lake), "--sql"])
    assert plain_rows(result.stdout) == []


@pytest.mark.parametrize("name", ["la[k]e", "la'ke", "day=1"])
def test_a_lake_of_any_name_can_be_printed(name: str, tmp_path: Path) -> None:
    make_lake(tmp_path / "lake")
    lake = make_lake(tmp_path / name)
    report = REPORTS["rate-by-model"]
    assert plain_rows(standalone_sql(report, report.values({}), str(lake))) == report_rows(lake, report.name, {})


@pytest.mark.parametrize("text", ["o'x; DROP VIEW calls; --", "$tool", "\\", "ü\n"])
def test_values_are_printed_as_text_and_nothing_else(text: str, tmp_path: Path, empty_lake: Path) -> None:
    (tmp_path / "one.sql").write_text(f"{HEAD}-- param: tool\nSELECT $tool AS a", encoding="utf-8")
    report = read_report(tmp_path / "one.sql")
    assert plain_rows(standalone_sql(report, {"tool": text}, str(empty_lake))) == [(text,)]


def test_every_type_of_value_is_printed(tmp_path: Path, empty_lake: Path) -> None:
    declared = {
        "t": "text = x",
        "i": "integer = -3",
        "n": "number = 0.5",
        "b": "boolean = true",
        "d": "timestamp = 2026-05-01",
    }
    lines = "".join(f"-- param: {name} {rest}: help\n" for name, rest in declared.items())
    (tmp_path / "one.sql").write_text(f"{HEAD}{lines}SELECT $t, $i, $n, $b, CAST($d AS VARCHAR)", encoding="utf-8")
    report = read_report(tmp_path / "one.sql")
    printed = standalone_sql(report, report.values({}), str(empty_lake))
    assert plain_rows(printed) == [("x", -3, 0.5, True, "2026-05-01 00:00:00+00")]


def test_a_query_that_ends_in_a_comment_or_shouts_runs_as_well(tmp_path: Path, lake: Path) -> None:
    body = 'SELECT SHARE(COUNT(*), 2) FROM "CALLS" -- all of them'
    (tmp_path / "one.sql").write_text(HEAD + body, encoding="utf-8")
    printed = standalone_sql(read_report(tmp_path / "one.sql"), {}, str(lake))
    assert plain_rows(printed) == [(44.5,)]
    assert printed.endswith("-- all of them\n;\n")


def test_a_dollar_in_a_text_or_a_comment_is_no_parameter(tmp_path: Path, empty_lake: Path) -> None:
    body = "SELECT 'ü $tool' AS a, $$it's $tool$$ AS b, $tool/* $tool */ AS c, $tool||'x' AS d -- $tool\n;\n"
    (tmp_path / "one.sql").write_text(f"{HEAD}-- param: tool\n{body}", encoding="utf-8")
    report = read_report(tmp_path / "one.sql")
    printed = standalone_sql(report, {"tool": "t"}, str(empty_lake))
    assert plain_rows(printed) == [("ü $tool", "it's $tool", "t", "tx")]
