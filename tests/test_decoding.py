"""Forgiving about what a log holds, exact about what is JSON: the second looks of the decoder."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from pipeline.decoding import Decoder, UndecodableError, keep_lone_surrogates, restore_lone_surrogates
from pipeline.formats.shapes import Body, decode_array, decode_body, decode_string


def members(body: Body) -> dict[str, Any]:
    """The members that differ from their default, raw ones as text."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(Body):
        value = getattr(body, field.name)
        if isinstance(value, Raw):
            if bytes(value):
                found[field.name] = bytes(value).decode()
        elif value is not None:
            found[field.name] = value
    return found


#: A document, and what is decoded of it.
READ: dict[str, tuple[bytes, dict[str, Any]]] = {
    "lone surrogate in a skipped member": (rb'{"zzz":"\ud83d","id":"x"}', {"id": "x"}),
    "lone surrogate in a read member": (rb'{"id":"a\ud83db"}', {"id": r"a\ud83db"}),
    "lone low surrogate in upper case": (rb'{"id":"\uDE00"}', {"id": r"\uDE00"}),
    "two lone surrogates and a pair": (rb'{"id":"\ud83d\ud83d\ude00"}', {"id": "\\ud83d\U0001f600"}),
    "escaped backslash before": (rb'{"id":"\\\ud83d\\ud83d"}', {"id": "\\\\ud83d\\ud83d"}),
    "lone surrogate in a raw member": (rb'{"request":{"a":"\ud83d"}}', {"request": r'{"a":"\ud83d"}'}),
    "lone surrogate beside its own text in a raw member": (
        rb'{"request":["\ud83d","\\ud83d"]}',
        {"request": r'["\ud83d","\\ud83d"]'},
    ),
    "our own spelling in a log": (
        rb'{"id":"\u005Cud83d","request":["\ud83d","\u005Cud83d","\\u005Cud83d"]}',
        {"id": r"\ud83d", "request": r'["\ud83d","\\ud83d","\\u005Cud83d"]'},
    ),
    "lone surrogate in a key": (rb'{"\ud83d":1,"id":"x"}', {"id": "x"}),
    "1e400 in a skipped member": (b'{"zzz":1e400,"id":"x"}', {"id": "x"}),
    "1e400 in a read member": (b'{"status":1e400,"id":"x"}', {"id": "x"}),
    "1e400 in a raw member": (b'{"request":1e400,"id":"x"}', {"id": "x", "request": "1e400"}),
    "1e400 deep in a read member": (b'{"error":{"a":[1e400]},"id":"x"}', {"id": "x"}),
    "thousands of digits in a skipped member": (b'{"zzz":%d,"id":"x"}' % 10**4000, {"id": "x"}),
    "thousands of digits in a read member": (b'{"status":' + b"9" * 5000 + b',"id":"x"}', {"id": "x"}),
    "an integer of 100 bits": (b'{"status":1267650600228229401496703205376}', {"status": 2**100}),
    "a wrong type and a lone surrogate": (
        rb'{"choices":3,"id":"\ud83d","request":"\ud83d"}',
        {"id": r"\ud83d", "request": r'"\ud83d"'},
    ),
    "usage with a bad half": (b'{"usage":{"input_tokens":1e400,"output_tokens":5}}', {"usage": {"output_tokens": 5}}),
    "the last of equal keys": (b'{"id":"a","id":"b"}', {"id": "b"}),
    "invalid UTF-8 in a skipped member": (b'{"zzz":"\xff","id":"x"}', {"id": "x"}),
}


@pytest.mark.parametrize("name", READ)
def test_a_member_that_cannot_be_used_leaves_the_others_alone(name: str) -> None:
    document, expected = READ[name]
    found = members(decode_body(document))
    if "usage" in found:
        found["usage"] = {k: v for k, v in msgspec.structs.asdict(found["usage"]).items() if v is not None}
    assert found == expected


#: Bytes that are no JSON document, the reason, and the byte where that shows.
REFUSED: dict[str, tuple[bytes, str, int | None]] = {
    "nothing": (b"", "half written: ends before the document does", 0),
    "half an object": (b'{"id":"x"', "half written: ends before the document does", 9),
    "half a string": (b'{"id":"x', "half written: ends before the document does", 6),
    "half a string after one of two bytes": ('{"ä":"ö'.encode(), "half written: ends before the document does", 6),
    "trailing text": (b'{"id":"x"} x', "not JSON", 11),
    "a trailing comma": (b'{"id":"x",}', "not JSON", 10),
    "NaN": (b'{"zzz":NaN}', "not JSON: NaN or Infinity", None),
    "a bad escape in a skipped member": (rb'{"zzz":"\q"}', "not JSON", 8),
    "a raw control character": (b'{"zzz":"\x01"}', "not JSON", 8),
    "a leading zero": (b'{"zzz":01}', "not JSON", 8),
    "invalid UTF-8 in a read member": (b'{"id":"\xff"}', "invalid UTF-8", 7),
    "a surrogate in UTF-8": (b'{"id":"\xed\xa0\xbd"}', "invalid UTF-8", 7),
    "too deep": (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested deeper than 900 levels", None),
    "another type": (b"[1]", "not a JSON object", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_json_is_said_with_its_place(name: str) -> None:
    document, reason, position = REFUSED[name]
    with pytest.raises(UndecodableError) as refused:
        decode_body(document)
    told = (refused.value.reason, refused.value.position)
    assert told == (reason, position)


def test_a_list_of_raw_elements_keeps_lone_surrogates_as_recorded() -> None:
    assert list(map(bytes, decode_array(rb'["\ud83d",{"a":"\ude00"}]'))) == [rb'"\ud83d"', rb'{"a":"\ude00"}']


class Point(msgspec.Struct):
    x: int | None = None
    y: str | None = None
    inner: Point | None = None
    points: list[Point] | None = None


#: What is salvaged of a value: each member on its own, each element of a list on its own, a list of misfits not at all.
SALVAGED: list[tuple[str, Point]] = [
    ('{"x":"no","y":"yes"}', Point(y="yes")),
    ('{"x":1,"inner":{"x":[],"y":"kept"}}', Point(1, inner=Point(y="kept"))),
    ('{"inner":7,"x":1}', Point(1)),
    ('{"points":[{"x":1},2,null,{"x":"no"}]}', Point(points=[Point(1), Point()])),
    ('{"points":[1,2]}', Point()),
    ('{"points":{}}', Point()),
    ('{"x":"no","points":[]}', Point(points=[])),
]


@pytest.mark.parametrize(("document", "expected"), SALVAGED)
def test_what_fits_is_salvaged(document: str, expected: Point) -> None:
    assert Decoder(Point)(document.encode()) == expected


escapes = st.sampled_from(
    ["\\\\", r"\u005C", r"\u005c", r"\ud83d", r"\ude00", r"\uD83D", r"\n", '\\"', "u005C", "a", "u"]
)


@given(st.lists(escapes, max_size=12).map("".join))
def test_keeping_lone_surrogates_loses_nothing(inside: str) -> None:
    document = f'"{inside}"'.encode()
    kept = keep_lone_surrogates(document)
    value = json.loads(document)
    assert json.loads(restore_lone_surrogates(kept)) == value
    told = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in value)
    assert decode_string(document).lower() == told.lower()
