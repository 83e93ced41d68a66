"""The README is for a stranger: every command in it runs, and it knows neither more nor less than the program does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli import COMMANDS
from pipeline.verdicts import STATES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: What the chapter on fetching needs is a server; it has a test of its own beside that server.
CHAPTERS = [chapter for chapter in README.split("\n## ") if not chapter.startswith("Fetch")]
EXAMPLES = [
    line
    for chapter in CHAPTERS
    for block in re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("dispatchable ")
]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "sample_data", place / "sample_data")
    done = run("dispatchable ingest sample_data --lake lake --exit-zero", place)
    assert done.returncode == 0, done.stderr
    return place


def run(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S602 -- the README's own lines, as a reader would type them
        command, shell=True, cwd=place, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", EXAMPLES)
def test_an_example_of_the_readme_runs(command: str, workplace: Path) -> None:
    done = run(command, workplace)
    assert (done.returncode in {0, 1}, "error" in done.stderr) == (True, False), done.stderr


def test_the_two_lines_to_start_are_there_and_the_second_is_what_ci_runs() -> None:
    lines = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert [line.rpartition(" && ")[2] for line in lines] == [
        ".venv/bin/dispatchable check sample_data",
        ".venv/bin/pytest -n auto",
    ]


def test_every_command_state_and_report_is_told_and_no_other_report() -> None:
    reports = {file.stem for file in (ROOT / "sql").glob("*.sql")}
    assert {name for name in COMMANDS if f"dispatchable {name}" not in README} == set()
    assert {state.name for state in STATES if f"`{state.name}`" not in README} == set()
    assert {report for report in reports if f"`{report}`" not in README} == set()
    told = set(re.findall(r"dispatchable report ([a-z-]+)", README))
    assert told - reports == set()
