"""A session reads exactly the parts that it was given, and outlives an ingest that replaces them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_lake import make_lake

from pipeline.errors import PipelineError
from pipeline.lake import committed_parts
from pipeline.reports.engine import PartsChangedError, answer, open_lake

COUNT = "SELECT count(*) AS n FROM calls"
Parts = Mapping[str, Sequence[str]]


def count(lake: Path, parts: Parts | None = None) -> int:
    with open_lake(str(lake), parts) as session:
        return int(session.query(COUNT).read_all()["n"][0].as_py())


def test_parts_that_no_commit_names_are_not_read(tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake")
    shutil.copy(lake / "calls" / "part-0.parquet", lake / "calls" / "part-9.parquet")
    (lake / "calls" / "part-8.parquet").write_bytes(b"PAR1 half-written")
    assert count(lake, committed_parts(lake)) == 89


def test_without_a_listing_whatever_parts_are_there_are_read(lake: Path) -> None:
    assert count(lake) == 89


def test_a_table_without_parts_is_a_view_without_rows(empty_lake: Path) -> None:
    assert count(empty_lake, {}) == 0


@pytest.mark.parametrize(
    "name", ["la[k]e", "la*ke", "la?ke", "day=1", "la'ke", 'la"ke', "lake $since", "läke", "la{a,b}ke"]
)
def test_a_lake_may_have_any_name(name: str, tmp_path: Path) -> None:
    # Neighbours that a pattern would match as well.
    for neighbour in ("lake", "laxke", "la[k]e.old"):
        make_lake(tmp_path / neighbour)
    lake = make_lake(tmp_path / name)
    with open_lake(str(lake), committed_parts(lake)) as session:
        assert (
            session.query("FROM calls").read_all().schema.names
            == pq.read_schema(lake / "calls" / "part-0.parquet").names
        )
        assert session.query(COUNT).read_all().to_pylist() == [{"n": 89}]


def test_a_lake_may_be_named_by_a_relative_path_and_by_a_link(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(lake)
    monkeypatch.chdir(tmp_path)
    assert [count(Path(name)) for name in ("link", "./link", os.path.relpath(lake))] == [89, 89, 89]


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir, Path.touch], ids=["nothing", "a directory", "a file"])
def test_what_is_no_lake_is_told_with_the_way_to_make_one(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "lake")
    with pytest.raises(PipelineError) as caught:
        open_lake(str(tmp_path / "lake"))
    assert caught.value.code == "not-a-lake"
    assert caught.value.hint == f"make one with: dispatchable ingest PATH --lake {tmp_path / 'lake'}"


def test_a_damaged_part_is_told_with_its_name(tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake")
    (lake / "calls" / "part-0.parquet").write_bytes(b"not Parquet at all")
    with pytest.raises(PipelineError) as caught:
        count(lake, committed_parts(lake))
    assert caught.value.code == "lake-unreadable"
    assert str(lake / "calls" / "part-0.parquet") in caught.value.message


class Listings:
    """Listings one after another, the last for ever; ``taken`` counts them."""

    def __init__(self, *listings: Parts) -> None:
        self.listings = list(listings)
        self.taken = 0

    def __call__(self) -> Parts:
        self.taken += 1
        return self.listings.pop(0) if len(self.listings) > 1 else self.listings[0]


def stale(lake: Path, which: int) -> dict[str, list[str]]:
    parts = committed_parts(lake)
    parts["calls"].insert(which, str(lake / "calls" / "gone.parquet"))
    return parts


@pytest.mark.parametrize("which", [0, 2], ids=["the part whose columns are read first", "a later part"])
def test_a_part_that_vanished_after_being_listed_is_listed_once_more(which: int, lake: Path) -> None:
    listings = Listings(stale(lake, which), committed_parts(lake))
    session, rows = answer(str(lake), listings, COUNT)
    with session:
        assert (rows.read_all().to_pylist(), listings.taken) == ([{"n": 89}], 2)


def test_parts_that_go_on_vanishing_end_in_an_error_after_the_second_try(lake: Path) -> None:
    listings = Listings(stale(lake, 2))
    with pytest.raises(PartsChangedError) as caught:
        answer(str(lake), listings, COUNT)
    assert listings.taken == 2
    assert caught.value.hint == "run the command again"


def test_a_mistake_in_the_query_is_not_tried_again(lake: Path) -> None:
    listings = Listings(committed_parts(lake))
    with pytest.raises(PipelineError):
        answer(str(lake), listings, "SELECT nonsense FROM calls")
    assert listings.taken == 1


ERRORS = {
    "a slip in a name": ("SELECT modell FROM calls", 'Binder Error: Referenced column "modell" not found'),
    "a slip in the grammar": ("SELECT FROM WHERE", "Parser Error: syntax error at or near"),
    "a value for a parameter is missing": ("SELECT $since", "Invalid Input Error: Values were not provided"),
    "a row that cannot be": ("SELECT CAST(state AS INTEGER) FROM calls", "Conversion Error: Could not convert string"),
}


@pytest.mark.parametrize(("sql", "message"), ERRORS.values(), ids=ERRORS)
def test_what_duckdb_says_reaches_the_user_in_its_first_lines(sql: str, message: str, lake: Path) -> None:
    with open_lake(str(lake)) as session, pytest.raises(PipelineError) as caught:
        session.query(sql).read_all()
    assert caught.value.code == "sql-error"
    assert caught.value.message.startswith(message)
    assert len(caught.value.message.split("\n")) <= 6


def test_an_error_in_the_midst_of_the_rows_is_the_same_error(lake: Path) -> None:
    sql = "SELECT CAST(CASE WHEN range = 15000000 THEN 'x' ELSE '0' END AS INTEGER) AS a FROM range(20000000)"
    with open_lake(str(lake)) as session:
        rows = session.query(sql)
        with pytest.raises(PipelineError) as caught:
            for _ in rows:
                pass
    assert caught.value.code == "sql-error"
    assert "Could not convert string 'x' to INT32" in caught.value.message


def test_a_sort_larger_than_memory_spills_and_leaves_nothing_behind(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.reports.engine.tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setitem(_config(), "memory_limit", "60MiB")
    sql = "SELECT count(*) AS n FROM (SELECT DISTINCT md5(CAST(range AS VARCHAR)) FROM range(1500000))"
    with open_lake(str(lake)) as session:
        assert session.query(sql).read_all().to_pylist() == [{"n": 1_500_000}]
    assert list(tmp_path.iterdir()) == []


def _config() -> dict[str, object]:
    from pipeline.reports import engine

    return engine.CONFIG  # type: ignore[return-value]
