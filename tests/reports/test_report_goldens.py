"""Every report over the small lake looks as its golden file says; set UPDATE_GOLDENS=1 to write them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pipeline.cli import main
from pipeline.lake import committed_parts
from pipeline.reports.catalogue import bundled_reports_dir, read_reports
from pipeline.reports.engine import answer, check_report

GOLDEN = Path(__file__).parent / "golden"
REPORTS = read_reports()
FLAT = {pa.string(), pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us", tz="UTC")}


def rows_over(lake: Path, name: str, **given: str) -> pa.Table:
    report = REPORTS[name]
    session, rows = answer(str(lake), lambda: committed_parts(lake), report.sql, report.values(given))
    with session:
        return rows.read_all()


def test_every_report_has_a_golden_file_and_every_golden_file_a_report() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {path.stem for path in bundled_reports_dir().glob("*.sql")}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_prints_its_golden_table(name: str, lake: Path) -> None:
    result = CliRunner().invoke(main, ["report", name, "--lake", str(lake)])
    assert (result.exit_code, result.stderr) == (0, REPORTS[name].title + "\n")
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(result.stdout, encoding="utf-8")
    assert result.stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_over_an_empty_lake_has_the_same_flat_columns_and_no_rows(
    name: str, lake: Path, empty_lake: Path
) -> None:
    empty = rows_over(empty_lake, name)
    assert empty.num_rows == 0
    assert empty.schema == rows_over(lake, name).schema
    assert set(empty.schema.types) <= FLAT


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_uses_what_it_declares_and_declares_what_it_uses(name: str) -> None:
    check_report(REPORTS[name])


@pytest.mark.parametrize(
    "name", [name for name, report in REPORTS.items() if {p.name for p in report.parameters} >= {"since", "until"}]
)
def test_since_counts_and_until_does_not(name: str, lake: Path) -> None:
    # Everything of 2 May and nothing else, for the two ends of a day given as a date, a time and another time zone.
    of_the_day = rows_over(lake, name, since="2026-05-02", until="2026-05-03")
    assert of_the_day == rows_over(lake, name, since="2026-05-02T02:00+02:00", until="2026-05-03T00:00:00Z")
    assert rows_over(lake, name, since="2026-05-05").num_rows == 0
    assert rows_over(lake, name, until="2026-05-01").num_rows == 0


def test_the_first_minute_is_in_and_the_last_is_out(lake: Path) -> None:
    # The first call of 1 May was made at 08:00, the second at 08:01.
    days = rows_over(lake, "rate-by-day", since="2026-05-01T08:00Z", until="2026-05-01T08:01Z")
    assert days.select(["calls", "usable"]).to_pylist() == [{"calls": 1, "usable": 1}]


FILTERS = {
    "a name": ("check_stock", ["check_stock"]),
    "a name in a namespace": ("supplier.order_parts", ["supplier.order_parts"]),
    "a pattern": ("f?nd_*", ["find_parts"]),
    "another case": ("Check_Stock", []),
    "a quote": ("x' OR true --", []),
    "the name of a parameter": ("$model", []),
}


@pytest.mark.parametrize(("tool", "tools"), FILTERS.values(), ids=FILTERS)
def test_tool_takes_a_name_or_a_pattern_and_nothing_is_pasted(tool: str, tools: list[str], lake: Path) -> None:
    assert rows_over(lake, "rate-by-tool", tool=tool)["tool"].to_pylist() == tools


def test_min_calls_leaves_out_small_groups(lake: Path) -> None:
    rows = rows_over(lake, "rate-by-tool", min_calls="10").select(["tool", "calls"]).to_pylist()
    assert rows == [
        {"tool": "find_parts", "calls": 46},
        {"tool": "check_stock", "calls": 23},
        {"tool": "book_repair", "calls": 10},
    ]


def test_a_rate_is_findings_out_of_findings_and_usable_calls(lake: Path) -> None:
    [row] = rows_over(lake, "rate-by-tool", tool="check_stock").to_pylist()
    assert {name: row[name] for name in ("calls", "usable", "findings", "cut", "unjudged", "rate")} == {
        "calls": 23,
        "usable": 20,
        "findings": 1,
        "cut": 2,
        "unjudged": 0,
        "rate": 1 / 21,
    }


def test_all_calls_are_counted_once_whatever_they_are_grouped_by(lake: Path) -> None:
    names = ("verdicts", "rate-by-tool", "rate-by-model", "rate-by-day", "rate-by-source", "rate-by-tool-and-model")
    assert {name: sum(rows_over(lake, name)["calls"].to_pylist()) for name in names} == dict.fromkeys(names, 89)
