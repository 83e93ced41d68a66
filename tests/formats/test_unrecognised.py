"""What is JSON and holds no answer is named, with the reason and its keys; what is near an answer and broken, too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from turn_pictures import read_one

from pipeline.interning import Toolsets

CHUNK = {"object": "chat.completion.chunk", "id": "c", "choices": [{"index": 0, "delta": {"content": "x"}}]}
REQUEST = {"model": "gpt-5", "messages": [{"role": "user", "content": "x"}], "tools": []}
UNKNOWN = "no answer of a format known here"

#: A record, the reason why there is no turn in it, and the keys that are told.
UNRECOGNISED: dict[str, tuple[Any, str, list[str]]] = {
    "a chunk alone": (
        CHUNK,
        "one chunk of a stream: the stream has to be kept whole",
        ["object", "id", "choices"],
    ),
    "a chunk of usage alone": ({**CHUNK, "choices": []}, "an answer without choices", ["object", "id", "choices"]),
    "a chat request": (REQUEST, "a request without its answer", ["model", "messages", "tools"]),
    "a batch input line": (
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST},
        "a request without its answer",
        ["custom_id", "method", "url", "body"],
    ),
    "a pair whose answer is null": (
        {"request": REQUEST, "response": None},
        "nothing recorded",
        ["request", "response"],
    ),
    "a pair whose answer is empty text": (
        {"request": REQUEST, "response": ""},
        "nothing recorded",
        ["request", "response"],
    ),
    "a pair whose answer is prose": (
        {"request": REQUEST, "response": "Sure!"},
        "no JSON object",
        ["request", "response"],
    ),
    "a pair whose answer is an error": (
        {"request": REQUEST, "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}}},
        "an error instead of an answer (rate_limit_exceeded)",
        ["error"],
    ),
    "an error whose code is a number": ({"error": {"code": 429}}, "an error instead of an answer", ["error"]),
    "an error with a type only": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
        "an error instead of an answer (overloaded_error)",
        ["type", "error"],
    ),
    "a batch row that expired": (
        {"id": "b", "custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "x"}},
        "a batch row without an answer: batch_expired",
        ["id", "custom_id", "response", "error"],
    ),
    "a batch row whose error has an odd code": (
        {"custom_id": "a", "response": None, "error": {"code": {"tools": [1]}}},
        "a batch row without an answer",
        ["custom_id", "response", "error"],
    ),
    "a batch row that failed": (
        {"custom_id": "a", "response": {"status_code": 400, "body": {"error": {"code": "invalid", "type": "t"}}}},
        "an error instead of an answer (invalid)",
        ["error"],
    ),
    "an answer of Anthropic": (
        {"id": "msg_1", "type": "message", "content": [{"type": "tool_use", "name": "a", "input": {}}]},
        UNKNOWN,
        ["id", "type", "content"],
    ),
    "an answer of Gemini": (
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "a"}}]}}]},
        UNKNOWN,
        ["candidates"],
    ),
    "a stream of Anthropic": (
        {"request": REQUEST, "response": 'event: message_start\ndata: {"type":"message_start"}\n\n'},
        "a stream of Anthropic Messages events",
        ["request", "response"],
    ),
    "a stream that is only an error": (
        {"request": REQUEST, "response": 'data: {"error":{"message":"x"}}\n\n'},
        "a stream that holds only an error",
        ["request", "response"],
    ),
    "a stream whose first event has odd keys": (
        {"request": REQUEST, "response": 'data: {"\\ud83d\\u001b":1}\n\n'},
        "a stream of unknown events, the first with the keys \\ud83d\x1b",
        ["request", "response"],
    ),
    "a list where the answer should be": (
        {"request": REQUEST, "response": [1, 2]},
        "a list that holds no answer",
        ["request", "response"],
    ),
    "messages where output items should be": (
        {"input": [], "output": [{"role": "assistant", "tool_calls": []}]},
        UNKNOWN,
        ["input", "output"],
    ),
    "lone surrogates in keys": ({"\ud83d": 1, "b": 2}, UNKNOWN, ["\\ud83d", "b"]),
    "thousands of digits": ({"a": [1], "b": 10**4000}, UNKNOWN, ["a", "b"]),
    "an empty object": ({}, UNKNOWN, []),
    "a number": (3, "not an object", []),
    "a list in a line": ([{"output": []}], "not an object", []),
    "null": (None, "not an object", []),
    "a list page of nothing": (
        {"object": "list", "data": []},
        "an empty list page",
        ["object", "data"],
    ),
    "a list page of input items": (
        {"object": "list", "data": [{"type": "function_call", "name": "a", "arguments": "{}"}]},
        UNKNOWN,
        ["type", "name", "arguments"],
    ),
    "a list page of numbers": (
        {"object": "list", "data": [3]},
        "an element of a list page that is not an object",
        [],
    ),
}


@pytest.mark.parametrize("name", UNRECOGNISED)
def test_a_record_without_an_answer_is_named(name: str) -> None:
    record, reason, keys = UNRECOGNISED[name]
    assert read_one(json.dumps(record).encode(), Toolsets()) == [{"unrecognised": reason, "keys": keys}]


#: The raw text of a record that cannot be read at all, and why.
REJECTED: dict[str, tuple[bytes, str]] = {
    "half written": (b'{"output":[', "half written: ends before the document does"),
    "no JSON": (b"{'output':[]}", "not JSON"),
    "NaN": (b'{"output":[],"score":NaN}', "not JSON: NaN or Infinity"),
    "invalid UTF-8 where it is read": (b'{"output":[],"id":"\xff"}', "invalid UTF-8"),
    "invalid UTF-8 in arguments": (
        b'{"output":[{"type":"function_call","name":"a","arguments":"\xff"}]}',
        "invalid UTF-8, in a text inside the record",
    ),
    "invalid UTF-8 in arguments as an object": (
        b'{"output":[{"type":"function_call","name":"a","arguments":{"a":"\xff"}}]}',
        "invalid UTF-8, in a text inside the record",
    ),
    "invalid UTF-8 in a list of events": (
        b'{"response":[{"object":"chat.completion.chunk","id":"\xff"}]}',
        "invalid UTF-8, in a text inside the record",
    ),
    "an answer in a string that breaks off": (
        b'{"request":{},"response":"{\\"choices\\":["}',
        "half written: ends before the document does, in a text inside the record",
    ),
    "thousands of levels": (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested deeper than 900 levels"),
    "thousands of levels in a string": (
        b'{"response":"{\\"a\\":' + b"[" * 5000 + b"]" * 5000 + b'}"}',
        "nested deeper than 900 levels, in a text inside the record",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_record_that_cannot_be_read_is_a_reject(name: str) -> None:
    raw, reason = REJECTED[name]
    assert read_one(raw, Toolsets()) == [{"reject": reason}]


def test_one_bad_element_of_a_list_page_leaves_the_others_alone() -> None:
    page = b'{"object":"list","data":[{"output":[],"id":"\xff"},{"output":[],"id":"good"},7]}'
    assert read_one(page, Toolsets()) == [
        {"unrecognised": "an element of a list page that cannot be read: invalid UTF-8", "keys": []},
        {"format": "list/openai-responses", "response_id": "good", "tools": None, "calls": []},
        {"unrecognised": "an element of a list page that is not an object", "keys": []},
    ]


def test_an_item_of_no_kind_does_not_hide_the_calls_beside_it() -> None:
    record = {"output": [{"odd": 1}, {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}]}
    assert read_one(json.dumps(record).encode(), Toolsets()) == [
        {
            "format": "openai-responses",
            "tools": None,
            "calls": [{"call_id": "c", "name": "a", "arguments": "{}"}],
        }
    ]
