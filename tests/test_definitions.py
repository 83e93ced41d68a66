"""Definitions as every provider spells them, and the toolsets in which a call's name is looked up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.definitions import read_definitions, supplied_definitions
from pipeline.records import ToolDefinition
from pipeline.toolset import Toolset, nearest_name

P = {"type": "object"}
PT = '{"type":"object"}'

#: A tools array, and (namespace, name, strict, freeform, description, parameters) of each definition in it.
READ: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "Responses": (
        [{"type": "function", "name": "a", "strict": True, "description": "d", "parameters": P}],
        [(None, "a", True, False, "d", PT)],
    ),
    "Chat Completions": (
        [{"type": "function", "function": {"name": "a", "strict": True, "description": "d", "parameters": P}}],
        [(None, "a", True, False, "d", PT)],
    ),
    "legacy functions": ([{"name": "a", "parameters": P}], [(None, "a", False, False, None, PT)]),
    "MCP": ([{"name": "a", "inputSchema": P}], [(None, "a", False, False, None, PT)]),
    "Anthropic": ([{"name": "a", "input_schema": P}], [(None, "a", False, False, None, PT)]),
    "custom, in both APIs": (
        [{"type": "custom", "name": "a"}, {"type": "custom", "custom": {"name": "b"}}],
        [(None, "a", False, True, None, None), (None, "b", False, True, None, None)],
    ),
    "a stub of custom beside a function": (
        [{"type": "function", "function": {"name": "a"}, "custom": {"name": ""}}],
        [(None, "a", False, False, None, None)],
    ),
    "namespaces": (
        [
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "a"}, 3, {"type": "custom"}]},
            {"type": "namespace", "name": "m", "tools": [{"type": "function", "name": "a", "strict": True}]},
            {"type": "namespace", "name": "empty"},
            {"type": "namespace", "name": "odd", "tools": "x"},
        ],
        [("n", "a", False, False, None, None), ("m", "a", True, False, None, None)],
    ),
    "strict is the definition's own true and nothing else": (
        [
            {"name": "null", "strict": None},
            {"name": "text", "strict": "true"},
            {"name": "one", "strict": 1},
            {"name": "inside", "parameters": {"strict": True}},
            {"type": "function", "strict": True, "function": {"name": "beside"}},
        ],
        [
            (None, "null", False, False, None, None),
            (None, "text", False, False, None, None),
            (None, "one", False, False, None, None),
            (None, "inside", False, False, None, '{"strict":true}'),
            (None, "beside", False, False, None, None),
        ],
    ),
    "parameters absent, null and empty": (
        [{"name": "a"}, {"name": "b", "parameters": None}, {"name": "c", "parameters": {}}],
        [
            (None, "a", False, False, None, None),
            (None, "b", False, False, None, None),
            (None, "c", False, False, None, "{}"),
        ],
    ),
    "tools of the provider": (
        [
            {"type": "web_search"},
            {"type": "mcp", "server_label": "x", "name": "x"},
            {"type": "tool_search", "execution": "server"},
            {"type": ["odd"], "name": "a"},
        ],
        [(None, "a", False, False, None, None)],
    ),
    "entries that are none": (
        [None, 3, "x", [], {}, {"name": 3}, {"name": None}, {"function": 3}, {"name": ""}],
        [(None, "", False, False, None, None)],
    ),
    "nothing": ([], []),
}


def values(definitions: list[ToolDefinition] | None) -> list[tuple[Any, ...]] | None:
    if definitions is None:
        return None
    return [(d.namespace, d.name, d.strict, d.freeform, d.description, d.parameters) for d in definitions]


@pytest.mark.parametrize("name", READ)
def test_definitions_are_read_as_providers_spell_them(name: str) -> None:
    array, expected = READ[name]
    assert values(read_definitions(json.dumps(array).encode())) == expected


@pytest.mark.parametrize("text", ["null", "3", '"x"', "{}", "[1,2]", "[null]", "", "[", '{"tools":[]}'])
def test_what_holds_no_definitions_is_not_an_empty_list(text: str) -> None:
    assert read_definitions(text.encode()) is None


#: Spellings of one definition that have one key, and a change that makes another.
SAME_KEY = [
    b'[{"type":"function","name":"a","parameters":{"type":"object","title":"\\u00e9"}}]',
    '[ {"name" : "a", "type":"function", "parameters" : { "type" : "object",\n"title":"é" } } ]'.encode(),
    b'[{"type":"function","function":{"name":"a","strict":null,"parameters":{"type":"object","title":"\\u00e9"}}}]',
]
OTHER_KEY = [
    b'[{"name":"a","strict":true,"parameters":{"type":"object","title":"\\u00e9"}}]',
    b'[{"name":"a","description":"","parameters":{"type":"object","title":"\\u00e9"}}]',
    b'[{"name":"a","parameters":{"title":"\\u00e9","type":"object"}}]',
    b'[{"name":"b","parameters":{"type":"object","title":"\\u00e9"}}]',
    b'[{"name":"a","type":"custom","parameters":{"type":"object","title":"\\u00e9"}}]',
    b'[{"type":"namespace","name":"n","tools":[{"name":"a","parameters":{"type":"object","title":"\\u00e9"}}]}]',
]


def keys(arrays: list[bytes]) -> list[str]:
    return [definition.key for array in arrays for definition in read_definitions(array) or ()]


def test_one_definition_has_one_key_however_it_is_spelled() -> None:
    assert len(set(keys(SAME_KEY))) == 1


def test_definitions_that_differ_have_keys_that_differ() -> None:
    assert len(set(keys(SAME_KEY[:1] + OTHER_KEY))) == 1 + len(OTHER_KEY)


#: Schemas that the canonical spelling must not harm: numbers beyond machine types, lone surrogates, invalid UTF-8.
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (b'{ "maximum" : 123456789012345678901234567890 }', '{"maximum":123456789012345678901234567890}'),
        (b'{"maximum":1e400}', '{"maximum":1e400}'),
        (rb'{"const":"\ud83d"}', r'{"const":"\ud83d"}'),
        (b'{"const":"\xff"}', '{"const":"\ufffd"}'),
        (b'{"a":' * 300 + b"{}" + b"}" * 300, '{"a":' * 300 + "{}" + "}" * 300),
    ],
)
def test_a_schema_keeps_its_meaning(schema: bytes, expected: str) -> None:
    (definition,) = read_definitions(b'[{"name":"a","parameters":' + schema + b"}]") or ()
    assert definition.parameters == expected


LIST = [{"type": "function", "name": "a", "parameters": P}]

#: Files that ``--tools`` takes, all with the same definition; and files that hold none.
SUPPLIED: dict[str, bytes] = {
    "a list of the Responses shape": json.dumps(LIST).encode(),
    "a list of the Chat shape": json.dumps([{"type": "function", "function": {"name": "a", "parameters": P}}]).encode(),
    "tools": json.dumps({"tools": LIST}).encode(),
    "a whole request": json.dumps({"model": "m", "tools": LIST, "input": []}).encode(),
    "an MCP tools/list result": json.dumps({"tools": [{"name": "a", "inputSchema": P}], "nextCursor": None}).encode(),
    "an MCP answer": json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": P}]}}
    ).encode(),
    "with a BOM and indented": b"\xef\xbb\xbf\r\n" + json.dumps({"tools": LIST}, indent=2).encode(),
}
NOT_SUPPLIED = [b"", b"[", b"3", b"{}", b'{"result":3}', b'{"tools":3}', b"[3]", b"\xff\xfe", b"name: a\n", b"[" * 5000]


@pytest.mark.parametrize("name", SUPPLIED)
def test_supplied_definitions_are_read(name: str) -> None:
    assert values(supplied_definitions(SUPPLIED[name])) == [(None, "a", False, False, None, PT)]


@pytest.mark.parametrize("document", NOT_SUPPLIED)
def test_a_file_without_definitions_supplies_none(document: bytes) -> None:
    assert not supplied_definitions(document)


def definition(name: str, namespace: str | None = None, *, key: str = "") -> ToolDefinition:
    return ToolDefinition(key or f"{namespace}/{name}", name, namespace, False, False, None, None)


TOOLSET = Toolset(
    [definition("a"), definition("a", "n"), definition("b", "n"), definition("c"), definition("c", key="second")]
)


@pytest.mark.parametrize(
    ("namespace", "name", "key"),
    [
        (None, "a", "None/a"),
        ("n", "a", "n/a"),
        ("a", "a", "None/a"),
        ("n", "b", "n/b"),
        (None, "b", None),
        ("m", "a", None),
        (None, "A", None),
        (None, "functions.a", None),
        (None, "c", "None/c"),
        ("c", "c", "None/c"),
        ("", "a", None),
    ],
)
def test_names_match_exactly_and_in_their_namespace(namespace: str | None, name: str, key: str | None) -> None:
    found = TOOLSET.find(namespace, name)
    assert (found and found.key) == key


DECLARED = (
    "find_parts",
    "book_repair",
    "check_stock",
    "get_weather",
    "get_user_id",
    "send_message",
    "web_search",
    "ls",
)


@pytest.mark.parametrize(
    ("called", "nearest"),
    [
        ("search_parts", "find_parts"),
        ("functions.get_weather", "get_weather"),
        ("get_user_id<|channel|>commentary", "get_user_id"),
        ("web_searchjson", "web_search"),
        ("getWeather", "get_weather"),
        ("GET-WEATHER", "get_weather"),
        ("get_wether", "get_weather"),
        ("repair_book", "book_repair"),
        ("book_repairs", "book_repair"),
        ("default_api.find_parts" + "x" * 500, None),
        ("get_user_id<|channel|>" + "x" * 5000, "get_user_id"),
        ("python", None),
        ("container.exec", None),
        ("multi_tool_use.parallel", None),
        ("get_time", None),
        ("get", None),
        ("ls2", "ls"),
        ("tools", None),
        ("", None),
        ("_", None),
        ("工具", None),
    ],
)
def test_the_nearest_declared_name_is_named_where_one_is_likely(called: str, nearest: str | None) -> None:
    assert nearest_name(called, DECLARED) == nearest


def test_a_name_of_any_length_and_any_number_of_them_cost_little() -> None:
    names = [f"{'abc' * 40}_{number}" for number in range(10_000)]
    assert nearest_name("x" * 10_000_000, names) is None
    assert nearest_name(names[200] + "y", names) is None
