"""The three commands as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from pipeline.cli import main
from pipeline.reports.catalogue import read_reports
from pipeline.tables import TABLE_MEANINGS, TABLES

HEAD = "-- title: Mine\n-- answers: How many calls?\n"


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin)


def outcome(result: Result) -> tuple[int, str, str]:
    return result.exit_code, result.stdout, result.stderr


def test_without_a_name_the_reports_are_listed_with_their_options() -> None:
    result = run("report", "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    listed = json.loads(result.stdout)
    assert [row["report"] for row in listed] == list(read_reports())
    assert next(row for row in listed if row["report"] == "top-violations") == {
        "report": "top-violations",
        "answers": read_reports()["top-violations"].answers,
        "options": "--since --until --model --tool --min-calls --param top=25",
    }


def test_options_reach_the_report_and_stand_in_its_heading(lake: Path) -> None:
    words = ("report", "rate-by-tool", "--lake", str(lake), "--tool", "check_*", "--since", "2026-05-02")
    table = (
        "tool         calls  usable  findings  rate  rate_low  rate_high  cut  unjudged\n"
        "check_stock     23      20         1  4.8%      0.8%      22.7%    2         0\n"
    )
    heading = "Violation rate by tool (since 2026-05-02 00:00:00+00:00, tool check_*)\n"
    assert outcome(run(*words)) == (0, table, heading)


def test_param_gives_any_option_by_its_name(lake: Path) -> None:
    words = ("report", "top-violations", "--lake", str(lake), "--format", "csv")
    by_param = run(*words, "--param", "top=1", "--param", "min-calls=2", "--param", "tool=find_parts")
    assert outcome(by_param) == outcome(run(*words, "--param", "top=1", "--min-calls", "2", "--tool", "find_parts"))
    assert len(by_param.stdout.splitlines()) == 2


def test_no_rows_are_told_beside_the_data(lake: Path) -> None:
    result = run("report", "rejects", "--lake", str(lake), "--param", "source=none")
    assert outcome(result) == (
        0,
        "source_file  reason  records  bytes  first_line  example\n",
        "Rejects (source none)\n(no rows)\n",
    )


#: Words -> code, message and hint.
MISTAKES = {
    "report rate-by-tol": (
        "report-unknown",
        "there is no report 'rate-by-tol'",
        "did you mean rate-by-tool? `dispatchable report` lists them",
    ),
    "report verdicts": ("no-lake", "report verdicts needs the lake to ask", "add --lake DIR"),
    "sql FROM": ("no-lake", "sql needs the lake to ask", "add --lake DIR"),
    "report rejects --tool x": ("parameter-unknown", "report rejects does not take tool", "it takes: source, top"),
    "report verdicts --param top=3": (
        "parameter-unknown",
        "report verdicts does not take top",
        "it takes: since, until, model, tool",
    ),
    "report rejects --param top": (
        "parameter-invalid",
        "--param top: it has no value",
        "write --param NAME=VALUE, once each",
    ),
    "report verdicts --tool a --param tool=b": (
        "parameter-invalid",
        "--param tool=b: it is given twice",
        "write --param NAME=VALUE, once each",
    ),
    "report verdicts --since yesterday": (
        "parameter-invalid",
        "since: 'yesterday' is not a date or time such as 2026-05-01 or 2026-05-01T12:00Z",
        "since means: only what was made at or after this date or time (UTC)",
    ),
    "report --dir none": ("reports-missing", "none is not a directory", "give a directory of .sql files"),
    "schema call": ("unknown-table", "the lake has no table 'call'", "did you mean calls?"),
}


@pytest.mark.parametrize(("words", "told"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_ends_with_2_and_says_what_to_do(words: str, told: tuple[str, str, str]) -> None:
    code, message, hint = told
    assert outcome(run(*words.split())) == (2, "", f"error[{code}]: {message}\nhint: {hint}\n")


def test_a_place_without_a_lake_is_told(tmp_path: Path) -> None:
    for words in (("report", "verdicts"), ("report", "verdicts", "--sql"), ("sql", "SELECT 1")):
        result = run(*words, "--lake", str(tmp_path))
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error[not-a-lake]: ")


def test_reports_of_ones_own_stand_beside_the_others(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text(
        f"{HEAD}-- param: model\nSELECT count(*) AS n FROM calls WHERE matches(model, $model)"
    )
    words = ("report", "mine", "--dir", str(tmp_path), "--lake", str(lake), "--format", "csv")
    assert outcome(run(*words)) == (0, "n\n89\n", "")
    assert outcome(run(*words, "--model", "gpt-5")) == (0, "n\n60\n", "")
    assert "mine" in run("report", "--dir", str(tmp_path)).stdout


def test_a_report_of_ones_own_reaches_no_further_than_any_query(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text(f"{HEAD}FROM read_text('/etc/passwd')")
    result = run("report", "mine", "--dir", str(tmp_path), "--lake", str(lake))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "file system operations are disabled by configuration" in result.stderr


def test_a_suffix_names_the_format_and_format_overrules_it(lake: Path, tmp_path: Path) -> None:
    words = ("report", "rate-by-model", "--lake", str(lake), "--out")
    assert outcome(run(*words, str(tmp_path / "a.parquet"))) == (0, "", "")
    assert pl.read_parquet(tmp_path / "a.parquet")["calls"].to_list() == [26, 60, 3]
    assert outcome(run(*words, str(tmp_path / "a.csv"), "--format", "jsonl")) == (0, "", "")
    assert [json.loads(line)["calls"] for line in (tmp_path / "a.csv").read_text().splitlines()] == [26, 60, 3]


def test_parquet_goes_down_a_pipe(lake: Path) -> None:
    result = run("sql", "SELECT 1 AS a", "--lake", str(lake), "--format", "parquet")
    assert (result.exit_code, result.stdout_bytes[:4], result.stdout_bytes[-4:]) == (0, b"PAR1", b"PAR1")


@pytest.mark.parametrize("words", [("SELECT 'ü' AS a",), ("-",)], ids=["as a word", "on standard input"])
def test_sql_answers_any_one_select(words: tuple[str, ...], lake: Path) -> None:
    result = run("sql", *words, "--lake", str(lake), "--format", "csv", stdin="SELECT 'ü' AS a")
    assert outcome(result) == (0, "a\nü\n", "")


def test_sql_sees_six_tables(lake: Path) -> None:
    sql = (
        "SELECT DISTINCT table_name AS name FROM information_schema.columns WHERE table_catalog <> 'system' ORDER BY 1"
    )
    assert run("sql", sql, "--lake", str(lake), "--format", "csv").stdout.split() == ["name", *sorted(TABLES)]


def test_sql_passes_on_what_duckdb_says_and_no_traceback(lake: Path) -> None:
    result = run("sql", "SELECT modell FROM calls", "--lake", str(lake))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith('error[sql-error]: Binder Error: Referenced column "modell" not found')
    assert "Traceback" not in result.stderr


def test_schema_is_the_whole_dictionary() -> None:
    rows = json.loads(run("schema", "--format", "json").stdout)
    assert [(row["table"], row["column"], row["nullable"], row["meaning"]) for row in rows] == [
        (table, column.name, column.nullable, column.meaning) for table, columns in TABLES.items() for column in columns
    ]
    assert {row["type"] for row in rows} <= {"string", "bool", "int32", "int64", "double", "date", "timestamp[us, UTC]"}


def test_schema_of_one_table_says_what_it_holds() -> None:
    result = run("schema", "duplicates", "--format", "table")
    assert (result.exit_code, result.stderr) == (0, f"duplicates: {TABLE_MEANINGS['duplicates']}\n")
    assert [line.split()[1] for line in result.stdout.splitlines()] == [
        "column",
        *(column.name for column in TABLES["duplicates"]),
    ]


def test_the_examples_of_the_help_are_reports_that_are_there() -> None:
    lines = [line.split() for line in run("report", "--help").stdout.splitlines() if "dispatchable report" in line]
    named = {words[2] for words in lines if len(words) > 2}
    assert named == {"rate-by-tool", "top-violations", "rate-by-day"}
    assert named <= set(read_reports())
