from __future__ import annotations

import resource
from pathlib import Path

import pytest

from pipeline.errors import PipelineError
from pipeline.fetch.output import LineFile

ONE, TWO = b'{"id": "resp_1"}\n', b'{"object": "response", "id": "resp_2"}\n'

TAKEN_UP = {
    "a new file": (None, set(), b""),
    "an empty file": (b"", set(), b""),
    "whole lines": (ONE + TWO, {"resp_1", "resp_2"}, ONE + TWO),
    "lines with blanks between them": (ONE + b"\r\n" + TWO, {"resp_1", "resp_2"}, ONE + b"\r\n" + TWO),
    "a torn tail": (ONE + TWO[:20], {"resp_1"}, ONE),
    "a tail torn in the middle of a character": (ONE + b'{"id": "resp_2", "x": "\xc3', {"resp_1"}, ONE),
    "a torn line and nothing else": (TWO[:20], set(), b""),
    "a tail of zeros after a power failure": (ONE + b"\0" * 4096, {"resp_1"}, ONE),
    "a last line that lacks its line feed alone": (ONE + TWO[:-1], {"resp_1", "resp_2"}, ONE + TWO),
}


@pytest.mark.parametrize(("before", "ids", "after"), TAKEN_UP.values(), ids=TAKEN_UP.keys())
def test_a_file_is_taken_up_where_it_was_left(
    tmp_path: Path, before: bytes | None, ids: set[str], after: bytes
) -> None:
    path = tmp_path / "out.jsonl"
    if before is not None:
        path.write_bytes(before)

    with LineFile(path) as file:
        assert (file.ids, path.read_bytes()) == (ids, after)
        file.append("resp_3", b'{"id": "resp_3"}')

    assert path.read_bytes() == after + b'{"id": "resp_3"}\n'


@pytest.mark.parametrize("whole", [0, 1, len(ONE), len(ONE) + 1, len(ONE + TWO) - 1, len(ONE + TWO)])
def test_cut_anywhere_a_file_keeps_whole_records_only(tmp_path: Path, whole: int) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes((ONE + TWO)[:whole])

    with LineFile(path):
        pass

    assert path.read_bytes() in (b"", ONE, ONE + TWO)


FOREIGN = {
    "text": (b"my notes\n", 1, "it is not JSON (character 0)"),
    "text without a line feed": (b"my notes", 1, "it is not JSON (character 0)"),
    "a JSON document of another kind": (b'{"precious": 1}', 1, "it has no id of a stored answer"),
    "a log of another kind": (ONE + b'{"id": "msg_1"}\n', 2, "it has no id of a stored answer"),
    "a JSON document over many lines": (
        b'{\n  "id": "resp_1"\n}\n',
        1,
        "it is not JSON (character 2)",
    ),
}


@pytest.mark.parametrize(("content", "line", "why"), FOREIGN.values(), ids=FOREIGN.keys())
def test_a_file_that_fetch_did_not_write_is_left_as_it_is(tmp_path: Path, content: bytes, line: int, why: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)

    with pytest.raises(PipelineError) as caught:
        LineFile(path)

    assert caught.value == PipelineError(
        "out-not-ours",
        f"{path}:{line} is not a record that fetch wrote: {why}. The file was left as it is.",
        "Give a new file as --out, or one that an earlier fetch wrote.",
    )
    assert path.read_bytes() == content


def test_two_runs_do_not_write_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    with LineFile(path), pytest.raises(PipelineError) as caught:
        LineFile(path)

    assert caught.value == PipelineError(
        "out-in-use", f"{path} is being written by another run.", "Wait for it, or give another --out."
    )


def test_a_line_that_does_not_fit_on_the_disk_leaves_nothing_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    with LineFile(path) as file:
        file.append("resp_1", ONE[:-1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            with pytest.raises(PipelineError) as caught:
                file.append("resp_2", b" " * 2000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert caught.value == PipelineError("out-unwritable", f"Cannot write {path}: File too large.")
    assert path.read_bytes() == ONE


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "out.jsonl"

    with pytest.raises(PipelineError) as caught:
        LineFile(path)

    assert caught.value == PipelineError("out-unwritable", f"Cannot write {path}: No such file or directory.")
