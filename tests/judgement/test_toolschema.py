from __future__ import annotations

import builtins
import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.jsontext import Parsed, parse_arguments
from pipeline.records import Violation
from pipeline.toolschema import CompiledSchema, UnjudgeableError, compile_schema

CASES = sorted((Path(__file__).parent.parent / "cases").glob("*.json"))


def compiled(schema: Any) -> CompiledSchema:
    result = compile_schema(json.dumps(schema))
    assert result.error is None
    return result


def arguments(text: str) -> dict[str, Any]:
    parsed = parse_arguments(text)
    assert isinstance(parsed, Parsed)
    return parsed.value


def short(schema: Any, text: str) -> list[tuple[str, str, str]]:
    """Keyword, path and message of every violation; the schema is that of the key ``a`` unless it has a root."""
    found = compiled(schema).violations(arguments(text))
    assert compiled(schema).is_valid(arguments(text)) == (not found)
    return [(violation.keyword, violation.path, violation.message) for violation in found]


#: Schema of the key ``a``, its value as JSON text, keyword, and the message behind the path.
KEYWORDS: list[tuple[Any, str, str, str]] = [
    ({"type": "string"}, "1", "type", "expected string; got 1"),
    ({"type": ["null", "integer"]}, "1.5", "type", "expected integer or null; got 1.5"),
    ({"type": "integer"}, "true", "type", "expected integer; got true"),
    ({"enum": ["c", "f"]}, '"kelvin"', "enum", 'expected one of "c", "f"; got "kelvin"'),
    ({"enum": ["c"]}, '"\\"c\\""', "enum", 'expected "c"; got "\\"c\\""'),
    ({"enum": [1]}, "true", "enum", "expected 1; got true"),
    ({"const": {"k": 2**70}}, "2", "const", f'expected {{"k": {2**70}}}; got 2'),
    ({"const": 9007199254740992}, "9007199254740993", "const", "expected 9007199254740992; got 9007199254740993"),
    ({"minimum": 3}, "1", "minimum", "expected at least 3; got 1"),
    (
        {"maximum": 9007199254740992},
        "9007199254740993",
        "maximum",
        "expected at most 9007199254740992; got 9007199254740993",
    ),
    ({"exclusiveMinimum": 3}, "3", "exclusiveMinimum", "expected more than 3; got 3"),
    ({"exclusiveMaximum": 3}, "3", "exclusiveMaximum", "expected less than 3; got 3"),
    ({"maximum": 5}, "1e5000", "maximum", "expected at most 5; got 1E+5000"),
    ({"multipleOf": 0.01}, "19.995", "multipleOf", "expected a multiple of 0.01; got 19.995"),
    ({"minLength": 2}, '"x"', "minLength", 'expected at least 2 characters; got 1: "x"'),
    ({"maxLength": 1}, '"\\ud83dx"', "maxLength", 'expected at most 1 character; got 2: "\\ud83dx"'),
    ({"pattern": "^\\d$"}, '"a"', "pattern", 'expected text that matches the pattern "^\\\\d$"; got "a"'),
    ({"minItems": 1}, "[]", "minItems", "expected at least 1 item; got 0: []"),
    ({"maxItems": 1}, "[1, 2]", "maxItems", "expected at most 1 item; got 2: [1, 2]"),
    ({"uniqueItems": True}, "[1, 1.0]", "uniqueItems", "expected items that all differ; got [1, 1.0]"),
    ({"minProperties": 1}, "{}", "minProperties", "expected at least 1 key; got 0: {}"),
    ({"maxProperties": 0}, '{"k": 1}', "maxProperties", 'expected at most 0 keys; got 1: {"k": 1}'),
    (
        {"contains": {"type": "string"}},
        "[1]",
        "contains",
        "expected at least 1 item of the kind that contains asks for; got [1]",
    ),
    (
        {"contains": {"type": "string"}, "minContains": 2},
        '["x"]',
        "minContains",
        'expected at least 2 items of the kind that contains asks for; got ["x"]',
    ),
    (
        {"contains": {"type": "string"}, "maxContains": 1},
        '["x", "y"]',
        "maxContains",
        'expected at most 1 item of the kind that contains asks for; got ["x", "y"]',
    ),
    ({"required": ["k"]}, '{"j": null}', "required", 'the key "k" is missing'),
    (
        {"dependentRequired": {"j": ["k"]}},
        '{"j": 1}',
        "dependentRequired",
        'the key "k" is missing, and another key demands it',
    ),
    (
        {"properties": {"k": {}}, "additionalProperties": False},
        '{"j": 1}',
        "additionalProperties",
        'the key "j" is not allowed; expected no key but "k"',
    ),
    (
        {"additionalProperties": False},
        '{"j": 1}',
        "additionalProperties",
        'the key "j" is not allowed; expected no further key',
    ),
    (
        {"allOf": [{"properties": {"k": {}}}], "unevaluatedProperties": False},
        '{"j": 1}',
        "unevaluatedProperties",
        'the key "j" is not allowed; expected no further key',
    ),
    (
        {"prefixItems": [{}], "unevaluatedItems": False},
        "[1, 2]",
        "unevaluatedItems",
        "expected no items but those that the schema describes; got [1, 2]",
    ),
    (
        {"propertyNames": {"maxLength": 1}},
        '{"jk": 1}',
        "propertyNames",
        'expected keys that are at most 1 character; got the key "jk"',
    ),
    ({"not": {"type": "string"}}, '"x"', "not", 'expected anything but what matches {"type": "string"}; got "x"'),
    (
        {"anyOf": [{"enum": ["open", "closed"]}, {"const": "deleted"}]},
        '"gone"',
        "anyOf",
        'expected (1) one of "open", "closed" or (2) "deleted"; got "gone"',
    ),
    (
        {"oneOf": [{"type": "string"}, {"properties": {"k": {"items": {"const": 1}}}}]},
        '{"k": [2]}',
        "oneOf",
        'expected (1) string or (2) k[0]: 1; got {"k": [2]}',
    ),
    (
        {"oneOf": [{"type": "string"}, {"type": "null"}, {}]},
        '"x"',
        "oneOf",
        'expected exactly one alternative to match, not 1 and 3 of 3; got "x"',
    ),
    ({"allOf": [{"type": "string"}]}, "1", "type", "expected string; got 1"),
    ({"if": {"minimum": 1}, "then": {"maximum": 3}}, "5", "maximum", "expected at most 3; got 5"),
    ({"if": {"minimum": 1}, "else": {"const": 0}}, "-5", "const", "expected 0; got -5"),
    ({"if": {"minimum": 1}, "then": False}, "5", "then", "expected nothing there; got 5"),
    ({"$ref": "#/$defs/text"}, "1", "type", "expected string; got 1"),
    (False, "1", "properties", "expected nothing there; got 1"),
]


