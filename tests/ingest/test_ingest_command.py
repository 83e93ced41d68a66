"""``dispatchable ingest`` as people and cron meet it: what it prints and where, how it ends, what it refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from ingest_driver import (
    FINE,
    PROGRAM,
    WRONG,
    answer,
    answers,
    append,
    ids,
    killed_over,
    land,
    out_of_memory_over,
    rows_of,
    start,
    write_log,
)

from pipeline.cli import main
from pipeline.errors import PipelineError
from pipeline.ingest import ingestion
from pipeline.lake.manifest import MANIFEST_NAME
from pipeline.lake.store import Lake
from pipeline.workers import map_in_order


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "logs" / "a.jsonl", answer("r1", FINE, WRONG), answer("r2", FINE), '{"event": 1}\n')
    write_log(tmp_path / "logs" / "deep" / "b.jsonl", answer("r3", FINE, tool="wether"), '{"id": "r4", "outp')
    return tmp_path


def _run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["ingest", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_the_summary_goes_to_standard_error_and_nothing_else_is_printed(place: Path) -> None:
    code, printed, told = _run("logs", "--lake", "lake")
    files_and_rows, states, rate, unrecognised = told.split("\n\n")
    assert (code, printed) == (1, "")
    assert files_and_rows.splitlines() == [
        "2 files: 2 new",
        "landed in lake: 4 calls, 2 violations, 3 turns, 1 tools, 1 rejects",
        "1 file ends in a record that cannot be read: read again once there is more of it",
    ]
    assert re.findall(r"(\S+) +([1-9]\d*) ", states) == [
        ("dispatchable", "2"),
        ("arguments-violate-schema", "1"),
        ("unknown-tool", "1"),
    ]
    assert "violation rate  50.00%  (2 of 4 judged calls" in rate
    assert unrecognised.splitlines()[1].endswith("  no answer of a format known here; keys: event")
    assert _run("logs", "--lake", "lake") == (0, "", "2 files: 2 unchanged\nlanded in lake: nothing new\n")


def test_what_happened_to_files_is_told(place: Path) -> None:
    _run("logs", "--lake", "lake")
    write_log(place / "logs" / "a.jsonl", answer("r9", FINE), answer("r3", FINE, tool="wether"))
    (place / "logs" / "picture.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    code, _, told = _run("logs", "--lake", "lake")
    assert (code, told.splitlines()[:6]) == (
        0,
        [
            "3 files: 1 new, 1 replaced, 1 unchanged",
            "  replaced: logs/a.jsonl (its old rows are gone)",
            "landed in lake: 1 calls, 1 turns, 1 rejects, 1 duplicates",
            "1 turn stood there already: noted as duplicates",
            "nothing could be read in logs/picture.jsonl: not text: looks like an image",
            "",
        ],
    )


def test_exit_codes_are_those_of_what_landed(place: Path) -> None:
    assert _run("logs", "--lake", "lake", "--exit-zero", "--quiet") == (0, "", "")
    append(place / "logs" / "a.jsonl", answer("r5", FINE))
    assert _run("logs", "--lake", "lake", "-q")[0] == 0
    append(place / "logs" / "a.jsonl", answer("r6", WRONG))
    assert _run("logs", "--lake", "lake", "-q")[0] == 1
    # An answer that the lake holds already is no news, however wrong its calls.
    append(place / "logs" / "a.jsonl", answer("r6", WRONG))
    assert _run("logs", "--lake", "lake", "-q")[0] == 0
    assert _run("logs", "--lake", "lake", "-q", "--full")[0] == 1


def test_definitions_may_be_supplied_for_logs_that_have_none(place: Path) -> None:
    write_log(place / "bare.jsonl", answer("r1", WRONG, tools=None))
    assert _run("bare.jsonl", "--lake", "without", "-q")[0] == 0
    (place / "tools.json").write_text(json.dumps([answer(None)["tools"][0]]))
    assert _run("bare.jsonl", "--lake", "with", "-q", "--tools", "tools.json")[0] == 1
    states = [rows_of(place / lake)["calls"][0]["state"] for lake in ("without", "with")]
    assert states == ["tools-not-recorded", "arguments-violate-schema"]
    assert [row["tool_name"] for row in rows_of(place / "with")["tools"]] == ["weather"]
    code, _, told = _run("bare.jsonl", "--lake", "lake", "--tools", "nowhere.json")
    assert (code, told.startswith("error[")) == (2, True)


#: Arguments that cannot work -> code of the error.
REFUSED = {
    ("-", "--lake", "lake"): "no-standard-input",
    ("logs", "-", "--lake", "lake"): "no-standard-input",
    ("nowhere", "--lake", "lake"): "path-not-found",
    ("logs/*.gz", "--lake", "lake"): "no-match",
    ("logs", "--lake", "logs/a.jsonl"): "not-a-lake",
    ("logs", "--lake", "newer"): "lake-too-new",
    ("logs", "--lake", "damaged"): "lake-unreadable",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=REFUSED.values())
def test_what_cannot_work_is_told_with_a_hint_and_nothing_is_changed(place: Path, arguments: tuple[str, ...]) -> None:
    for name, manifest in (("newer", '{"version": 99, "parts": "who knows"}'), ("damaged", '{"version": 1')):
        (place / name).mkdir()
        (place / name / MANIFEST_NAME).write_text(manifest)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    code, printed, told = _run(*arguments)
    assert (code, printed, told.count("Traceback")) == (2, "", 0)
    assert told.startswith(f"error[{REFUSED[arguments]}]: ")
    assert "\nhint: " in told
    after = {path: path.read_bytes() for path in place.rglob("*") if path.is_file() and path.name != "_lock"}
    assert after == before


def test_without_a_lake_the_usage_is_told(place: Path) -> None:
    code, _, told = _run("logs")
    assert code == 2
    assert "Missing option '--lake'" in told


def test_a_lake_among_the_logs_is_not_read_as_logs(place: Path) -> None:
    for _ in range(2):
        assert _run("logs", "--lake", "logs/lake", "--exit-zero")[0] == 0
    for path in ("logs", "logs/**", "logs/*"):
        assert _run(path, "--lake", "logs/lake", "--exit-zero")[2].startswith("2 files: 2 unchanged\n")
        found = CliRunner().invoke(main, ["check", path, "--format", "json"])
        assert json.loads(found.stdout)["summary"]["files"] == 2
    assert {row["source_file"] for row in rows_of(place / "logs" / "lake")["rejects"]} == {"logs/deep/b.jsonl"}


def test_logs_beside_the_tables_of_a_lake_are_read(place: Path) -> None:
    assert _run("logs", "--lake", "logs", "--exit-zero")[0] == 0
    assert _run("logs", "--lake", "logs", "--exit-zero")[2].startswith("2 files: 2 unchanged\n")


def test_files_that_cannot_be_opened_are_named_at_the_end(place: Path) -> None:
    (place / "logs" / "gone.jsonl").symlink_to(place / "nowhere")
    code, _, told = _run("logs/gone.jsonl", "logs/a.jsonl", "--lake", "lake")
    assert code == 2
    assert told.startswith("1 file: 1 new\n")
    assert "\nerror[file-unreadable]: 'logs/gone.jsonl' cannot be opened; all else has landed\nhint: " in told
    assert ids(place / "lake") == ["r1", "r2"]


def test_a_second_run_on_a_lake_that_is_being_written_says_so_and_stops(place: Path) -> None:
    land(place / "lake", place / "logs" / "a.jsonl")
    before = rows_of(place / "lake")
    with Lake(place / "lake"):
        run = start("ingest", "logs", "--lake", "lake")
        printed, told = run.communicate()
    assert (run.returncode, printed) == (2, "")
    assert re.fullmatch(
        rf"error\[lake-locked\]: another run is writing to lake \(pid {os.getpid()}, since .* UTC\)\nhint: .*\n", told
    )
    assert rows_of(place / "lake") == before


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_is_full_is_told_and_the_lake_is_as_it_was(place: Path, jobs: str) -> None:
    write_log(place / "logs" / "c.jsonl", *answers(0, 400))
    land(place / "lake", place / "logs" / "a.jsonl")
    before = rows_of(place / "lake")
    arguments = ["ingest", "logs", "--lake", "lake", "--exit-zero", "--jobs", jobs]
    run = start(*arguments, FILE_BYTES="9000", SPLIT_BYTES="120000")
    _, told = run.communicate()
    assert (run.returncode, told.count("Traceback")) == (2, 0)
    assert told.startswith("error[disk-full]: ")
    assert "\nhint: " in told
    assert rows_of(place / "lake") == before
    assert list((place / "lake" / "_staging").iterdir()) == []
    assert _run(*arguments[1:])[0] == 0
    assert len(ids(place / "lake")) == 403


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_really_fills_up_is_told(place: Path, jobs: str) -> None:
    disk = place / "disk"
    disk.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if not mount or not umount or subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603
        pytest.skip("mounting is not allowed here")
    try:
        write_log(place / "logs" / "c.jsonl", *(answer(f"{n}", FINE, os.urandom(500).hex()) for n in range(600)))
        land(disk / "lake", place / "logs" / "a.jsonl")
        before = rows_of(disk / "lake")
        run = start("ingest", "logs", "--lake", str(disk / "lake"), "--jobs", jobs, FILE_BYTES=str(1 << 30))
        _, told = run.communicate()
        assert (run.returncode, told.partition(":")[0]) == (2, "error[disk-full]")
        assert rows_of(disk / "lake") == before
    finally:
        subprocess.run([umount, str(disk)], check=True)  # noqa: S603


@pytest.mark.parametrize("jobs", [1, 2])
def test_memory_that_runs_out_is_told(jobs: int) -> None:
    results = map_in_order(out_of_memory_over, range(10), jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(PipelineError) as raised:
        next(results)
    assert (raised.value.code, "--jobs" in raised.value.hint) == ("out-of-memory", True)


def test_a_worker_that_is_killed_is_told() -> None:
    with pytest.raises(PipelineError) as raised:
        list(map_in_order(killed_over, range(10), 2))
    assert (raised.value.code, "--jobs" in raised.value.hint) == ("worker-lost", True)


def test_results_come_in_order_and_only_a_few_are_worked_out_ahead() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = map_in_order(abs, numbers(), 2)
    assert [next(results) for _ in range(20)] == list(range(20))
    assert len(taken) <= 24
    assert sum(results) == sum(range(20, 1000))


def test_memory_that_runs_out_in_a_run_leaves_the_lake_as_it_was(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    land(place / "lake", place / "logs" / "a.jsonl")
    before = rows_of(place / "lake")

    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(ingestion, "stage", greedy)
        code, _, told = _run("logs", "--lake", "lake")
    assert (code, told.partition(":")[0]) == (2, "error[out-of-memory]")
    assert rows_of(place / "lake") == before


def _on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and all that a terminal is sent."""
    ours, theirs = pty.openpty()
    command = [sys.executable, PROGRAM, *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**os.environ, **environment}) as run:  # noqa: S603
        os.close(theirs)
        sent = b""
        try:
            while chunk := os.read(ours, 65536):
                sent += chunk
        except OSError:  # what the last reader of a terminal meets at its end
            pass
    os.close(ours)
    return run.returncode, sent.decode()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_progress_is_shown_on_a_terminal_and_taken_away_again(place: Path, jobs: str) -> None:
    write_log(place / "logs" / "long.jsonl", *answers(0, 450))
    arguments = ["ingest", "logs", "--lake", "lake", "--jobs", jobs]
    code, sent = _on_a_terminal(*arguments, SPLIT_BYTES="6000", PROGRESS_AT_ONCE="1", TERM="xterm", COLUMNS="120")
    shown, _, after = sent.rpartition("\r\x1b[2K")
    assert code == 1
    assert re.search(r"\x1b\[2K━+╌* +\d+%  .*[\d,]+ (rows|calls).*MB/s", shown)
    assert "violation rate" in after
    assert "MB/s" not in after
    assert "\x1b[2K" not in _on_a_terminal(*arguments, "--full", "--quiet", SPLIT_BYTES="6000", TERM="xterm")[1]


def test_control_characters_of_a_file_name_reach_no_terminal(place: Path) -> None:
    name = "evil\x1b[2J.jsonl"
    write_log(place / "logs" / name, answer("r1", FINE))
    _run("logs", "--lake", "lake")
    write_log(place / "logs" / name, answer("r77", FINE))
    told = _run("logs", "--lake", "lake")[2]
    assert "replaced: logs/evil" in told
    assert "\x1b" not in told
