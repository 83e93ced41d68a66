"""Paths, directories, globs and ``-`` -> files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import PipelineError
from pipeline.sources import find_files

FILES = ["b.jsonl", "a/z.json.gz", "a/.hidden.jsonl", "a/README.md", ".git/x.json", "c d/log", "c d/log~", "t.parquet"]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    (tmp_path / "empty" / "notes.md").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (["logs"], ["logs/b.jsonl", "logs/a/z.json.gz", "logs/c d/log"]),
        (["logs/a/README.md", "logs/a/.hidden.jsonl"], ["logs/a/README.md", "logs/a/.hidden.jsonl"]),
        (["logs/*.jsonl"], ["logs/b.jsonl"]),
        (["logs/*"], ["logs/a/z.json.gz", "logs/b.jsonl", "logs/c d/log", "logs/t.parquet"]),
        (["logs/**/*.gz"], ["logs/a/z.json.gz"]),
        (["-", "logs/b.jsonl", "-"], ["-", "logs/b.jsonl"]),
        (["logs/b.jsonl", "logs", "./logs/b.jsonl"], ["logs/b.jsonl", "logs/a/z.json.gz", "logs/c d/log"]),
        ([], []),
    ],
)
def test_paths_stand_for_files(logs: Path, paths: list[str], files: list[str]) -> None:
    assert find_files(paths) == files


def test_a_name_with_brackets_that_exists_is_no_glob(logs: Path) -> None:
    Path("logs/[1].json").touch()
    assert find_files(["logs/[1].json"]) == ["logs/[1].json"]


def test_a_file_reached_by_a_link_as_well_is_read_once(logs: Path) -> None:
    Path("logs/current.jsonl").symlink_to("b.jsonl")
    Path("logs/circle").symlink_to(".")
    assert find_files(["logs"]) == ["logs/b.jsonl", "logs/a/z.json.gz", "logs/c d/log"]


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("nowhere.jsonl", "path-not-found", "there is no file or directory 'nowhere.jsonl'"),
        ("empty", "no-files", "the directory 'empty' holds no log files"),
        ("logs/*.zst", "no-match", "no file matches the pattern 'logs/*.zst'"),
    ],
)
def test_a_path_that_stands_for_nothing_is_an_error_with_a_hint(logs: Path, path: str, code: str, message: str) -> None:
    with pytest.raises(PipelineError) as error:
        find_files(["logs", path])
    assert (error.value.code, error.value.message, error.value.exit_status) == (code, message, 2)
    assert error.value.hint
