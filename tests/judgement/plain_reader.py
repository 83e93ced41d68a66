"""Logs read and judged in the plainest way: the stock ``json``, the stock ``jsonschema``, and the rules as ifs.

Reads Responses objects, stored chat completions and pairs of request and response, as objects or as strings of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
from slow_reference import NotAnObject, slow_object, slow_violations

JSON = dict[str, Any]


def plain_verdicts(line: str) -> list[tuple[str, str]]:
    """Call id and state of each call of one record, in order."""
    record = json.loads(line)
    request: JSON = {}
    if "response" in record:
        request, record = _side(record["request"]), _side(record["response"])
    if "output" in record:
        return list(_responses_calls(record, request))
    return [verdict for choice in record["choices"] for verdict in _chat_calls(record, request, choice)]


def _side(side: Any) -> JSON:
    return json.loads(side) if isinstance(side, str) else side


def _responses_calls(answer: JSON, request: JSON) -> Iterator[tuple[str, str]]:
    items = [item for item in answer["output"] if item["type"] in ("function_call", "custom_tool_call")]
    tools = _tools(answer.get("tools"), request.get("tools"))
    if answer["status"] == "in_progress":
        return
    for item in items:
        is_last = item is items[-1]
        cut = item.get("status") == "incomplete" or (is_last and answer["status"] == "incomplete")
        at_limit = is_last and _at_limit(answer, request, "output_tokens")
        custom = item["type"] == "custom_tool_call"
        yield item["call_id"], _state(item, item.get("namespace"), tools, custom=custom, cut=cut, at_limit=at_limit)


def _chat_calls(answer: JSON, request: JSON, choice: JSON) -> Iterator[tuple[str, str]]:
    calls = choice["message"]["tool_calls"]
    tools = _tools(answer.get("tools"), request.get("tools"))
    for call in calls:
        is_last = call is calls[-1]
        cut = is_last and choice["finish_reason"] in ("length", "content_filter")
        at_limit = is_last and _at_limit(answer, request, "completion_tokens", len(answer["choices"]))
        function = call.get("function") or call["custom"]
        custom = "custom" in call
        yield call["id"], _state(function, None, tools, custom=custom, cut=cut, at_limit=at_limit)


def _at_limit(answer: JSON, request: JSON, tokens: str, answers: int = 1) -> bool:
    limit = answer.get("max_output_tokens") or request.get("max_tokens")
    made = answer.get("usage", {}).get(tokens)
    return bool(limit) and made is not None and made >= limit * answers


def _tools(*lists: list[JSON] | None) -> list[tuple[str | None, JSON]] | None:
    """Namespace and definition of every tool, the answer's first; None where no list is recorded."""
    recorded = [tools for tools in lists if tools is not None]
    if not recorded:
        return None
    found: list[tuple[str | None, JSON]] = []
    for tool in (tool for tools in recorded for tool in tools):
        if tool["type"] == "namespace":
            found += [(tool["name"], inner) for inner in tool["tools"]]
        else:
            found.append((None, {**tool, **tool.get("function", {}), **tool.get("custom", {})}))
    return found


def _state(
    call: JSON,
    namespace: str | None,
    tools: list[tuple[str | None, JSON]] | None,
    *,
    custom: bool,
    cut: bool,
    at_limit: bool,
) -> str:
    named = [tool for space, tool in tools or () if tool["name"] == call["name"] and space == namespace]
    if not named and namespace == call["name"]:
        named = [tool for space, tool in tools or () if tool["name"] == call["name"] and space is None]
    if custom or (named and named[0]["type"] == "custom"):
        return "freeform-not-checked"
    arguments = call.get("arguments")
    text = arguments if arguments is None or isinstance(arguments, str) else json.dumps(arguments)
    try:
        value, _ = slow_object(text)
    except NotAnObject:
        cut = cut or (at_limit and text is not None and _ends_early(text))
        return "arguments-truncated" if cut else "arguments-unparseable"
    if tools is None:
        return "tools-not-recorded"
    if not named:
        return "unknown-tool"
    try:
        violations = slow_violations(named[0].get("parameters") or {}, value)
    except jsonschema.SchemaError:
        return "tool-schema-invalid"
    if violations:
        return "arguments-violate-schema"
    return "dispatchable" if named[0].get("strict") is True else "dispatchable-unconstrained"


def _ends_early(text: str) -> bool:
    """Whether the text is the beginning of a JSON document and not all of one: by writing on in every likely way."""
    closers: list[str] = []
    in_string = escaped = False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
        elif closers and character == closers[-1]:
            closers.pop()
    if not closers and not in_string:
        return False
    rest = "".join(reversed(closers))
    return any(_is_json(text + token + value + rest) for token in _REST_OF_TOKEN for value in ("", ":0"))


#: What may be missing of a string, an escape, a number or a word that was cut.
_REST_OF_TOKEN = ["", "0", '"', 'n"', '""', *("u0000"[i:] + '"' for i in range(5))]
_REST_OF_TOKEN += [word[i:] for word in ("true", "false", "null") for i in range(1, len(word))]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
