"""Reports are files: their heads are read, their names found, their parameters typed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from pipeline.errors import PipelineError
from pipeline.reports.catalogue import Report, bundled_reports_dir, find_report, read_report, read_reports
from pipeline.reports.engine import check_report
from pipeline.reports.parameters import COMMON, Parameter, Value

HEAD = "-- title: One\n-- answers: How many?\n"


def written(directory: Path, text: str, name: str = "one") -> Path:
    path = directory / f"{name}.sql"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_head_is_read_into_a_report(tmp_path: Path) -> None:
    text = (
        f"{HEAD}-- param: since, min_calls\n-- A remark: for whoever reads the file.\n"
        "-- param: top integer = 20: how many rows\n-- param: reason text = null: only this: one\n"
        "-- param: at text = 12:30: a time\n"
        "\n-- title: not in the head\nSELECT 1\n"
    )
    path = written(tmp_path, text)
    assert read_report(path) == Report(
        "one",
        "One",
        "How many?",
        (
            COMMON["since"],
            COMMON["min_calls"],
            Parameter("top", "integer", 20, "how many rows"),
            Parameter("reason", "text", None, "only this: one"),
            Parameter("at", "text", "12:30", "a time"),
        ),
        text,
        path,
    )


BAD_HEADS = {
    "no title": ("-- answers: How many?\nSELECT 1", "its head has no title"),
    "no answer": ("-- title: One\nSELECT 1", "its head has no answers"),
    "empty title": ("-- title:\n-- answers: How many?\nSELECT 1", "its head has no title"),
    "two titles": (f"{HEAD}-- title: Two\nSELECT 1", "line 3: a second title"),
    "head after the query": (f"SELECT 1\n{HEAD}", "its head has no title"),
    "unknown type": (f"{HEAD}-- param: n int = 1: rows\nSELECT 1", "line 3: 'n int = 1: rows' declares no parameter"),
    "no default": (f"{HEAD}-- param: top integer: rows\nSELECT 1", "line 3: 'top integer: rows' declares no parameter"),
    "no help": (f"{HEAD}-- param: top integer = 20\nSELECT 1", "line 3: 'top integer = 20' declares no parameter"),
    "unknown common": (f"{HEAD}-- param: since, untill\nSELECT 1", "line 3: 'since, untill' declares no parameter"),
    "declared twice": (f"{HEAD}-- param: since\n-- param: tool, since\nSELECT 1", "parameter since is declared twice"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD_HEADS.values(), ids=BAD_HEADS)
def test_a_head_that_cannot_be_read_is_named_with_its_file(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PipelineError) as caught:
        read_report(path)
    assert (caught.value.code, caught.value.message) == ("report-invalid", f"{path}: {message}")


def test_a_default_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        read_report(written(tmp_path, f"{HEAD}-- param: top integer = many: rows\nSELECT $top"))
    assert caught.value.message == "top: 'many' is not a whole number such as 20"


@pytest.mark.parametrize("name", ["One", "one_two", "-one", "one two", "örtlich"])
def test_a_name_that_is_not_kebab_case_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        read_report(written(tmp_path, f"{HEAD}SELECT 1", name))
    assert caught.value.message.endswith(f"{name!r} is not a report's name")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.sql"
    path.write_bytes(HEAD.encode() + b"SELECT '\xff'")
    with pytest.raises(PipelineError, match="a report is a text file in UTF-8"):
        read_report(path)


BODIES = {
    "used but not declared": ("SELECT $since, $top", "$top is used but not declared"),
    "declared but not used": ("SELECT '$since' -- $since", "$since is declared but not used"),
    "two statements": ("SELECT $since; SELECT 2", "the query was not run: it holds 2 statements"),
    "no statement": ("-- nothing", "the query was not run: it is empty"),
    "no SELECT": ("CREATE TABLE t AS SELECT $since", "the query was not run: it is a statement of type CREATE"),
    "a mistake": ("SELEC $since", 'Parser Error: syntax error at or near "SELEC"'),
}


@pytest.mark.parametrize(("body", "message"), BODIES.values(), ids=BODIES)
def test_duckdb_itself_says_whether_a_report_fits_what_it_declares(body: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}-- param: since\n{body}\n")
    with pytest.raises(PipelineError) as caught:
        check_report(read_report(path))
    assert (caught.value.code, caught.value.message) == ("report-invalid", f"{path}: {message}")


def test_a_directory_adds_reports_and_never_hides_one(tmp_path: Path) -> None:
    written(tmp_path, f"{HEAD}SELECT 1", "my-own")
    assert set(read_reports([tmp_path])) == set(read_reports()) | {"my-own"}
    written(tmp_path, f"{HEAD}SELECT 1", "rate-by-tool")
    with pytest.raises(PipelineError) as caught:
        read_reports([tmp_path])
    assert caught.value.hint == "rename the file: one report never hides another"


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="is not a directory"):
        read_reports([tmp_path / "none"])


NEAR = {
    "a slip": ("rate-by-tol", "did you mean rate-by-tool? `dispatchable report` lists them"),
    "nothing like it": ("zzz", "`dispatchable report` lists them"),
}


@pytest.mark.parametrize(("name", "hint"), NEAR.values(), ids=NEAR)
def test_an_unknown_report_is_told_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(PipelineError) as caught:
        find_report(read_reports(), name)
    assert caught.value == PipelineError("report-unknown", f"there is no report {name!r}", hint)


VALUES: dict[str, tuple[str, str, Value]] = {
    "text as it is": ("text", " a'b ", " a'b "),
    "whole number": ("integer", "-7", -7),
    "largest number": ("integer", "9223372036854775807", 2**63 - 1),
    "number": ("number", "0.05", 0.05),
    "truth": ("boolean", "True", True),
    "a date begins at midnight UTC": ("timestamp", "2026-05-01", dt.datetime(2026, 5, 1, tzinfo=dt.UTC)),
    "a bare time is UTC": ("timestamp", "2026-05-01 12:30", dt.datetime(2026, 5, 1, 12, 30, tzinfo=dt.UTC)),
    "an offset counts": ("timestamp", "2026-05-01T01:00+02:00", dt.datetime(2026, 4, 30, 23, tzinfo=dt.UTC)),
    "Z": ("timestamp", "2026-05-01T01:00:00Z", dt.datetime(2026, 5, 1, 1, tzinfo=dt.UTC)),
}


@pytest.mark.parametrize(("kind", "text", "value"), VALUES.values(), ids=VALUES)
def test_text_becomes_a_typed_value(kind: str, text: str, value: Value) -> None:
    assert Parameter("p", kind, None, "help").read(text) == value


NO_VALUES = [
    ("integer", "20.5"),
    ("integer", "9223372036854775808"),
    ("integer", ""),
    ("number", "nan"),
    ("boolean", "yes"),
    ("timestamp", "yesterday"),
    ("timestamp", "2026-02-30"),
    ("timestamp", "0001-01-01T00:00+14:00"),
]


@pytest.mark.parametrize(("kind", "text"), NO_VALUES)
def test_text_of_another_type_is_refused_with_an_example(kind: str, text: str) -> None:
    with pytest.raises(PipelineError) as caught:
        Parameter("max_size", kind, None, "the help").read(text)
    assert caught.value.code == "parameter-invalid"
    assert caught.value.message.startswith(f"max-size: {text!r} is not ")
    assert caught.value.hint == "max-size means: the help"


def test_only_declared_parameters_are_taken_and_the_others_have_their_defaults(tmp_path: Path) -> None:
    report = read_report(written(tmp_path, f"{HEAD}-- param: model, min_calls\nSELECT $model, $min_calls"))
    assert report.values({"model": "gpt-5"}) == {"model": "gpt-5", "min_calls": 1}
    with pytest.raises(PipelineError) as caught:
        report.values({"since": "2026-05-01"})
    assert caught.value == PipelineError(
        "parameter-unknown", "report one does not take since", "it takes: model, min-calls"
    )


def test_a_checkout_finds_the_reports_beside_the_package(tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "sql").mkdir()
    assert bundled_reports_dir(tmp_path / "pipeline") == tmp_path / "sql"


def test_an_installed_package_finds_the_reports_inside_itself(tmp_path: Path) -> None:
    # Whatever is called sql beside an installed package is someone else's.
    (tmp_path / "sql").mkdir()
    (tmp_path / "pipeline" / "_sql").mkdir(parents=True)
    assert bundled_reports_dir(tmp_path / "pipeline") == tmp_path / "pipeline" / "_sql"


def test_a_package_without_reports_says_so(tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    with pytest.raises(PipelineError, match="install dispatchable again"):
        bundled_reports_dir(tmp_path / "pipeline")
