"""What lies on the disk: flat types, one schema, statistics and row groups, for whoever reads Parquet."""

from __future__ import annotations

import pickle
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_driver import answer, answer_rows, batch_of, ingest, stage, write_log

from pipeline.lake import compact, parts
from pipeline.lake.parts import DICTIONARY_COLUMNS, PartWriter
from pipeline.lake.staging import StagedWriter
from pipeline.lake.store import Lake
from pipeline.tables import TABLES, arrow_schema

FLAT = {pa.string(), pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us", tz="UTC")}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of two runs with rows in every table."""
    log = write_log(tmp_path / "a.jsonl", answer("r1", 2, 0), answer("r1", 2, 0), answer(None, 1), "torn")
    ingest(tmp_path / "lake", [log])
    ingest(tmp_path / "lake", [write_log(tmp_path / "b.jsonl", answer("r2", 1, tool="t2"), answer("r1", 2, 0))])
    return tmp_path / "lake"


ROWS = {"calls": 4, "violations": 4, "turns": 3, "tools": 2, "rejects": 1, "duplicates": 2}


def test_pyarrow_duckdb_and_polars_read_the_tables_as_they_are(lake: Path) -> None:
    for table, count in ROWS.items():
        pattern = str(lake / table / "*.parquet")
        with duckdb.connect() as connection:
            assert connection.sql(f"select count(*) from read_parquet('{pattern}')").fetchall() == [(count,)]  # noqa: S608
        assert polars.scan_parquet(pattern).collect().height == count
        assert pq.read_table(lake / table).num_rows == count


def test_every_part_of_a_table_has_its_schema_with_flat_types_and_meanings(lake: Path) -> None:
    for table in TABLES:
        schemas = [pq.read_schema(path) for path in (lake / table).iterdir()]
        assert schemas
        for schema in schemas:
            assert schema.equals(arrow_schema(table), check_metadata=True)
            assert set(schema.types) <= FLAT
    assert len(list((lake / "calls").iterdir())) == 2


def test_every_column_has_zstd_and_statistics_and_only_the_repetitive_a_dictionary(lake: Path) -> None:
    for table in TABLES:
        for path in (lake / table).iterdir():
            metadata = pq.ParquetFile(path).metadata
            for group in range(metadata.num_row_groups):
                for position in range(metadata.num_columns):
                    column = metadata.row_group(group).column(position)
                    assert column.compression == "ZSTD"
                    assert column.is_stats_set
                    assert column.has_dictionary_page == (column.path_in_schema in DICTIONARY_COLUMNS)


def test_every_column_with_a_dictionary_is_a_column_of_a_table() -> None:
    assert {column.name for columns in TABLES.values() for column in columns} >= DICTIONARY_COLUMNS
    assert not DICTIONARY_COLUMNS & {"call_key", "turn_key", "arguments", "detail", "response_id", "call_id"}


def test_a_table_without_rows_has_a_part_without_rows_until_it_has_some(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", answer("r1"))
    ingest(tmp_path / "lake", [log])
    rows = {table: pq.read_table(tmp_path / "lake" / table).num_rows for table in TABLES}
    assert rows == {"calls": 0, "violations": 0, "turns": 1, "tools": 1, "rejects": 0, "duplicates": 0}
    ingest(tmp_path / "lake", [write_log(log, answer("r1"), answer("r2", 1))])
    parts_by_table = {table: len(list((tmp_path / "lake" / table).iterdir())) for table in TABLES}
    assert parts_by_table == {"calls": 1, "violations": 1, "turns": 2, "tools": 1, "rejects": 1, "duplicates": 1}


def test_a_row_group_ends_at_its_rows_or_at_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of("tools", [{"tool_key": "k" * 100, "tool_name": "t", "strict": False}] * 1000)
    writer = PartWriter(tmp_path / "rows.parquet", "tools")
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 3000)
    for _ in range(7):
        writer.write(batch)
    monkeypatch.setattr(parts, "ROW_GROUP_BYTES", batch.nbytes + 1)
    writer.write(batch)
    writer.write(batch)
    size = writer.close()
    metadata = pq.ParquetFile(tmp_path / "rows.parquet").metadata
    groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert (groups, size.rows, size.size_bytes) == ([3000, 3000, 2000, 1000], 9000, writer.path.stat().st_size)


def test_a_null_where_there_may_be_none_and_a_foreign_schema_are_refused(tmp_path: Path) -> None:
    rows = answer_rows(answer("r1", 0), ("a", 1, 0), "a")
    with StagedWriter(tmp_path, "s") as writer:
        with pytest.raises(ValueError, match=r"calls\.state has 1 nulls and may have none"):
            writer.write("calls", batch_of("calls", [{**rows["calls"][0], "state": None}]))
        with pytest.raises(ValueError, match="rows for tools have another schema"):
            writer.write("tools", batch_of("turns", rows["turns"]))
        writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_a_split_that_fails_leaves_nothing_in_staging(tmp_path: Path) -> None:
    rows = answer_rows(answer("r1", 0), ("a", 1, 0), "a")
    with pytest.raises(KeyError), StagedWriter(tmp_path, "s") as writer:
        writer.write("turns", batch_of("turns", rows["turns"]))
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_staged_parts_pickle_and_tables_without_rows_have_none(tmp_path: Path) -> None:
    staged = stage(tmp_path, "s", answer_rows(answer("r1", 0), ("a", 1, 0), "a"))
    assert pickle.loads(pickle.dumps(staged)) == staged  # noqa: S301  (our own)
    assert set(staged.parts) == {"turns", "calls", "tools"}
    assert {Path(path).name for path, _ in staged.parts.values()} == {path.name for path in tmp_path.iterdir()}


def test_a_split_without_files_as_standard_input_lands_its_rows(tmp_path: Path) -> None:
    with Lake(tmp_path / "lake") as lake:
        landed = lake.land(stage(lake.staging, "s", answer_rows(answer("r1", 1), ("-", 1, 0), "-")), [])
        lake.finish()
    assert (landed.rows, landed.duplicates) == ({"turns": 1, "calls": 1, "violations": 1, "tools": 1}, 0)
    assert pq.read_table(tmp_path / "lake" / "turns").num_rows == 1


def test_months_of_small_runs_end_in_few_parts_with_the_rows_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "MAX_SMALL_PARTS", 4)
    lake, logs = tmp_path / "lake", []
    for day in range(13):
        logs.append(write_log(tmp_path / f"{day:02}.jsonl", answer(f"r{day:02}", day % 2), answer("again", 1)))
        ingest(lake, logs)
    assert all(len(list((lake / table).iterdir())) <= 4 for table in TABLES)
    ids = [row["response_id"] for path in sorted((lake / "turns").iterdir()) for row in pq.read_table(path).to_pylist()]
    assert ids == ["r00", "again", *(f"r{day:02}" for day in range(1, 13))]
    assert pq.read_table(lake / "duplicates").num_rows == 12
    # Rows of one file go from merged parts as they do from others.
    write_log(logs[3], answer("new", 0))
    assert ingest(lake, logs)[0][str(logs[3])] == "replaced"
    assert sorted(row["response_id"] for row in pq.read_table(lake / "turns").to_pylist()) == sorted(
        {*ids, "new"} - {"r03"}
    )


def test_rows_of_two_files_of_one_name_are_never_merged_into_one_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "MAX_SMALL_PARTS", 1)
    lake, log = tmp_path / "lake", tmp_path / "app.log"
    for day in range(4):
        if day:
            log.rename(tmp_path / f"app.log.{day}")
        write_log(log, answer(f"r{day}", 1), answer(None))
        ingest(lake, sorted(str(path) for path in tmp_path.glob("app.log*")))
    assert pq.read_table(lake / "turns").num_rows == 8
    write_log(tmp_path / "app.log.2", answer("r9"))
    ingest(lake, sorted(str(path) for path in tmp_path.glob("app.log*")))
    turns = pq.read_table(lake / "turns").to_pylist()
    assert sorted(row["response_id"] or "" for row in turns) == ["", "", "", "r0", "r2", "r3", "r9"]
