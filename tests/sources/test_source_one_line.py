"""A small file of one line is read without the framer, and comes out as the framer would have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from framed_blocks import read_records
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.sources import FileSlice

CONTENTS = [
    b"",
    b"{}",
    b'{"a":1}\n',
    b'{"a":1}\r\n',
    b'{"a":1}\n\n',
    b' {"a":1}\n',
    b'{"a":1}{"b":2}\n',
    b'{"a":1}\n{"b":2}',
    b'{"a":\n1}\n',
    b'{"a":1',
    b'{"a":"\x00"}\n',
    b'\xef\xbb\xbf{"a":1}\n',
    b'{"ustar":1}\n',
    b'[{"a":1}]\n',
]


def blocks(path: Path, size: int) -> list[object]:
    return list(read_records(FileSlice(str(path), size=size)))


@pytest.mark.parametrize("content", CONTENTS)
def test_a_small_file_reads_as_one_of_unknown_size(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_bytes(content)
    assert blocks(file, len(content)) == blocks(file, 0)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from([b"{", b"}", b'"', b"\n", b"\r", b" ", b'{"a":1}', b"ustar", b"\x00", b"\xff"])))
def test_whatever_it_holds(pieces: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_bytes(b"".join(pieces))
    assert blocks(file, file.stat().st_size) == blocks(file, 0)


def test_what_has_been_added_since_is_left_for_later(tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_bytes(b'{"a":1}\n{"b":2}\n')
    (block,) = read_records(FileSlice(str(file), end=8, size=8))
    assert (block.raws, block.end_offset, block.end_line, block.unterminated) == ([b'{"a":1}'], 8, 2, False)
