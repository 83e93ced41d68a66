"""Every layout of a log file, with the records and rejects that come out of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from framed_blocks import read_records

from pipeline.records import RecordBlock, Reject
from pipeline.sources import FileSlice
from pipeline.sources.framing import ARRAY_NOT_CLOSED, NOT_JSON, TORN

Found = tuple[list[tuple[bytes, int, int]], list[tuple[int, int, int, str]]]

ONE = b'{"a":1}'
TWO = b'{"b":2}'
TRE = b'{"c":3}'
PRETTY = b'{\n  "id": 1,\n  "b": [\n    {\n      "x": "}{"\n    }\n  ]\n}'

#: What the layout is, the file, its records as (raw, line, offset), its rejects as (line, offset, size, reason).
LAYOUTS: list[tuple[str, bytes, list[tuple[bytes, int, int]], list[tuple[int, int, int, str]]]] = [
    ("empty", b"", [], []),
    ("blank", b" \r\n\t\n", [], []),
    ("lines", ONE + b"\n" + TWO + b"\n", [(ONE, 1, 0), (TWO, 2, 8)], []),
    ("lines without a last line end", ONE + b"\n" + TWO, [(ONE, 1, 0), (TWO, 2, 8)], []),
    ("lines with CRLF", ONE + b"\r\n\r\n  \r\n" + TWO + b"\r\n", [(ONE, 1, 0), (TWO, 4, 15)], []),
    ("lines with blanks around", b"  " + ONE + b" \n\t" + TWO, [(ONE, 1, 2), (TWO, 2, 12)], []),
    ("a byte order mark", b"\xef\xbb\xbf" + ONE + b"\n" + TWO, [(ONE, 1, 3), (TWO, 2, 11)], []),
    (
        "only a line feed ends a line",
        b'{"a":"\xe2\x80\xa8\xc2\x85"}\n{"a":"\x0b\x0c\r"}\n',
        [(b'{"a":"\xe2\x80\xa8\xc2\x85"}', 1, 0), (b'{"a":"\x0b\x0c\r"}', 2, 14)],
        [],
    ),
    ("invalid UTF-8 is left to the decoder", b'{"a":"\xff"}\n' + ONE, [(b'{"a":"\xff"}', 1, 0), (ONE, 2, 10)], []),
    (
        "scalars are JSON",
        b'3\n"x"\nnull\n-1.5e3\n',
        [(b"3", 1, 0), (b'"x"', 2, 2), (b"null", 3, 6), (b"-1.5e3", 4, 11)],
        [],
    ),
    (
        "text is a reject a line",
        b'x"} \n' + ONE + b'\ndata: {"a":1}\n[2026-01-01 10:00] INFO {}\n[W, {\n' + TWO,
        [(ONE, 2, 5), (TWO, 6, 60)],
        [(1, 0, 3, NOT_JSON), (3, 13, 13, NOT_JSON), (4, 27, 26, NOT_JSON), (5, 54, 5, NOT_JSON)],
    ),
    ("a line torn in a string", b'{"a":"x\n' + ONE + b"\n" + TWO, [(ONE, 2, 8), (TWO, 3, 16)], [(1, 0, 7, TORN)]),
    ("a line torn after a comma", b'{"a":1,\n' + ONE + b"\n", [(ONE, 2, 8)], [(1, 0, 7, TORN)]),
    (
        "a line torn where a value may follow",
        b'{"a":\n' + ONE + b"\n" + TWO,
        [(ONE, 2, 6), (TWO, 3, 14)],
        [(1, 0, 5, TORN)],
    ),
    ("the same as the last but one", b'{"a":[\n' + ONE + b"\n", [(ONE, 2, 7)], [(1, 0, 6, TORN)]),
    ("a torn last line", ONE + b'\n{"b":[{"c":', [(ONE, 1, 0)], [(2, 8, 11, TORN)]),
    (
        "lines torn one after the other",
        b'{"a":[1,\n' * 3 + ONE + b"\n" + TWO,
        [(ONE, 4, 27), (TWO, 5, 35)],
        [(1, 0, 8, TORN), (2, 9, 8, TORN), (3, 18, 8, TORN)],
    ),
    (
        "a broken line that looks whole is left to the decoder",
        b'{"a":}\n' + ONE,
        [(b'{"a":}', 1, 0), (ONE, 2, 7)],
        [],
    ),
    ("a pretty document", PRETTY + b"\n", [(PRETTY, 1, 0)], []),
    (
        "pretty documents in a row",
        PRETTY + b"\n" + PRETTY + b"\n\n" + PRETTY,
        [(PRETTY, 1, 0), (PRETTY, 9, 56), (PRETTY, 18, 113)],
        [],
    ),
    ("pretty documents glued", PRETTY + PRETTY, [(PRETTY, 1, 0), (PRETTY, 8, 55)], []),
    (
        "a torn pretty document before a whole one",
        b'{\n  "a": [\n    {\n      "x":\n' + PRETTY + b"\n" + ONE,
        [(PRETTY, 5, 28), (ONE, 13, 84)],
        [(1, 0, 27, TORN)],
    ),
    (
        "a pretty document with an error in it is one record, for the decoder to refuse",
        b'{\n  "a": 1\n  "b": 2\n}\n' + PRETTY,
        [(b'{\n  "a": 1\n  "b": 2\n}', 1, 0), (PRETTY, 5, 22)],
        [],
    ),
    (
        "commas at the beginning of lines",
        b'{"a": {"x":1}\n, "b": 2\n}\n' + ONE,
        [(b'{"a": {"x":1}\n, "b": 2\n}', 1, 0), (ONE, 4, 25)],
        [],
    ),
    ("commas at the end of lines", ONE + b",\n" + TWO + b",\n", [(ONE, 1, 0), (TWO, 2, 9)], []),
    (
        "rows of a list page on lines of their own",
        b'{"data":[\n{"a":1},\n{"b":2}\n]}\n',
        [(b'{"data":[\n{"a":1},\n{"b":2}\n]}', 1, 0)],
        [],
    ),
    ("list pages glued", b'{"data":[{}]}{"data":[]}\n', [(b'{"data":[{}]}{"data":[]}', 1, 0)], []),
    ("text after a document", ONE + b" and more\n" + TWO, [(ONE, 1, 0), (TWO, 2, 17)], [(1, 8, 8, NOT_JSON)]),
    ("an array", b"[" + ONE + b"," + TWO + b"]", [(ONE, 1, 1), (TWO, 1, 9)], []),
    ("an empty array", b"[]\n", [], []),
    (
        "a pretty array",
        b'[\n  {\n    "a": 1\n  },\n  {\n    "b": 2\n  }\n]\n',
        [(b'{\n    "a": 1\n  }', 2, 4), (b'{\n    "b": 2\n  }', 5, 24)],
        [],
    ),
    ("arrays in an array", b'[[1,2],{"a":[{}]}]', [(b"[1,2]", 1, 1), (b'{"a":[{}]}', 1, 7)], []),
    (
        "an array that begins with a scalar",
        b'[null, "]", ' + ONE + b"]",
        [(b"null", 1, 1), (b'"]"', 1, 7), (ONE, 1, 12)],
        [],
    ),
    ("an array of one scalar is a document", b"[3]\n[]\n[4]", [(b"[3]", 1, 0), (b"[4]", 3, 7)], []),
    (
        "arrays on lines",
        b"[" + ONE + b"]\n" + TWO + b"\n[" + TRE + b"]\n",
        [(ONE, 1, 1), (TWO, 2, 10), (TRE, 3, 19)],
        [],
    ),
    (
        "a broken element is one record",
        b'[{"a":[1,},{"b":]},' + TRE + b"]",
        [(b'{"a":[1,}', 1, 1), (b'{"b":]}', 1, 11), (TRE, 1, 19)],
        [],
    ),
    (
        "an element with a quote that is never closed",
        b'[{"id":1,"x":2},{"id":3,"x":"},{"id":5,"x":6}]',
        [(b'{"id":1,"x":2}', 1, 1), (b'{"id":5,"x":6}', 1, 31)],
        [(1, 16, 14, TORN)],
    ),
    (
        "an element torn on its line",
        b'[\n{"a":"x\n{"b":2},\n{"c":3}\n]',
        [(TWO, 3, 10), (TRE, 4, 19)],
        [(2, 2, 7, TORN)],
    ),
    ("text in an array", b"[" + ONE + b", oops, " + TWO + b"]", [(ONE, 1, 1), (TWO, 1, 16)], [(1, 10, 4, NOT_JSON)]),
    ("an array torn in an element", b"[" + ONE + b',{"b":', [(ONE, 1, 1)], [(1, 9, 5, TORN)]),
    ("an array torn between elements", b"[" + ONE + b",\n", [(ONE, 1, 1)], [(2, 10, 0, ARRAY_NOT_CLOSED)]),
    (
        "an array torn before lines",
        b"[" + ONE + b"\n" + TWO + b"\n" + TRE,
        [(ONE, 1, 1), (TWO, 2, 9), (TRE, 3, 17)],
        [(2, 9, 0, ARRAY_NOT_CLOSED)],
    ),
    ("arrays glued", b"[" + ONE + b"][" + TWO + b"]", [(ONE, 1, 1), (TWO, 1, 10)], []),
]


def read(path: Path | str, piece: FileSlice | None = None, block_bytes: int = 1 << 20) -> list[RecordBlock]:
    return list(read_records(piece or FileSlice(str(path)), block_bytes=block_bytes))


def flat(blocks: list[RecordBlock]) -> Found:
    records = [entry for block in blocks for entry in zip(block.raws, block.lines, block.offsets, strict=True)]
    return records, [(r.line, r.offset, r.size_bytes, r.reason) for block in blocks for r in block.rejects]


@pytest.mark.parametrize(
    ("data", "records", "rejects"), [case[1:] for case in LAYOUTS], ids=[case[0] for case in LAYOUTS]
)
@pytest.mark.parametrize("block_bytes", [1 << 20, 5, 1])
def test_a_layout_gives_its_records_whatever_the_block_size(
    tmp_path: Path,
    data: bytes,
    records: list[tuple[bytes, int, int]],
    rejects: list[tuple[int, int, int, str]],
    block_bytes: int,
) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(data)
    blocks = read(path, block_bytes=block_bytes)
    assert flat(blocks) == (records, rejects)
    assert blocks[-1].end_offset == len(data)
    assert blocks[-1].end_line == 1 + data.count(b"\n")


def test_a_reject_shows_how_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(ONE + b'\n{"a":"' + "é".encode() * 100)
    assert [reject for block in read(path) for reject in block.rejects] == [
        Reject(2, 8, 206, TORN, '{"a":"' + "é" * 57)
    ]


@pytest.mark.parametrize(
    ("data", "unterminated"),
    [(b"", False), (ONE, True), (ONE + b"\n", False), (ONE + b"\n  ", False), (ONE + b"\n{", True)],
)
def test_a_file_that_may_still_be_written_to_says_so(tmp_path: Path, data: bytes, unterminated: bool) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    assert read(path)[-1].unterminated is unterminated


def test_a_grown_file_is_read_on_from_where_the_last_block_ended(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(ONE + b"\n" + TWO + b"\n")
    end = read(path)[-1]
    with path.open("ab") as file:
        file.write(TRE + b"\n")
    grown = read(path, FileSlice(str(path), start=end.end_offset, first_line=end.end_line))
    assert flat(grown) == ([(TRE, 3, 16)], [])


def test_a_record_that_is_too_long_is_one_reject_and_the_next_is_read(tmp_path: Path) -> None:
    long = b'{"a":"' + b"\\\\" * 4000 + b'"}'
    text = b"y" * 9000
    path = tmp_path / "x.jsonl"
    path.write_bytes(ONE + b"\n" + long + b"\n" + text + b"\n[" + long + b"," + TWO + b"]")
    for block_bytes in (1 << 20, 512):
        blocks = list(read_records(FileSlice(str(path)), block_bytes=block_bytes, max_record_bytes=8000))
        assert flat(blocks) == (
            [(ONE, 1, 0), (TWO, 4, 25028)],
            [
                (2, 8, 8008, "longer than 8,000 bytes"),
                (3, 8017, 9000, "longer than 8,000 bytes"),
                (4, 17019, 8008, "longer than 8,000 bytes"),
            ],
        )


def test_a_line_of_many_megabytes_is_one_record(tmp_path: Path) -> None:
    long = b'{"a":"' + b"x" * (9 << 20) + b'"}'
    path = tmp_path / "x.jsonl"
    path.write_bytes(ONE + b"\n" + long + b"\n" + TWO + b"\n")
    assert flat(read(path)) == ([(ONE, 1, 0), (long, 2, 8), (TWO, 3, 9 + len(long))], [])


def test_a_thousandfold_nesting_is_a_record_like_any_other(tmp_path: Path) -> None:
    deep = b'{"a":\n' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    path = tmp_path / "x.json"
    path.write_bytes(deep + b"\n" + ONE)
    assert flat(read(path)) == ([(deep, 1, 0), (ONE, 3, len(deep) + 1)], [])
