"""Streams of the Responses API, whole and cut, and the answers that are in them: a table, one sentence a row."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

TOOLS = [{"type": "function", "name": "f", "strict": True, "parameters": {"type": "object"}}]
HEAD = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "in_progress",
    "tools": TOOLS,
    "output": [],
}
FULL = {"type": "function_call", "id": "fc", "call_id": "a", "name": "f", "arguments": "{}", "status": "completed"}
ADDED = FULL | {"arguments": "", "status": "in_progress"}
CUT_HEAD = {key: value for key, value in HEAD.items() if key not in ("status", "output")}


def event(name: str, /, **members: Any) -> JSON:
    """One event; the common beginning of the types is left out."""
    return {"type": f"response.{name}", **members}


CREATED = event("created", response=HEAD)
ITEM = event("output_item.added", output_index=0, item=ADDED)
DELTAS = [event("function_call_arguments.delta", output_index=0, item_id="fc", delta=part) for part in "{}"]
TEXT = event("function_call_arguments.done", output_index=0, item_id="fc", arguments="{}")
DONE = event("output_item.done", output_index=0, item=FULL)
BODY = [CREATED, event("in_progress", response=HEAD), ITEM, *DELTAS, TEXT, DONE]
USAGE = {"output_tokens": 5}


def final(name: str, /, **members: Any) -> JSON:
    """A closing event whose response holds the call, if nothing else is said."""
    return event(name, response=HEAD | {"status": name, "output": [FULL], "usage": USAGE} | members)


COMPLETED = HEAD | {"status": "completed", "output": [FULL], "usage": USAGE}


def cut(*items: JSON, **members: Any) -> list[JSON]:
    """The answer of a stream that ended before its end."""
    return [CUT_HEAD | {"output": list(items)} | members]


CUSTOM = {"type": "custom_tool_call", "id": "ct", "call_id": "b", "name": "sql", "input": ""}
SEARCH = {"type": "tool_search_output", "id": "ts", "call_id": None, "tools": TOOLS, "status": "completed"}

ANSWERS: list[tuple[str, list[JSON], list[JSON]]] = [
    ("the final object is the answer, its call once", [*BODY, final("completed")], [COMPLETED]),
    ("a final object alone", [final("completed")], [COMPLETED]),
    (
        "an incomplete answer keeps its details",
        [*BODY[:-1], final("incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[ADDED])],
        [
            COMPLETED
            | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [ADDED]}
        ],
    ),
    (
        "a failed answer",
        [*BODY, final("failed", error={"code": "x"})],
        [COMPLETED | {"status": "failed", "error": {"code": "x"}}],
    ),
    ("a final object with an empty output takes the items", [*BODY, final("completed", output=[])], [COMPLETED]),
    ("a final object with null for an output takes the items", [*BODY, final("completed", output=None)], [COMPLETED]),
    ("a final object without tools takes those of the first", [CREATED, final("completed", tools=[])], [COMPLETED]),
    (
        "a final event without its object",
        [*BODY, event("completed")],
        [{**HEAD, "status": "completed", "output": [FULL]}],
    ),
    ("a final object that says it is in progress", [*BODY, final("completed", status="in_progress")], [COMPLETED]),
    ("cut after the item was done", BODY, cut(FULL)),
    ("cut after the text was done", BODY[:-1], cut(ADDED | {"arguments": "{}"})),
    ("cut in the middle of the text", BODY[:4], cut(ADDED | {"arguments": "{"})),
    ("cut before the text", BODY[:3], cut(ADDED)),
    ("cut before the item", BODY[:2], cut()),
    (
        "an item announced without arguments has none",
        [CREATED, event("output_item.added", output_index=0, item={"type": "function_call", "name": "f"})],
        cut({"type": "function_call", "name": "f"}),
    ),
    (
        "text events without an item are a call",
        [event("function_call_arguments.done", output_index=0, item_id="fc", name="f", arguments="{}")],
        [{"object": "response", "output": [{"type": "function_call", "id": "fc", "name": "f", "arguments": "{}"}]}],
    ),
    (
        "an item that is done without its text takes the text that came",
        [CREATED, ITEM, *DELTAS, event("output_item.done", output_index=0, item=FULL | {"arguments": ""})],
        cut(FULL),
    ),
    (
        "rotating item ids are one item where the place is the same",
        [
            CREATED,
            ITEM,
            *(delta | {"item_id": f"x{n}"} for n, delta in enumerate(DELTAS)),
            DONE | {"item": FULL | {"id": "y"}},
        ],
        cut(FULL | {"id": "y"}),
    ),
    (
        "events without a place go by the item's id",
        [{key: value for key, value in entry.items() if key != "output_index"} for entry in BODY],
        cut(FULL),
    ),
    (
        "events with neither place nor item id go by the call id",
        [event("output_item.added", item={"type": "function_call", "call_id": own, "name": "f"}) for own in "ab"]
        + [
            event("output_item.done", item={"type": "function_call", "call_id": own, "name": "f", "arguments": "{}"})
            for own in "ba"
        ],
        [
            {
                "object": "response",
                "output": [{"type": "function_call", "call_id": own, "name": "f", "arguments": "{}"} for own in "ab"],
            }
        ],
    ),
    (
        "a place used again for another call is another call",
        [CREATED, ITEM, DONE, DONE | {"item": FULL | {"call_id": "b", "id": "fd"}}],
        cut(FULL, FULL | {"call_id": "b", "id": "fd"}),
    ),
    (
        "text events that name no item belong to the last one",
        [CREATED, ITEM, *(event("function_call_arguments.delta", delta=part) for part in "{}")],
        cut(ADDED | {"arguments": "{}"}),
    ),
    (
        "text events of a place without an item are a call of their own",
        [CREATED, ITEM, DONE, event("function_call_arguments.done", output_index=1, name="g", arguments="{}")],
        cut(FULL, {"type": "function_call", "name": "g", "arguments": "{}"}),
    ),
    (
        "a text that is done without saying it leaves what came",
        [CREATED, ITEM, *DELTAS, event("function_call_arguments.done", output_index=0)],
        cut(ADDED | {"arguments": "{}"}),
    ),
    (
        "a final object without a status has that of its event",
        [event("incomplete", response={"id": "r1", "output": [FULL]})],
        [{"object": "response", "id": "r1", "output": [FULL], "status": "incomplete"}],
    ),
    (
        "a place used again before its item was done is another call",
        [CREATED, ITEM, DONE | {"item": FULL | {"call_id": "b"}}],
        cut(ADDED, FULL | {"call_id": "b"}),
    ),
    (
        "items come out by their place",
        [CREATED, event("output_item.done", output_index=1, item=SEARCH), ITEM, DONE],
        cut(FULL, SEARCH),
    ),
    (
        "custom tool calls collect their input",
        [CREATED, event("output_item.added", output_index=0, item=CUSTOM)]
        + [
            event("custom_tool_call_input.delta", output_index=0, item_id="ct", delta=part) for part in ("SELECT ", "1")
        ],
        cut(CUSTOM | {"input": "SELECT 1"}),
    ),
    (
        "custom tool calls take the input that was done",
        [
            CREATED,
            event("output_item.added", output_index=0, item=CUSTOM),
            event("custom_tool_call_input.done", output_index=0, input="x"),
        ],
        cut(CUSTOM | {"input": "x"}),
    ),
    (
        "an error after the calls",
        [*BODY, {"type": "error", "code": "c", "message": "m"}],
        cut(FULL, error={"code": "c", "message": "m"}),
    ),
    ("wrapped events", [{"event": entry["type"], "data": entry} for entry in BODY], cut(FULL)),
    (
        "wrapped events whose type is the event's name",
        [
            {"event": entry["type"], "data": {key: value for key, value in entry.items() if key != "type"}}
            for entry in BODY
        ],
        cut(FULL),
    ),
    ("a whole object where a stream was expected", [COMPLETED], [COMPLETED]),
    ("a whole object that names its type", [COMPLETED | {"type": "response"}], [COMPLETED | {"type": "response"}]),
    (
        "two streams one after the other, the first cut",
        [*BODY[:4], event("created", response=HEAD | {"id": "r2"}), ITEM, DONE, final("completed", id="r2")],
        [*cut(ADDED | {"arguments": "{"}), COMPLETED | {"id": "r2"}],
    ),
    ("a stream that is resumed is one answer", [*BODY[:4], *BODY, final("completed")], [COMPLETED]),
    (
        "an id that rotates with the final object is one answer",
        [*BODY, final("completed", id="other")],
        [COMPLETED | {"id": "other"}],
    ),
    (
        "junk in every place",
        [
            event("output_item.added", output_index={}, item=3),
            event("function_call_arguments.delta", output_index=0, delta=9),
            event("function_call_arguments.delta.x"),
            event("created", response="no"),
            final("completed"),
        ],
        [COMPLETED],
    ),
]