@pytest.mark.parametrize(("schema", "value", "keyword", "message"), KEYWORDS)
def test_every_keyword_says_what_it_expected_and_what_it_got(
    schema: Any, value: str, keyword: str, message: str
) -> None:
    root = {"properties": {"a": schema}, "$defs": {"text": {"type": "string"}}}

    assert short(root, f'{{"a": {value}}}') == [(keyword, "arguments.a", f"arguments.a: {message}")]


def test_all_violations_are_reported_with_all_that_a_reader_needs() -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"properties": {"sku": {"type": "string"}}, "required": ["sku", "n"]}},
            "map": {"additionalProperties": {"type": "integer"}},
        },
        "additionalProperties": False,
    }

    found = compiled(schema).violations(
        arguments('{"rows": [{"sku": 7}], "map": {"weird key": "x"}, "\\u001b[31m": 0}')
    )

    assert set(found) == {
        Violation(
            "type",
            "arguments.rows[0].sku",
            "arguments.rows[*].sku",
            "/properties/rows/items/properties/sku/type",
            "string",
            "7",
            "arguments.rows[0].sku: expected string; got 7",
        ),
        Violation(
            "required",
            "arguments.rows[0]",
            "arguments.rows[*]",
            "/properties/rows/items/required",
            'the key "n"',
            '{"sku": 7}',
            'arguments.rows[0]: the key "n" is missing',
        ),
        Violation(
            "type",
            'arguments.map["weird key"]',
            "arguments.map.*",
            "/properties/map/additionalProperties/type",
            "integer",
            '"x"',
            'arguments.map["weird key"]: expected integer; got "x"',
        ),
        Violation(
            "additionalProperties",
            "arguments",
            "arguments",
            "/additionalProperties",
            'no key but "rows", "map"',
            '"\\u001b[31m"',
            'arguments: the key "\\u001b[31m" is not allowed; expected no key but "rows", "map"',
        ),
    }


