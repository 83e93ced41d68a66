"""The Parquet that a BI tool reads: flat types, one schema a table, statistics; and the same verdicts as ``check``."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from ingest_driver import FINE, WRONG, Rows, answer, answers, append, land, rows_of, write_log

from pipeline.cli import main
from pipeline.ingest import ingestion
from pipeline.lake import committed_parts
from pipeline.tables import TABLES, arrow_schema

SAMPLES = Path(__file__).parent.parent.parent / "sample_data"
FLAT = [pa.string(), pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us", tz="UTC")]
#: Columns of ``calls`` that ``check`` prints as well.
SHARED = [
    *("source_file", "source_line", "response_id", "model", "call_index", "call_id", "tool_name", "tool_namespace"),
    *("state", "outcome", "fault", "detail", "strict", "arguments", "truncation"),
]


@pytest.fixture(scope="module")
def lake(memory: str | None) -> Iterator[Path]:
    """Samples landed, and once more with repeated answers, a file replaced, and small splits: parts of all kinds."""
    with TemporaryDirectory(dir=memory) as directory:
        place = Path(directory)
        logs = shutil.copytree(SAMPLES, place / "logs")
        more = write_log(logs / "more.jsonl", *answers(0, 30), "half", "\n", answer("r", FINE))
        files = [path for path in sorted(logs.rglob("*.json*")) if path.parent.name != "tools"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ingestion, "SPLIT_BYTES", 9000)
            patch.setattr(ingestion, "SPLIT_BYTES_ALONE", 9000)
            patch.setattr(ingestion, "_SMALLEST_SPLIT_BYTES", 9000)
            land(place / "lake", *files)
            write_log(more, *answers(10, 30), answer(None, WRONG))
            append(logs / "responses-2026-05-01.jsonl", answer("lone \\ud83d", '{"city": "\\ud83d", "days": 1}'))
            land(place / "lake", *files, jobs=2)
        yield place / "lake"


@pytest.fixture(scope="module")
def parts(lake: Path) -> dict[str, list[str]]:
    return committed_parts(lake)


def test_every_part_of_a_table_has_the_one_flat_schema_of_the_data_dictionary(parts: dict[str, list[str]]) -> None:
    assert all(parts.values())
    assert len(parts["calls"]) > 1
    for table, files in parts.items():
        for file in files:
            schema = pq.read_schema(file)
            assert schema.equals(arrow_schema(table), check_metadata=False), file
            assert [field for field in schema if field.type not in FLAT] == []
            assert [field.name for field in schema] == [column.name for column in TABLES[table]]


def test_every_column_has_statistics_and_zstd(parts: dict[str, list[str]]) -> None:
    for file in (file for files in parts.values() for file in files):
        metadata = pq.ParquetFile(file).metadata
        for group in range(metadata.num_row_groups):
            columns = [metadata.row_group(group).column(number) for number in range(metadata.num_columns)]
            assert {column.compression for column in columns} == {"ZSTD"}
            assert all(column.statistics.has_null_count for column in columns)
            # Minimum and maximum stand wherever there is a value.
            for column in columns:
                has_values = column.statistics.null_count < metadata.row_group(group).num_rows
                assert column.statistics.has_min_max == has_values, (file, column.path_in_schema)


@pytest.mark.parametrize("table", TABLES)
def test_pyarrow_duckdb_and_polars_read_the_same_rows_from_the_plain_files(lake: Path, table: str) -> None:
    pattern = str(lake / table / "*.parquet")
    by_arrow = pa.concat_tables([pq.read_table(path) for path in sorted((lake / table).glob("*.parquet"))])
    expected = _sorted(by_arrow.to_pylist())
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        by_duckdb = connection.read_parquet(pattern).to_arrow_table().to_pylist()
    assert _sorted(by_duckdb) == expected
    assert _sorted(pl.read_parquet(pattern).to_dicts()) == expected


def _sorted(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in rows)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_rows_are_what_check_says_of_the_same_files(tmp_path: Path, jobs: int) -> None:
    files = [path for path in sorted(SAMPLES.rglob("*.json*")) if path.parent.name != "tools"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingestion, "_SMALLEST_SPLIT_BYTES", 30_000)
        done = land(tmp_path / "lake", *files, jobs=jobs)
    rows = rows_of(tmp_path / "lake")
    checked = json.loads(CliRunner().invoke(main, ["check", *map(str, files), "--format", "json", "--show-all"]).stdout)
    repeated = {(row["source_file"], row["source_line"]) for row in rows["duplicates"]}
    told = [call for call in checked["calls"] if (call["source_file"], call["source_line"]) not in repeated]
    assert len(checked["calls"]) > len(told) > 100
    assert _shared(rows["calls"]) == _shared(told)
    assert _violations(rows) == Counter(
        (call["source_file"], call["source_line"], call["call_index"], *violation.values())
        for call in told
        for violation in call["violations"]
    )
    assert _only(rows["rejects"], *checked["rejects"][0]) == _only(checked["rejects"], *checked["rejects"][0])
    assert dict(done.checked.states) == Counter(call["state"] for call in told)
    assert len(rows["turns"]) + len(rows["duplicates"]) == checked["summary"]["turns"]


def _shared(calls: list[dict[str, Any]]) -> list[str]:
    return _only(calls, *SHARED)


def _only(rows: list[dict[str, Any]], *names: str) -> list[str]:
    return sorted(json.dumps({name: row[name] for name in names}) for row in rows)


def _violations(rows: Rows) -> Counter[tuple[Any, ...]]:
    calls = {row["call_key"]: row for row in rows["calls"]}
    return Counter(
        (
            *(calls[row["call_key"]][name] for name in ("source_file", "source_line", "call_index")),
            *(row[name] for name in ("path", "keyword", "expected", "got", "message")),
        )
        for row in rows["violations"]
    )


def test_keys_join_the_tables(lake: Path) -> None:
    rows = rows_of(lake)
    turns = {row["turn_key"]: row for row in rows["turns"]}
    calls = {row["call_key"]: row for row in rows["calls"]}
    assert (len(turns), len(calls)) == (len(rows["turns"]), len(rows["calls"]))
    assert Counter(row["turn_key"] for row in rows["calls"]) == {
        key: row["calls"] for key, row in turns.items() if row["calls"]
    }
    assert Counter(row["call_key"] for row in rows["violations"]) == {
        key: row["violation_count"] for key, row in calls.items() if row["violation_count"]
    }
    assert {row["turn_key"] for row in rows["duplicates"]} <= turns.keys()
    assert {row["tool_key"] for row in rows["calls"]} - {None} <= {row["tool_key"] for row in rows["tools"]}


def test_a_lone_surrogate_lands_as_its_escape(lake: Path) -> None:
    (row,) = [row for row in rows_of(lake)["calls"] if "\\ud83d" in (row["response_id"] or "")]
    assert row["arguments"] == '{"city": "\\ud83d", "days": 1}'


def test_thousands_of_answers_in_as_many_files_make_one_part_or_two_a_table(tmp_path: Path) -> None:
    files = [write_log(tmp_path / f"{number:05d}.json", one) for number, one in enumerate(answers(0, 3000))]
    done = land(tmp_path / "lake", *files)
    assert (done.decisions, done.rows["turns"]) == ({"new": 3000}, 3000)
    assert {len(parts) for parts in committed_parts(tmp_path / "lake").values()} <= {1, 2}
    assert land(tmp_path / "lake", *files).decisions == {"unchanged": 3000}
