from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Run
from loopback_api import KEY, Server, error, one_line, response

R = [f"resp_{number:048x}" for number in range(400)]
COMMAND = [sys.executable, "-m", "pipeline", "fetch"]


def wait_for(condition: object, *, seconds: float = 20) -> None:
    """Wait until ``condition()`` holds; fail where it does not in time."""
    assert callable(condition)
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


@pytest.mark.parametrize("torn", [False, True], ids=["between lines", "in the middle of a line"])
def test_a_run_that_is_killed_is_continued_where_it_was(
    server: Server, run: Run, environment: dict[str, str], tmp_path: Path, torn: bool
) -> None:
    server.put(*R)
    server.delay_s = 0.01
    out = tmp_path / "out.jsonl"
    (tmp_path / "ids.txt").write_text("\n".join(R))
    arguments = ["--ids", "ids.txt", "--out", "out.jsonl"]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, env={**os.environ, **environment})  # noqa: S603
    wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") >= 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = out.read_bytes()
    whole = left[: left.rfind(b"\n") + 1]
    assert 60 <= whole.count(b"\n") < len(R)
    if torn:
        out.write_bytes(left + one_line(response(R[-1]))[:70])
    server.seen.clear()

    result = run(*arguments)

    held = set(re.findall(r"resp_[0-9a-f]{48}", whole.decode()))
    assert sorted(server.ids()) == [id_ for id_ in R if id_ not in held]
    assert out.read_bytes().startswith(whole)
    assert sorted(out.read_bytes().split(b"\n")) == sorted([b"", *(one_line(response(id_)) for id_ in R)])
    assert result.exit_code == 0
    assert result.stderr == (
        f"400 asked for: {400 - len(held)} fetched, {len(held)} held already, 0 unreadable, 0 failed\n"
    )


def test_ctrl_c_keeps_what_was_fetched(server: Server, environment: dict[str, str], tmp_path: Path) -> None:
    server.put(*R)
    server.delay_s = 0.01
    out = tmp_path / "out.jsonl"
    (tmp_path / "ids.txt").write_text("\n".join(R))
    process = subprocess.Popen(  # noqa: S603
        [*COMMAND, "--ids", "ids.txt", "--out", "out.jsonl"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") >= 20)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()

    kept = out.read_bytes().count(b"\n")
    assert process.returncode == 2
    assert said.splitlines() == [
        f"{kept} fetched before this, and kept in out.jsonl",
        "error[interrupted]: stopped before the work was done",
    ]


def test_a_reader_that_goes_away_ends_the_run_quietly(
    server: Server, environment: dict[str, str], tmp_path: Path
) -> None:
    server.put(*R)
    (tmp_path / "ids.txt").write_text("\n".join(R))
    process = subprocess.Popen(  # noqa: S603
        [*COMMAND, "--ids", "ids.txt", "--out", "-"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.stdout.close()
    _, said = process.communicate()

    assert first.rstrip(b"\n") in {one_line(response(id_)) for id_ in R}
    assert (process.returncode, said) == (2, b"")


def test_a_terminal_shows_rate_and_time_left(server: Server, environment: dict[str, str], tmp_path: Path) -> None:
    server.put(*R[:150])
    server.put(*R[150:180], replies=[error(404, "")])
    server.delay_s = 0.05
    (tmp_path / "ids.txt").write_text("\n".join(R[:180]))
    ours, theirs = os.openpty()
    process = subprocess.Popen(  # noqa: S603
        [*COMMAND, "--ids", "ids.txt", "--out", "-"],
        cwd=tmp_path,
        env={**os.environ, **environment, "TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while chunk := read(ours):
        shown += chunk
    os.close(ours)

    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert process.wait() == 0
    assert re.search(r"fetching .*\d+/180 +\d+/s +\d:\d\d:\d\d", text)
    assert text.rstrip().splitlines()[-1].strip() == "and 10 more"
    assert KEY not in text


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""