def test_one_violation_stands_for_each_missing_and_each_extra_key() -> None:
    schema = {"required": ["p", "q"], "additionalProperties": False, "properties": {"p": {}, "q": {}}}

    assert [(keyword, message) for keyword, _, message in short(schema, '{"x": 1, "y": 2}')] == [
        ("required", 'arguments: the key "p" is missing'),
        ("required", 'arguments: the key "q" is missing'),
        ("additionalProperties", 'arguments: the key "x" is not allowed; expected no key but "p", "q"'),
        ("additionalProperties", 'arguments: the key "y" is not allowed; expected no key but "p", "q"'),
    ]


def test_a_key_of_digits_is_no_index() -> None:
    schema = {"properties": {"7": {"items": {"type": "string"}}, "01": {"type": "string"}, "-1": {"type": "string"}}}

    assert [path for _, path, _ in short(schema, '{"7": [3], "01": 1, "-1": 1}')] == [
        'arguments["7"][0]',
        'arguments["01"]',
        'arguments["-1"]',
    ]


def test_what_was_found_is_cut_short_and_can_be_shown_anywhere() -> None:
    value = arguments('{"a": "\\u001b[31m\\u0085\\u202e\\ud83d' + "x" * 10_000 + '"}')

    (violation,) = compiled({"properties": {"a": {"enum": ["y" * 300, "z" * 300]}}}).violations(value)

    assert violation.got.startswith('"\\u001b[31m\\u0085\\u202e\\ud83dxxx')
    assert (len(violation.got), len(violation.expected)) == (200, 200)
    assert violation.message.isprintable()


@pytest.mark.parametrize("parameters", [None, "null", b"null", "{}", b"{}", "true", "  { } "])
def test_a_tool_without_a_schema_accepts_any_object(parameters: str | bytes | None) -> None:
    schema = compile_schema(parameters)

    assert schema.error is None
    assert schema.is_valid({"x": [1, {"y": None}]})
    assert schema.violations({"x": [1, {"y": None}]}) == ()


def test_the_schema_false_accepts_nothing() -> None:
    assert compile_schema("false").violations({}) == (
        Violation(
            "false", "arguments", "arguments", "", "nothing there", "{}", "arguments: expected nothing there; got {}"
        ),
    )


