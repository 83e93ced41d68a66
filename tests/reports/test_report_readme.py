"""What the README says about feeding BI tools runs as it stands there, over a lake called ``lake``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_lake import make_lake

README = Path(__file__).parents[2] / "README.md"
#: tool_name -> findings and judged calls of the small lake, as far as the snippets agree on names of null.
RATES = {
    "find_parts": (7, 43),
    "check_stock": (1, 21),
    "book_repair": (0, 9),
    "order_parts": (0, 4),
    "findparts": (2, 2),
}


def snippet(heading: str, language: str) -> str:
    """First code block of that language under ``### heading``."""
    chapter = README.read_text(encoding="utf-8").split(f"\n### {heading}\n", 1)[1].split("\n### ", 1)[0]
    match = re.search(rf"```{language}\n(.*?)```", chapter, re.DOTALL)
    assert match, f"no {language} under {heading}"
    return match[1]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_lake(tmp_path / "lake")
    monkeypatch.chdir(tmp_path)


def run_python(heading: str) -> Any:
    names: dict[str, Any] = {}
    exec(snippet(heading, "python"), names)  # noqa: S102 - our own README
    return names["rates"]


def test_duckdb(here: None) -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(snippet("DuckDB", "sql")).fetchall()
    assert {name: (findings, judged) for name, findings, judged, _ in rows if name in RATES} == RATES
    assert {name: rate for name, _, judged, rate in rows if judged} == {
        name: findings / judged for name, findings, judged, _ in rows if judged
    }


def test_the_sql_for_other_tools(here: None) -> None:
    views = snippet("A file of views, for tools that speak DuckDB", "sql").replace("/data/lake", "lake")
    with duckdb.connect("views.duckdb") as connection:
        connection.execute(views)
    metric = snippet("Superset", "sql")
    with duckdb.connect("views.duckdb", read_only=True) as connection:
        by_model = {"gpt-5": 4 / 58, "gpt-5-mini": 8 / 23}
        assert dict(connection.execute(snippet("Metabase", "sql")).fetchall()) == by_model
        assert connection.execute(f"SELECT {metric} FROM calls WHERE model = 'gpt-5'").fetchall() == [(4 / 58,)]  # noqa: S608
        [(at, *first), *_] = connection.execute(snippet("Grafana", "sql")).fetchall()
        assert (at.day, *first) == (1, "gpt-5", 0.0)
        tableau = snippet("Tableau", "sql").replace("/data/lake", "lake")
        assert len(connection.execute(tableau).fetchall()) == 89


def test_polars(here: None) -> None:
    rates = {name: (rate, calls) for name, rate, calls in run_python("polars").iter_rows() if name in RATES}
    assert rates == {name: (findings / judged, judged) for name, (findings, judged) in RATES.items()}


def test_pandas(here: None) -> None:
    pytest.importorskip("pandas")
    rates = {name: (row["mean"], row["size"]) for name, row in run_python("pandas").iterrows() if name in RATES}
    assert rates == {name: (findings / judged, judged) for name, (findings, judged) in RATES.items()}
