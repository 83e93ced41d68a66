"""What holds of any bytes: nothing is lost, nothing is doubled, and it does not matter how the file is cut."""

from __future__ import annotations

import json
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from framed_blocks import read_records
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import RecordBlock, Reject
from pipeline.sources import FileSlice, plan_splits
from pipeline.sources.decoding import decode
from pipeline.sources.streams import FileStream

BOM = b"\xef\xbb\xbf"
STRUCTURE = b" \t\r\n[],"
FRAGMENTS = [
    *(b"\n", b"\n", b"\n", b"\r\n", b"  ", b",", b"[", b"]", b"{", b"}", b'"', b"\\", b":", b"\t", b"\x0b", b"\xff"),
    *(b'{"a":1}', b'{"a":1}\n', b'{"id":"resp_1","x":[{"id":2},{"id":3}]}', b'{"a":', b'{"a":[', b'{"a":"x', b',"b":2'),
    *(
        b'{\n  "id": 1,\n  "b": [\n    {\n      "x": 1\n    }\n  ]\n}',
        b"},\n{",
        b"}\n{",
        b'{"a":1},',
        b'{"a":1}{"b":2}',
    ),
    *(b"3", b"null", b'"x"', b"garbage", b'data: {"a":1}', b'[{"a":1},{"b":2}]', b'[1, {"a":2}]', b"[1]", BOM),
    b'[\n  {\n    "id": 1\n  },\n  {\n    "id": 2\n  },\n  {\n    "id": 3\n  }\n]',
]
soups = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(b"".join)
anything = st.one_of(soups, soups, st.binary(max_size=300))
Found = tuple[list[tuple[bytes, int, int]], list[Reject]]


def read(data: bytes, block_bytes: int = 1 << 20, max_record_bytes: int = 1 << 28) -> tuple[Found, RecordBlock]:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        return gather([FileSlice(file.name)], block_bytes, max_record_bytes)


def gather(
    slices: list[FileSlice], block_bytes: int = 1 << 20, max_record_bytes: int = 1 << 28
) -> tuple[Found, RecordBlock]:
    blocks = [
        block
        for piece in slices
        for block in read_records(piece, block_bytes=block_bytes, max_record_bytes=max_record_bytes)
    ]
    records = [entry for block in blocks for entry in zip(block.raws, block.lines, block.offsets, strict=True)]
    return (records, [reject for block in blocks for reject in block.rejects]), blocks[-1]


@given(anything, st.sampled_from([1 << 28, 50]))
@settings(max_examples=400, deadline=None)
def test_records_and_rejects_cover_every_byte_once_and_in_order(data: bytes, max_record_bytes: int) -> None:
    (records, rejects), last = read(data, max_record_bytes=max_record_bytes)
    text = decode(FileStream(BytesIO(data)))
    if text.binary or not text.plain:
        return
    assert [offset for _, _, offset in records] == sorted(offset for _, _, offset in records)
    assert all(raw == data[offset : offset + len(raw)] for raw, _, offset in records)
    spans = [(offset, len(raw), line) for raw, line, offset in records]
    spans += [(reject.offset, reject.size_bytes, reject.line) for reject in rejects]
    at = 0
    for offset, size, line in sorted(spans):
        assert offset >= at
        assert not data[at:offset].replace(BOM, b"").translate(None, STRUCTURE)
        assert line == 1 + data.count(b"\n", 0, offset)
        at = offset + size
    assert not data[at:].replace(BOM, b"").translate(None, STRUCTURE)
    assert (last.end_offset, last.end_line) == (len(data), 1 + data.count(b"\n"))


@given(anything, st.integers(1, 60), st.sampled_from([1 << 28, 50]))
@settings(max_examples=300, deadline=None)
def test_it_does_not_matter_in_what_blocks_a_file_is_read(data: bytes, block_bytes: int, max_record_bytes: int) -> None:
    whole, end = read(data, max_record_bytes=max_record_bytes)
    pieces, piece_end = read(data, block_bytes, max_record_bytes)
    assert pieces == whole
    assert (piece_end.end_offset, piece_end.end_line, piece_end.unterminated) == (
        end.end_offset,
        end.end_line,
        end.unterminated,
    )


@given(soups, st.integers(1, 80))
@settings(max_examples=300, deadline=None)
def test_it_does_not_matter_into_what_splits_a_file_is_cut(data: bytes, split_bytes: int) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        slices = [piece for split in plan_splits([file.name], split_bytes=split_bytes) for piece in split.slices]
        assert gather(slices)[0] == gather([FileSlice(file.name)])[0]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=4), values, min_size=1, max_size=4)
indents = st.sampled_from([None, 0, 1, 2, "\t"])


@given(
    st.lists(st.tuples(objects, indents), max_size=6),
    st.sampled_from([b"\n", b"\n\n", b"\r\n", b" \n"]),
    st.integers(1, 99),
)
@settings(max_examples=200, deadline=None)
def test_documents_in_a_row_come_out_as_they_went_in(
    documents: list[tuple[dict[str, Any], Any]], between: bytes, block_bytes: int
) -> None:
    raws = [json.dumps(document, indent=indent, ensure_ascii=False).encode() for document, indent in documents]
    (records, rejects), _ = read(between.join(raws), block_bytes)
    assert ([raw for raw, _, _ in records], rejects) == (raws, [])


@given(st.lists(objects, min_size=1, max_size=6), indents, st.integers(1, 99))
@settings(max_examples=200, deadline=None)
def test_elements_of_an_array_come_out_as_they_went_in(
    documents: list[dict[str, Any]], indent: Any, block_bytes: int
) -> None:
    (records, rejects), _ = read(json.dumps(documents, indent=indent).encode(), block_bytes)
    assert ([json.loads(raw) for raw, _, _ in records], rejects) == (documents, [])
