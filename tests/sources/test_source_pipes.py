"""A named pipe is read as the text that comes out of it: it can be read once, and nobody knows how much there is."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest
from framed_blocks import read_records

from pipeline.sources import FileSlice

TEXT = b"".join(b'{"a":%d}\n' % number for number in range(50_000))


@pytest.mark.parametrize("piece_bytes", [100, 70_000, len(TEXT)])
def test_a_pipe_is_read_to_its_end_whatever_comes_at_a_time(tmp_path: Path, piece_bytes: int) -> None:
    pipe = tmp_path / "log.jsonl"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for start in range(0, len(TEXT), piece_bytes):
                file.write(TEXT[start : start + piece_bytes])

    writer = Thread(target=write)
    writer.start()
    blocks = list(read_records(FileSlice(str(pipe)), block_bytes=1 << 18))
    writer.join()
    assert b"".join(raw + b"\n" for block in blocks for raw in block.raws) == TEXT
    assert [line for block in blocks for line in block.lines] == list(range(1, 50_001))
    assert blocks[-1].end_offset == len(TEXT)