#: Schemas as text, and why they cannot be used.
UNUSABLE: list[tuple[str, str]] = [
    ('{"properties":{"f":{"type":"float"}}}', 'properties.f.type: "float" is no JSON Schema type'),
    ('{"type":"STRING"}', 'type: "STRING" is no JSON Schema type'),
    ('{"type":6}', "type: 6 is no JSON Schema type"),
    ('{"properties":{"1":{"items":{"type":[]}}}}', 'properties["1"].items.type: [] is no JSON Schema type'),
    ('{"$defs":{"x y":{"type":"any"}}}', '$defs["x y"].type: "any" is no JSON Schema type'),
    ('{"required":"a"}', 'required: expected array; got "a"'),
    ('{"minLength":-1}', "minLength: expected at least 0; got -1"),
    ('{"properties":{"a":{"enum":"x"}}}', 'properties.a.enum: expected array; got "x"'),
    ('{"properties":{"a":{"exclusiveMinimum":true}}}', "properties.a.exclusiveMinimum: expected number; got true"),
    (
        '{"properties":{"filter":{"$ref":"#/$defs/Filter"}}}',
        'properties.filter: $ref "#/$defs/Filter" leads to nothing in the schema',
    ),
    ('{"items":{"$ref":"#nope"}}', 'items: $ref "#nope" leads to nothing in the schema'),
    (
        '{"$ref":"http://127.0.0.1:9/x"}',
        'the schema: $ref "http://127.0.0.1:9/x" leads out of the schema, and nothing is fetched',
    ),
    (
        '{"items":{"$ref":"file:///etc/passwd"}}',
        'items: $ref "file:///etc/passwd" leads out of the schema, and nothing is fetched',
    ),
    ('{"items":{"$ref":"other.json"}}', 'items: $ref "other.json" leads out of the schema, and nothing is fetched'),
    ('{"pattern":"(?P<n>a)"}', 'the schema: the pattern "(?P<n>a)" is not ECMA-262: (?P< opens no group of ECMA-262'),
    (
        '{"properties":{"p":{"pattern":"a{2,1}"}}}',
        'properties.p.pattern: "a{2,1}" is no ECMA-262 pattern that can be used',
    ),
    (
        '{"$schema":"https://example.org/mine"}',
        '$schema names "https://example.org/mine", which is no JSON Schema draft from 4 to 2020-12',
    ),
    ('{"$ref":"#"}', "a $ref leads back to itself without descending into the arguments"),
    (
        '{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}',
        "a $ref leads back to itself without descending into the arguments",
    ),
    ("[]", "it is neither an object nor a boolean"),
    ("3", "it is neither an object nor a boolean"),
    ('"x"', "it is neither an object nor a boolean"),
    ("", "it is not JSON: the text ends inside its first value (line 1, column 1)"),
    ('{"type":', "it is not JSON: the text ends inside an object, 1 level deep (line 1, column 9)"),
    ('{"minimum":NaN}', "it is not JSON: NaN is no JSON value (line 1, column 12)"),
    ('{"not":' * 300 + "{}" + "}" * 300, "it is nested deeper than 254 levels, the limit"),
    ('{"not":' * 9000 + "{}" + "}" * 9000, "it is nested deeper than 5,000 levels, the limit"),
    (" " * 5_000_001, "it has more than 5,000,000 characters, the limit"),
]


@pytest.mark.parametrize(("schema", "error"), UNUSABLE, ids=lambda value: str(value)[:50])
def test_a_schema_that_cannot_be_used_says_why(schema: str, error: str) -> None:
    assert compile_schema(schema).error == error


def test_a_schema_that_is_no_text_says_so() -> None:
    assert compile_schema(b'{"title":"\xff"}').error == "it is no UTF-8 text: byte 10"


def test_a_reference_that_nothing_uses_harms_nobody() -> None:
    schema = {"$defs": {"unused": {"$ref": "#/nowhere"}}, "type": "object"}

    assert short(schema, "{}") == []


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("end", ["", "#"])
@pytest.mark.parametrize(
    ("draft", "breaks"),
    [
        ("draft-04/schema", {"minimum": 3, "exclusiveMinimum": True}),
        ("draft-06/schema", {"exclusiveMinimum": 3}),
        ("draft-07/schema", {"if": True, "then": {"minimum": 4}}),
        ("draft/2019-09/schema", {"$recursiveAnchor": True, "minimum": 4}),
        ("draft/2020-12/schema", {"$dynamicAnchor": "n", "minimum": 4}),
    ],
)
def test_the_dialect_that_a_schema_names_is_honoured(scheme: str, end: str, draft: str, breaks: dict[str, Any]) -> None:
    schema = {"$schema": f"{scheme}://json-schema.org/{draft}{end}", "properties": {"a": breaks}}

    assert not compiled(schema).is_valid({"a": 3})
    assert compiled(schema).is_valid({"a": 4})


