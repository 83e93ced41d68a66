from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.fetch.documents import Document, MalformedError, Page, read_document, read_page

KEPT = {
    "line breaks between tokens go": (
        b'{\r\n  "id": "resp_a",\n  "n": [1,\n 2]\n}\n',
        Document("resp_a", None, b'{  "id": "resp_a",  "n": [1, 2]}'),
    ),
    "an escaped line break stays": (
        b'{"id": "a", "x": "one\\ntwo\\r"}',
        Document("a", None, b'{"id": "a", "x": "one\\ntwo\\r"}'),
    ),
    "escapes, spelling of numbers and other line separators stay": (
        '{"id": "a", "x": "\\u00e9é\u2028\\/", "n": 1.0e+2}'.encode(),
        Document("a", None, '{"id": "a", "x": "\\u00e9é\u2028\\/", "n": 1.0e+2}'.encode()),
    ),
    "a lone surrogate, 1e400 and ten thousand digits are JSON": (
        b'{"x": "\\ud83d", "n": 1e400, "m": ' + b"7" * 10_000 + b"}",
        Document(None, None, b'{"x": "\\ud83d", "n": 1e400, "m": ' + b"7" * 10_000 + b"}"),
    ),
    "the time of creation is read": (
        b'{"created": 1741289180, "id": "chatcmpl-a"}',
        Document("chatcmpl-a", 1741289180.0, b'{"created": 1741289180, "id": "chatcmpl-a"}'),
    ),
}


@pytest.mark.parametrize(("body", "document"), KEPT.values(), ids=KEPT.keys())
def test_a_body_is_put_on_one_line_and_otherwise_left_alone(body: bytes, document: Document) -> None:
    assert read_document(body) == document


MALFORMED = {
    b"": "it is not JSON (character 0)",
    b"<html>": "it is not JSON (character 0)",
    b"[]": "it is not a JSON object",
    b'{"id": "resp_a"': "it is not JSON (character 15)",
    b'{"id": "resp\n_a"}': "it is not JSON (character 12)",
    b'{"id": NaN}': "it is not JSON (NaN)",
    b'{"id": "a"} {"id": "b"}': "something follows the JSON document",
    b'{"id": "\xff"}': "it is not UTF-8",
    b'\xef\xbb\xbf{"id": "a"}': "it is not JSON (character 0)",
    b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}": "it is nested too deep to be checked",
}


@pytest.mark.parametrize(("body", "why"), MALFORMED.items(), ids=list(MALFORMED.values()))
def test_a_malformed_body_is_named(body: bytes, why: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_document(body)

    assert str(caught.value) == why


def test_the_items_of_a_page_are_cut_out_byte_for_byte() -> None:
    body = (
        b'\n{ "object": "list",\n  "data" : [ {"id": "chatcmpl-1",\n "x": "\\ud83d \\u0041"} ,\n'
        b'{"id":"chatcmpl-2","created":7, "n":1e400}\n ], "first_id": "chatcmpl-1", "has_more" : true }\n'
    )

    assert read_page(body) == Page(
        [
            Document("chatcmpl-1", None, b'{"id": "chatcmpl-1", "x": "\\ud83d \\u0041"}'),
            Document("chatcmpl-2", 7.0, b'{"id":"chatcmpl-2","created":7, "n":1e400}'),
        ],
        has_more=True,
    )


@pytest.mark.parametrize(
    ("body", "page"),
    [
        (b'{"data":[]}', Page([], None)),
        (b'{"has_more":false,"data":[]}', Page([], False)),
        (b'{"has_more":null,"data":[]}', Page([], None)),
    ],
)
def test_an_empty_page_is_a_page(body: bytes, page: Page) -> None:
    assert read_page(body) == page


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[]", "it is not a JSON object"),
        (b"{}", "it has no list of completions"),
        (b'{"data": null}', "its data is not a list"),
        (b'{"data": [1]}', "it is not a JSON object"),
        (b'{"data": [{}', "it is not JSON (character 12)"),
        (b'{"data": [{},]}', "it is not JSON (character 13)"),
        (b'{"data": [{}] "has_more": true}', "it is not JSON (character 14)"),
        (b'{"data" [{}]}', "it is not JSON (character 8)"),
        (b"{1: [{}]}", "it is not JSON (character 1)"),
        (b'{"data": []} x', "something follows the JSON document"),
    ],
)
def test_a_malformed_page_is_named(body: bytes, why: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_page(body)

    assert str(caught.value) == why


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(OBJECTS, max_size=4), st.sampled_from([None, 0, 1, 3]), st.booleans())
def test_a_page_gives_back_the_values_it_was_made_of(
    values: list[dict[str, object]], indent: int | None, ascii_only: bool
) -> None:
    body = json.dumps({"a": values, "data": values, "has_more": True}, indent=indent, ensure_ascii=ascii_only)

    lines = [item.line for item in read_page(body.encode("utf-8", "surrogatepass")).items]

    assert [json.loads(line) for line in lines] == values
    assert all(b"\n" not in line for line in lines)
