"""Cutting known tool lists out of a record changes nothing: held against the same reading without any cutting."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_reading import PlainToolsets, judged, reading_plainly, renewing_often

from pipeline.interning import Toolsets


def spelled(value: Any, *, wide: bool = False) -> str:
    return json.dumps(value) if wide else json.dumps(value, separators=(",", ":"))


def tool(name: str, *, text: str = "", **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "description": text}
    return {"type": "function", "name": name, "parameters": schema, **more}


LONG = "a description that makes the list longer than the bytes by which lists are looked up " * 2
INNER = [tool("a"), tool("find_parts", text=LONG)]
#: Tool lists, as text. Some are one byte apart, some the same definitions spelled otherwise, some hold others.
LISTS = [
    spelled(INNER),
    spelled(INNER, wide=True),
    spelled(INNER).replace("integer", "integes", 1),
    spelled([tool("a", text=LONG + "1")]),
    spelled([tool("a", text=LONG + "2")]),
    spelled([tool("a")]),
    spelled([{"type": "namespace", "name": "n", "tools": INNER}, tool("b")]),
    spelled(
        [{"type": "function", "function": {"name": "a", "strict": True, "parameters": {"default": {"tools": INNER}}}}]
    ),
    spelled([tool("a", text="a \ud83d lone one " + LONG)]),
    spelled([{"name": 3, "x": LONG}]),
    spelled([3, LONG]),
    '[{"name":"a","big":1e400,"parameters":{"maximum":' + "9" * 40 + "}}," + spelled(tool("c", text=LONG)) + "]",
    "[]",
    "null",
    spelled(LONG),
]
lists = st.sampled_from(LISTS)
colons = st.sampled_from(
    ['"tools":', '"tools": ', '"tools":   ', '"tools" :', '"tools":\t', '"\\u0074ools":', '"functions":']
)
ARGUMENTS = ['{"x":1}', '{"x":"1"}', "{", "", '{"x":"\\ud83d"}', '{"tools":[1]}']


@st.composite
def members(draw: st.DrawFn) -> str:
    """``"tools":[...]`` in some spelling."""
    return draw(colons) + draw(lists)


def decoys_around(inside: str) -> list[str]:
    """Members that hold a tool list, or what looks like one, where none counts."""
    return [
        f'"metadata":{{{inside}}}',
        f'"metadata":[{{{inside}}},{{{inside}}}]',
        f'"metadata":{spelled("{" + inside + "}")}',
        inside.replace('"', '"abc\\"', 1),
        f'"tool_choice":{{"type":"allowed_tools",{inside}}}',
        f'"tool_choice":{{"type":"allowed_tools","allowed_tools":{{{inside}}}}}',
        f'"error":{{{inside}}}',
        f'"id":{{{inside}}}',
        f'"usage":{{{inside},"output_tokens":3}}',
        f'"incomplete_details":{{{inside}}}',
    ]


def arguments_around(inside: str) -> list[str]:
    """Arguments in every form, with a tool list inside them."""
    return [f"{{{inside}}}", f'{{"x":{{{inside}}}}}', spelled("{" + inside + "}"), f"[{{{inside}}}]"]


decoys = st.deferred(lambda: members().flatmap(lambda inside: st.sampled_from(decoys_around(inside))))
arguments = st.deferred(
    lambda: st.one_of(
        st.sampled_from(ARGUMENTS).map(spelled),
        members().flatmap(lambda inside: st.sampled_from(arguments_around(inside))),
    )
)


@st.composite
def responses(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["a", "b", "c", "find_parts", "search_parts"]))
    call = f'{{"type":"function_call","name":"{name}","arguments":{draw(arguments)}}}'
    found = f'{{"type":"tool_search_output",{draw(members())}}}'
    custom = f'{{"type":"custom_tool_call","name":"a","input":{draw(arguments)}}}'
    output = ",".join(draw(st.lists(st.sampled_from([call, found, custom]), min_size=1, max_size=3)))
    parts = [f'"output":[{output}]', '"id":"r"', '"model":"m"', draw(members())]
    parts += draw(st.lists(st.one_of(decoys, members()), max_size=2))
    return "{" + ",".join(draw(st.permutations(parts))) + "}"


@st.composite
def chats(draw: st.DrawFn) -> str:
    called = f'{{"name":"a","arguments":{draw(arguments)}}}'
    message = f'{{"tool_calls":[{{"id":"c","type":"function","function":{called}}}]}}'
    parts = [f'"choices":[{{"index":0,"message":{message}}}]', '"object":"chat.completion"']
    parts += draw(st.lists(st.one_of(decoys, members()), max_size=2))
    return "{" + ",".join(draw(st.permutations(parts))) + "}"


@st.composite
def streams(draw: st.DrawFn) -> str:
    """Events kept as a list: they are read by another way."""
    function = f'{{"name":"a","arguments":{draw(arguments)}}}'
    delta = f'{{"tool_calls":[{{"index":0,"id":"c","function":{function}}}]}}'
    chunk = f'{{"object":"chat.completion.chunk","id":"s","choices":[{{"index":0,"delta":{delta}}}],{draw(members())}}}'
    done = f'{{"type":"response.completed","response":{draw(responses())}}}'
    return f"[{draw(st.sampled_from([chunk, done]))}]"


@st.composite
def records(draw: st.DrawFn) -> str:
    answer = draw(st.one_of(responses(), responses(), chats()))
    kind = draw(st.integers(0, 9))
    if kind < 5:
        return answer
    request = "{" + ",".join([draw(members()), *draw(st.lists(decoys, max_size=1))]) + "}"
    if kind == 5:
        return f'{{"request":{request},"response":{answer}}}'
    if kind == 6:
        return f'{{"request":{spelled(request)},"response":{spelled(answer)},{draw(members())}}}'
    if kind == 7:
        return f'{{"object":"list","data":[{answer},{draw(chats())}]}}'
    if kind == 8:
        return f'{{"request":{request},"response":{draw(streams())}}}'
    broken = draw(st.integers(0, len(answer)))
    return draw(st.sampled_from([answer[:broken], answer + answer, answer[:broken] + "x" + answer[broken:], request]))


logs = st.lists(st.tuples(records(), st.integers(1, 2)), min_size=1, max_size=12).map(
    lambda drawn: "".join((record + "\n") * times for record, times in drawn)
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interning") / "log.jsonl"


def exhaustive_log() -> str:
    """Each list, once known, in each place where it counts or does not."""
    # The first list often enough to be known before another is met that holds it.
    lines = [f'{{"output":[],"tools":{array}}}' for array in (*LISTS[:1] * 32, *LISTS)]
    for array in LISTS:
        inside = f'"tools":{array}'
        for decoy in decoys_around(inside):
            lines.append(f'{{"output":[{{"type":"function_call","name":"a","arguments":"{{}}"}}],{inside},{decoy}}}')
            lines.append(f'{{"request":{{{inside},{decoy}}},"response":{{"choices":[{{"message":{{}}}}]}}}}')
        for given_arguments in arguments_around(inside):
            function = f'{{"name":"a","arguments":{given_arguments}}}'
            calls = f'[{{"index":0,"id":"c","type":"function","function":{function}}}]'
            item = f'{{"type":"function_call",{function[1:]}'
            custom = f'{{"type":"custom_tool_call","name":"a","input":{given_arguments}}}'
            answer = f'{{"output":[{item},{custom},{{"type":"tool_search_output",{inside}}}]}}'
            choice = f'{{"index":0,"delta":{{"tool_calls":{calls}}}}}'
            chunk = f'{{"object":"chat.completion.chunk","id":"s","choices":[{choice}]}}'
            completed = f'{{"type":"response.completed","response":{{"object":"response",{answer[1:]}}}'
            lines += [
                answer,
                f'{{"choices":[{{"message":{{"tool_calls":{calls}}}}}],{inside}}}',
                f'{{"request":{{{inside}}},"response":[{chunk}]}}',
                f'{{"request":{{{inside}}},"response":[{completed}]}}',
            ]
        lines += [f'{{"output":[],{inside},"broken":x}}', f'{{"output":[],{inside}}}{{"output":[],{inside}}} {{']
    return "\n".join(lines) + "\n"


def test_every_list_in_every_place_is_read_as_without_any_cutting(log: Path) -> None:
    log.write_text(exhaustive_log(), encoding="utf-8")
    with reading_plainly():
        expected = judged(log)
    for block_bytes in (1 << 10, 1 << 14, 1 << 18):
        assert judged(log, block_bytes=block_bytes) == expected
        with renewing_often():
            assert judged(log, block_bytes=block_bytes) == expected


@given(logs)
@settings(max_examples=150, deadline=None)
def test_a_log_is_judged_as_it_is_without_any_cutting(log: Path, text: str) -> None:
    log.write_text(text, encoding="utf-8")
    with reading_plainly():
        expected = judged(log)
    for block_bytes in (1 << 10, 1 << 18):
        assert judged(log, block_bytes=block_bytes) == expected


@given(logs)
@settings(max_examples=60, deadline=None)
def test_renewing_the_tables_changes_nothing(log: Path, text: str) -> None:
    log.write_text(text, encoding="utf-8")
    with reading_plainly():
        expected = judged(log)
    with renewing_often():
        assert judged(log, block_bytes=1 << 10) == expected


def with_lists(value: Any, texts: dict[str, str]) -> Any:
    """A decoded value with each token in it replaced by the list that it stands for."""
    if isinstance(value, str):
        return json.loads(texts[value]) if value in texts else value
    if isinstance(value, dict):
        return {key: with_lists(member, texts) for key, member in value.items()}
    return [with_lists(element, texts) for element in value] if isinstance(value, list) else value


@st.composite
def similar_lines(draw: st.DrawFn) -> list[str]:
    """Lines of one program: what stands before and behind the list is much the same in each, and never quite."""
    following = draw(
        st.sampled_from([',"top_logprobs":0,"usage":{"input_tokens":12}}', '},"response":{"id":"x"}}', "}"])
    )
    begin = '{"request":{' if following.startswith("},") else "{"
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        inside, other = draw(members()), draw(members())
        disguised = other.replace('"', '"abc\\"', 1)
        before = draw(st.sampled_from(['"id":"r",', f'"metadata":{{{other}}},', f'"x":{spelled(inside)},', ""]))
        behind = draw(
            st.sampled_from(["", f',"x":{spelled(inside + following)}', f',"y":{{{other}}}', f",{disguised}"])
        )
        lines.append(begin + before + inside + behind + following)
    return lines


@given(similar_lines())
@settings(max_examples=400, deadline=None)
def test_lines_with_lists_cut_out_hold_what_they_held(lines: list[str]) -> None:
    toolsets = Toolsets()
    for array in LISTS:
        toolsets.intern(msgspec.Raw(array.encode()))
    raws = [line.encode() + b"\n" for line in lines]
    begins = list(accumulate(map(len, raws[:-1]), initial=0))
    text = b"".join(raws)
    spliced = toolsets.splice_lines(bytearray(text + b"not of it"), begins, len(text))
    assert toolsets.restore(spliced) == text
    texts = {token.decode()[1:-1]: array.decode() for token, array in toolsets._text_by_token.items()}
    for line, cut in zip(lines, spliced.decode().splitlines(), strict=True):
        assert with_lists(json.loads(cut), texts) == json.loads(line)


def test_the_list_of_each_line_is_found_by_what_follows_it() -> None:
    toolsets = Toolsets()
    toolsets.intern(msgspec.Raw(LISTS[0].encode()))
    line = b'{"id":"%d","tools":' + LISTS[0].encode() + b',"usage":{"input_tokens":%d}}\n'
    raws = [line % (number, 10**number) for number in range(9)]
    begins = list(accumulate(map(len, raws[:-1]), initial=0))
    spliced = toolsets.splice_lines(b"".join(raws), begins, sum(map(len, raws)))
    assert max(map(len, spliced.splitlines())) < 120


def test_a_known_list_is_cut_and_put_back() -> None:
    toolsets = Toolsets()
    array = LISTS[0].encode()
    number = toolsets.intern(array)
    record = b'{"a":1,"tools":' + array + b',"b":{"tools": ' + array + b"}}"
    spliced = toolsets.splice(record)
    assert len(spliced) < 120
    assert toolsets.restore(spliced) == record
    assert json.loads(spliced)["tools"] == json.loads(spliced)["b"]["tools"]
    assert toolsets.intern(json.dumps(json.loads(spliced)["tools"]).encode()) == number


@pytest.mark.parametrize(
    "record",
    [
        '{"a":"\\"tools\\":LIST"}',
        '{"abc\\"tools":LIST}',
        '{"a":"x\\\\\\"tools":LIST}',
        '{"a":{"Tools":LIST}}',
        '{"tools" :LIST}',
    ],
)
def test_what_only_looks_like_a_list_is_left_alone(record: str) -> None:
    toolsets = Toolsets()
    toolsets.intern(LISTS[0].encode())
    raw = record.replace("LIST", LISTS[0]).encode()
    assert toolsets.splice(raw) == raw


def test_a_list_with_another_end_is_another_list() -> None:
    toolsets = Toolsets()
    toolsets.intern(LISTS[0].encode())
    raw = b'{"tools":' + LISTS[0][:-1].encode() + b',{"name":"more"}]}'
    assert toolsets.splice(raw) == raw


def test_the_union_holds_each_name_once_and_earlier_ones_first() -> None:
    toolsets = PlainToolsets()
    first = toolsets.intern(b'[{"name":"a","strict":true},{"name":"b"}]')
    second = toolsets.intern(b'[{"name":"a"},{"name":"c"}]')
    number = toolsets.union([None, first, second, first])
    assert number is not None
    assert [(d.name, d.strict) for d in toolsets[number].definitions] == [("a", True), ("b", False), ("c", False)]
    assert toolsets.union([first, second]) == number
    assert toolsets.union([second]) == second
    assert toolsets.union([None, None]) is None


def test_cutting_a_list_a_hundred_thousand_times_out_of_one_record_stays_quick() -> None:
    toolsets = Toolsets()
    array = LISTS[3].encode()
    toolsets.intern(array)
    record = b"[" + b",".join([b'{"tools":' + array + b"}"] * 100_000) + b"]"
    assert len(toolsets.splice(record)) < len(record) / 3
