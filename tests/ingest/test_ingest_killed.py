"""The command killed with SIGKILL wherever it changes the disk and at any moment, and then started again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pyarrow.parquet as pq
import pytest
from ingest_driver import (
    FINE,
    WRONG,
    Rows,
    answer,
    answers,
    append,
    die_at,
    land,
    lines,
    lives,
    only_what_counts,
    rows_of,
    start,
    workers_of,
    write_log,
)

from pipeline.cli import main
from pipeline.errors import PipelineError
from pipeline.ingest import ingestion
from pipeline.lake import checkpoints, committed_parts
from pipeline.reports.engine import answer as ask

# Python 3.12 warns of a fork beside threads; Arrow's know how to be forked.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
SMALL = {"SPLIT_BYTES": "6000"}


@pytest.fixture(scope="module")
def place(memory: str | None) -> Iterator[Path]:
    with TemporaryDirectory(dir=memory) as directory:
        yield Path(directory)


@pytest.fixture(scope="module")
def lake(place: Path) -> Path:
    """A lake after a first day; the logs are by now those of a second one: grown, replaced, renamed, copied, new."""
    lake, logs = place / "lake", place / "logs"
    grown = write_log(logs / "grown.jsonl", *answers(0, 8), lines(answer("torn", WRONG))[:200])
    replaced = write_log(logs / "replaced.jsonl", *answers(5, 6), answer(None, WRONG), "no json\n")
    renamed = write_log(logs / "renamed.jsonl", *answers(200, 3))
    land(lake, grown, replaced, renamed)
    append(grown, lines(answer("torn", WRONG))[200:], *answers(50, 30))
    write_log(replaced, *answers(9, 12), answer(None, FINE))
    shutil.copy(renamed.rename(logs / "z.jsonl"), logs / "copied.jsonl")
    write_log(logs / "new.jsonl", *answers(70, 30), answer("twice", FINE), answer("twice", FINE))
    return lake


@pytest.fixture(scope="module")
def before(lake: Path) -> Rows:
    return rows_of(lake)


@pytest.fixture(scope="module")
def expected(place: Path, lake: Path) -> Rows:
    """The rows of a run that nobody kills."""
    whole = shutil.copytree(lake, place / "whole")
    land(whole, *_logs(place))
    return rows_of(whole)


@pytest.fixture
def killed(place: Path, lake: Path) -> Iterator[Path]:
    copied = shutil.copytree(lake, place / "killed")
    yield copied
    shutil.rmtree(copied)


@pytest.fixture
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many splits, and a commit after each, in this process and those forked from it."""
    monkeypatch.setattr(ingestion, "SPLIT_BYTES", 6000)
    monkeypatch.setattr(ingestion, "SPLIT_BYTES_ALONE", 6000)
    monkeypatch.setattr(ingestion, "_SMALLEST_SPLIT_BYTES", 6000)
    monkeypatch.setattr(ingestion, "_COMMIT_EVERY_S", 0.0)


def _logs(place: Path) -> list[Path]:
    return sorted((place / "logs").iterdir())


def _arguments(lake: Path, place: Path, *more: str) -> list[str]:
    return ["ingest", str(place / "logs"), "--lake", str(lake), "--exit-zero", *more]


def _goes_on(lake: Path, place: Path, expected: Rows) -> None:
    """What a reader sees after the kill is whole, and the next run ends as if nothing had been."""
    turns = Counter(row["turn_key"] for row in rows_of(lake)["turns"])
    assert set(turns.values()) <= {1}
    land(lake, *_logs(place))
    assert rows_of(lake) == expected
    assert only_what_counts(lake)


ALONE = [
    *((name, 1) for name in checkpoints.NAMES if name not in ("lake-created", "staging-removed")),
    *((name, 5) for name in ("part-staged", "part-renamed", "manifest-replaced", "part-retired")),
]
WITH_WORKERS = [
    ("part-staged", 2, "parent"),
    ("part-staged", 4, "parent"),
    ("part-renamed", 2, "self"),
    ("manifest-replaced", 2, "self"),
]


@pytest.mark.parametrize(("name", "times"), ALONE)
def test_killed_at_a_checkpoint_the_next_run_ends_with_the_same_rows(
    place: Path, killed: Path, expected: Rows, name: str, times: int, small_splits: None
) -> None:
    assert not _forked(killed, place, at=(name, times))
    _goes_on(killed, place, expected)


@pytest.mark.parametrize(("name", "times", "who"), WITH_WORKERS)
def test_killed_at_a_checkpoint_while_workers_are_at_it_the_next_run_ends_with_the_same_rows(
    place: Path, killed: Path, expected: Rows, name: str, times: int, who: str
) -> None:
    run = start(*_arguments(killed, place, "--jobs", "2"), DIE_AT=name, DIE_COUNT=str(times), DIE_WHO=who, **SMALL)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    _goes_on(killed, place, expected)


def test_killed_while_it_makes_the_lake_and_while_it_sweeps_after_a_killed_run(place: Path, expected: Rows) -> None:
    lake = place / "first"
    for name in ("lake-created", "part-renamed", "staging-removed"):
        run = start(*_arguments(lake, place, "--jobs", "1"), DIE_AT=name, **SMALL)
        run.communicate()
        assert run.returncode == -signal.SIGKILL
    land(lake, *_logs(place))
    fresh = place / "fresh"
    land(fresh, *_logs(place))
    assert rows_of(lake) == rows_of(fresh)
    assert only_what_counts(lake)


