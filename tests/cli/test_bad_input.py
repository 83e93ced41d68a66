"""Bad input gets a clear answer and costs nothing else: no traceback, and no end of the run for one bad record."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_line import RAW, run, run_process
from sample_calls import FINDING, USABLE, call, response, write

LINE = json.dumps(USABLE).encode() + b"\n"


def answer(shown: Any) -> tuple[int, str]:
    """Exit code and the first line of what was said on standard error."""
    assert "Traceback" not in shown.stdout + shown.stderr
    return shown.exit_code, shown.stderr.split("\n")[0]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere.jsonl")
    assert answer(run("check", missing)) == (2, f"error[path-not-found]: there is no file or directory {missing!r}")


def test_an_empty_directory_is_named(tmp_path: Path) -> None:
    assert answer(run("check", str(tmp_path))) == (
        2,
        f"error[no-files]: the directory {str(tmp_path)!r} holds no log files",
    )


def test_a_glob_without_a_match_is_named(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.jsonl")
    assert answer(run("check", pattern)) == (2, f"error[no-match]: no file matches the pattern {pattern!r}")


#: Files of which nothing can be read, and why.
NOTHING_TO_READ: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "nothing-to-read", "no record in FILE: empty"),
    "blank lines": (b"\n \r\n\n", "nothing-to-read", "no record in FILE: empty"),
    "prose": (b"It was a dark and stormy night.\n", "unreadable-file", "nothing could be read in FILE: not JSON"),
    "half a record": (
        LINE[:100],
        "unreadable-file",
        "nothing could be read in FILE: cut off: the document that begins here is never closed",
    ),
    "only other records": (
        b'{"level":"info"}\n',
        "nothing-recognised",
        "no record of a known format in FILE: no answer of a format known here; keys: level",
    ),
}


@pytest.mark.parametrize("name", NOTHING_TO_READ)
def test_a_file_in_which_nothing_can_be_read_is_an_error_with_the_reason(tmp_path: Path, name: str) -> None:
    content, code, reason = NOTHING_TO_READ[name]
    log = tmp_path / "log.jsonl"
    log.write_bytes(content)
    assert answer(run("check", str(log))) == (2, f"error[{code}]: {reason.replace('FILE', str(log))}")


@pytest.mark.parametrize(
    "content", [os.urandom(1000), b"\x00" * 1000, b"PK\x03\x04" + b"x" * 100, b"PAR1" + b"\x00" * 9]
)
def test_garbage_is_an_error_and_the_other_files_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "garbage.bin").write_bytes(content)
    write(tmp_path / "good.jsonl", FINDING)
    shown = run("check", str(tmp_path), "--format", "json")
    code, told = answer(shown)
    assert code == 2
    assert told.startswith(f"error[unreadable-file]: nothing could be read in {tmp_path / 'garbage.bin'}: ")
    assert [one["response_id"] for one in json.loads(shown.stdout)["calls"]] == ["resp_2"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error_and_the_others_are_read(tmp_path: Path) -> None:
    Path(write(tmp_path / "a.jsonl", USABLE)).chmod(0)
    write(tmp_path / "b.jsonl", FINDING)
    shown = run("check", str(tmp_path), "--format", "json")
    reason = f"nothing could be read in {tmp_path / 'a.jsonl'}: the file cannot be opened: no right to read it"
    assert answer(shown) == (2, f"error[unreadable-file]: {reason}")
    assert len(json.loads(shown.stdout)["calls"]) == 1


def test_a_link_that_leads_nowhere_is_an_error_and_the_other_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone.jsonl")
    good = write(tmp_path / "b.jsonl", FINDING)
    shown = run("check", str(tmp_path / "a.jsonl"), good, "--format", "json")
    reason = f"nothing could be read in {tmp_path / 'a.jsonl'}: the file cannot be opened: a link that leads nowhere"
    assert answer(shown) == (2, f"error[unreadable-file]: {reason}")
    document = json.loads(shown.stdout)
    assert [one["response_id"] for one in document["calls"]] == ["resp_2"]
    assert [one["source_file"] for one in document["rejects"]] == [str(tmp_path / "a.jsonl")]


def test_a_directory_is_read_around_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone.jsonl")
    write(tmp_path / "b.jsonl", USABLE)
    assert answer(run("check", str(tmp_path))) == (0, "")


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


#: A bad line between two good ones: what it is, how it comes out, and the beginning of its reason or its state.
BAD_LINES: dict[str, tuple[bytes, str, str]] = {
    "half written": (LINE[:150], "reject", "cut off"),
    "trailing comma": (b'{"output":[],}', "reject", "not JSON (byte 13 of the record)"),
    "invalid UTF-8 in an id": (b'{"id":"\xff","output":[]}', "reject", "invalid UTF-8 (byte 7 of the record)"),
    "NaN": (b'{"score":NaN,"output":[]}', "reject", "not JSON: NaN or Infinity"),
    "nested a thousandfold": (b'{"output":[],"a":' + nested(5000).encode() + b"}", "reject", "nested deeper than"),
    "nested a thousandfold in arguments": (
        json.dumps(response(3, call(nested(5000)))).encode(),
        "call",
        "arguments-violate-schema arguments-unparseable",
    ),
    "a lone surrogate in arguments": (
        json.dumps(response(3, call('{"port":"\ud83d"}'))).encode(),
        "call",
        "dispatchable",
    ),
    "a lone surrogate in a name": (json.dumps(response(3, call("{}", "\ud83d"))).encode(), "call", "unknown-tool"),
    "a lone surrogate in the record": (
        json.dumps({**response(3, call('{"port":"x"}')), "metadata": {"\ud83d": "\ude00"}}).encode(),
        "call",
        "dispatchable",
    ),
    "1e400": (
        json.dumps(response(3, call('{"port":"x"}'))).replace('"completed"', "1e400").encode(),
        "call",
        "dispatchable",
    ),
    "an escape and a null character": (b'{"\x1b[31m\x00":1}', "reject", "not JSON (byte 2 of the record)"),
    "a name of a megabyte": (json.dumps(response(3, call("{}", "x" * 1_000_000))).encode(), "call", "unknown-tool"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_one_bad_line_is_a_reject_or_a_verdict_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    line, outcome, told = BAD_LINES[name]
    log = tmp_path / "log.jsonl"
    log.write_bytes(LINE + line + b"\n" + LINE)
    shown = run("check", str(log), "--show-all", "--format", "json")
    code, _ = answer(shown)
    document = json.loads(shown.stdout)
    places = [(one["source_line"], one["response_id"]) for one in document["calls"]]
    assert code in (0, 1)
    if outcome == "reject":
        (reject,) = document["rejects"]
        assert (reject["source_line"], reject["source_offset"], places) == (
            2,
            len(LINE),
            [(1, "resp_1"), (3, "resp_1")],
        )
        assert reject["reason"].startswith(told)
    else:
        assert (places, document["rejects"]) == ([(1, "resp_1"), (2, "resp_3"), (3, "resp_1")], [])
        assert document["calls"][1]["state"] in told.split()
    assert answer(run("check", str(log)))[0] == code
    assert RAW.search(run("check", str(log)).stdout) is None


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_torn_archive_is_read_as_far_as_it_goes(tmp_path: Path, compress: Any) -> None:
    lines = [json.dumps({**USABLE, "id": os.urandom(200).hex()}).encode() for _ in range(3000)]
    packed = compress(b"\n".join(lines))
    log = tmp_path / "log.jsonl.packed"
    log.write_bytes(packed[: len(packed) * 2 // 3])
    shown = run("check", str(log), "--format", "json")
    document = json.loads(shown.stdout)
    assert answer(shown)[0] == 0
    assert 500 < document["summary"]["calls"] < 3000
    assert len(document["rejects"]) == 1


def test_utf_16_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes((LINE.decode() * 2).encode("utf-16"))
    assert json.loads(run("check", str(log), "--format", "json").stdout)["summary"]["calls"] == 2


def test_a_line_of_200_megabytes_does_not_end_the_run(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    block = b"x" * (1 << 20)
    with log.open("wb") as file:
        file.write(LINE + b'{"output":[],"metadata":"')
        for _ in range(200):
            file.write(block)
        file.write(b'"}\n' + LINE)
    shown = run("check", str(log), "--format", "json")
    document = json.loads(shown.stdout)
    assert answer(shown)[0] == 0
    assert document["summary"]["calls"] == 2
    assert document["summary"]["turns"] + document["summary"]["rejects"] == 3


def test_a_path_of_any_bytes_is_shown_escaped(tmp_path: Path) -> None:
    name = b"log\x1b[31m\xff\n\xe2\x80\xae.jsonl"
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    write(path, FINDING, "{broken")
    for arguments in (["--format", "json"], ["--format", "jsonl"], []):
        shown = run_process("check", str(tmp_path), *arguments)
        text = (shown.stdout + shown.stderr).decode()
        assert (shown.returncode, RAW.search(text)) == (1, None)
    missing = run_process("check", str(path) + "gone")
    assert (missing.returncode, RAW.search(missing.stderr.decode())) == (2, None)
    path.write_text("{broken")
    broken = run_process("check", str(path))
    assert (broken.returncode, RAW.search((broken.stdout + broken.stderr).decode())) == (2, None)
