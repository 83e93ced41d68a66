from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rfc8259 import DUPLICATES, FAULTS, NO_DUPLICATES, OBJECTS
from slow_reference import NotAnObject, slow_object

from pipeline import verdicts
from pipeline.exactjson import Document, Flaw, certain_object, decode
from pipeline.jsontext import Fault, Parsed, parse_arguments
from pipeline.records import FORM_ABSENT, FORM_OBJECT, FORM_OTHER

# Text in which near misses are likely: JSON's own characters, escapes, blanks, and what models put around it.
PIECES = st.sampled_from(
    [
        *"{}[],:\"'\\/ \n\t\0\ufeff\u00a0\ud83d\ude00aeu01-+.",
        *("\\u00", "\\ud83d", "\\ude00", "true", "null", "NaN", "Infinity", "None", "```", "```json\n", "//"),
        *("1e5", "1e400", "1e-400", "9007199254740993", "18446744073709551616", "1.5"),
        *('{"a":', '"a":1', '"b" : ', '{"a":1}', '"x"', "{}", "[]", '":', '\\":', " :"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=30))
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(-1e15, 1e15), st.just(10**30), st.just(2**53 + 1))
STRINGS = st.text(st.characters(exclude_categories=[]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=8,
)
OBJECT_TEXTS = st.builds(
    lambda value, escaped, indent, separators: json.dumps(
        value, ensure_ascii=escaped, indent=indent, separators=separators
    ),
    st.dictionaries(STRINGS, VALUES, max_size=4),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.sampled_from([None, (",", ":"), (" , ", " : ")]),
)


def same(left: Any, right: Any) -> bool:
    """Equal in value, and in kind wherever JSON tells kinds apart."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


@pytest.mark.parametrize(("text", "value"), OBJECTS)
def test_an_object_by_the_grammar_is_read_exactly(text: str, value: dict[str, Any]) -> None:
    parsed = parse_arguments(text)

    assert parsed == Parsed(value, duplicate_keys=False)
    assert same(parsed.value, value)


@pytest.mark.parametrize(("text", "value"), OBJECTS)
def test_the_slow_look_reads_what_the_fast_one_reads(text: str, value: dict[str, Any]) -> None:
    assert decode(text) == Document(value, duplicate_keys=False)


@pytest.mark.parametrize(("text", "value"), DUPLICATES)
def test_of_equal_keys_the_last_counts_and_that_is_said(text: str, value: dict[str, Any]) -> None:
    assert parse_arguments(text) == Parsed(value, duplicate_keys=True)


@pytest.mark.parametrize("text", NO_DUPLICATES)
def test_colons_in_strings_are_not_taken_for_members(text: str) -> None:
    assert parse_arguments(text) == Parsed(json.loads(text), duplicate_keys=False)


@pytest.mark.parametrize(("text", "name", "ends_early"), FAULTS, ids=lambda value: str(value)[:40])
def test_text_that_holds_no_object_is_a_named_fault(text: str, name: str, ends_early: bool) -> None:
    fault = parse_arguments(text)

    assert isinstance(fault, Fault)
    assert (fault.name, fault.ends_early) == (name, ends_early)
    assert len(fault.detail) > 10
    assert fault.detail.isprintable()


def test_every_fault_has_an_example() -> None:
    assert {"absent"} | {name for _, name, _ in FAULTS} == set(verdicts.FAULTS)


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n"])
def test_blank_text_is_a_call_without_arguments(text: str) -> None:
    assert parse_arguments(text) == Parsed({}, duplicate_keys=False)


@pytest.mark.parametrize(
    ("text", "form", "name"),
    [
        (None, "text", "absent"),
        (None, FORM_ABSENT, "absent"),
        ("[1]", FORM_OTHER, "not-an-object"),
        ("3", FORM_OTHER, "not-an-object"),
        ("true", FORM_OTHER, "not-an-object"),
    ],
)
def test_what_is_no_text_in_the_record_is_named_too(text: str | None, form: str, name: str) -> None:
    fault = parse_arguments(text, form)

    assert isinstance(fault, Fault)
    assert (fault.name, fault.ends_early) == (name, False)


def test_an_object_in_the_record_is_taken_as_it_is() -> None:
    assert parse_arguments('{"a":18446744073709551616}', FORM_OBJECT) == Parsed({"a": 2**64}, duplicate_keys=False)


def test_a_fault_says_where_it_is() -> None:
    assert parse_arguments('{"a": 1,\n "b": 60*5}') == Fault(
        "not-json", 'expected a comma or the end of the object, not "*" (line 2, column 9)'
    )
    assert parse_arguments('{"a": {"b": "c') == Fault(
        "cut-off", "the text ends inside a string, 2 levels deep (line 1, column 15)", ends_early=True
    )


@pytest.mark.parametrize("depth", [100, 1_000, 1_023, 1_024, 1_025, 3_000, 5_000])
def test_nesting_is_read_up_to_the_limit(depth: int) -> None:
    parsed = parse_arguments('{"n":' * (depth - 1) + "{}" + "}" * (depth - 1))

    assert isinstance(parsed, Parsed)
    node, seen = parsed.value, 1
    while node:
        node, seen = node["n"], seen + 1
    assert seen == depth


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"a":"' + '\\"' * 300_000,
        '{"a":"' + "\n" * 300_000,
        "{'a':'" + "\\'" * 300_000,
        '{"a":' + "1" * 2_000_000 + "}",
        '{"a":1.' + "1" * 2_000_000 + "}",
        "{}" * 100_000,
        "```json\n" * 100_000,
        '{"a":"' + "\ud83d" * 300_000 + '"}',
        '"' + "\\" * 300_000,
    ],
    ids=lambda text: text[:8],
)
def test_a_large_text_takes_time_in_proportion(text: str) -> None:
    begin = time.perf_counter()
    parse_arguments(text)

    assert time.perf_counter() - begin < 10


@given(TEXTS)
@settings(max_examples=1_000, deadline=None)
def test_any_text_ends_in_the_object_that_the_standard_library_reads_or_in_a_fault(text: str) -> None:
    outcome = parse_arguments(text)
    try:
        value, twice = slow_object(text)
    except NotAnObject:
        assert isinstance(outcome, Fault)
        assert outcome.name in verdicts.FAULTS
        assert outcome.name != "cut-off" or outcome.ends_early
        return
    assert isinstance(outcome, Parsed)
    assert outcome.duplicate_keys == twice
    if "e400" not in text and "e-400" not in text:
        assert same(outcome.value, value)


@given(OBJECT_TEXTS)
@settings(max_examples=500, deadline=None)
def test_an_object_comes_back_exactly(text: str) -> None:
    value, twice = slow_object(text)

    parsed = parse_arguments(text)

    assert parsed == Parsed(value, twice)
    assert same(parsed.value, value)
    assert decode(text) == Document(value, twice)
    json.dumps(parsed.value, default=str, ensure_ascii=False).encode()  # every string can be encoded


@given(OBJECT_TEXTS, st.data())
@settings(max_examples=500, deadline=None)
def test_an_object_cut_anywhere_is_cut_off(text: str, data: st.DataObject) -> None:
    cut = text[: data.draw(st.integers(1, len(text) - 1))]

    fault = parse_arguments(cut)

    assert isinstance(fault, Fault)
    assert (fault.name, fault.ends_early) == ("cut-off", True)


@given(OBJECT_TEXTS, st.sampled_from(["x", " thanks!", "}", "]", ",", ":1", "\n```", " {see}"]))
@settings(max_examples=100, deadline=None)
def test_an_object_with_text_behind_it_has_trailing_text(text: str, rest: str) -> None:
    fault = parse_arguments(text + rest)

    assert isinstance(fault, Fault)
    assert (fault.name, fault.ends_early) == ("trailing-text", False)


@given(OBJECT_TEXTS, OBJECT_TEXTS, st.sampled_from(["", " ", "\n"]))
@settings(max_examples=100, deadline=None)
def test_two_objects_in_a_row_are_several_documents(first: str, second: str, between: str) -> None:
    fault = parse_arguments(first + between + second)

    assert isinstance(fault, Fault)
    assert (fault.name, fault.ends_early) == ("several-documents", False)


@given(st.dictionaries(STRINGS, VALUES, min_size=1, max_size=3), st.data())
@settings(max_examples=200, deadline=None)
def test_a_key_that_is_repeated_anywhere_is_noticed(value: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(list(value)))
    members = [
        f"{json.dumps(name)}{data.draw(st.sampled_from(['', ' ']))}:{json.dumps(item)}" for name, item in value.items()
    ]
    members.append(f"{json.dumps(key)}:{json.dumps(data.draw(VALUES))}")
    text = '{"deeper":[{' + ",".join(members) + "}]}"

    parsed = parse_arguments(text)

    assert isinstance(parsed, Parsed)
    assert parsed.duplicate_keys


@given(st.integers(-(10**40), 10**40), st.integers(0, 400), st.sampled_from(["", ".0", ".50"]))
@settings(max_examples=200, deadline=None)
def test_a_number_compares_as_it_is_written(whole: int, power: int, fraction: str) -> None:
    literal = f"{whole}{fraction}e{power}"

    parsed = parse_arguments(f'{{"n":{literal}}}')

    assert isinstance(parsed, Parsed)
    exact = Decimal(literal)
    if abs(exact) >= 2**53:
        assert parsed.value["n"] == exact
    else:
        assert parsed.value["n"] == float(exact)


@given(OBJECT_TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_certain_object_is_what_the_slow_look_reads(text: str) -> None:
    value = certain_object(text)
    assume(value is not None)

    assert decode(text) == Document(value, duplicate_keys=False)


def test_a_flaw_before_the_cut_does_not_hide_the_cut() -> None:
    assert decode('{"a":NaN,"b":"') == Flaw(
        "nan-or-infinity", "NaN is no JSON value (line 1, column 6)", ends_early=True
    )
