"""Runs killed with SIGKILL: at every checkpoint, each time it is met, and then started again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from lake_driver import answer, dying_at, ingest, lake_rows, write_log

from pipeline.lake import checkpoints, committed_parts
from pipeline.lake.commit import STAGING

# Python 3.12 warns of a fork beside threads; Arrow's know how to be forked.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
# SIGKILL loses nothing that the kernel has, so a lake in memory proves as much, without waiting for the disk.
MEMORY = Path("/dev/shm")  # noqa: S108  (a directory of our own is made in it)
DRIVER = str(Path(__file__).with_name("lake_driver.py"))


def _first_state(logs: Path) -> list[str]:
    """Logs with repeated answers, a torn line, a copy, and a file that will be replaced."""
    logs.mkdir(exist_ok=True)
    write_log(logs / "a.jsonl", *(answer(f"r{n}", n % 3, 0, tool=f"t{n % 2}") for n in range(6)), '{"id": "r6", "ca')
    write_log(logs / "b.jsonl", answer("r4", 1, 0), answer(None, 2), answer("r9", 0), answer("r9", 0))
    write_log(logs / "c.jsonl", answer("r20", 1), answer("r5", 2, 0, tool="t1"), answer(None, 1))
    shutil.copy(logs / "c.jsonl", logs / "copy.jsonl")
    return [str(logs / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl", "copy.jsonl")]


def _second_state(logs: Path) -> list[str]:
    """The same a day later: one grew, one was replaced, one renamed, one is new."""
    whole = '{"id": "r6", "calls": [1], "tool": "t1"}\n'
    write_log(logs / "a.jsonl", *(answer(f"r{n}", n % 3, 0, tool=f"t{n % 2}") for n in range(6)), whole, answer("r7"))
    write_log(logs / "b.jsonl", answer("r30", 1), answer(None, 2))
    (logs / "c.jsonl").rename(logs / "d.jsonl")
    write_log(logs / "e.jsonl", *(answer(f"r{n}", 1) for n in range(5, 12)))
    return [str(logs / name) for name in ("a.jsonl", "b.jsonl", "d.jsonl", "copy.jsonl", "e.jsonl")]


def _run(lake: Path, full: str, name: str, count: int, paths: list[str]) -> int:
    command = [sys.executable, DRIVER, str(lake), full, name, str(count), *paths]
    return subprocess.run(command, check=False).returncode  # noqa: S603  (our own program)


def _forked(lake: Path, full: str, name: str, count: int, paths: list[str]) -> int:
    """The same in a forked child, which is quicker than a new interpreter; its process id."""
    child = os.fork()
    if child == 0:
        try:
            dying_at(name, count)
            ingest(lake, paths, full=full == "full")
            os._exit(0)
        finally:
            os._exit(1)
    return child


def _was_killed(child: int) -> bool:
    """Whether a child was killed; otherwise it ended well."""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def _fork_and_die(lake: Path, full: str, name: str, count: int, paths: list[str]) -> bool:
    return _was_killed(_forked(lake, full, name, count, paths))


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory, where there is one."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as directory:
        yield Path(directory)


@pytest.fixture
def prepared(tmp_path: Path) -> tuple[Path, list[str]]:
    """A lake after a first day, and the logs of the second."""
    lake = tmp_path / "lake"
    ingest(lake, _first_state(tmp_path / "logs"))
    return lake, _second_state(tmp_path / "logs")


def _checkpoints_met(lake: Path, paths: list[str], *, full: bool, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    met: Counter[str] = Counter()
    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "reached", lambda name: met.update([name]))
        ingest(lake, paths, full=full)
    return met


@pytest.mark.parametrize("full", ["", "full"])
def test_killed_at_any_checkpoint_of_a_second_day_the_next_run_ends_with_the_same_rows(
    tmp_path: Path, prepared: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    lake, paths = prepared
    whole = shutil.copytree(lake, tmp_path / "whole")
    before = lake_rows(lake)
    met = _checkpoints_met(whole, paths, full=bool(full), monkeypatch=monkeypatch)
    expected = lake_rows(whole)
    assert set(met) == set(checkpoints.NAMES) - {"lake-created", "staging-removed"}
    for name, times in met.items():
        for count in sorted({1, 2, times} & {*range(times + 1)} if full else range(1, times + 1)):
            killed = shutil.copytree(lake, tmp_path / "killed")
            assert _fork_and_die(killed, full, name, count, paths)
            seen = lake_rows(killed)  # a reader in between meets whole commits only
            assert seen in (before, expected) if full else seen
            assert len({row["turn_key"] for row in seen["turns"]}) == len(seen["turns"])
            ingest(killed, paths, full=bool(full))
            assert lake_rows(killed) == expected, (name, count)
            _only_what_counts(killed)
            shutil.rmtree(killed)


def test_killed_at_any_checkpoint_of_a_first_run_the_next_one_ends_with_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = _first_state(tmp_path / "logs")
    met = _checkpoints_met(tmp_path / "whole", paths, full=False, monkeypatch=monkeypatch)
    expected = lake_rows(tmp_path / "whole")
    assert "lake-created" in met
    for count in range(1, met.total() + 1):
        killed = tmp_path / "killed"
        assert _fork_and_die(killed, "", "*", count, paths)
        ingest(killed, paths)
        assert lake_rows(killed) == expected, count
        _only_what_counts(killed)
        shutil.rmtree(killed)


def test_a_run_killed_while_it_sweeps_after_a_killed_run_leaves_work_for_a_third(
    tmp_path: Path, prepared: tuple[Path, list[str]]
) -> None:
    lake, paths = prepared
    whole = shutil.copytree(lake, tmp_path / "whole")
    ingest(whole, paths)
    assert _fork_and_die(lake, "", "part-renamed", 3, paths)
    assert _fork_and_die(lake, "", "staging-removed", 1, paths)
    assert _fork_and_die(lake, "", "part-retired", 2, paths)
    ingest(lake, paths)
    assert lake_rows(lake) == lake_rows(whole)
    _only_what_counts(lake)


def test_killed_at_random_moments_again_and_again_a_run_ends_with_the_same_rows(
    tmp_path: Path, prepared: tuple[Path, list[str]]
) -> None:
    lake, paths = prepared
    whole = shutil.copytree(lake, tmp_path / "whole")
    began = time.perf_counter()
    ingest(whole, paths)
    run_s = time.perf_counter() - began
    expected = lake_rows(whole)
    chance = random.Random(7)  # noqa: S311  (moments, not secrets)
    outcomes: Counter[bool] = Counter()
    for _ in range(25):
        killed = shutil.copytree(lake, tmp_path / "killed")
        for _ in range(2):
            child = _forked(killed, "", "none", 1, paths)
            time.sleep(chance.random() * run_s)
            os.kill(child, signal.SIGKILL)
            outcomes[_was_killed(child)] += 1
            lake_rows(killed)
        ingest(killed, paths)
        assert lake_rows(killed) == expected
        _only_what_counts(killed)
        shutil.rmtree(killed)
    assert outcomes[True] >= 25


def test_a_run_as_a_program_of_its_own_dies_where_it_is_told(tmp_path: Path) -> None:
    paths = _first_state(tmp_path / "logs")
    assert _run(tmp_path / "lake", "", "manifest-written", 2, paths) == -signal.SIGKILL
    assert _run(tmp_path / "lake", "", "none", 1, paths) == 0
    ingest(tmp_path / "whole", paths)
    assert lake_rows(tmp_path / "lake") == lake_rows(tmp_path / "whole")


def _only_what_counts(lake: Path) -> None:
    """Nothing lies about: whoever globs the tables sees what the manifest names, and no more."""
    named = {path for parts in committed_parts(lake).values() for path in parts}
    assert {str(path) for path in lake.glob("*/*.parquet")} == named
    assert list((lake / STAGING).iterdir()) == []
    assert {path.name for path in lake.iterdir() if path.is_file()} == {"_lock", "_manifest.json"}
