"""Compression and encoding are told by content, and a tear costs nothing before it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from framed_blocks import read_records

from pipeline.errors import PipelineError
from pipeline.records import RecordBlock, Reject
from pipeline.sources import FileSlice

LINES = [b'{"n":%d,"x":"%b"}' % (n, hashlib.sha256(b"%d" % n).hexdigest().encode()) for n in range(20_000)]
TEXT = b"\n".join(LINES) + b"\n"


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd, "bzip2": bz2.compress}


def read(path: Path, data: bytes) -> list[RecordBlock]:
    path.write_bytes(data)
    return list(read_records(FileSlice(str(path))))


def flat(blocks: list[RecordBlock]) -> tuple[list[tuple[bytes, int, int]], list[Reject]]:
    records = [entry for block in blocks for entry in zip(block.raws, block.lines, block.offsets, strict=True)]
    return records, [reject for block in blocks for reject in block.rejects]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "any.name"


@pytest.mark.parametrize("name", PACKERS)
def test_compressed_files_read_like_plain_ones(path: Path, name: str) -> None:
    assert flat(read(path, PACKERS[name](TEXT))) == flat(read(path, TEXT))


@pytest.mark.parametrize("name", PACKERS)
def test_members_in_a_row_are_all_read_even_where_they_cut_a_record(path: Path, name: str) -> None:
    pack = PACKERS[name]
    middle = len(TEXT) // 2 + 7
    assert flat(read(path, pack(TEXT[:middle]) + pack(b"") + pack(TEXT[middle:]))) == flat(read(path, TEXT))


@pytest.mark.parametrize("name", PACKERS)
def test_an_empty_compressed_file_holds_no_records(path: Path, name: str) -> None:
    assert flat(read(path, PACKERS[name](b""))) == ([], [])


@pytest.mark.parametrize("name", ["gzip", "bzip2"])
def test_zeros_after_compressed_data_are_padding(path: Path, name: str) -> None:
    assert flat(read(path, PACKERS[name](TEXT) + b"\0" * 700)) == flat(read(path, TEXT))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gzip", "what follows the gzip data is not gzip"),
        ("bzip2", "what follows the bzip2 data is not bzip2"),
        ("zstd", "the zstd data is damaged here"),
    ],
)
def test_garbage_after_compressed_data_is_one_reject(path: Path, name: str, reason: str) -> None:
    records, rejects = flat(read(path, PACKERS[name](TEXT) + b"garbage"))
    assert records == flat(read(path, TEXT))[0]
    assert rejects == [Reject(20_001, len(TEXT), 0, reason)]


def inflated(data: bytes) -> bytes:
    return zlib.decompressobj(31).decompress(data)


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9999])
def test_a_torn_gzip_gives_all_that_comes_before_the_tear_and_one_reject(path: Path, share: float) -> None:
    packed = gzip.compress(TEXT)
    torn = packed[: int(len(packed) * share)]
    text = inflated(torn)
    whole = text.count(b"\n")
    records, rejects = flat(read(path, torn))
    left = text[text.rfind(b"\n") + 1 :]
    assert [raw for raw, _, _ in records] == LINES[:whole]
    excerpt = left[:120].decode()
    assert rejects == [Reject(whole + 1, len(text) - len(left), len(left), "the gzip data is cut off here", excerpt)]


@pytest.mark.parametrize(("name", "at_least"), [("zstd", 9_000), ("bzip2", 9_000)])
def test_other_torn_files_give_what_comes_before_the_tear_and_one_reject(path: Path, name: str, at_least: int) -> None:
    packed = PACKERS[name](TEXT)
    records, rejects = flat(read(path, packed[: len(packed) * 3 // 4]))
    assert [raw for raw, _, _ in records] == LINES[: len(records)]
    assert len(records) >= at_least
    assert [reject.reason for reject in rejects] == [f"the {name} data is cut off here"]
    assert rejects[0].line == len(records) + 1


def test_a_damaged_gzip_gives_what_comes_before_the_damage(path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 0xFF  # in the checksum
    records, rejects = flat(read(path, bytes(packed) + gzip.compress(TEXT)))
    assert [raw for raw, _, _ in records] == LINES
    reason = "the gzip data is damaged here (Error -3 while decompressing data: incorrect data check)"
    assert rejects == [Reject(20_001, len(TEXT), 0, reason)]


def test_a_last_line_before_a_tear_counts_only_if_it_is_whole(path: Path) -> None:
    for text, records in ((b'{"a":{"b":1}', []), (b'{"a":{"b":1}}', [(b'{"a":{"b":1}}', 1, 0)])):
        packed = zlib.compressobj(wbits=31)
        torn = packed.compress(text) + packed.flush(zlib.Z_SYNC_FLUSH)
        found, rejects = flat(read(path, torn))
        assert found == records
        assert [reject.reason for reject in rejects] == ["the gzip data is cut off here"]


# Without a mark, UTF-32 is written by nobody, and would look like binary data.
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [("\ufeff", name) for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")]
    + [("", "utf-16-le"), ("", "utf-16-be")],
)
def test_wide_encodings_are_read_as_their_utf8_text(path: Path, encoding: str, mark: str) -> None:
    text = '{"a": "é\u2028😀"}\r\n{"b": 2}\n' * 5000
    assert flat(read(path, (mark + text).encode(encoding))) == flat(read(path, text.encode()))
    assert flat(read(path, gzip.compress((mark + text).encode(encoding)))) == flat(read(path, text.encode()))


def test_a_torn_character_is_a_reject_after_the_records_before_it(path: Path) -> None:
    data = b"\xff\xfe" + '{"a":1}\n'.encode("utf-16-le") + b"{"
    reason = "the text is not UTF-16-LE here (truncated data)"
    assert flat(read(path, data)) == ([(b'{"a":1}', 1, 0)], [Reject(2, 8, 0, reason)])


def test_a_lone_surrogate_of_utf16_is_left_to_the_decoder(path: Path) -> None:
    data = b"\xff\xfe" + '{"a":"\ud800"}\n{"b":2}'.encode("utf-16-le", "surrogatepass")
    assert flat(read(path, data)) == ([(b'{"a":"\xed\xa0\x80"}', 1, 0), (b'{"b":2}', 2, 12)], [])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PAR1" + bytes(5000), "not text: looks like Parquet"),
        (b"SQLite format 3\0" + b"\n" * 5000, "not text: looks like SQLite"),
        (b"PK\x03\x04" + b"\n" * 5000, "not text: looks like a zip archive"),
        (b"\x89PNG\r\n\x1a\n" + b"\n" * 5000, "not text: looks like an image"),
        (lzma.compress(TEXT), "not text: looks like xz"),
        (bytes(range(256)) * 100, "not text: the file begins with binary data"),
    ],
)
def test_a_file_of_another_kind_is_one_reject(path: Path, data: bytes, reason: str) -> None:
    assert flat(read(path, data)) == ([], [Reject(1, 0, len(data), reason)])


@pytest.mark.parametrize("pack", [bytes, *PACKERS.values()])
def test_standard_input_is_read_like_a_file(
    path: Path, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipe(io.BytesIO):
        """Gives a few bytes at a time and cannot be sought."""

        def readinto1(self, buffer: memoryview) -> int:  # type: ignore[override]
            return super().readinto(memoryview(buffer)[:7000])

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    data = pack(TEXT)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Pipe(data)))
    assert flat(list(read_records(FileSlice("-")))) == flat(read(path, TEXT))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_counts_the_bytes_of_the_file(path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = pack(TEXT)
    path.write_bytes(data)
    counts: list[int] = []
    for _ in read_records(FileSlice(str(path)), on_bytes=counts.append):
        pass
    assert sum(counts) == len(data)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as missing:
        list(read_records(FileSlice(str(tmp_path / "nowhere"))))
    with pytest.raises(PipelineError) as directory:
        list(read_records(FileSlice(str(tmp_path))))
    assert [missing.value.code, directory.value.code] == ["file-unreadable", "file-unreadable"]
    assert "No such file" in missing.value.message
    assert "Is a directory" in directory.value.message


def test_a_disk_that_fails_is_a_reject_after_the_records_before_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def readinto1(self, buffer: memoryview) -> int:  # type: ignore[override]
            count = super().readinto(buffer)
            if not count:
                raise OSError(5, "Input/output error")
            return count

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Failing(b'{"a":1}\n{"b"')))
    reason = "the file cannot be read from here on (Input/output error)"
    assert flat(list(read_records(FileSlice("-")))) == ([(b'{"a":1}', 1, 0)], [Reject(2, 8, 4, reason, '{"b"')])
