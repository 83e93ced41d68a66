from __future__ import annotations

import pytest

from pipeline.errors import PipelineError
from pipeline.fetch.ids import read_ids

A, B, C = "resp_67ccd2bed1ec8190", "chatcmpl-AyPNinnUqUDYo9SA", "resp_5e0f-a_b"

READ = {
    "one id a line, each once": (f"{A}\n{B}\n{A}\n", None, [A, B]),
    "blanks and comments are ignored": (f"# mine\n\n  {A}  \r\n\t\n{B} # why\n#{C}", None, [A, B]),
    "a byte order mark is no part of an id": (f"\ufeff{A}\n", None, [A]),
    "an empty list is a list": ("", None, []),
    "padding of Base64 may end an id": ("resp_bGl0ZWxsbQ==", None, ["resp_bGl0ZWxsbQ=="]),
    "a member of JSONL": (f'{{"rid": "{A}"}}\n\n{{"n": 1}}\n{{"rid": null}}\n{{"rid": "{B}"}}', "rid", [A, B]),
    "a nested member of JSONL": (f'{{"answer": {{"id": "{A}"}}}}', "answer.id", [A]),
    "a member whose own name has a dot": (f'{{"answer.id": "{A}"}}', "answer.id", [A]),
    "a column of CSV": (f"n,rid\r\n1,{A}\r\n2,\r\n3\r\n4,{B}\r\n", "rid", [A, B]),
    "a column of CSV with semicolons": (f"n;rid\n1;{A}\n", "rid", [A]),
    "a column between tabs": (f"n\trid\n1\t{A}\n", "rid", [A]),
    "CSV with a line break in a cell": (f'"text",rid\n"one\ntwo, three",{A}\n', "rid", [A]),
    "CSV with a cell beyond the csv module's own limit": (f"rid,text\n{A},{'x' * 200_000}\n", "rid", [A]),
    "CSV with a header alone": ("n,rid\n", "rid", []),
}


@pytest.mark.parametrize(("content", "field", "ids"), READ.values(), ids=READ.keys())
def test_ids_are_read_in_their_order(content: str, field: str | None, ids: list[str]) -> None:
    assert read_ids(content.encode(), "ids.txt", field) == ids


BAD = [
    "resp_",
    "resp-67ccd2",
    "RESP_67ccd2",
    "chatcmpl_AyPN",
    "msg_67ccd2",
    "resp_../chat/completions",
    "resp_..",
    "resp_a/b",
    "resp_a%2fb",
    "resp_a?b",
    "resp_a b",
    "resp_a#b",
    "resp_a\\b",
    "resp_é",
    "resp_\u0661",
    "resp_a\x1b[31m",
    "resp_a===",
    "resp_=a",
    '"resp_a"',
    "resp_" + "a" * 508,
]
HINT = "An id is resp_… or chatcmpl-…, of letters, digits, _ and -, at most 512 characters. Nothing was sent."


@pytest.mark.parametrize("text", BAD, ids=ascii)
def test_a_bad_id_is_refused_with_its_line(text: str) -> None:
    shown = ascii(text if len(text) <= 60 else text[:60] + "...")

    with pytest.raises(PipelineError) as caught:
        read_ids(f"{A}\n{text}\n".encode(), "ids.txt")

    assert caught.value == PipelineError("bad-id", f"1 id is bad: ids.txt:2 {shown}.", HINT)


def test_many_bad_ids_are_counted_and_the_first_ten_shown() -> None:
    with pytest.raises(PipelineError) as caught:
        read_ids(b"x\n" * 2345, "<stdin>")

    shown = "; ".join(f"<stdin>:{line} 'x'" for line in range(1, 11))
    assert caught.value == PipelineError("bad-id", f"2,345 ids are bad: {shown}; and 2,335 more.", HINT)


REFUSED = {
    "not text": (
        b"resp_a\nresp_\xff",
        None,
        PipelineError("ids-unreadable", "ids.txt:2 is not UTF-8 text."),
    ),
    "JSONL without naming the field": (
        b'{"id": "resp_a"}',
        None,
        PipelineError(
            "bad-id",
            """1 id is bad: ids.txt:1 '{"id": "resp_a"}'.""",
            HINT + " For a JSONL file, name its field with --ids-field.",
        ),
    ),
    "a line that is no JSON": (
        b'{"id": "resp_a"}\n{"id": "re',
        "id",
        PipelineError("ids-unreadable", "ids.txt:2 is not a JSON document.", "--ids-field takes JSONL or CSV."),
    ),
    "an id that is no text": (
        b'{"id": ["resp_a"]}',
        "id",
        PipelineError("bad-id", """1 id is bad: ids.txt:1 '["resp_a"]'.""", HINT),
    ),
}


@pytest.mark.parametrize(("content", "field", "error"), REFUSED.values(), ids=REFUSED.keys())
def test_a_file_that_cannot_be_read_is_refused(content: bytes, field: str | None, error: PipelineError) -> None:
    with pytest.raises(PipelineError) as caught:
        read_ids(content, "ids.txt", field)

    assert caught.value == error


@pytest.mark.parametrize("content", [b'{"id": "resp_a"}\n', b"id,n\nresp_a,1\n"], ids=["jsonl", "csv"])
def test_a_field_that_no_row_has_is_an_error(content: bytes) -> None:
    with pytest.raises(PipelineError) as caught:
        read_ids(content, "ids.txt", "response_id")

    assert caught.value == PipelineError(
        "ids-field-missing",
        "ids.txt has no field 'response_id' in any row.",
        "--ids-field names a column of a CSV with a header, or a member of the objects of a JSONL (a.b for nested).",
    )
