from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from slow_reference import slow_violations

from pipeline.toolschema import compile_schema

KEYS = st.sampled_from(["a", "b", "c d", "é"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab", "1", 1.5, 2.0, -0.5])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
COUNTS = st.integers(0, 3)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
KEY_LISTS = st.lists(KEYS, max_size=2, unique=True)
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "minimum": st.integers(-2, 2),
    "maximum": st.integers(-2, 2),
    "exclusiveMinimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "multipleOf": st.integers(1, 3),
    "minLength": COUNTS,
    "maxLength": COUNTS,
    "pattern": st.sampled_from(["^a", "a$", "[0-9]", "^(a|b)+$", "^[^a]*$", "(?<=a)b", "^(?!a)"]),
    "minItems": COUNTS,
    "maxItems": COUNTS,
    "uniqueItems": st.booleans(),
    "minProperties": COUNTS,
    "maxProperties": COUNTS,
    "required": KEY_LISTS,
    "dependentRequired": st.dictionaries(KEYS, KEY_LISTS, max_size=2),
    "format": st.sampled_from(["uuid", "email", "date"]),
    "$ref": st.just("#/$defs/node"),
}


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some, named = st.lists(inner, min_size=1, max_size=2), st.dictionaries(KEYS, inner, max_size=3)
    deeper: dict[str, st.SearchStrategy[Any]] = {
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
        "additionalProperties": inner,
        "propertyNames": inner,
        "items": inner,
        "prefixItems": some,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "dependentSchemas": named,
        "unevaluatedProperties": inner,
    }
    return st.fixed_dictionaries({}, optional=LEAVES | deeper)


def _few(keywords: dict[str, Any]) -> dict[str, Any]:
    """A handful of keywords: with all of them at once nothing would ever match."""
    return dict(list(keywords.items())[:4])


PLAIN = st.booleans() | st.fixed_dictionaries({}, optional=LEAVES).flatmap(
    lambda keywords: st.permutations(list(keywords.items())).map(lambda items: dict(items[:3]))
)
SCHEMAS = st.recursive(
    PLAIN,
    lambda inner: _schemas(inner).flatmap(
        lambda keywords: st.permutations(list(keywords.items())).map(lambda items: _few(dict(items)))
    ),
    max_leaves=6,
).filter(lambda schema: isinstance(schema, dict))
NODE = {"type": ["object", "string", "integer"], "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "string"}}}


@given(SCHEMAS, OBJECTS)
@settings(max_examples=500, deadline=None)
def test_the_verdict_is_that_of_the_stock_validator(schema: dict[str, Any], value: dict[str, Any]) -> None:
    schema = schema | {"$defs": {"node": NODE}}
    compiled = compile_schema(json.dumps(schema))
    expected = slow_violations(schema, value)

    found = compiled.violations(value)

    assert compiled.error is None
    assert compiled.is_valid(value) == (not expected)
    assert (found == ()) == (not expected)
    for violation in found:
        assert violation.message.isprintable()
        assert len(violation.expected) <= 200
        assert len(violation.got) <= 200


@given(SCHEMAS, OBJECTS)
@settings(max_examples=200, deadline=None)
def test_the_places_and_keywords_at_the_top_are_those_of_the_stock_validator(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    schema = {"type": "object"} | {
        key: item for key, item in schema.items() if key in LEAVES or key in ("anyOf", "oneOf", "not")
    }
    schema |= {"$defs": {"node": NODE}}
    expected = {(path, keyword) for path, keyword in slow_violations(schema, value) if not path}

    found = {
        violation.keyword
        for violation in compile_schema(json.dumps(schema)).violations(value)
        if violation.path == "arguments"
    }

    assert found == {keyword for _, keyword in expected}


@given(SCHEMAS, OBJECTS)
@settings(max_examples=60, deadline=None)
def test_the_same_question_has_the_same_answer(schema: dict[str, Any], value: dict[str, Any]) -> None:
    text = json.dumps(schema | {"$defs": {"node": NODE}})

    assert compile_schema(text).violations(value) == compile_schema(text.encode()).violations(value)


@given(SCHEMAS, st.lists(OBJECTS, min_size=2, max_size=6))
@settings(max_examples=200, deadline=None)
def test_what_was_said_of_one_value_is_not_said_of_the_next(
    schema: dict[str, Any], values: list[dict[str, Any]]
) -> None:
    text = json.dumps(schema | {"$defs": {"node": NODE}})
    kept = compile_schema(text)

    for value in values * 2:
        assert kept.violations(value) == compile_schema(text).violations(value)


def test_a_recursive_schema_is_described_alike_at_each_of_many_places() -> None:
    schema = compile_schema(json.dumps({"$ref": "#/$defs/node", "$defs": {"node": NODE}}))
    value: dict[str, Any] = {"b": 1}
    for _ in range(100):
        value = {"a": value, "b": 1}

    first, again = schema.violations(value), schema.violations(value)

    assert first == again
    assert len({violation.path for violation in first}) == 101
    assert {violation.expected for violation in first} == {"string"}
