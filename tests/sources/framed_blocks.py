"""Blocks of a slice, lines made into records as for a reader that cannot read them all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.records import LineBlock, RecordBlock
from pipeline.sources import MAX_RECORD_BYTES, FileSlice, frame_lines, read_blocks


def read_records(piece: FileSlice, max_record_bytes: int = MAX_RECORD_BYTES, **options: Any) -> Iterator[RecordBlock]:
    for block in read_blocks(piece, max_record_bytes=max_record_bytes, **options):
        if isinstance(block, LineBlock):
            yield from frame_lines(block, max_record_bytes=max_record_bytes)
        else:
            yield block
