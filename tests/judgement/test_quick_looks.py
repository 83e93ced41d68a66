"""The quick ways of looking at a text or a value, held against the plain ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_jsontext import OBJECT_TEXTS, PIECES, TEXTS, VALUES, same

from pipeline import exactjson
from pipeline.exactjson import Document, certain_object, first_flaw, quoted, read_sound, sound_string
from pipeline.exactjson.reader import Reader
from pipeline.toolschema.anatomy import dissect
from pipeline.toolschema.excerpt import excerpt, shorten

# What stands in the way of a quick look, or ends it.
OBSTACLES = PIECES | st.sampled_from(
    [
        *("'k':'v',", "'it\\'s'", "True", "False", "-Infinity", "+Infinity", '"\\q"', '"\\u12"', "\t:\r"),
        *("0." + "1" * 400, "7" * 400, "1e123456", "1.e5", "01", "-", "[[[[", "{}]", ',{"a":[', ",}", ",]"),
    ]
)

# Schemas in which something is to be rewritten or followed, and one in which nothing is.
SCHEMAS = [
    '{"type":"object","properties":{"id":{"type":"string"},"n":{"items":{"enum":[1]}}}}',
    '{"properties":{"a":{"pattern":"^\\\\d+$"}}}',
    '{"properties":{"a":{"\\u0070attern":"^\\\\d+$"}}}',
    '{"patternProperties":{"\\\\cA":{}}}',
    '{"pattern\\u0050roperties":{"\\\\cA":{}}}',
    '{"properties":{"a":{"contentEncoding":"base64"}}}',
    '{"properties":{"a":{"contentMediaType":"application/json"}}}',
    '{"$ref":"#/definitions/a","definitions":{"a":{"id":"#x"}}}',
    '{"\\u0024ref":"#"}',
    '{"anyOf":[{"$dynamicRef":"#a"},{"$anchor":"a"}]}',
]


def changed(text: str, changes: list[tuple[float, int, str]]) -> str:
    """Leave something out and put something in, here and there."""
    for where, left_out, put_in in changes:
        at = int(where * len(text))
        text = text[:at] + put_in + text[at + left_out :]
    return text


CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), OBSTACLES | st.just("")), max_size=4)
SPOILT = st.builds(changed, OBJECT_TEXTS, CHANGES)


class PlainSkimmer(Reader):
    """Looks at one token after the other, as a reader does, and takes no strides."""

    def skim(self) -> None:
        self.read()


@given(SPOILT | TEXTS | st.builds(str.__add__, SPOILT, SPOILT), st.sampled_from([1, 2, 3, 5_000]))
@example('{\'a\': \'b\', "c": "d\n\\q", \'e\': [None, NaN,], "f": "cut', 5_000)
@example('[{"a":[1,2,{}],"b":{"c":"\\u00e9"}},[]]', 3)
@example('{"a":[{"b":{}}', 2)
@settings(max_examples=2_000, deadline=None)
def test_strides_find_the_flaw_that_one_token_after_the_other_finds(text: str, max_depth: int) -> None:
    quick = first_flaw(text, max_depth)

    with patch.object(exactjson, "Skimmer", PlainSkimmer):
        plain = first_flaw(text, max_depth)

    assert quick == plain


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_a_sound_string_is_what_the_reader_reads(value: Any) -> None:
    text = f" {json.dumps(json.dumps(value, ensure_ascii=False))}\n"

    assert sound_string(text) == read_sound(text).value


SIGNS = st.sampled_from(["", "+", "-"])
NUMBER_TEXTS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(2.0**52, 1e17).map(lambda number: f"{number:.1f}"),
    st.builds("{}e{}{}".format, st.sampled_from(["1", "1.5", "9.007199254740993"]), SIGNS, st.integers(14, 310)),
    st.integers(-(2**70), 2**70).map(str),
)


@given(st.lists(NUMBER_TEXTS, min_size=1, max_size=4), st.sampled_from([",", ", ", ",\n"]))
@example(["1e+23"], ",")
@example(["1e+23", "1"], ", ")
@settings(max_examples=1_000, deadline=None)
def test_no_number_of_a_certain_object_has_lost_a_digit(numbers: list[str], comma: str) -> None:
    text = f'{{"n":[{comma.join(numbers)}]}}'

    value = certain_object(text)

    assert value is None or same(value, read_sound(text).value)


@given(OBJECT_TEXTS, st.data())
@settings(max_examples=500, deadline=None)
def test_blanks_hide_neither_a_repeated_key_nor_a_digit(text: str, data: st.DataObject) -> None:
    blanks = st.sampled_from(["", " ", "\n", "\t ", "\r\n"])
    for mark in ",:":
        text = text.replace(mark, data.draw(blanks) + mark + data.draw(blanks))  # inside strings as well

    value = certain_object(text)

    assert value is None or read_sound(text) == Document(value, duplicate_keys=False)


def plain_parts(value: Any, room: int) -> Iterator[str]:
    if isinstance(value, str):
        yield quoted(value[: room + 1])
    elif isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield f"{', ' if index else ''}{quoted(key[: room + 1])}: "
            yield from plain_parts(item, room)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from plain_parts(item, room)
        yield "]"
    else:
        yield str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else json.dumps(value)


@given(VALUES | st.text(max_size=40), st.integers(1, 40))
@settings(max_examples=500, deadline=None)
def test_an_excerpt_is_the_beginning_of_the_whole(value: Any, max_chars: int) -> None:
    whole = "".join(plain_parts(value, 1_000))

    assert excerpt(value, max_chars) == shorten(whole, max_chars)


@pytest.mark.parametrize("opening", ["[", '{"n":'])
def test_an_excerpt_of_a_deep_or_wide_value_takes_what_it_needs_of_it(opening: str) -> None:
    deep = json.loads(opening * 900 + "1" + ("]" if opening == "[" else "}") * 900)
    wide = {"n": ["x" * 1_000_000] * 3, "m": [[]] * 1_000_000}

    assert excerpt(deep) == shorten(opening.replace(":", ": ") * 201)
    assert excerpt(wide) == '{"n": ["' + "x" * 191 + "…"


@pytest.mark.parametrize("text", SCHEMAS)
def test_a_schema_in_which_nothing_is_to_be_done_is_known_by_its_text(text: str) -> None:
    assert dissect(json.loads(text), text) == dissect(json.loads(text), "$")
