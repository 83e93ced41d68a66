"""Files -> splits: what is cut, what is batched, what is left whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pipeline.sources import FileSlice, Split, plan_splits, split_documents

LINE = b'{"a":1}\n'


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def test_a_large_file_of_lines_is_cut_between_them(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", b"\n" + LINE * 10)
    assert list(plan_splits([path], split_bytes=30)) == [
        Split((FileSlice(path, 0, 33, 1, 33),)),
        Split((FileSlice(path, 33, 65, 6, 32),)),
        Split((FileSlice(path, 65, None, 10, 16),)),
    ]


def test_lines_are_counted_over_many_reads(tmp_path: Path) -> None:
    lines = 300_000
    path = write(tmp_path / "x.jsonl", LINE * lines)
    slices = [piece for split in plan_splits([path], split_bytes=700_001) for piece in split.slices]
    assert [(piece.start, piece.first_line) for piece in slices] == [
        (start, start // 8 + 1) for start in (0, 700_008, 1_400_016, 2_100_024)
    ]
    assert sum(piece.size for piece in slices) == 8 * lines


def test_small_files_are_batched_by_size_and_by_number(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{n}.json", LINE * n) for n in range(1, 6)]
    pieces = [FileSlice(path, size=8 * n) for n, path in enumerate(paths, 1)]
    assert list(plan_splits(paths, split_bytes=50)) == [
        Split(tuple(pieces[:3])),
        Split((pieces[3],)),
        Split((pieces[4],)),
    ]
    assert [len(split.slices) for split in plan_splits(paths, split_bytes=1000, slices_per_split=2)] == [2, 2, 1]


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(LINE * 99),
        (LINE * 99).decode().encode("utf-16"),
        b"[\n" + LINE * 99,
        b'{"a":[' + b"{},\n" * 99 + b"{}]}",
        b"PAR1" + LINE * 99,
        b'{"a":"x\n' * 99,
    ],
    ids=["gzip", "UTF-16", "array", "one document", "Parquet", "torn lines"],
)
def test_a_file_that_cannot_be_cut_is_left_whole(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "x.jsonl", data)
    assert [(piece.start, piece.end) for split in plan_splits([path], split_bytes=20) for piece in split.slices] == [
        (0, None)
    ]


def test_what_cannot_be_looked_at_is_left_to_its_reader(tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere")
    assert list(plan_splits([missing, "-"], split_bytes=1)) == [Split((FileSlice(missing), FileSlice("-")))]


@pytest.mark.parametrize(
    ("data", "resume", "slices"),
    [
        (LINE * 3, (16, 3), [(16, None, 3, 8)]),
        (LINE * 3, (24, 4), []),
        (LINE * 3, (99, 9), [(0, None, 1, 24)]),
        (b"[" + LINE * 3, (9, 2), [(0, None, 1, 25)]),
    ],
    ids=["grown", "as it was", "shorter than it was", "an array"],
)
def test_a_file_of_lines_is_read_on_where_it_was_left(
    tmp_path: Path, data: bytes, resume: tuple[int, int], slices: list[tuple[int, int | None, int, int]]
) -> None:
    path = write(tmp_path / "x.jsonl", data)
    planned = list(plan_splits([path], split_bytes=1000, resume={path: resume}))
    assert [(p.start, p.end, p.first_line, p.size) for split in planned for p in split.slices] == slices


@pytest.mark.parametrize(
    ("raw", "documents"),
    [
        (b'{"a":1}{"b":2}', [(0, b'{"a":1}'), (7, b'{"b":2}')]),
        (b' {"a":"}{"} \t[1] 3 "x"', [(1, b'{"a":"}{"}'), (13, b"[1]"), (17, b"3"), (19, b'"x"')]),
        (b'{"a":1}', None),
        (b"", None),
        (b'{"a":1}{"b":', None),
        (b'{"a":1} and', None),
        (b'{"a":[}]{"b":1}', None),
        (b'{"a":"x\ny"}{"b":1}', None),
    ],
)
def test_documents_glued_together_are_told_apart(raw: bytes, documents: list[tuple[int, bytes]] | None) -> None:
    assert split_documents(raw) == documents
