"""Reading and judging a log comes to the same as the plainest way of doing it, call by call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_reader import plain_verdicts

from pipeline.run import Judge, Settings
from pipeline.sources import FileSlice, Split

SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False},
    {"type": "object", "properties": {"s": {"enum": ["a", "b", 1, True, None]}, "n": {"multipleOf": 2}}},
    {
        "properties": {"list": {"type": "array", "items": {"$ref": "#/$defs/row"}, "maxItems": 2}},
        "$defs": {"row": {"type": "object", "required": ["n"]}},
    },
    {"anyOf": [{"required": ["n"]}, {"required": ["s"]}], "minProperties": 1},
    {"properties": {"n": {"type": ["number", "null"], "minimum": 0}}, "dependentRequired": {"n": ["s"]}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"s": {"const": "é", "maxLength": 2}}},
    {"type": "objekt"},
    {"properties": {"n": {"minimum": "0"}}},
    {}, None, ...,
]  # fmt: skip
leaves = st.sampled_from(
    [None, True, False, 0, 1, 2, -3, 1.0, 1.5, 10**20, "", "a", "b", "é", "x y", "\ud83d", "\U0001f600"]
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("nsx"), inner, max_size=2),
    max_leaves=6,
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "n": values,
        "s": values,
        "list": st.lists(st.dictionaries(st.sampled_from("ns"), leaves, max_size=2), max_size=3),
        "z": leaves,
    },
)
wide = st.sampled_from([None, 1, "\t"])
texts = st.builds(lambda value, indent: json.dumps(value, indent=indent), objects, wide)
broken = st.sampled_from(
    [
        "",
        "  ",
        "null",
        "[]",
        "3",
        '"{}"',
        "{'n':1}",
        '{"n":1,}',
        '{"n":NaN}',
        '{"n":1} x',
        '{"n":1}{"n":1}',
        "```json\n{}\n```",
        '{"n":01}',
        '{"s":"\\x"}',
        '{"n":1,"n":"x"}',
        '{"s":"\t"}',
    ]
)
given_arguments = st.one_of(
    texts,
    texts,
    broken,
    st.builds(lambda text, share: text[: int(len(text) * share)], texts, st.floats(0.1, 0.95)),
    objects,
    st.sampled_from([None, ..., [], 3]),
)
names = st.sampled_from(["get", "put", "run"])
strictness = st.sampled_from([True, False, None, "true", ...])


def present(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not ...}


@st.composite
def flat_tools(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.integers(0, 7)) == 0:
        return {"type": "custom", "name": draw(names)}
    members = {"type": "function", "name": draw(names), "strict": draw(strictness)}
    return present({**members, "parameters": draw(st.sampled_from(SCHEMAS))})


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    spaces = st.builds(
        lambda name, tools: {"type": "namespace", "name": name, "tools": tools},
        names,
        st.lists(flat_tools(), max_size=2),
    )
    tools = st.lists(st.one_of(flat_tools(), flat_tools(), spaces), max_size=4)
    items = [
        present(
            {
                "type": draw(st.sampled_from(["function_call"] * 7 + ["custom_tool_call"])),
                "name": draw(names),
                "arguments": draw(given_arguments),
                "namespace": draw(st.sampled_from([..., ..., ..., None, "get", "put"])),
                "status": draw(st.sampled_from(["completed", "completed", "incomplete", ...])),
            }
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return present(
        {
            "status": draw(st.sampled_from(["completed", "completed", "incomplete", "in_progress"])),
            "tools": draw(st.one_of(st.just(...), tools, tools, tools)),
            "output": [{"type": "reasoning"}, *items],
            "usage": {"input_tokens": 1, "output_tokens": 10},
            "max_output_tokens": draw(st.sampled_from([..., None, 10, 11])),
        }
    )


@st.composite
def chats(draw: st.DrawFn) -> dict[str, Any]:
    functions = st.builds(
        lambda name, arguments: {"type": "function", "function": present({"name": name, "arguments": arguments})},
        names,
        given_arguments,
    )
    customs = names.map(lambda name: {"type": "custom", "custom": {"name": name, "input": "x"}})
    calls = st.one_of(*[functions] * 7, customs)
    choices = [
        {
            "index": index,
            "finish_reason": draw(st.sampled_from(["tool_calls", "stop", "length", "content_filter", None])),
            "message": {"tool_calls": draw(st.lists(calls, max_size=3))},
        }
        for index in range(draw(st.integers(1, 2)))
    ]
    return {"choices": choices, "usage": {"prompt_tokens": 1, "completion_tokens": 10}}


def nested(tool: dict[str, Any]) -> dict[str, Any]:
    kind = tool["type"]
    return {"type": kind, kind: {key: value for key, value in tool.items() if key != "type"}}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["responses", "stored", "pair", "pair of strings", "pair of responses"]))
    tools = draw(st.one_of(st.none(), st.lists(flat_tools().map(nested), max_size=4)))
    request = present({"tools": ... if tools is None else tools, "max_tokens": draw(st.sampled_from([..., 5, 10]))})
    if kind == "responses":
        return draw(responses())
    if kind == "pair of responses":
        return {"request": {"tools": draw(st.lists(flat_tools(), max_size=3))}, "response": draw(responses())}
    answer = draw(chats())
    if kind == "stored":
        return present({**answer, "tools": ... if tools is None else tools})
    if kind == "pair of strings":
        return {"request": json.dumps(request), "response": json.dumps(answer)}
    return {"request": request, "response": answer}


def numbered(record: dict[str, Any], start: int) -> dict[str, Any]:
    """The record with an id of its own for every call."""
    texts_inside = isinstance(record.get("response"), str)
    answer = json.loads(record["response"]) if texts_inside else record.get("response", record)
    calls = [item for item in answer.get("output", ()) if "name" in item]
    for call in calls:
        call["call_id"] = f"call_{(start := start + 1)}"
    for choice in answer.get("choices", ()):
        for call in choice["message"]["tool_calls"]:
            call["id"] = f"call_{(start := start + 1)}"
    return {**record, "response": json.dumps(answer)} if texts_inside else record


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain") / "log.jsonl"


@given(st.lists(records(), min_size=1, max_size=20))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_each_call_gets_the_state_that_the_plain_way_gives_it(log: Path, drawn: list[dict[str, Any]]) -> None:
    lines = [json.dumps(numbered(record, 100 * number)) for number, record in enumerate(drawn)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    batches = list(Judge(Settings()).batches(Split((FileSlice(str(log)),))))
    found = [(row["call_id"], row["state"]) for batch in batches for row in batch.calls.to_pylist()]
    assert found == [verdict for line in lines for verdict in plain_verdicts(line)]
    assert sum(batch.answered for batch in batches) == len(lines)
