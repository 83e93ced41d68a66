"""Streamed answers: framing of event text, and assembly of both OpenAI APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_stream_cases import CALLS, END, ENDS, IDS, ROLE, chunk
from responses_stream_cases import ANSWERS, BODY, CREATED

from pipeline.formats.assembly import assemble, encode_answer, name_stream
from pipeline.formats.events import EventLog, is_event_text, parse_events

JSON = dict[str, Any]
X, Y = {"choices": [{"delta": {"content": "x\u2028"}}]}, {"choices": [{"delta": {"content": "y"}}]}
TX, TY = json.dumps(X, ensure_ascii=False), json.dumps(Y)

#: Text of events; what it holds.
FRAMES: list[tuple[str, str, EventLog]] = [
    ("line feeds", f"data: {TX}\n\ndata: {TY}\n\ndata: [DONE]\n\n", EventLog([X, Y])),
    ("carriage returns and line feeds", f"data: {TX}\r\n\r\ndata: {TY}\r\n\r\n", EventLog([X, Y])),
    ("carriage returns", f"data: {TX}\r\rdata: {TY}\r\r", EventLog([X, Y])),
    ("a byte order mark and blank lines", f"\ufeff\n\ndata: {TX}\n\n", EventLog([X])),
    ("no space after the colon", f"data:{TX}\n\ndata:[DONE]\n\n", EventLog([X])),
    ("no blank line at the end", f"data: {TX}\n\ndata: {TY}", EventLog([X, Y])),
    ("comments and other fields", f": ping\n\nid: 1\nretry: 5\ndata: {TX}\n: x\n\n:\n\n", EventLog([X])),
    ("data on many lines", "\n".join(f"data: {line}" for line in json.dumps(X, indent=1).split("\n")), EventLog([X])),
    ("blank lines that a logger dropped", f"data: {TX}\ndata: {TY}\ndata: [DONE]\n", EventLog([X, Y])),
    (
        "dropped blank lines between names",
        f"event: a\ndata: {TX}\nevent: b\ndata: {TY}",
        EventLog([{"event": "a", "data": X}, {"event": "b", "data": Y}]),
    ),
    ("a name beside a type", 'event: ping\ndata: {"type": "pong"}\n\n', EventLog([{"type": "pong"}])),
    (
        "a name that stands for the type",
        "event: ping\ndata: {}\n\ndata: {}\n\n",
        EventLog([{"event": "ping", "data": {}}, {}]),
    ),
    (
        "data that is no object",
        f'data: [1]\n\ndata: nonsense\n\ndata: "x"\n\ndata: {TX}\n\ndata:\n\n',
        EventLog([X], 3),
    ),
    ("an event cut off", f'data: {TX}\n\ndata: {{"choices": [', EventLog([X], 1)),
    ("a bare body in the middle", f'data: {TX}\n\n{{"error": {{}}}}\n', EventLog([X, {"error": {}}])),
    ("JSON Lines", f"{TX}\n{TY}\r\n\n[DONE]\n", EventLog([X, Y])),
    ("JSON Lines with bad lines", f"{TX}\nno\n[1]\n{TY[:-2]}", EventLog([X], 3)),
    ("JSON Lines of wrapped text", json.dumps({"event": "e", "data": TY}), EventLog([{"event": "e", "data": Y}])),
    ("JSON Lines with a text for data", '{"data": "{}"}', EventLog([{"data": "{}"}])),
    ("an array of wrapped text", json.dumps([{"event": "e", "data": TY}]), EventLog([{"event": "e", "data": Y}])),
    ("an array", f" [{TX},\n {TY}] ", EventLog([X, Y])),
    ("an array that was cut off", f"[{TX}, {TY}, {TX[:9]}", EventLog([X, Y], 1)),
    ("an array with strangers and a tail", f"[1, {TX}] x", EventLog([X], 2)),
    (
        "lone surrogates, escaped and raw",
        'data: {"a": "\\ud83d"}\n\ndata: {"a": "\ude00"}',
        EventLog([{"a": "\ud83d"}, {"a": "\ude00"}]),
    ),
    (
        "numbers beyond doubles",
        'data: {"a": 1e400, "b": 123456789012345678901}',
        EventLog([{"a": 1.7976931348623157e308, "b": 123456789012345678901}]),
    ),
    ("what JSON does not have", 'data: {"a": NaN}\n\ndata: {"a": 1,}', EventLog([], 2)),
    ("nesting without end", f'data: {{"a": {"[" * 100_000}', EventLog([], 1)),
    ("a number without end", f'data: {{"a": {"9" * 100_000}}}', EventLog([], 1)),
    ("the end alone", "data: [DONE]\n\n", EventLog()),
    ("no events", "hello", EventLog()),
    ("nothing", "", EventLog()),
]


@pytest.mark.parametrize(("text", "log"), [frame[1:] for frame in FRAMES], ids=[frame[0] for frame in FRAMES])
def test_event_text_is_framed_into_its_events(text: str, log: EventLog) -> None:
    assert parse_events(text) == log


DOCUMENT = json.dumps(
    {"id": "r", "object": "response", "output": [], "tools": [{"properties": {"delta": {}, "event": {}}}]}
)
LOOKS: list[tuple[str, bool]] = [
    ("data: {}", True),
    ("\ufeff\r\ndata:{}", True),
    ("event: x\ndata: {}", True),
    (": comment\n\ndata: {}", True),
    ("id: 7\ndata: {}", True),
    (json.dumps(chunk({"content": "x"})), True),
    (json.dumps(CREATED), True),
    (json.dumps({"event": "response.created", "data": {"response": {}}}), True),
    (f"{json.dumps(chunk(id='', object=''))}\n{TX}\n{TY}\n", True),
    ('{"type": "message_start", "message": {}}\n{"type": "ping"}', True),
    (f"[{TX}]", True),
    (f"[{TX}, {{", True),
    (DOCUMENT, False),
    (DOCUMENT + "\n", False),
    (json.dumps(json.loads(DOCUMENT), indent=1), False),
    ('{"choices": [{"message": {"content": "\\"delta\\": {}"}}]}', False),
    ('{"choices": [{"message": {}, "note": {"delta": 1}}]}', False),
    ('[{"choices": [{"message": {}}]}]', False),
    ("event: the band plays at nine", False),
    (": )", False),
    ("Paris", False),
    ("[", False),
    ("{", False),
    ("", False),
]


@pytest.mark.parametrize(("text", "expected"), LOOKS)
def test_event_text_is_told_from_other_text_by_its_beginning(text: str, expected: bool) -> None:
    assert is_event_text(text) is expected


@pytest.mark.parametrize(("chunks", "tool_calls"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_deltas_of_a_chat_stream_become_its_calls(chunks: list[JSON], tool_calls: list[JSON]) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": tool_calls}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    assert assemble([ROLE, *chunks, END]) == [answer]


@pytest.mark.parametrize(("chunks", "answers"), [case[1:] for case in IDS], ids=[case[0] for case in IDS])
def test_chunks_go_to_the_answer_they_belong_to(chunks: list[JSON], answers: list[tuple[str | None, int]]) -> None:
    found = [(answer["id"], len(answer["choices"][0]["message"]["tool_calls"])) for answer in assemble(chunks)]
    assert found == answers


@pytest.mark.parametrize(("ends", "finish_reason"), ENDS)
def test_the_last_word_on_the_end_counts_unless_a_ceiling_was_named(ends: list[str | None], finish_reason: str) -> None:
    chunks = [{"id": "c1", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": end}]} for end in ends]
    assert [choice["finish_reason"] for choice in assemble(chunks)[0]["choices"]] == [finish_reason]


def test_all_that_is_not_a_call_is_kept_too() -> None:
    chunks = [
        {"id": "", "model": "", "created": 0, "object": "", "choices": [], "prompt_filter_results": []},
        chunk({"role": "assistant", "content": "Hel"}, choice=1),
        chunk({"content": "No", "refusal": None}),
        chunk({"content": "lo"}, "stop", choice=1),
        chunk({"refusal": "I can't"}, "stop"),
        {"error": {"message": "late"}},
        chunk(usage={"completion_tokens": 3}),
    ]
    assert assemble(chunks) == [
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "No", "refusal": "I can't"},
                },
                {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}},
            ],
            "usage": {"completion_tokens": 3},
        }
    ]


def test_chunks_without_any_choice_are_an_answer_without_choices() -> None:
    answer = {"id": None, "object": "chat.completion", "created": None, "model": None, "choices": []}
    assert assemble([{"choices": []}, {"choices": [], "usage": None}]) == [answer]


def test_a_legacy_function_call_is_joined() -> None:
    deltas = [{"name": "f", "arguments": ""}, {"arguments": "{"}, {"name": "f", "arguments": "}"}]
    answer = assemble([ROLE, *(chunk({"function_call": delta}) for delta in deltas), chunk({}, "function_call")])
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert answer[0]["choices"] == [{"index": 0, "finish_reason": "function_call", "message": message}]


def test_a_whole_message_in_a_stream_is_read_as_one_delta() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, call | {"id": "b"}]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    assert assemble([{"id": "c1", "object": "chat.completion", "choices": [choice]}])[0]["choices"] == [choice]


@pytest.mark.parametrize(("events", "answers"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_events_of_the_responses_api_become_its_answers(events: list[JSON], answers: list[JSON]) -> None:
    assert assemble(events) == answers


def test_an_answer_that_was_cut_claims_no_status_at_whatever_event_it_ends() -> None:
    assert [answer.get("status") for end in range(1, len(BODY)) for answer in assemble(BODY[:end])] == [None] * (
        len(BODY) - 1
    )


OTHERS: list[tuple[list[JSON], str]] = [
    (
        [{"type": "message_start", "message": {}}, {"type": "content_block_start"}],
        "a stream of Anthropic Messages events",
    ),
    ([{"candidates": []}], "a stream of Gemini events"),
    ([{"event": "thread.run.created", "data": {"object": "thread.run"}}], "a stream of OpenAI Assistants events"),
    ([{"type": "message-start"}], "a stream of Cohere events"),
    ([{"choices": [{"text": "x"}], "object": "text_completion"}], "a stream of OpenAI Completions events"),
    ([{"contentBlockStart": {}}], "a stream of Bedrock Converse events"),
    ([{"model": "m", "message": {}, "done": False}], "a stream of Ollama events"),
    ([{"event": "error", "data": {"message": "x"}}, {"error": "x"}], "a stream that holds only an error"),
    ([{"type": "tick\x1b"}], "a stream of unknown events, the first of type 'tick\\x1b'"),
    ([{"a": 1, "b": 2}, {}], "a stream of unknown events, the first with the keys a, b"),
    ([{"data": {"a": 1}}], "a stream of unknown events, the first with the keys a"),
    ([{"x": 1, "data": {"a": 1}}], "a stream of unknown events, the first with the keys x, data"),
    ([{"event": "x", "data": {"type": "message_start"}}], "a stream of Anthropic Messages events"),
    ([{"object": "response"}], "a stream of unknown events, the first with the keys object"),
    ([{"output": [], "id": "r"}], "a stream of unknown events, the first with the keys output, id"),
    ([], "a stream without events"),
]


@pytest.mark.parametrize(("events", "name"), OTHERS)
def test_a_stream_of_another_api_has_no_answers_but_a_name(events: list[JSON], name: str) -> None:
    assert (assemble(events), name_stream(events)) == ([], name)


@pytest.mark.parametrize("value", [{"a": "\ud83d"}, {"a": 2**70}, {"a": "\U0001f600", "b": [None, 1.5]}])
def test_an_answer_is_written_as_json_that_reads_the_same(value: JSON) -> None:
    assert json.loads(encode_answer(value)) == value
