"""The interval that stands beside every rate."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pipeline.reports.engine import open_lake

# k of n -> the 95 % interval. Those with a name come from R. G. Newcombe's comparison of methods, Statistics in
# Medicine 17 (1998), table I, method 3.
PUBLISHED = {
    "Newcombe a": (81, 263, 0.2553, 0.3662),
    "Newcombe b": (15, 148, 0.0624, 0.1605),
    "Newcombe c": (0, 20, 0.0, 0.1611),
    "Newcombe d": (1, 29, 0.0061, 0.1718),
    "nothing of one": (0, 1, 0.0, 0.7935),
    "one of one": (1, 1, 0.2065, 1.0),
    "all of many": (10**7, 10**7, 0.9999996, 1.0),
}


def interval(lake: Path, k: int, n: int) -> list[float | None]:
    with open_lake(str(lake)) as session:
        sql = f"SELECT share({k}, {n}) AS share, wilson_low({k}, {n}) AS low, wilson_high({k}, {n}) AS high"
        return list(session.query(sql).read_all().to_pylist()[0].values())


@pytest.mark.parametrize(("k", "n", "low", "high"), PUBLISHED.values(), ids=PUBLISHED)
def test_the_interval_is_the_published_one(k: int, n: int, low: float, high: float, empty_lake: Path) -> None:
    assert interval(empty_lake, k, n) == [k / n, pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5)]


def test_no_calls_say_nothing_about_a_rate(empty_lake: Path) -> None:
    assert interval(empty_lake, 0, 0) == [None, None, None]


def test_the_interval_holds_the_share_and_stays_between_nothing_and_all(empty_lake: Path) -> None:
    with open_lake(str(empty_lake)) as session:
        sql = (
            "SELECT k, n, wilson_low(k, n) AS low, wilson_high(k, n) AS high"
            " FROM range(1, 60) AS a(n), range(0, 60) AS b(k) WHERE k <= n"
        )
        rows = session.query(sql).read_all().to_pylist()
    assert len(rows) == sum(range(2, 61))
    assert [row for row in rows if not 0 <= row["low"] <= row["k"] / row["n"] <= row["high"] <= 1] == []


def test_large_counts_do_not_overflow(empty_lake: Path) -> None:
    share, low, high = interval(empty_lake, 4 * 10**18, 8 * 10**18)
    assert share == 0.5
    assert low is not None
    assert high is not None
    assert math.isclose(low, 0.5, abs_tol=1e-8)
    assert math.isclose(high, 0.5, abs_tol=1e-8)
