"""Each record once, through the run that people start: files that stay, grow, are replaced, move or are copied."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ingest_driver import (
    BROKEN,
    FINE,
    WRONG,
    answer,
    answers,
    append,
    fresh_rows,
    ids,
    land,
    lines,
    places,
    rows_of,
    write_log,
)

from pipeline.errors import PipelineError
from pipeline.ingest import ingest, ingestion
from pipeline.lake.identity import WHOLE_BYTES
from pipeline.run import Settings

LINE = lines(answer("r1", FINE))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "a.jsonl"


@pytest.fixture
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "SPLIT_BYTES", 3000)
    monkeypatch.setattr(ingestion, "SPLIT_BYTES_ALONE", 3000)
    monkeypatch.setattr(ingestion, "_SMALLEST_SPLIT_BYTES", 3000)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_run_adds_nothing_and_says_so(lake: Path, log: Path, jobs: int, small_splits: None) -> None:
    write_log(log, *answers(0, 20))
    first = land(lake, log, jobs=jobs)
    assert (first.decisions, first.rows["turns"], first.rows["calls"]) == ({"new": 1}, 20, 24)
    before = {path: path.read_bytes() for path in lake.rglob("*") if path.is_file() and path.name != "_lock"}
    second = land(lake, log, jobs=jobs)
    assert (second.decisions, second.rows, second.checked.calls) == ({"unchanged": 1}, {}, 0)
    assert {path: path.read_bytes() for path in lake.rglob("*") if path.is_file() and path.name != "_lock"} == before


def test_several_workers_and_one_land_the_same_rows(tmp_path: Path, log: Path, small_splits: None) -> None:
    write_log(log, *answers(0, 60), "half", "\n", answer(None, BROKEN), '{"id": "r')
    land(tmp_path / "two", log, jobs=2)
    land(tmp_path / "one", log, jobs=1)
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "one")
    assert len(ids(tmp_path / "two")) == 61


#: What a file holds in step after step, each time a little more.
GROWTHS: dict[str, list[str]] = {
    "whole lines": [lines(*answers(0, 2)), lines(*answers(2, 3)), lines(*answers(5, 1))],
    "in the middle of a line": [LINE[:50], LINE[50:], lines(answer("r2", WRONG))],
    "one line in many steps": [LINE[:1], LINE[1:2], LINE[2:200], LINE[200:-2], LINE[-2:-1], LINE[-1:]],
    "whole, but not ended": [LINE.rstrip(), "\n" + lines(answer("r2", FINE)).rstrip(), "\n", LINE.replace("r1", "r3")],
    "whole, not ended, and the next one glued to it": [LINE.rstrip(), lines(answer("r2", FINE))],
    "glued, and the second one half": [LINE.rstrip() + LINE.replace("r1", "r2")[:40], LINE.replace("r1", "r2")[40:]],
    "glued, and the second one no JSON": [LINE.rstrip() + '{"x": y}', "\n" + LINE.replace("r1", "r2")],
    "a bad line that looks whole at first": ['{"id": {"a": 1}', ', "b": 2}\n', LINE],
    "a bad line that stays bad": ["no json\n", "no json", " at all\n", LINE],
    "a number that goes on": ["20", "26-05-01 started\n", LINE],
    "an indented document in pieces": ['{\n  "id": "x",\n', '  "object": "response",\n  "output": []\n}\n', LINE],
    "a byte order mark": ["\ufeff" + LINE, LINE.replace("r1", "r2")],
    "line feeds alone": ["\n\n", LINE, "\n\n", LINE.replace("r1", "r2")],
    "carriage returns": [LINE.rstrip() + "\r\n", LINE.replace("r1", "r2").rstrip() + "\r", "\n"],
    "nothing at first": ["", LINE],
    "the same answer again": [LINE, LINE, lines(answer(None, FINE)), lines(answer(None, FINE))],
}


@pytest.mark.parametrize("steps", GROWTHS.values(), ids=GROWTHS)
def test_a_file_that_grows_is_the_same_in_steps_as_at_once(
    tmp_path: Path, lake: Path, log: Path, steps: list[str]
) -> None:
    write_log(log, steps[0])
    land(lake, log)
    for step in steps[1:]:
        append(log, step)
        assert land(lake, log).decisions == {"grown": 1}
    assert land(lake, log).decisions == {"unchanged": 1}
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


def test_only_what_is_new_in_a_grown_file_is_read(lake: Path, log: Path) -> None:
    write_log(log, *answers(0, 3), lines(*answers(3, 1))[:50])
    assert (land(lake, log).torn, places(rows_of(lake)["rejects"])) == (1, [("a.jsonl", 4)])
    write_log(log, *answers(0, 5))
    done = land(lake, log)
    assert (done.rows["turns"], done.torn, done.checked.calls) == (2, 0, 2)
    assert rows_of(lake)["rejects"] == []


@pytest.mark.parametrize("full", [False, True])
def test_what_is_added_while_a_run_reads_is_left_to_the_next(
    tmp_path: Path, lake: Path, log: Path, small_splits: None, full: bool
) -> None:
    write_log(log, *answers(0, 30), LINE[:70])

    def grow(_: int) -> None:
        append(log, LINE[70:], *answers(100, 30))

    done = ingest([str(log)], lake, Settings(), jobs=1, full=full, on_plan=grow)
    assert (done.rows["turns"], done.torn) == (30, 1)
    again = land(lake, log)
    assert (again.decisions, again.rows["turns"]) == ({"grown": 1}, 31)
    assert land(lake, log).decisions == {"unchanged": 1}
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


@pytest.mark.parametrize("name", ["array.json", "b.jsonl.gz"])
def test_a_file_that_cannot_be_read_on_and_grows_meanwhile_is_read_anew_by_the_next_run(
    tmp_path: Path, lake: Path, name: str
) -> None:
    log = tmp_path / name
    write = {"array.json": _write_array, "b.jsonl.gz": _write_gzip}[name]
    write(log, 3)
    ingest([str(log)], lake, Settings(), jobs=1, on_plan=lambda _: write(log, 6))
    assert land(lake, log).decisions == {"replaced": 1}
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)
    assert len(ids(lake)) == 6


def _write_array(path: Path, how_many: int) -> None:
    path.write_text(json.dumps(answers(0, how_many)))


def _write_gzip(path: Path, how_many: int) -> None:
    path.write_bytes(gzip.compress(lines(*answers(0, how_many)).encode(), mtime=0))


@pytest.mark.parametrize("write", [_write_array, _write_gzip])
def test_compressed_logs_and_arrays_are_known_again_and_read_whole_when_they_grow(
    tmp_path: Path, lake: Path, write: Callable[[Path, int], None]
) -> None:
    log = tmp_path / "log"
    write(log, 4)
    assert (land(lake, log).decisions, land(lake, log).decisions) == ({"new": 1}, {"unchanged": 1})
    write(log, 7)
    done = land(lake, log)
    assert (done.decisions, done.replaced, len(ids(lake))) == ({"replaced": 1}, [str(log)], 7)
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


@pytest.mark.parametrize("how", ["rewritten", "another file", "truncated"])
def test_a_file_that_was_replaced_is_told_and_its_old_rows_go(
    tmp_path: Path, lake: Path, log: Path, how: str, small_splits: None
) -> None:
    write_log(log, *answers(0, 30), "half a line")
    land(lake, log)
    if how == "another file":
        write_log(tmp_path / "new", *answers(50, 40)).replace(log)
    else:
        write_log(log, *(answers(50, 40) if how == "rewritten" else answers(3, 2)))
    done = land(lake, log)
    assert (done.decisions, done.replaced) == ({"replaced": 1}, [str(log)])
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


def test_a_file_replaced_while_a_run_reads_it_is_read_anew_by_the_next(
    tmp_path: Path, lake: Path, log: Path, small_splits: None
) -> None:
    write_log(log, *answers(0, 60))
    rewritten: list[int] = []

    def rewrite(*_: int) -> None:
        if not rewritten:
            rewritten.append(1)
            write_log(log, *answers(200, 80))

    ingest([str(log)], lake, Settings(), jobs=1, on_split=rewrite)
    assert land(lake, log).decisions == {"replaced": 1}
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


def test_renamed_copied_and_both_add_nothing(lake: Path, log: Path) -> None:
    write_log(log, *answers(0, 4), answer(None, FINE))
    land(lake, log)
    before = rows_of(lake)
    renamed, copied = log.with_name("b.jsonl"), log.with_name("c.jsonl")
    log.rename(renamed)
    assert land(lake, renamed).decisions == {"moved": 1}
    shutil.copy(renamed, copied)
    assert land(lake, renamed, copied).decisions == {"unchanged": 1, "copy": 1}
    renamed.unlink()
    # The owner is gone: what it had goes over to a file of the same content.
    assert land(lake, copied, Path(shutil.copy(copied, log.with_name("d.jsonl")))).decisions == {
        "unchanged": 1,
        "moved": 1,
    }
    assert rows_of(lake) == before


def test_a_renamed_file_that_grew_and_a_copy_that_grew_bring_what_they_gained(
    tmp_path: Path, lake: Path, log: Path
) -> None:
    write_log(log, *answers(0, 4))
    land(lake, log)
    renamed = log.rename(log.with_name("b.jsonl"))
    copied = Path(shutil.copy(renamed, log.with_name("c.jsonl")))
    land(lake, renamed, copied)
    append(renamed, answer("gained", FINE))
    append(copied, answer("gained by the copy", FINE))
    assert land(lake, renamed, copied).decisions == {"grown": 2}
    assert ids(lake) == sorted([f"resp_{number:06d}" for number in range(4)] + ["gained", "gained by the copy"])


def test_two_files_that_only_begin_alike_are_two_files(tmp_path: Path, lake: Path) -> None:
    shared = answers(0, 2 * WHOLE_BYTES // len(LINE))
    one = write_log(tmp_path / "one.jsonl", *shared, answer("only in one", FINE))
    two = write_log(tmp_path / "two.jsonl", *shared, answer("only in two", FINE))
    assert one.stat().st_size == two.stat().st_size
    done = land(lake, one, two)
    assert (done.decisions, done.duplicates) == ({"new": 2}, len(shared))
    assert {"only in one", "only in two"} <= set(ids(lake))
    assert len(ids(lake)) == len(shared) + 2


def test_overlapping_exports_add_each_answer_once(lake: Path, tmp_path: Path, small_splits: None) -> None:
    monday = write_log(tmp_path / "monday.jsonl", *answers(0, 30))
    tuesday = write_log(tmp_path / "tuesday.jsonl", *answers(20, 30))
    land(lake, monday)
    done = land(lake, tuesday)
    assert (done.duplicates, done.rows["turns"], done.rows["calls"]) == (10, 20, 24)
    # What was left out is not counted in the verdicts: they are those of the rows that landed.
    assert (done.checked.calls, done.checked.states.total(), done.checked.finding_count) == (24, 24, 4)
    assert ids(lake) == [f"resp_{number:06d}" for number in range(50)]
    assert places(rows_of(lake)["duplicates"]) == [("tuesday.jsonl", line) for line in range(1, 11)]
    both = fresh_rows(tmp_path / "both", monday, tuesday)
    assert rows_of(lake) == both


def test_full_reads_everything_anew_and_lands_the_same(lake: Path, log: Path, tmp_path: Path) -> None:
    write_log(log, *answers(0, 5))
    gone = write_log(tmp_path / "gone.jsonl", *answers(50, 2))
    land(lake, log, gone)
    gone.unlink()
    done = land(lake, log, full=True)
    assert (done.decisions, done.rows["turns"]) == ({"new": 1}, 5)
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)


def test_a_file_that_vanishes_is_named_and_all_else_lands(lake: Path, tmp_path: Path, log: Path) -> None:
    write_log(log, *answers(0, 3))
    other = write_log(tmp_path / "other.jsonl", *answers(10, 3))
    done = ingest([str(log), str(other), "nowhere.jsonl"], lake, Settings(), jobs=1, on_plan=lambda _: other.unlink())
    assert done.unread == ["nowhere.jsonl", str(other)]
    assert ids(lake) == ["resp_000000", "resp_000001", "resp_000002"]
    write_log(other, *answers(10, 4))
    assert land(lake, log, other).decisions == {"unchanged": 1, "new": 1}
    assert len(ids(lake)) == 7


def test_full_does_not_replace_a_lake_by_less_because_a_file_cannot_be_opened(lake: Path, log: Path) -> None:
    write_log(log, *answers(0, 3))
    other = write_log(log.with_name("b.jsonl"), *answers(10, 3))
    land(lake, log, other)
    before = rows_of(lake)
    for files, on_plan in (
        ([str(log), str(other.with_name("none"))], None),
        ([str(log), str(other)], lambda _: other.unlink()),
    ):
        with pytest.raises(PipelineError) as raised:
            ingest(files, lake, Settings(), jobs=1, full=True, on_plan=on_plan)
        assert raised.value.code == "file-unreadable"
        assert rows_of(lake) == before


@pytest.mark.parametrize("what", ["-", "fifo"])
def test_what_is_no_file_is_refused(lake: Path, tmp_path: Path, what: str) -> None:
    path = "-" if what == "-" else str(tmp_path / "fifo")
    if what == "fifo":
        os.mkfifo(path)
    with pytest.raises(PipelineError) as raised:
        ingest([path], lake, Settings(), jobs=1)
    assert (raised.value.code, bool(raised.value.hint)) == (
        "no-standard-input" if what == "-" else "not-a-file",
        True,
    )
    assert not lake.exists()


def test_a_killed_run_leaves_a_file_half_landed_and_growth_is_still_growth(
    tmp_path: Path, lake: Path, log: Path, small_splits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "_COMMIT_EVERY_S", 0.0)
    write_log(log, *answers(0, 40))

    def stop(_: int, __: int) -> None:
        if rows_of(lake)["turns"]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest([str(log)], lake, Settings(), jobs=1, on_split=stop)
    assert 0 < len(ids(lake)) < 40
    append(log, *answers(40, 2))
    assert land(lake, log).decisions == {"grown": 1}
    assert rows_of(lake) == fresh_rows(tmp_path / "whole", log)
