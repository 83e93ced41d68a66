"""What a run makes of files that stay, grow, move, are copied or replaced, seen by the rows that the lake then has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from lake_driver import answer, ingest, lake_rows, places, write_log

from pipeline.lake import manifest
from pipeline.lake.identity import WHOLE_BYTES


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def _answers(*ids: str | None) -> list[dict[str, object]]:
    return [answer(id_, 0, 1) for id_ in ids]


def test_a_second_run_over_the_same_files_changes_nothing_on_the_disk(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", "r2", "r3", "r4"))
    assert ingest(lake, [log])[0] == {str(log): "new"}
    before = {path: path.read_bytes() for path in lake.rglob("*") if path.is_file() and path.name != "_lock"}
    assert ingest(lake, [log]) == ({str(log): "unchanged"}, [])
    assert {path: path.read_bytes() for path in lake.rglob("*") if path.is_file() and path.name != "_lock"} == before
    assert places(lake) == [(f"id:r{n}", "a.jsonl", n) for n in (1, 2, 3, 4)]


def test_a_file_touched_but_not_changed_is_known_by_its_samples(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1"))
    ingest(lake, [log])
    os.utime(log, (1, 1))
    assert ingest(lake, [log])[0] == {str(log): "unchanged"}
    entry = manifest.load(lake)
    assert entry is not None
    assert entry.files[str(log)].stat.mtime_ns == 10**9


def test_a_file_that_grew_is_read_from_where_it_was_left(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", None))
    ingest(lake, [log])
    write_log(log, *_answers("r1", None, "r3"))
    decided, landed = ingest(lake, [log])
    assert decided == {str(log): "grown"}
    assert [one.rows["turns"] for one in landed] == [1]
    assert [place[1:] for place in places(lake)] == [("a.jsonl", 1), ("a.jsonl", 3), ("a.jsonl", 2)]


def test_a_line_that_was_half_written_loses_its_reject_once_it_is_whole(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", answer("r1", 0), '{"id": "r2", "ca')
    ingest(lake, [log])
    assert [(row["source_line"], row["bytes"]) for row in lake_rows(lake)["rejects"]] == [(2, 16)]
    assert ingest(lake, [log])[0] == {str(log): "unchanged"}
    write_log(log, answer("r1", 0), '{"id": "r2", "calls": [], "tool": "t1"}\n', '{"id"')
    assert ingest(lake, [log])[0] == {str(log): "grown"}
    assert places(lake) == [("id:r1", "a.jsonl", 1), ("id:r2", "a.jsonl", 2)]
    assert [(row["source_line"], row["bytes"]) for row in lake_rows(lake)["rejects"]] == [(3, 5)]


def test_a_replaced_file_is_read_anew_and_its_old_rows_go_from_every_table(tmp_path: Path, lake: Path) -> None:
    other = write_log(tmp_path / "b.jsonl", answer("r9", 1, tool="t9"))
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", "r1", "r2", None), "torn")
    ingest(lake, [other, log], split_bytes=10_000)
    write_log(log, answer("r3", 2, tool="t3"))
    assert ingest(lake, [other, log])[0] == {str(other): "unchanged", str(log): "replaced"}
    fresh = tmp_path / "fresh"
    ingest(fresh, [other, log])
    expected = lake_rows(fresh)
    # A definition belongs to no file, and stays.
    expected["tools"] = sorted(
        [*expected["tools"], {**expected["tools"][0], "tool_key": "key of t1", "tool_name": "t1"}], key=repr
    )
    assert lake_rows(lake) == expected


def test_an_answer_that_another_file_holds_too_stays_and_passes_to_it(tmp_path: Path, lake: Path) -> None:
    first = write_log(tmp_path / "a.jsonl", answer("r1", 2, 0), answer("r2", 1))
    second = write_log(tmp_path / "b.jsonl", answer("r0", 0), answer("r1", 2, 0), answer("r1", 2, 0))
    ingest(lake, [first, second], split_bytes=10_000)
    assert places(lake, "duplicates") == [("id:r1", "b.jsonl", 2), ("id:r1", "b.jsonl", 3)]
    second.rename(tmp_path / "gone")
    write_log(first, answer("r5", 0))
    ingest(lake, [first])
    assert places(lake) == [("id:r0", "b.jsonl", 1), ("id:r1", "b.jsonl", 2), ("id:r5", "a.jsonl", 1)]
    assert places(lake, "duplicates") == [("id:r1", "b.jsonl", 3)]
    rows = lake_rows(lake)
    assert [(row["call_key"], Path(row["source_file"]).name, row["source_line"]) for row in rows["calls"]] == [
        ("id:r0-0", "b.jsonl", 1),
        ("id:r1-0", "b.jsonl", 2),
        ("id:r1-1", "b.jsonl", 2),
        ("id:r5-0", "a.jsonl", 1),
    ]
    assert [(row["call_key"], row["violation_index"]) for row in rows["violations"]] == [("id:r1-0", 0), ("id:r1-0", 1)]


def test_what_was_inherited_goes_with_its_new_file(tmp_path: Path, lake: Path) -> None:
    first = write_log(tmp_path / "a.jsonl", answer("r1", 2))
    second = write_log(tmp_path / "b.jsonl", answer("r1", 2), answer("r2", 1))
    ingest(lake, [first, second])
    for log, id_ in ((first, "r5"), (second, "r6")):
        write_log(log, answer(id_, 1, tool="t2"))
        ingest(lake, [first, second])
    assert places(lake) == [("id:r5", "a.jsonl", 1), ("id:r6", "b.jsonl", 1)]
    assert [row["call_key"] for row in lake_rows(lake)["violations"]] == ["id:r5-0", "id:r6-0"]
    assert places(lake, "duplicates") == []


@pytest.mark.parametrize("verb", ["rename", "copy", "copy and delete", "hard link"])
def test_a_renamed_or_copied_file_adds_nothing_then_or_later(tmp_path: Path, lake: Path, verb: str) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", None))
    ingest(lake, [log])
    before = lake_rows(lake)
    again = tmp_path / "again.jsonl"
    if verb == "hard link":
        os.link(log, again)
    else:
        shutil.copy(log, again)
        if verb != "copy":
            log.unlink()
        if verb == "rename":
            again.rename(log)
            log.rename(again)
    given = [path for path in (log, again) if path.exists()]
    action = "copy" if log.exists() else "moved"
    assert ingest(lake, given)[0][str(again)] == action
    assert set(ingest(lake, given)[0].values()) == {"unchanged"}
    assert lake_rows(lake) == before


def test_two_equal_files_in_a_first_run_add_their_answers_once(tmp_path: Path, lake: Path) -> None:
    logs = [write_log(tmp_path / f"{name}.jsonl", *_answers("r1", None)) for name in "abc"]
    assert list(ingest(lake, logs)[0].values()) == ["new", "copy", "copy"]
    assert [name for _, name, _ in places(lake)] == ["a.jsonl", "a.jsonl"]
    assert places(lake, "duplicates") == []
    assert set(ingest(lake, logs)[0].values()) == {"unchanged"}


def test_two_files_that_differ_only_outside_the_samples_are_two_files(tmp_path: Path, lake: Path) -> None:
    # Lines of 100 bytes; of a file ten times the samples, a byte between two windows differs.
    lines = [f'{{"id": null, "calls": [], "tool": "t1", "says": "{n:048d}"}}\n' for n in range(WHOLE_BYTES // 10)]
    left = write_log(tmp_path / "a.jsonl", *lines)
    line = (64 * 1024 + 50_000) // len(lines[0])
    right = write_log(tmp_path / "b.jsonl", *lines[:line], lines[line].replace("0", "1", 1), *lines[line + 1 :])
    assert left.stat().st_size == right.stat().st_size > 5 * WHOLE_BYTES
    assert ingest(lake, [left], split_bytes=10**9)[0] == {str(left): "new"}
    assert ingest(lake, [left, right], split_bytes=10**9)[0] == {str(left): "unchanged", str(right): "new"}


def test_a_renamed_file_that_grew_is_read_on(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", None))
    ingest(lake, [log])
    again = log.rename(tmp_path / "again.jsonl")
    with again.open("a") as file:
        file.write('{"id": null, "calls": [], "tool": "t1"}\n')
    assert ingest(lake, [again])[0] == {str(again): "grown"}
    assert sorted((name, line) for _, name, line in places(lake)) == [
        ("a.jsonl", 1),
        ("a.jsonl", 2),
        ("again.jsonl", 3),
    ]


@pytest.mark.parametrize("how", ["rename", "copytruncate"])
def test_a_rotated_log_keeps_its_rows_and_its_name_goes_to_the_new_one(tmp_path: Path, lake: Path, how: str) -> None:
    log, rotated = tmp_path / "app.log", tmp_path / "app.log.1"
    write_log(log, *_answers("r1", None))
    ingest(lake, [log])
    if how == "rename":
        log.rename(rotated)
    else:
        shutil.copy(log, rotated)
    write_log(log, answer(None, 1), answer("r2", 0))
    assert ingest(lake, [log, rotated])[0] == {str(log): "new", str(rotated): "moved"}
    turns = lake_rows(lake)["turns"]
    assert len({row["turn_key"] for row in turns}) == 4
    assert [(row["response_id"], row["source_line"]) for row in turns if row["response_id"]] == [("r1", 1), ("r2", 2)]
    # The rotated one is replaced: its rows go, those of its namesake stay.
    write_log(rotated, answer("r3", 0))
    assert ingest(lake, [log, rotated])[0] == {str(log): "unchanged", str(rotated): "replaced"}
    assert sorted((row["response_id"] or "", row["source_line"]) for row in lake_rows(lake)["turns"]) == [
        ("", 1),
        ("r2", 2),
        ("r3", 1),
    ]


def test_a_replaced_file_of_which_a_copy_was_left_out_keeps_its_rows(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1", None))
    copy = tmp_path / "copy.jsonl"
    shutil.copy(log, copy)
    ingest(lake, [log, copy])
    write_log(log, answer("r2", 0))
    ingest(lake, [log, copy])
    assert sorted((row["response_id"] or "") for row in lake_rows(lake)["turns"]) == ["", "r1", "r2"]
    write_log(copy, answer("r3", 0))
    ingest(lake, [log, copy])
    assert sorted((row["response_id"] or "") for row in lake_rows(lake)["turns"]) == ["r2", "r3"]


def test_a_copy_that_ends_before_its_original_is_read_anew_when_that_is_replaced(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1"))
    copy = tmp_path / "copy.jsonl"
    shutil.copy(log, copy)
    ingest(lake, [log, copy])
    write_log(log, *_answers("r1", "r2"))
    ingest(lake, [log, copy])
    write_log(log, answer("r3", 0))
    assert ingest(lake, [log, copy])[0] == {str(log): "replaced", str(copy): "replaced"}
    assert places(lake) == [("id:r1", "copy.jsonl", 1), ("id:r3", "a.jsonl", 1)]


def test_files_that_exchange_their_names_keep_their_rows(tmp_path: Path, lake: Path) -> None:
    left = write_log(tmp_path / "a.jsonl", *_answers("r1"))
    right = write_log(tmp_path / "b.jsonl", *_answers("r2", "r3"))
    ingest(lake, [left, right])
    before = lake_rows(lake)
    left.rename(tmp_path / "c")
    right.rename(left)
    (tmp_path / "c").rename(right)
    assert ingest(lake, [left, right])[0] == {str(left): "moved", str(right): "moved"}
    assert lake_rows(lake) == before


def test_files_that_vanish_keep_their_rows(tmp_path: Path, lake: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", *_answers("r1"))
    ingest(lake, [log])
    log.unlink()
    ingest(lake, [write_log(tmp_path / "b.jsonl", *_answers("r2", "r3"))])
    assert len(places(lake)) == 3


def test_full_reads_all_anew_and_forgets_what_is_gone(tmp_path: Path, lake: Path) -> None:
    logs = [write_log(tmp_path / f"{n}.jsonl", answer(f"r{n}", n, tool=f"t{n}")) for n in range(3)]
    ingest(lake, logs)
    logs.pop().unlink()
    assert set(ingest(lake, logs, full=True)[0].values()) == {"new"}
    fresh = tmp_path / "fresh"
    ingest(fresh, logs)
    assert lake_rows(lake) == lake_rows(fresh)