@pytest.mark.parametrize(
    "draft",
    ["draft-04/schema#", "draft-06/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"],
)
def test_formats_and_encodings_are_annotations_in_every_draft(draft: str) -> None:
    annotations = {"format": "uuid", "contentEncoding": "base64", "contentMediaType": "application/json"}
    schema = {"$schema": f"http://json-schema.org/{draft}", "properties": {"a": annotations}}

    assert short(schema, '{"a": "{!"}') == []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_schemas_of_the_cases_compile_unless_the_case_says_otherwise(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    unusable = {call["tool"] for call in case["expect"] if call["state"] == "tool-schema-invalid"}
    decoder, text, at = json.JSONDecoder(strict=False), case["input_text"].lstrip("\ufeff"), 0
    pending: list[Any] = []
    while at < len(text) and text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            record, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        pending.append(record)
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            if "name" in node and "parameters" in node:
                schema = compile_schema(json.dumps(node["parameters"]))
                assert (schema.error is not None) == (node["name"] in unusable)
            pending.extend(node.values())


def test_nothing_opens_a_socket_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text('{"type": "string"}')

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was opened")

    for owner, name in ((socket, "socket"), (socket, "getaddrinfo"), (builtins, "open"), (io, "open"), (os, "open")):
        monkeypatch.setattr(owner, name, refuse)
    for reference in (
        target.as_uri(),
        str(target),
        "http://127.0.0.1:9/x.json",
        "https://json-schema.org/draft-03/schema",
    ):
        schema = compile_schema(json.dumps({"properties": {"a": {"$ref": reference}}}))
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

        assert schema.error is not None
        assert reference in schema.error


def test_the_engine_opens_no_file_either(tmp_path: Path) -> None:
    """It is native code that no patch sees, but a file that does not match would show."""
    target = tmp_path / "target.json"
    target.write_text('{"type": "string"}')

    schema = compile_schema(json.dumps({"properties": {"a": {"$ref": target.as_uri()}}}))

    assert schema.error == f'properties.a: $ref "{target.as_uri()}" leads out of the schema, and nothing is fetched'


NODE = {"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}}, "required": ["n"]}
CHAIN = {f"d{index}": {"allOf": [{"anyOf": [{"$ref": f"#/$defs/d{index + 1}"}]}]} for index in range(10)}


def deep(levels: int, inner: str = "{}") -> str:
    return '{"n":' * levels + inner + "}" * levels


#: What could end the process: a schema, and how deep the arguments are.
HEAVY: list[tuple[Any, int, str]] = [
    ({"type": "object"}, 4_999, "valid"),
    ({"type": "object", "required": ["x"]}, 4_999, "1 at arguments"),
    ({"enum": [1, {"n": 2}]}, 4_999, "1 at arguments"),
    ({"properties": {"n": {"anyOf": [{"type": "string"}, {"required": ["q"]}]}}}, 4_999, "1 at arguments"),
    ({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, 4_999, "1 at arguments"),
    ({"$ref": "#/$defs/node", "$defs": {"node": NODE | {"required": []}}}, 4_999, "valid"),
    ({"$ref": "#/$defs/d0", "$defs": CHAIN | {"d10": {"properties": {"n": {"$ref": "#/$defs/d0"}}}}}, 4_000, "valid"),
    (
        {
            "$ref": "#/$defs/d0",
            "$defs": CHAIN | {"d10": {"properties": {"n": {"$ref": "#/$defs/d0"}}, "required": ["x"]}},
        },
        4_000,
        "1 at arguments",
    ),
    ({"unevaluatedProperties": False, "properties": {"n": {"$ref": "#"}}}, 3_000, "valid"),
    ({"$dynamicAnchor": "t", "properties": {"n": {"$dynamicRef": "#t"}}}, 4_999, "valid"),
    ({"additionalProperties": {"uniqueItems": True}}, 4_999, "valid"),
]


@pytest.mark.parametrize(("schema", "levels", "outcome"), HEAVY, ids=lambda value: json.dumps(value)[:60])
def test_deep_arguments_are_judged_in_a_process_that_lives_on(schema: Any, levels: int, outcome: str) -> None:
    program = (
        "import sys; from pipeline.jsontext import parse_arguments; from pipeline.toolschema import compile_schema\n"
        "schema, text = sys.stdin.read().split('\\0')\n"
        "value = parse_arguments(text).value; compiled = compile_schema(schema); found = compiled.violations(value)\n"
        "assert compiled.is_valid(value) == (not found)\n"
        "print(f'{len(found)} at {found[0].path[:13]}' if found else 'valid')"
    )

    run = subprocess.run(  # noqa: S603 - our own interpreter and our own program
        [sys.executable, "-c", program],
        input=json.dumps(schema) + "\0" + deep(levels),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(outcome)


def test_a_schema_whose_references_multiply_is_refused_before_it_can_hang() -> None:
    doubling = {f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 2} for index in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": doubling | {"d40": {}}}

    assert (
        compile_schema(json.dumps(schema)).error
        == "its $refs unfold to more than 1,000,000 checks of one value, the limit"
    )


def test_a_chain_of_references_is_refused_before_it_can_overflow() -> None:
    chain = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(20_000)}
    schema = {"$ref": "#/$defs/d0", "$defs": chain | {"d20000": {}}}

    assert (
        compile_schema(json.dumps(schema)).error
        == "more than 1,000 subschemas apply to one value inside one another, the limit"
    )


def test_arguments_that_nest_a_recursive_schema_too_deep_clear_and_blame_nobody() -> None:
    chain = {f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}]} for index in range(400)}
    schema = compiled({"$ref": "#/$defs/d0", "$defs": chain | {"d400": {"properties": {"n": {"$ref": "#/$defs/d0"}}}}})

    with pytest.raises(UnjudgeableError, match="nested too deep"):
        schema.is_valid(arguments(deep(4_000)))


