"""Whole records, and any value put at any of their places."""

from __future__ import annotations

from typing import Any

VALUES: list[Any] = [
    None, True, 0, -1, 2**70, 1.5, "", "text", "\ud83d", [], [None], [[]], ["x", {}], {}, {"name": 1}, {"tools": [{}]},
]  # fmt: skip

RESPONSE: dict[str, Any] = {
    "id": "r", "object": "response", "type": "x", "created_at": 1, "status": "incomplete", "model": "m",
    "incomplete_details": {"reason": "max_output_tokens"}, "max_output_tokens": 5, "parallel_tool_calls": True,
    "tool_choice": {"type": "allowed_tools", "tools": [{"type": "function", "name": "a"}]},
    "usage": {"input_tokens": 1, "output_tokens": 5}, "error": None,
    "tools": [
        {"type": "function", "name": "a", "strict": True, "description": "d", "parameters": {"type": "object"}},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "b", "parameters": {}}]},
    ],
    "output": [
        {"type": "function_call", "call_id": "c", "name": "a", "namespace": "n", "arguments": "{}", "status": "x"},
        {"type": "custom_tool_call", "call_id": "c", "name": "a", "input": "free"},
        {"type": "tool_search_output", "tools": [{"type": "function", "name": "c", "parameters": {}}]},
    ],
}  # fmt: skip
CHAT: dict[str, Any] = {
    "id": "r", "object": "chat.completion", "created": 1, "model": "m", "status": None, "max_tokens": 5,
    "usage": {"prompt_tokens": 1, "completion_tokens": 5},
    "tools": [{"type": "function", "function": {"name": "a", "strict": True, "description": "d", "parameters": {}}}],
    "functions": [{"name": "b", "parameters": {}}],
    "function_call": {"name": "a"},
    "choices": [
        {
            "index": 0, "finish_reason": "length",
            "message": {
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "a", "arguments": "{}"}},
                    {"id": "d", "type": "custom", "custom": {"name": "q", "input": "free"}},
                ],
                "function_call": {"name": "a", "arguments": "{}"},
            },
        },
        {"index": 1, "finish_reason": "stop", "message": {"function_call": {"name": "a", "arguments": "{}"}}},
    ],
}  # fmt: skip
REQUEST: dict[str, Any] = {"model": "m", "tools": CHAT["tools"], "tool_choice": "none", "max_tokens": 5}
ANSWER: dict[str, Any] = {
    "id": "r", "created": 1, "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 5},
    "choices": [
        {
            "index": 0, "finish_reason": "length",
            "message": {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
        }
    ],
}  # fmt: skip
RECORDS: dict[str, dict[str, Any]] = {
    "responses": RESPONSE,
    "chat": CHAT,
    "pair": {"ts": 1, "request": {"model": "m", "tools": CHAT["tools"], "body": None}, "response": CHAT},
    "plain pair": {"ts": 1, "request": REQUEST, "response": ANSWER},
    "batch": {"custom_id": "x", "response": {"status_code": 200, "body": RESPONSE}, "error": {"code": "x"}},
    "page": {"object": "list", "data": [RESPONSE, CHAT], "has_more": True},
    "stream": {"response": [{"object": "chat.completion.chunk", "id": "i", "choices": [{"index": 0, "delta": {}}]}]},
}

#: Of each kind that is read many at a time, one as the API writes it.
PLAIN_RECORDS: dict[str, dict[str, Any]] = {
    "responses": RESPONSE,
    "chat": ANSWER,
    "pair of responses": {"request": REQUEST, "response": RESPONSE},
    "pair of chat": {"ts": 1, "request": REQUEST, "response": ANSWER},
    "batch of responses": {"custom_id": "x", "response": {"status_code": 200, "body": RESPONSE}, "error": None},
    "batch of chat": {"custom_id": "x", "response": {"status_code": 200, "body": ANSWER}, "error": None},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a record at which something stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, element in inner for place in places(element, (*path, key)))]


def with_value(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The record with another value at one place."""
    if not path:
        return value
    copy = dict(record) if isinstance(record, dict) else list(record)
    copy[path[0]] = with_value(record[path[0]], path[1:], value)
    return copy
