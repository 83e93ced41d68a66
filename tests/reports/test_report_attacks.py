"""A query reads the lake and nothing else, whoever wrote it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from small_lake import make_lake

from pipeline.errors import PipelineError
from pipeline.lake import committed_parts
from pipeline.reports.engine import Session, open_lake

#: Another file than the lake's, a directory to write into, and one to list: filled in below.
SECRET, SCRATCH, LAKE = "{secret}", "{scratch}", "{lake}"

REFUSED = {
    "copy out": f"COPY calls TO '{SCRATCH}/out.csv'",
    "copy over a part": f"COPY calls TO '{LAKE}/calls/part-0.parquet' (USE_TMP_FILE false)",
    "copy in": f"COPY calls FROM '{SECRET}'",
    "export": f"EXPORT DATABASE '{SCRATCH}/out'",
    "attach": f"ATTACH '{SCRATCH}/out.db'",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "set": "SET enable_external_access = true",
    "reset": "RESET memory_limit",
    "pragma": "PRAGMA enable_profiling",
    "call": "CALL enable_logging()",
    "create table": "CREATE TABLE t AS SELECT 1",
    "create secret": "CREATE SECRET (TYPE s3)",
    "create macro": "CREATE MACRO m() AS 1",
    "replace a view": "CREATE OR REPLACE TEMP VIEW calls AS SELECT 1",
    "drop": "DROP VIEW calls",
    "insert": "INSERT INTO calls SELECT 1",
    "delete": "DELETE FROM calls",
    "update": "UPDATE calls SET model = 'x'",
    "explain analyze": f"EXPLAIN ANALYZE COPY calls TO '{SCRATCH}/out.csv'",
    "prepare": "PREPARE q AS SELECT 1",
    "execute": "EXECUTE q",
    "use": "USE memory",
    "vacuum": "VACUUM",
    "checkpoint": "CHECKPOINT",
    "transaction": "BEGIN",
    "two statements": f"SELECT 1; COPY calls TO '{SCRATCH}/out.csv'",
    "two selects": "SELECT 1; SELECT 2",
    "a comment": "-- SELECT 1",
    "nothing": "",
}
NO_SUCH_ACCESS = "file system operations are disabled by configuration"
LOCKED = "the configuration has been locked"
ERRORS = {
    "another csv": (f"FROM read_csv('{SECRET}')", NO_SUCH_ACCESS),
    "another text": (f"FROM read_text('{SECRET}')", NO_SUCH_ACCESS),
    "another blob": (f"FROM read_blob('{SECRET}')", NO_SUCH_ACCESS),
    "another json": (f"FROM read_json('{SECRET}')", NO_SUCH_ACCESS),
    "another parquet": (f"FROM read_parquet('{SECRET}')", NO_SUCH_ACCESS),
    "another duckdb": (f"FROM read_duckdb('{SECRET}')", NO_SUCH_ACCESS),
    "the footer of another parquet": (f"FROM parquet_metadata('{SECRET}')", NO_SUCH_ACCESS),
    "what a csv looks like": (f"FROM sniff_csv('{SECRET}')", NO_SUCH_ACCESS),
    "the password file": ("FROM read_csv('/etc/passwd')", NO_SUCH_ACCESS),
    "standard input": ("FROM read_csv('/dev/stdin')", NO_SUCH_ACCESS),
    "a file by its name alone": (f"FROM '{SECRET}.csv'", NO_SUCH_ACCESS),
    "the manifest of the lake": (f"FROM read_text('{LAKE}/_manifest.json')", NO_SUCH_ACCESS),
    "a part that does not count": (f"FROM read_parquet('{LAKE}/calls/part-9.parquet')", NO_SUCH_ACCESS),
    "a way around": (f"FROM read_text('{LAKE}/calls/../_manifest.json')", NO_SUCH_ACCESS),
    "a listing": ("FROM glob('/etc/*')", NO_SUCH_ACCESS),
    "a listing of the lake": (f"FROM glob('{LAKE}/*')", NO_SUCH_ACCESS),
    "a glob over the lake": (f"FROM read_parquet('{LAKE}/calls/*.parquet')", NO_SUCH_ACCESS),
    "http": ("FROM read_csv('http://127.0.0.1:9/x.csv')", NO_SUCH_ACCESS),
    "https by its name alone": ("FROM 'https://example.com/x.parquet'", NO_SUCH_ACCESS),
    "an object store": ("FROM 's3://bucket/x.parquet'", NO_SUCH_ACCESS),
    "the environment": ("SELECT getenv('HOME')", "Scalar Function with name getenv does not exist"),
    "a variable of ours": ("FROM arrow_table_of_ours", "Table with name arrow_table_of_ours does not exist"),
    "a select in a string": (f"FROM query('FROM read_text(''{SECRET}'')')", NO_SUCH_ACCESS),
    "a copy in a string": (f"FROM query('COPY calls TO ''{SCRATCH}/out.csv''')", "Expected a single SELECT"),
    "a query as json": (
        f"FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{SECRET}'')'))",
        NO_SUCH_ACCESS,
    ),
    "a log file": (f"FROM enable_logging(storage = 'file', storage_path = '{SCRATCH}/log')", LOCKED),
    "a profile": (f"FROM enable_profiling(save_location = '{SCRATCH}/profile.json')", LOCKED),
    "another grammar": ("FROM add_grammar_extension('x')", LOCKED),
    "extensions": ("FROM duckdb_extensions()", "Cannot access directory"),
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("attacks")
    lake = make_lake(root / "lake")
    (lake / "calls" / "part-9.parquet").write_bytes((lake / "calls" / "part-0.parquet").read_bytes())
    (root / "secret").write_text("password\nhunter2\n")
    (root / "secret.csv").write_text("password\nhunter2\n")
    (root / "scratch").mkdir()
    return {"lake": lake, "secret": root / "secret", "scratch": root / "scratch"}


@pytest.fixture
def session(ground: dict[str, Path]) -> Iterator[Session]:
    with open_lake(str(ground["lake"]), committed_parts(ground["lake"])) as session:
        yield session


@pytest.fixture(autouse=True)
def nothing_is_written_and_no_socket_opened(ground: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a query opened a socket")

    monkeypatch.setattr(socket, "socket", no_socket)
    before = {path: path.stat().st_mtime_ns for path in ground["lake"].rglob("*")}
    yield
    assert {path: path.stat().st_mtime_ns for path in ground["lake"].rglob("*")} == before
    assert os.listdir(ground["scratch"]) == []  # noqa: PTH208


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED)
def test_only_one_select_runs(sql: str, ground: dict[str, Path], session: Session) -> None:
    with pytest.raises(PipelineError) as caught:
        session.query(sql.format(**ground))
    assert caught.value.code == "sql-refused"


@pytest.mark.parametrize(("sql", "words"), ERRORS.values(), ids=ERRORS)
def test_a_select_reaches_nothing_but_the_committed_parts(
    sql: str, words: str, ground: dict[str, Path], session: Session
) -> None:
    arrow_table_of_ours = pa.table({"a": [1]})
    with pytest.raises(PipelineError) as caught:
        session.query(sql.format(**ground))
    assert arrow_table_of_ours.num_rows == 1
    assert caught.value.code == "sql-error"
    assert words in caught.value.message
    assert "hunter2" not in caught.value.message


def test_a_link_beside_the_parts_leads_nowhere(ground: dict[str, Path], session: Session) -> None:
    link = ground["secret"].parent / "link.csv"
    link.symlink_to(ground["secret"])
    with pytest.raises(PipelineError, match=NO_SUCH_ACCESS):
        session.query(f"FROM read_csv('{link}')")


def test_nothing_can_be_unlocked_and_every_limit_stands(session: Session) -> None:
    sql = (
        "SELECT current_setting('enable_external_access') AS access, current_setting('lock_configuration') AS locked,"
        " current_setting('autoinstall_known_extensions') AS install,"
        " current_setting('autoload_known_extensions') AS load,"
        " current_setting('memory_limit') AS memory, current_setting('python_enable_replacements') AS variables"
    )
    assert session.query(sql).read_all().to_pylist() == [
        {"access": False, "locked": True, "install": False, "load": False, "memory": "2.0 GiB", "variables": False}
    ]


FAIR = {
    "from first": ("FROM calls SELECT count(*) AS n", [{"n": 89}]),
    "with": ("WITH c AS (FROM calls) SELECT count(*) AS n FROM c", [{"n": 89}]),
    "values": ("VALUES (1)", [{"col0": 1}]),
    "describe": ("SELECT column_name FROM (DESCRIBE duplicates) LIMIT 1", [{"column_name": "turn_key"}]),
    "a semicolon and a comment": ("SELECT 1 AS a; -- done", [{"a": 1}]),
    "a word that only looks like a statement": ("SELECT 'COPY x; DROP y' AS a", [{"a": "COPY x; DROP y"}]),
    "the macros of the reports": ("SELECT share(1, 4) AS a", [{"a": 0.25}]),
}


@pytest.mark.parametrize(("sql", "rows"), FAIR.values(), ids=FAIR)
def test_any_one_select_is_answered(sql: str, rows: list[dict[str, object]], session: Session) -> None:
    assert session.query(sql).read_all().to_pylist() == rows
