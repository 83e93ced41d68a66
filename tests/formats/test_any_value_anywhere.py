"""Any value at any place of a record: it is read or named, and the quick way reads it as the forgiving one does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from record_places import PLAIN_RECORDS, RECORDS, VALUES, places, with_value

from pipeline.decoding import UndecodableError
from pipeline.formats import Page, PlainReader, Unread, read_record
from pipeline.formats.shapes import Body, Choice, Custom, Function, Item, Message, ToolCall, Usage
from pipeline.interning import Toolsets
from pipeline.records import Turn
from pipeline.rows import Places, Rows

ODD = (b"1e400", b"9" * 5000, b'"\\ud83d\\ud83d"', b"[" * 600 + b"]" * 600)
#: Names that mean something to some reader.
NAMES = sorted(
    {n for t in (Body, Choice, Custom, Function, Item, Message, ToolCall, Usage) for n in t.__struct_fields__}
)


def assert_sound(outcome: list[Turn] | Unread | Page) -> None:
    for one in outcome.outcomes if isinstance(outcome, Page) else [outcome]:
        if isinstance(one, Unread):
            "".join([one.reason, *one.keys]).encode()
            continue
        for turn in one:
            texts = (turn.response_id, turn.model, turn.response_status, turn.finish_reason, turn.truncation)
            calls = [(c.call_id, c.tool_name, c.tool_namespace, c.arguments) for c in turn.calls]
            for text in (*texts, *(text for call in calls for text in call)):
                assert text is None or text.encode().decode() == text


@pytest.mark.parametrize("name", RECORDS)
def test_any_value_at_any_place_of_a_record_is_read_or_named(name: str) -> None:
    record = RECORDS[name]
    for path in places(record):
        for value in VALUES:
            raw = json.dumps(with_value(record, path, value)).encode()
            assert_sound(read_record(raw, Toolsets()))
        for odd in (b"1e400", b"9" * 5000, b'"\\ud83d\\ud83d"', b"[" * 600 + b"]" * 600):
            raw = json.dumps(with_value(record, path, "@odd@")).encode().replace(b'"@odd@"', odd)
            assert_sound(read_record(raw, Toolsets()))


@pytest.mark.parametrize("name", ["responses", "chat"])
def test_a_string_of_any_value_at_any_place_of_a_side_is_read_or_refused(name: str) -> None:
    """The same one level down, where a broken text inside the record may be refused and nothing else may happen."""
    record = RECORDS[name]
    for path in places(record):
        text = json.dumps(with_value(record, path, "@odd@"))
        for odd in ("1e400", '"\\ud83d"', '"\\\\ud83d"', "NaN", "{", "[" * 2000 + "]" * 2000, '"\\u0000"'):
            raw = json.dumps({"request": {}, "response": text.replace('"@odd@"', odd)}).encode()
            try:
                assert_sound(read_record(raw, Toolsets()))
            except UndecodableError as error:
                assert error.position is None


def variants(record: dict[str, Any]) -> Iterator[bytes]:
    """The record with any value at any place, and with any name that means something added anywhere."""
    for path in places(record):
        for value in VALUES:
            yield json.dumps(with_value(record, path, value)).encode()
        for odd in ODD:
            yield json.dumps(with_value(record, path, "@odd@")).encode().replace(b'"@odd@"', odd)
        at = record
        for step in path:
            at = at[step]
        if isinstance(at, dict):
            for name in NAMES:
                for value in (None, "text", 7, [], [{}], {}, {"choices": []}, {"output": []}):
                    if name not in at:
                        yield json.dumps(with_value(record, path, {**at, name: value})).encode()


def places_of(documents: list[bytes]) -> Places:
    return Places("file", range(1, len(documents) + 1), [7 * number for number in range(len(documents))])


def quickly(documents: list[bytes]) -> Rows | None:
    """What the quick way reads, with where each record stands; None where it leaves them."""
    rows = Rows()
    return rows if PlainReader(Toolsets()).read(b"\n".join(documents), rows, places_of(documents)) else None


def one_by_one(documents: list[bytes]) -> Rows:
    """The same by the forgiving way."""
    rows, toolsets = Rows(), Toolsets()
    for number, document in enumerate(documents):
        outcome = read_record(document, toolsets)
        assert isinstance(outcome, list), document
        for turn in outcome:
            rows.add(turn, "file", number + 1, 7 * number)
    return rows


def each(documents: list[bytes]) -> Rows:
    """What the quick way reads where some documents may not be plain; those are read by the forgiving way."""
    rows, toolsets = Rows(), Toolsets()
    places = places_of(documents)

    def read_other(position: int) -> None:
        outcome = read_record(documents[position], toolsets)
        for turn in outcome if isinstance(outcome, list) else ():
            rows.add(turn, "file", places.lines[position], places.offsets[position])

    PlainReader(toolsets).read_each(documents, rows, places, read_other)
    return rows


def same(quick: Rows, slow: Rows) -> bool:
    """Numbers of toolsets go by who met them first; here just one is declared, or none."""
    for rows in (quick, slow):
        rows.turns.toolset = [None if number is None else 0 for number in rows.turns.toolset]
    return quick == slow


@pytest.mark.parametrize("name", PLAIN_RECORDS)
def test_what_the_quick_way_reads_it_reads_as_the_forgiving_one(name: str) -> None:
    quick = 0
    plain = json.dumps(PLAIN_RECORDS[name]).encode()
    for raw in variants(PLAIN_RECORDS[name]):
        for documents in ([raw], [plain, raw, plain]):
            rows = quickly(documents)
            if rows is not None:
                quick += 1
                assert same(rows, one_by_one(documents)), raw
    assert quick > 100


def test_records_of_all_kinds_in_one_log_are_read_in_their_order() -> None:
    documents = [json.dumps(record).encode() for record in PLAIN_RECORDS.values()]
    documents += [b'{"error": 1}', *reversed(documents), b"[]", *documents[:2], documents[0], b'{"a": 1}', documents[1]]
    known = [document for document in documents if len(document) > 20]
    found, expected = each(documents), one_by_one(known)
    found.turns.line = found.turns.offset = expected.turns.line = expected.turns.offset = []
    assert same(found, expected)


@pytest.mark.parametrize("name", PLAIN_RECORDS)
def test_lines_that_are_not_one_document_each_are_left_to_the_forgiving_way(name: str) -> None:
    whole = json.dumps(PLAIN_RECORDS[name]).encode()
    half = 3  # inside a name, where no line can end
    for documents in (
        [whole + whole],
        [whole + b" " + whole],
        [whole[:half], whole[half:]],
        [whole[:half] + b"\n" + whole[half:]],
        [whole + b"\n" + whole],
        [whole, whole[:-1]],
        [whole[:-1], b"}", whole + b"\n" + whole][:2],
    ):
        assert quickly(documents) is None
