"""Properties of streamed answers: in whatever way one is cut up, it comes back; and nothing makes a reader raise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

from chat_stream_cases import CALLS, chunk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from responses_stream_cases import ANSWERS

from pipeline.formats.assembly import assemble, encode_answer, name_stream
from pipeline.formats.events import is_event_text, parse_events

JSON = dict[str, Any]
modest = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

names = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
#: Text with characters outside the BMP, halves of such, and what JSON and SSE treat specially.
texts = st.text(alphabet=st.sampled_from('{}[]":, \\ab1\n\r\u2028é\U0001f600\ud83d\ude00'), max_size=30).map(
    lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
)
arguments = st.one_of(texts, st.just(""), st.dictionaries(names, st.integers() | texts, max_size=3).map(json.dumps))


def cut(data: st.DataObject, text: str) -> list[str]:
    """The text in pieces, cut at any place: also between the halves of a character, as some servers do."""
    units = text.encode("utf-16-le", "surrogatepass")
    places = sorted(data.draw(st.sets(st.integers(0, len(units) // 2), max_size=4)))
    bounds = [0, *places, len(units) // 2]
    return [units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(bounds)]


@st.composite
def chat_answers(draw: st.DrawFn, answer_id: str) -> JSON:
    choices = []
    for index in range(draw(st.integers(1, 2))):
        calls = [
            {"id": f"call_{n}", "type": "function", "function": {"name": draw(names), "arguments": draw(arguments)}}
            for n in range(draw(st.integers(0, 3)))
        ]
        message = {"role": "assistant", "content": draw(st.none() | texts)} | ({"tool_calls": calls} if calls else {})
        finish = draw(st.sampled_from([None, "stop", "tool_calls", "length"]))
        choices.append({"index": index, "finish_reason": finish, "message": message})
    return {"id": answer_id, "object": "chat.completion", "created": 1, "model": "m", "choices": choices}


STYLES = ("usual", "name in pieces", "name repeated", "id repeated", "at once")


def call_deltas(data: st.DataObject, call: JSON, index: int, *, indexed: bool) -> list[JSON]:
    """One call in one of the ways in which servers stream it."""
    name, text = call["function"]["name"], call["function"]["arguments"]
    style = data.draw(st.sampled_from(STYLES)) if indexed else "no index"
    head = {"index": index, "id": call["id"], "type": "function"}
    if style == "at once":
        return [head | {"function": {"name": name, "arguments": text}}]
    first = data.draw(st.sampled_from([{}, {"arguments": None}, {"arguments": ""}]))
    more = [{"arguments": piece} for piece in cut(data, text)]
    if style == "name in pieces":
        pieces = [piece for piece in cut(data, name) if piece]
        # Equal pieces count as a repetition, as the assembly says.
        pieces = pieces if len(set(pieces)) > 1 else [name]
        deltas = [head | {"function": {"name": pieces[0]} | first}]
        deltas += [{"index": index, "function": {"name": piece}} for piece in pieces[1:]]
        return deltas + [{"index": index, "function": function} for function in more]
    repeated = {"name": name} if style == "name repeated" else data.draw(st.sampled_from([{}, {"name": ""}]))
    place = {"index": index, "id": call["id"]} if style in ("id repeated", "name repeated") else {"index": index}
    if style == "no index":
        del head["index"]
        place = {"id": call["id"]}
    return [head | {"function": {"name": name} | first}, *(place | {"function": repeated | each} for each in more)]


def interleaved(data: st.DataObject, streams: list[list[Any]]) -> list[Any]:
    """The streams as one, each in its own order."""
    order = data.draw(st.permutations([n for n, stream in enumerate(streams) for _ in stream]))
    waiting = [iter(stream) for stream in streams]
    return [next(waiting[n]) for n in order]


def chat_stream(data: st.DataObject, answer: JSON) -> list[JSON]:
    streams = []
    for choice in answer["choices"]:
        message, index = choice["message"], choice["index"]
        calls = message.get("tool_calls", [])
        indexed = data.draw(st.booleans())
        per_call = [call_deltas(data, call, position, indexed=indexed) for position, call in enumerate(calls)]
        # Without an index, calls can only keep the order in which they came.
        in_turn = interleaved(data, per_call) if indexed else list(chain(*per_call))
        deltas = [{"tool_calls": [delta]} for delta in in_turn]
        if message["content"] is not None:
            deltas = interleaved(data, [deltas, [{"content": piece} for piece in cut(data, message["content"])]])
        chunks = [{"role": "assistant", "content": None}, *deltas]
        ends = [chunk({}, choice["finish_reason"], choice=index)]
        streams.append([chunk(delta, None, choice=index) for delta in chunks] + ends)
    events = [*interleaved(data, streams), chunk()]
    return [event | {"id": answer["id"]} for event in events]


def in_log_order(answers: list[JSON], events: list[JSON]) -> list[JSON]:
    order = [event["id"] for event in events]
    return sorted(answers, key=lambda answer: order.index(answer["id"]))


@modest
@given(st.data())
def test_chat_answers_come_back_from_whatever_chunks_they_were_cut_into(data: st.DataObject) -> None:
    answers = [data.draw(chat_answers(answer_id)) for answer_id in data.draw(st.sampled_from(["x", "xy"]))]
    events = interleaved(data, [chat_stream(data, answer) for answer in answers])
    assert assemble(events) == in_log_order(answers, events)


@modest
@given(st.data(), st.sampled_from(["", None, "each its own"]))
def test_one_chat_answer_comes_back_whatever_its_chunks_are_called(data: st.DataObject, style: str | None) -> None:
    answer = data.draw(chat_answers("0"))
    if len(answer["choices"]) > 1:
        answer["choices"][0]["finish_reason"] = None  # so that nothing says that all has ended before it has
        answer["choices"][1]["finish_reason"] = None
    chunks = enumerate(chat_stream(data, answer))
    events = [event | {"id": str(n) if style == "each its own" else style} for n, event in chunks]
    assert assemble(events) == [answer | {"id": "0" if style == "each its own" else None}]


@st.composite
def output_items(draw: st.DrawFn) -> list[JSON]:
    items: list[JSON] = []
    for n in range(draw(st.integers(0, 4))):
        type_, key = draw(
            st.sampled_from([("function_call", "arguments"), ("mcp_call", "arguments"), ("custom_tool_call", "input")])
        )
        item = {"type": type_, "id": f"i{n}", "call_id": f"c{n}", "name": draw(names), key: draw(arguments)}
        items.append(item | {"status": "completed"})
    return items


def item_events(data: st.DataObject, item: JSON, place: int) -> list[JSON]:
    key = "input" if item["type"] == "custom_tool_call" else "arguments"
    stem = f"response.{item['type']}_{key}"
    where = data.draw(st.sampled_from([{"output_index": place}, {"item_id": item["id"]}]))
    where = data.draw(st.sampled_from([where, {"output_index": place, "item_id": "rotates"}]))
    added = {"type": "response.output_item.added", "output_index": place, "item": item | {key: ""}}
    deltas = [{"type": f"{stem}.delta", "delta": piece} | where for piece in cut(data, item[key])]
    endings = [
        {"type": f"{stem}.done", key: item[key]} | where,
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]
    return [added, *deltas, *endings[: data.draw(st.integers(0, 2))]]


@modest
@given(st.data(), output_items(), st.sampled_from(["whole", "empty output", "no output", "cut"]))
def test_responses_come_back_from_whatever_events_they_were_cut_into(
    data: st.DataObject, items: list[JSON], ending: str
) -> None:
    head = {"id": "r", "object": "response", "model": "m", "tools": [{"type": "function", "name": "f"}]}
    final = head | {"status": "completed", "output": items}
    said = {"whole": final, "empty output": final | {"output": []}, "no output": {"id": "r"}}
    events = [{"type": "response.created", "response": head | {"status": "in_progress", "output": []}}]
    events += interleaved(data, [item_events(data, item, place) for place, item in enumerate(items)])
    if ending != "cut":
        events.append({"type": "response.completed", "response": said[ending]})
    assert assemble(events) == [head | {"output": items} if ending == "cut" else final]


@modest
@given(st.data(), st.lists(st.sampled_from([chunks for _, chunks, _ in [*CALLS, *ANSWERS]]), max_size=3))
def test_events_come_back_from_whatever_text_they_were_framed_in(data: st.DataObject, cases: list[list[JSON]]) -> None:
    events = [event for case in cases for event in case if set(event) != {"event", "data"}]
    line_end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = data.draw(st.sampled_from(["", "\ufeff"]))
    for event in events:
        indent = data.draw(st.sampled_from([None, 1]))
        space = data.draw(st.sampled_from(["", " "]))
        text += data.draw(st.sampled_from(["", f": note{line_end}", f"id: 1{line_end}"]))
        written = json.dumps(event, indent=indent, ensure_ascii=data.draw(st.booleans())).split("\n")
        text += "".join(f"data:{space}{line}{line_end}" for line in written) + line_end
    text += data.draw(st.sampled_from(["", "data: [DONE]", f"data:[DONE]{line_end}{line_end}"]))
    log = parse_events(text)
    assert (log.events, log.broken) == (events, 0)
    lines = parse_events("\n".join(map(json.dumps, events)))
    assert (lines.events, lines.broken) == (events, 0)
    array = parse_events(json.dumps(events))
    assert (array.events, array.broken) == (events, 0)


GENUINE = [event for _, events, _ in [*CALLS, *ANSWERS] for event in events]


def inside(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Every member and every value in a JSON value, at any depth."""
    for key, inner in value.items() if isinstance(value, dict) else [(None, inner) for inner in value]:
        yield key, inner
        if isinstance(inner, dict | list):
            yield from inside(inner)


