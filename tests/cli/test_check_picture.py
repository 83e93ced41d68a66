"""What ``check`` shows a person, as whole pictures of 80 columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import RAW, on_terminal, run, run_process
from rich.cells import cell_len
from sample_calls import FINDING, USABLE, write

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parent.parent.parent
SMALL = sorted(picture.parent for picture in GOLDEN.glob("*/picture.txt") if picture.parent.name != "sample-data")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")


@pytest.mark.parametrize("folder", SMALL, ids=lambda folder: folder.name)
def test_a_log_is_shown_as_in_its_picture(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    shown = run("check", "log.jsonl")
    assert shown.stdout == (folder / "picture.txt").read_text(encoding="utf-8")
    assert shown.stderr == ""


def test_the_samples_are_shown_as_in_their_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    shown = run("check", "sample_data")
    assert shown.stdout == (GOLDEN / "sample-data" / "picture.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", sorted(GOLDEN.glob("*/picture.txt")), ids=lambda picture: picture.parent.name)
def test_a_picture_keeps_to_80_columns_and_holds_nothing_raw(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert RAW.search(text) is None
    assert [line for line in text.split("\n") if cell_len(line) > 80 or line != line.rstrip()] == []


def test_every_section_is_in_some_picture() -> None:
    pictures = [folder.joinpath("picture.txt").read_text(encoding="utf-8") for folder in SMALL]
    titles = {line.split(":")[0] for text in pictures for line in text.split("\n")[1:] if line and line[0] != " "}
    assert titles == {"Findings", "Cut and not judged", "What repairs it", "Rejects", "Unrecognised", "Noted"}


def test_a_terminal_gets_colours_and_a_pipe_gets_the_same_text_without(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", USABLE, FINDING)
    coloured, code = on_terminal("check", log)
    plain = run_process("check", log)
    assert (code, plain.returncode) == (1, 1)
    assert "\x1b[31m" in coloured
    assert b"\x1b" not in plain.stdout + plain.stderr
    uncoloured = "\n".join(line.rstrip() for line in ESCAPES.sub("", coloured).split("\n"))
    assert uncoloured == plain.stdout.decode()


def test_no_color_holds_on_a_terminal(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", FINDING)
    shown, _ = on_terminal("check", log, env={"NO_COLOR": "1"})
    assert re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", shown) == []


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_picture_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    log = write(tmp_path / "log.jsonl", (GOLDEN / "long-and-hostile" / "log.jsonl").read_text().rstrip("\n"))
    shown, _ = on_terminal("check", log, columns=columns)
    text = ESCAPES.sub("", shown)
    assert RAW.search(text) is None
    assert max(map(cell_len, text.split("\n"))) <= columns


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_encoding_without_the_marks_gets_their_escapes(tmp_path: Path, encoding: str) -> None:
    log = write(tmp_path / "log.jsonl", USABLE)
    shown = run_process("check", log, env={"PYTHONIOENCODING": encoding})
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"\\u2713  dispatchable " in shown.stdout


def test_show_all_leaves_no_kind_of_finding_out(tmp_path: Path) -> None:
    records = [{**FINDING, "output": [{**FINDING["output"][0], "name": f"tool_{number:03}"}]} for number in range(40)]
    log = write(tmp_path / "log.jsonl", *records)
    assert "and 25 more kinds (--show-all shows them)" in run("check", log).stdout
    everything = run("check", log, "--show-all").stdout
    assert [number for number in range(40) if f"tool_{number:03}  unknown-tool" not in everything] == []


def test_quiet_shows_nothing_and_the_exit_code_remains(tmp_path: Path) -> None:
    shown = run("check", write(tmp_path / "log.jsonl", FINDING), "--quiet")
    assert (shown.stdout, shown.stderr, shown.exit_code) == ("", "", 1)
