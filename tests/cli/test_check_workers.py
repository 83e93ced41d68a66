"""Several workers come to the same as one; and a run that is stopped, by its reader or its user, ends quietly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from sample_calls import TOOLS, call, response, write

from pipeline.checking import check_files
from pipeline.cli import check as check_command
from pipeline.findings import Checked
from pipeline.run import Settings

SPLIT_BYTES = 20_000


def records() -> Iterator[Any]:
    """A log in which everything happens again and again, each time a little otherwise."""
    for number in range(400):
        arguments = ['{"port":"x"}', f'{{"port":{number}}}', '{"port":"x', "{}", '{"port":"a","port":"b"}'][number % 5]
        tools = [*TOOLS, {"type": "function", "name": f"tool_{number % 7}", "parameters": {}}]
        name = ["get_tide", f"tool_{number % 11}", "set_alarm"][number % 3]
        yield response(number, call(arguments, name), *[call("{}")] * (number % 4 == 1), tools=tools)
        if number % 9 == 0:
            yield f'{{"id":"resp_{number}","output":[}}'
        if number % 13 == 0:
            yield {"level": "info", f"key_{number % 3}": 1}


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    lines = list(records())
    return [write(tmp_path / "a.jsonl", *lines), write(tmp_path / "b.jsonl", *lines[:50]), write(tmp_path / "c.jsonl")]


def started(*arguments: str) -> subprocess.Popen[bytes]:
    """The command as a process, and a group of processes, of its own."""
    return subprocess.Popen(  # noqa: S603 -- our own command
        [sys.executable, "-m", "pipeline", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.parametrize("arguments", [["--format", "json"], ["--format", "jsonl", "--show-all"], ["--show-all"]])
def test_two_workers_print_the_same_bytes_as_one(
    logs: list[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_command, "SPLIT_BYTES", SPLIT_BYTES)
    one, two = (run("check", *logs, "--jobs", jobs, *arguments) for jobs in "12")
    assert one.exit_code == 1
    assert (two.stdout_bytes, two.stderr_bytes, two.exit_code) == (one.stdout_bytes, one.stderr_bytes, one.exit_code)


def test_progress_counts_every_byte_once_whoever_reads(logs: list[str]) -> None:
    size = sum(Path(log).stat().st_size for log in logs)
    for jobs in (1, 2):
        told: list[int] = []
        parts = list(check_files(logs, Settings(), jobs=jobs, split_bytes=SPLIT_BYTES, on_bytes=told.append))
        assert sum(told) == size
        total = Checked()
        for part in parts:
            total.add(part)
        assert total.records == len(list(records())) + 50
    assert len(told) > 5


def test_one_split_starts_no_workers(logs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.checking.map_in_order", None)
    assert len(list(check_files(logs, Settings(), jobs=2))) == 1


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "--format", "json"], ["check", "--format", "jsonl", "--show-all"], ["explain"]],
)
def test_a_reader_that_has_enough_is_no_error(logs: list[str], arguments: list[str]) -> None:
    paths = logs if arguments[0] == "check" else []
    with started(*arguments, *paths) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""
    assert process.returncode == 2


def test_standard_input_is_read_whole_beside_files_for_several_workers(
    logs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_command, "SPLIT_BYTES", SPLIT_BYTES)
    text = Path(logs[1]).read_bytes()
    with started("check", "-", *logs, "--jobs", "2", "--format", "json") as process:
        stdout, _ = process.communicate(text)
    assert json.loads(stdout)["summary"]["records"] == len(list(records())) + 100


#: Small splits, in a process of its own.
SMALL_SPLITS = f"""
from pipeline.cli import check, main
check.SPLIT_BYTES = {SPLIT_BYTES}
main()
"""


def wait_until_all_wait(session: int) -> None:
    """Return when no process of a session has had anything to do for a while."""
    quiet_looks = 0
    while quiet_looks < 10:
        time.sleep(0.03)
        stats = [stat.rpartition(")")[2].split() for stat in map(text_of, Path("/proc").glob("[0-9]*/stat"))]
        busy = [
            state
            for state, _, _, its_session, *_ in filter(None, stats)
            if its_session == str(session) and state != "S"
        ]
        quiet_looks = 0 if busy else quiet_looks + 1


def text_of(path: Path) -> str:
    """What stands in a file; nothing where it has gone."""
    try:
        return path.read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_ctrl_c_ends_a_run_with_one_line(tmp_path: Path, logs: list[str], jobs: str) -> None:
    """A pipe to which nobody writes keeps one worker waiting; the others have nothing more to do."""
    os.mkfifo(tmp_path / "d.jsonl")
    script = tmp_path / "run.py"
    script.write_text(f"if __name__ == '__main__':{SMALL_SPLITS}".replace("\n", "\n    "))
    with subprocess.Popen(  # noqa: S603 -- our own command
        [sys.executable, str(script), "check", *logs, str(tmp_path / "d.jsonl"), "--jobs", jobs, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        wait_until_all_wait(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    interrupted = b"error[interrupted]: stopped before the work was done\n"
    assert (stdout, stderr, process.returncode) == (b"", interrupted, 2)
