"""The same rows in every format: what is read back is what was written, and nothing acts on a terminal."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from pipeline.cli.cells import cell, csv_cell, json_bytes, markdown_cell, percent
from pipeline.cli.layout import Heading, drawn, plain
from pipeline.cli.tabular import FORMAT_BY_SUFFIX, FORMATS, WRITERS, print_rows
from pipeline.errors import PipelineError

MOMENT = dt.datetime(2026, 5, 1, 12, 30, 0, 250000, tzinfo=dt.UTC)
HOSTILE = 'a\x1b[31m\r\n\x07\x9b\u202e"quoted", |pipe| <b> [x](y) *s* `c` =1+1 \U0001f600 é'
ROWS: list[dict[str, Any]] = [
    {"text": HOSTILE, "whole": 2**62, "share": 0.125, "truth": True, "moment": MOMENT, "day": dt.date(2026, 5, 1)},
    {"text": "", "whole": -1, "share": 0.0, "truth": False, "moment": MOMENT, "day": dt.date(1, 1, 1)},
    {"text": None, "whole": None, "share": None, "truth": None, "moment": None, "day": None},
]
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("whole", pa.int64()),
        ("share", pa.float64()),
        ("truth", pa.bool_()),
        ("moment", pa.timestamp("us", tz="UTC")),
        ("day", pa.date32()),
    ]
)
TABLE = pa.Table.from_pylist(ROWS, schema=SCHEMA)
#: Raw control and reordering characters; line feeds end lines of ours.
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def written(form: str, tmp_path: Path, table: pa.Table = TABLE) -> Path:
    out = tmp_path / f"rows.{form}"
    assert print_rows(table.to_reader(max_chunksize=2), form, out) == table.num_rows
    return out


def test_csv_is_read_back_as_it_was_with_nothing_apart_from_empty(tmp_path: Path) -> None:
    whole = written("csv", tmp_path).read_bytes().decode()
    assert whole.split("\n")[-3:-1] == ['"",-1,0.0,false,2026-05-01T12:30:00.250000Z,0001-01-01', ",,,,,"]
    [head, first, *_] = list(csv.reader(io.StringIO(whole, newline="")))
    assert head == SCHEMA.names
    assert first == [HOSTILE, str(2**62), "0.125", "true", "2026-05-01T12:30:00.250000Z", "2026-05-01"]
    with duckdb.connect() as connection:
        sql = "FROM read_csv(?, header = true, nullstr = '', quote = '\"', escape = '\"', all_varchar = true)"
        [[text, *_], *_] = connection.execute(sql, [str(tmp_path / "rows.csv")]).fetchall()
    assert text == HOSTILE


def test_json_and_jsonl_are_read_back_as_they_were(tmp_path: Path) -> None:
    expected = [
        {**row, "moment": row["moment"] and "2026-05-01T12:30:00.250000Z", "day": row["day"] and row["day"].isoformat()}
        for row in ROWS
    ]
    assert json.loads(written("json", tmp_path).read_bytes()) == expected
    lines = written("jsonl", tmp_path).read_bytes().split(b"\n")
    assert [json.loads(line) for line in lines[:-1]] == expected
    assert lines[-1] == b""


def test_parquet_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = written("parquet", tmp_path)
    assert pl.read_parquet(path).to_dicts() == ROWS
    with duckdb.connect() as connection:
        assert connection.execute("SELECT DISTINCT compression FROM parquet_metadata(?)", [str(path)]).fetchall() == [
            ("ZSTD",)
        ]


def test_markdown_holds_no_markup_but_its_own(tmp_path: Path) -> None:
    table = pa.table({"tool_name": ["get_weather", "_x_ |a| <b>\n[c](d) `e` \\ ~~f~~"], "calls": [1, 2]})
    assert written("markdown", tmp_path, table).read_text() == (
        "| tool_name | calls |\n"
        "|---|---:|\n"
        "| get_weather | 1 |\n"
        "| \\_x\\_ \\|a\\| \\<b\\>\\\\n\\[c\\](d) \\`e\\` \\\\ \\~\\~f\\~\\~ | 2 |\n"
    )


EMPTY = {
    "table": b"text  whole  share  truth  moment  day\n",
    "csv": b"text,whole,share,truth,moment,day\n",
    "json": b"[]\n",
    "jsonl": b"",
    "markdown": b"| text | whole | share | truth | moment | day |\n|---|---:|---:|---|---|---|\n",
}


@pytest.mark.parametrize(("form", "text"), EMPTY.items(), ids=EMPTY)
def test_no_rows_are_still_a_whole_document(form: str, text: bytes, tmp_path: Path) -> None:
    assert written(form, tmp_path, TABLE.slice(0, 0)).read_bytes() == text


def test_no_rows_are_a_parquet_file_with_all_columns(tmp_path: Path) -> None:
    assert pl.read_parquet(written("parquet", tmp_path, TABLE.slice(0, 0))).columns == SCHEMA.names


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "markdown"])
def test_no_control_character_reaches_a_terminal_raw(form: str) -> None:
    from pipeline.cli.tabular import _Counted

    terminal = Terminal()
    WRITERS[form](_Counted(TABLE.to_reader()), terminal, False)
    ours = re.sub("\x1b\\[[01]m", "", terminal.getvalue().decode())
    assert RAW.findall(ours) == []
    assert "\U0001f600 é" in ours


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "markdown"])
def test_nor_a_pipe_that_may_end_on_one(form: str, tmp_path: Path) -> None:
    assert RAW.findall(written(form, tmp_path).read_text(encoding="utf-8")) == []


def test_a_pipe_gets_csv_as_it_is(tmp_path: Path) -> None:
    assert HOSTILE.replace('"', '""').encode() in written("csv", tmp_path).read_bytes()


def test_a_plain_table_keeps_every_row_whole_over_all_its_blocks(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(2500)), "text": ["x" * (i % 300) for i in range(2500)]})
    lines = written("table", tmp_path, table).read_text().split("\n")
    assert [line.split() for line in lines[1:-1]] == [
        [str(i), "x" * (i % 300)][: 2 if i % 300 else 1] for i in range(2500)
    ]
    assert [line for line in lines if line != line.rstrip()] == []


COLUMNS = [Heading("tool", False), Heading("calls", True), Heading("rate_low", True)]


def test_a_plain_table_is_aligned_by_what_is_seen() -> None:
    block = [["日本", "7", "1.5%"], ["find_parts", "1234", "-"]]
    assert plain(COLUMNS, block, head=True) == (
        "tool        calls  rate_low\n"
        "日本            7      1.5%\n"
        "find_parts   1234         -\n"
    )  # fmt: skip


def test_a_drawn_table_folds_text_and_never_a_number() -> None:
    text = drawn(COLUMNS, [["a_long_name_of_a_tool", "1234567", "12.5%"]], 30)
    assert [line.rstrip() for line in re.sub("\x1b\\[[0-9;]*m", "", text).split("\n")] == [
        "                          rate",
        "tool              calls    low",
        "──────────────────────────────",
        "a_long_name_of  1234567  12.5%",
        "_a_tool",
        "",
    ]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_drawn_table_is_never_wider_than_the_terminal(width: int) -> None:
    many = [Heading(f"column_{i}", i % 2 == 1) for i in range(12)]
    text = drawn(many, [[f"value{i}" * 3 if i % 2 == 0 else "123456" for i in range(12)]] * 3, width)
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).split("\n")
    assert max(len(line.rstrip()) for line in lines) <= width
    assert text.count("123456") == 18


def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert set(re.findall("\x1b\\[([0-9;]*)m", drawn(COLUMNS, [["a", "1", "2"]], 80))) <= {"0", "1"}


CELLS: dict[str, tuple[Any, str, str, str]] = {
    "nothing": (None, "-", "", "null"),
    "a text": ("a", "a", "a", '"a"'),
    "an empty text": ("", "", '""', '""'),
    "a truth": (True, "true", "true", "true"),
    "a large number": (2**63 - 1, "9223372036854775807", "9223372036854775807", "9223372036854775807"),
    "a small fraction": (1e-7, "1e-07", "1e-07", "1e-7"),
    "not a number": (float("nan"), "nan", "nan", "null"),
    "infinity": (float("inf"), "inf", "inf", "null"),
    "a decimal": (Decimal("1.50"), "1.50", "1.5", "1.5"),
    "a whole decimal": (Decimal(7), "7", "7", "7"),
    "a huge decimal": (Decimal(2**70), str(2**70), str(2**70), f'"{2**70}"'),
    "a date": (dt.date(2026, 5, 1), "2026-05-01", "2026-05-01", '"2026-05-01"'),
    "a moment": (MOMENT, "2026-05-01 12:30:00.250000", "2026-05-01T12:30:00.250000Z", '"2026-05-01T12:30:00.250000Z"'),
    "bytes": (b"\x00\xff", '"00ff"', "00ff", '"00ff"'),
    "a list": ([1, None], "[1,null]", '"[1,null]"', "[1,null]"),
    "a struct": ({"a": "b\x1b"}, '{"a":"b\\u001b"}', '"{""a"":""b\\u001b""}"', '{"a":"b\\u001b"}'),
    "reordering": ("\u202e\x9b", "\\u202e\\x9b", "\u202e\x9b", '"\\u202e\\u009b"'),
}


@pytest.mark.parametrize(("value", "shown", "in_csv", "in_json"), CELLS.values(), ids=CELLS)
def test_a_value_is_written_so(value: Any, shown: str, in_csv: str, in_json: str) -> None:
    assert (cell(value), csv_cell(value), json_bytes(value).decode()) == (shown, in_csv, in_json)


PERCENTS = {
    0.0: "0.0%",
    0.0001: "<0.1%",
    0.0005: "0.1%",
    0.5: "50.0%",
    0.9994: "99.9%",
    0.9999: ">99.9%",
    1.0: "100.0%",
}


@pytest.mark.parametrize(("value", "text"), PERCENTS.items())
def test_what_is_not_quite_nothing_or_all_never_reads_as_if_it_were(value: float, text: str) -> None:
    assert percent(value) == text


def test_fractions_are_per_cent_in_reports_and_plain_numbers_elsewhere(tmp_path: Path) -> None:
    table = pa.table(
        {"rate": [0.5], "rate_low": [0.25], "share_of_findings": [1.0], "tool_rate": [0.1], "ratio": [0.5]}
    )
    out = tmp_path / "rows"
    print_rows(table.to_reader(), "table", out, fractions=True)
    assert out.read_text().split("\n")[1].split() == ["50.0%", "25.0%", "100.0%", "10.0%", "0.5"]
    print_rows(table.to_reader(), "table", out)
    assert out.read_text().split("\n")[1].split() == ["0.5", "0.25", "1", "0.1", "0.5"]


def test_types_that_python_cannot_hold_are_text(tmp_path: Path) -> None:
    table = pa.table({"at": pa.array([1577836800123456789], pa.timestamp("ns"))})
    assert json.loads(written("json", tmp_path, table).read_bytes()) == [{"at": "2020-01-01 00:00:00.123456789"}]


def test_columns_of_one_name_are_all_written(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "a_2"])
    assert json.loads(written("json", tmp_path, table).read_bytes()) == [{"a": 1, "a_3": 2, "a_2": 3}]
    assert written("csv", tmp_path, table).read_text() == "a,a_3,a_2\n1,2,3\n"
    assert pl.read_parquet(written("parquet", tmp_path, table)).to_dicts() == [{"a": 1, "a_3": 2, "a_2": 3}]


def failing() -> pa.RecordBatchReader:
    def batches() -> Any:
        yield from TABLE.to_batches()
        raise PipelineError("lake-changed", "gone")

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_appears_whole_or_not_at_all(form: str, tmp_path: Path) -> None:
    out = tmp_path / "rows"
    out.write_text("what stood there before")
    with pytest.raises(PipelineError) as caught:
        print_rows(failing(), form, out)
    assert caught.value == PipelineError("lake-changed", "gone")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("rows", "what stood there before")]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        print_rows(TABLE.to_reader(), "csv", tmp_path / "none" / "rows.csv")
    assert (caught.value.code, caught.value.message) == (
        "output-unwritable",
        f"{tmp_path / 'none' / 'rows.csv'}: No such file or directory",
    )


def test_every_suffix_names_a_format() -> None:
    assert set(FORMAT_BY_SUFFIX.values()) == set(FORMATS) - {"table"}


def test_markdown_escapes_survive_a_reader_of_markdown() -> None:
    assert markdown_cell("a_b *c* _d") == "a_b \\*c\\* \\_d"