def test_a_worker_that_dies_ends_the_run_with_a_word_and_the_next_one_goes_on(
    place: Path, killed: Path, before: Rows, expected: Rows
) -> None:
    run = start(*_arguments(killed, place, "--jobs", "2"), DIE_AT="part-staged", DIE_WHO="self", **SMALL)
    _, told = run.communicate()
    assert run.returncode == 2
    assert told.startswith("error[worker-lost]: ")
    assert "\nhint: " in told
    assert "Traceback" not in told
    assert rows_of(killed) == before
    _goes_on(killed, place, expected)


def test_killed_at_any_moment_again_and_again_a_run_ends_with_the_same_rows(
    place: Path, lake: Path, expected: Rows, small_splits: None
) -> None:
    began = time.perf_counter()
    whole = shutil.copytree(lake, place / "timed")
    assert _forked(whole, place)
    run_s = time.perf_counter() - began
    chance = random.Random(11)  # noqa: S311 -- moments, no secrets
    kills = 0
    while kills < 44:
        killed = shutil.copytree(lake, place / "killed")
        for _ in range(6):
            kills += not _forked(killed, place, after_s=chance.random() * run_s)
        _goes_on(killed, place, expected)
        shutil.rmtree(killed)


def _forked(lake: Path, place: Path, after_s: float | None = None, at: tuple[str, int] | None = None) -> bool:
    """The command in a forked child, quicker than a new interpreter, killed if so told; whether it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            if at:
                die_at(*at)
            main(_arguments(lake, place, "--jobs", "1", "--quiet"), standalone_mode=False)
        except SystemExit as end:
            os._exit(int(end.code or 0))
        finally:
            os._exit(99)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0
    return True


def test_a_reader_never_meets_half_a_file_or_a_row_twice_while_runs_come_and_are_killed(
    place: Path, killed: Path, expected: Rows
) -> None:
    chance = random.Random(5)  # noqa: S311 -- moments, no secrets
    reader = _Reader(killed)
    with reader:
        for _ in range(6):
            run = start(*_arguments(killed, place, "--jobs", "2"), **SMALL)
            time.sleep(0.3 + chance.random() * 0.7)
            run.kill()  # the run alone: its workers have to see for themselves
            run.communicate()
        run = start(*_arguments(killed, place, "--jobs", "2"), **SMALL)
        run.communicate()
        assert run.returncode == 0
    assert reader.faults == []
    assert reader.looks > 5
    assert rows_of(killed) == expected
    assert only_what_counts(killed)


class _Reader(Thread):
    """Looks in all the while, through the views of the reports and through the list of committed parts."""

    def __init__(self, lake: Path) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.looks = 0
        self._lake = lake
        self._stop_now = Event()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self._stop_now.set()
        self.join()

    def run(self) -> None:
        while not self._stop_now.is_set():
            for look in (self._through_views, self._through_files):
                try:
                    look()
                except PipelineError as error:
                    if error.code != "lake-changed":  # twice in a row: the user is told to ask again
                        self.faults.append(str(error))
                except Exception as error:  # noqa: BLE001 -- whatever it is, it is to be told
                    self.faults.append(repr(error))
            self.looks += 1

    def _through_views(self) -> None:
        repeated_turns = "(SELECT count(*) - count(DISTINCT turn_key) FROM turns)"
        sql = f"SELECT count(*), count(DISTINCT call_key), {repeated_turns} FROM calls"  # noqa: S608 -- ours
        session, rows = ask(str(self._lake), lambda: committed_parts(self._lake), sql)
        with session:
            calls, distinct, repeated = (column[0].as_py() for column in rows.read_all().columns)
        if calls != distinct or repeated:
            self.faults.append(f"{calls} calls, {distinct} distinct, {repeated} turns repeated")

    def _through_files(self) -> None:
        for _ in range(3):
            try:
                keys = [
                    key
                    for part in committed_parts(self._lake)["turns"]
                    for key in pq.read_table(part, columns=["turn_key"])["turn_key"].to_pylist()
                ]
            except FileNotFoundError:
                continue
            if len(keys) != len(set(keys)):
                self.faults.append("a turn stands twice in the committed parts")
            return


@pytest.mark.parametrize("after_s", [0.0, 0.2, 0.5])
def test_workers_of_a_killed_run_end_by_themselves_and_do_not_disturb_the_next(place: Path, after_s: float) -> None:
    log, lake = write_log(place / "long.jsonl", *answers(0, 1500)), place / "orphaned"
    run = start("ingest", str(log), "--lake", str(lake), "--jobs", "2", SPLIT_BYTES="6000")
    until = time.monotonic() + 20
    while len(workers_of(run.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(after_s)
    workers = workers_of(run.pid)
    run.kill()
    run.wait()
    assert len(workers) >= 2
    land(lake, log)
    assert len(rows_of(lake)["turns"]) == 1500
    until = time.monotonic() + 10
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [pid for pid in workers if lives(pid)] == []
    assert only_what_counts(lake)
    run.communicate()
    shutil.rmtree(lake)
