"""Whatever stands in a file: every record comes out as answered, rejected or unrecognised, and no call twice."""

from __future__ import annotations

import bz2
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_reading import judged, reading_plainly

from pipeline import run
from pipeline.checking import check_files
from pipeline.findings import Checked
from pipeline.run import Judge, Settings
from pipeline.sources import FileSlice, Split

GOLDEN = Path(__file__).parent / "formats" / "golden"
#: Real-looking records: those of the formats' own goldens.
RECORDS = [
    line for log in sorted(GOLDEN.glob("*/log.jsonl")) for line in log.read_bytes().splitlines() if len(line) < 3000
]
TOOLS = [{"type": "function", "name": "a", "parameters": {"type": "object", "required": ["x"]}}]
modest = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties") / "log"


def good(number: int) -> bytes:
    """A record with one call, known by its number."""
    call = {"type": "function_call", "call_id": f"good_{number}", "name": "a", "arguments": '{"x":1}'}
    return json.dumps({"id": f"resp_{number}", "output": [call], "tools": TOOLS}).encode()


def check(log: Path) -> tuple[Checked, list[dict[str, Any]]]:
    """What a check counts, and every call of the log."""
    total, calls = Checked(), []
    for part in check_files([str(log)], Settings(), show_all=True):
        total.add(part)
        calls += part.findings
    return total, calls


def assert_nothing_lost(total: Checked, calls: list[dict[str, Any]]) -> None:
    assert total.records == total.answered + total.reject_count + total.unrecognised.total()
    assert total.calls == len(calls) == total.states.total()


#: What logs are made of, and what spoils them.
PIECES = [
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\n", b"\r\n", b" ", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"null", b"1e400", b'{"a":1}', b"[]", b"\\ud83d", b'"tools":[', b"data: ", b"\x1f\x8b", b"\xe2\x80\xa8",
    b"\xff\xfe", b"9" * 5000,
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join)


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A real-looking record with something cut out of it, put into it or glued to it."""
    record = draw(st.sampled_from(RECORDS))
    at, until = sorted(draw(st.tuples(st.integers(0, len(record)), st.integers(0, len(record)))))
    put = draw(st.one_of(pieces, st.binary(max_size=8), st.sampled_from(RECORDS)))
    return draw(
        st.sampled_from(
            [record, record[:at], record[at:], record[:at] + put + record[until:], record[:at] + put + record[at:], put]
        )
    )


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"", b" ", b",", b"\n\n"])
    text = b"".join(record + draw(ends) for record in draw(st.lists(spoiled(), max_size=6)))
    wrap = draw(st.integers(0, 9))
    if wrap == 0:
        return b"[" + b",".join(draw(st.lists(spoiled(), max_size=4))) + b"]"
    if wrap == 1:
        packed = gzip.compress(text)
        return packed[: draw(st.integers(0, len(packed)))]
    if wrap == 2:
        return bz2.compress(text) + draw(st.binary(max_size=4))
    if wrap == 3:
        return text.decode(errors="replace").encode("utf-16")
    return text


@given(st.one_of(st.binary(max_size=200), pieces, texts()))
@modest
def test_any_bytes_end_in_answers_rejects_or_unrecognised_records(log: Path, text: bytes) -> None:
    log.write_bytes(text)
    assert_nothing_lost(*check(log))


@given(texts())
@modest
def test_any_bytes_are_read_the_same_in_the_slow_way(log: Path, text: bytes) -> None:
    log.write_bytes(text)
    with reading_plainly():
        expected = judged(log)
    assert judged(log) == expected


@given(st.lists(spoiled(), min_size=1, max_size=4).map(b" ".join), st.integers(1, 20), st.integers(0, 20))
@modest
def test_what_is_wrong_with_one_line_is_not_wrong_with_its_neighbours(
    log: Path, line: bytes, before: int, after: int
) -> None:
    line = line.replace(b"\n", b" ")
    lines = [good(number) for number in range(before + after)]
    log.write_bytes(b"".join(one + b"\n" for one in (*lines[:before], line, *lines[before:])))
    total, calls = check(log)
    assert_nothing_lost(total, calls)
    known = [call["call_id"] for call in calls if (call["call_id"] or "").startswith("good_")]
    assert known == [f"good_{number}" for number in range(before + after)]


@given(st.lists(st.sampled_from(RECORDS), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\n\n", b"", b" "]))
@modest
def test_no_call_is_lost_or_doubled_however_records_are_strung_together(
    log: Path, records: list[bytes], between: bytes
) -> None:
    def calls_of(text: bytes) -> list[tuple[Any, ...]]:
        log.write_bytes(text)
        _, calls = check(log)
        return [(call["response_id"], call["call_index"], call["call_id"], call["arguments"]) for call in calls]

    alone = [call for record in records for call in calls_of(record)]
    assert calls_of(between.join(records)) == alone
    if records:
        assert calls_of(b"[" + b",\n".join(records) + b"]") == alone


@given(st.lists(spoiled(), max_size=8), st.integers(1, 8))
@modest
def test_the_size_of_a_batch_changes_nothing(log: Path, records: list[bytes], batch_turns: int) -> None:
    log.write_bytes(b"\n".join(records))
    assert judged(log, Settings(batch_turns=batch_turns), block_bytes=64) == judged(log)


def test_a_batch_holds_no_more_arguments_than_there_is_room_for(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(good(number) for number in range(400)))
    with patch.object(run, "BATCH_ARGUMENTS_CHARS", 70), patch.object(run, "BLOCK_BYTES", 1000):
        sizes = [batch.calls.num_rows for batch in Judge(Settings()).batches(Split((FileSlice(str(log)),)))]
    assert sum(sizes) == 400
    assert max(sizes) <= 20  # ten calls are seventy characters, and a block of ten more may be on its way


def test_counts_of_parts_add_up_whatever_their_boundaries(tmp_path: Path) -> None:
    """Kinds beyond the limit are counted under one head, and which ones does not depend on where batches end."""
    lines = [b'{"error":{"code":"%d"}}' % (number % 7000) for number in range(9000)]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(lines))
    pictures = []
    for batch_turns in (100, 5000, 100_000):
        total = Checked()
        for part in check_files([str(tmp_path / "log.jsonl")], Settings(batch_turns=batch_turns)):
            total.add(part)
        pictures.append(total.unrecognised)
    assert pictures[0] == pictures[1] == pictures[2]
    assert (len(pictures[0]), pictures[0].total()) == (5001, 9000)
    assert Counter(pictures[0].values()) == Counter({2: 2000, 1: 3000, 2000: 1})