def test_numbers_are_compared_exactly_in_the_schema_as_in_the_arguments() -> None:
    schema = compile_schema('{"properties":{"n":{"maximum":1e400,"multipleOf":3}}}')

    assert schema.is_valid(arguments('{"n":' + "9" * 400 + "}"))
    assert not schema.is_valid(arguments('{"n":' + "9" * 401 + "}"))
    assert not schema.is_valid(arguments('{"n":1e399}'))
    assert not schema.is_valid(arguments('{"n":' + "9" * 4_000 + "}"))


def test_lone_surrogates_count_as_one_character_and_stay_different() -> None:
    schema = compile_schema('{"properties":{"\\ud800":{"maxLength":1},"e":{"enum":["\\ud83d"]}}}')

    assert schema.is_valid(arguments('{"\\ud800":"\\ud83d","e":"\\ud83d"}'))
    assert [violation.path for violation in schema.violations(arguments('{"\\ud800":"\\ud83dx","e":"\\ud83e"}'))] == [
        'arguments["\\ud800"]',
        "arguments.e",
    ]


def test_where_the_whole_cannot_be_shown_the_upper_levels_are() -> None:
    node = {"type": "object", "properties": {"n": {"$ref": "#"}, "k": {"type": "string"}}, "required": ["x"]}
    text = '{"k":1,"x":0,"n":{"n":' + deep(3_000) + "}}"

    found = compiled(node).violations(arguments(text))

    assert [(violation.keyword, violation.path) for violation in found] == [
        ("type", "arguments.k"),
        *(("required", "arguments" + ".n" * level) for level in range(1, 64)),
    ]


def test_a_schema_that_cannot_be_used_clears_and_blames_nobody() -> None:
    schema = compile_schema('{"type":"float"}')

    with pytest.raises(UnjudgeableError, match="cannot be used"):
        schema.is_valid({})
    with pytest.raises(UnjudgeableError, match="cannot be used"):
        schema.violations({})