#: What a genuine event is made of: its members, and its strings.
MEMBERS = sorted(
    {key for key, _ in inside(GENUINE) if key is not None} | {"usage", "refusal", "function_call", "error"}
)
WORDS = sorted({value for _, value in inside(GENUINE) if isinstance(value, str)} | {"", "stop", "length"})

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=12,
)
genuine = st.sampled_from(GENUINE)


def spoilt(event: JSON, path: list[int], value: Any) -> Any:
    """A copy of the event with one place in it overwritten."""
    if not path or not isinstance(event, dict | list) or not event:
        return value
    keys = list(event) if isinstance(event, dict) else list(range(len(event)))
    key = keys[path[0] % len(keys)]
    members = dict(event) if isinstance(event, dict) else list(event)
    members[key] = spoilt(event[key], path[1:], value)
    return members


spoilt_events = st.builds(spoilt, genuine, st.lists(st.integers(0, 9), min_size=1, max_size=6), values)
hostile_events = st.lists(
    values | genuine | spoilt_events | st.dictionaries(st.sampled_from(MEMBERS), values), max_size=12
)


@settings(modest, max_examples=400)
@given(hostile_events)
def test_no_list_of_json_values_makes_the_assembly_raise(events: list[Any]) -> None:
    before = repr(events)
    answers = assemble(events)
    assert all(isinstance(answer, dict) and isinstance(json.loads(encode_answer(answer)), dict) for answer in answers)
    assert isinstance(name_stream(events), str)
    assert repr(events) == before


@settings(modest, max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            ["data:", "event:", ":", "{", "}", "[", "]", ",", '"delta":', "\n", "\r", " ", "[DONE]", "\ud83d"]
        )
        | genuine.map(json.dumps)
        | st.text(max_size=5),
        max_size=12,
    ).map("".join)
)
def test_no_text_makes_the_framing_raise(text: str) -> None:
    assert isinstance(is_event_text(text), bool)
    log = parse_events(text)
    assert all(isinstance(event, dict) for event in log.events)
    assert log.broken >= 0
    assert isinstance(assemble(log.events), list)
