"""Chat Completions streams as servers write them, and the calls that are in them: a table, one sentence a row."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


def chunk(delta: JSON | None = None, finish: str | None = None, choice: int = 0, **members: Any) -> JSON:
    """One chunk with one choice; without a delta and a finish reason, one with no choice."""
    choices = [{"index": choice, "delta": delta or {}, "finish_reason": finish}]
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [] if delta is None and finish is None else choices,
    } | members


def call(**members: Any) -> JSON:
    """One entry of a delta's tool_calls, holding only what was given."""
    own = {key: members.pop(key) for key in ("index", "id", "type") if key in members}
    return own | {"function": members}


def calls(*entries: JSON, **chunk_members: Any) -> JSON:
    """One chunk with tool_calls."""
    return chunk({"tool_calls": list(entries)}, **chunk_members)


def whole(call_id: str | None, **function: Any) -> JSON:
    """A call as it should come out."""
    return ({} if call_id is None else {"id": call_id}) | {"type": "function", "function": function}


ROLE = chunk({"role": "assistant", "content": None})
END = chunk({}, "tool_calls")
PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'

#: What the stream does; its chunks; the tool_calls of its one answer, which ends with "tool_calls".
CALLS: list[tuple[str, list[JSON], list[JSON]]] = [
    (
        "fragments of one call join",
        [
            calls(call(index=0, id="a", type="function", name="f", arguments="")),
            *(calls(call(index=0, arguments=c)) for c in PARIS),
        ],
        [whole("a", name="f", arguments=PARIS)],
    ),
    (
        "parallel calls are told apart by index and come out in its order",
        [
            calls(call(index=1, id="b", name="g", arguments="")),
            calls(call(index=0, id="a", name="f", arguments="")),
            calls(call(index=1, arguments="{")),
            calls(call(index=0, arguments=PARIS), call(index=1, arguments="}")),
        ],
        [whole("a", name="f", arguments=PARIS), whole("b", name="g", arguments="{}")],
    ),
    (
        "a missing index falls back to the id",
        [
            calls(call(id="a", name="f", arguments="{")),
            calls(call(id="b", name="g", arguments="{")),
            calls(call(id="a", arguments="}")),
            calls(call(id="b", arguments=" }")),
        ],
        [whole("a", name="f", arguments="{}"), whole("b", name="g", arguments="{ }")],
    ),
    (
        "a missing index and a missing id fall back to the call last written",
        [
            calls(call(index=0, id="a", name="f", arguments="")),
            calls(call(index=1, id="b", name="g", arguments="{")),
            calls(call(index=0, arguments="{")),
            calls(call(arguments="}")),
            calls(call(index=1, arguments="}")),
        ],
        [whole("a", name="f", arguments="{}"), whole("b", name="g", arguments="{}")],
    ),
    (
        "an index that comes late is the call's",
        [
            calls(call(id="a", name="f")),
            calls(call(index=1, id="a", arguments="{")),
            calls(call(index=0, id="b", name="g", arguments="{}")),
            calls(call(index=1, arguments="}")),
        ],
        [whole("b", name="g", arguments="{}"), whole("a", name="f", arguments="{}")],
    ),
    (
        "a name repeated in every delta is one name",
        [calls(call(index=0, id="a", name="llm", arguments=part)) for part in ("", "{", '"q": 1', "}")],
        [whole("a", name="llm", arguments='{"q": 1}')],
    ),
    (
        "a name repeated in every delta without ids is one name",
        [calls(call(index=0, name="llm", arguments=part)) for part in ("", '{"o": ', "{}", "}")],
        [whole(None, name="llm", arguments='{"o": {}}')],
    ),
    (
        "a name in pieces is joined",
        [
            calls(call(index=0, id="a", name="get_")),
            calls(call(index=0, name="a", arguments="")),
            calls(call(index=0, name="a")),
        ],
        [whole("a", name="get_aa", arguments="")],
    ),
    (
        "a name in pieces of which two are equal is joined all the same",
        [calls(call(index=0, id="a", name=piece)) for piece in "aab"],
        [whole("a", name="aab")],
    ),
    (
        "a name goes on after arguments where the id says that the call does",
        [
            calls(call(index=0, id="a", name="get_", arguments="{")),
            calls(call(index=0, id="a", name="x", arguments="}")),
        ],
        [whole("a", name="get_x", arguments="{}")],
    ),
    (
        "two entries of one list with the same id are one call",
        [calls(call(index=0, id="a", name="f", arguments="{"), call(index=0, id="a", name="f", arguments="}"))],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "a piece that looks like a whole object and is none goes on",
        [calls(call(index=0, name="f", arguments=piece)) for piece in ('{"a": "}', "{}", '"}')],
        [whole(None, name="f", arguments='{"a": "}{}"}')],
    ),
    (
        "a name in pieces that comes whole once more is not joined again",
        [
            calls(call(index=0, id="a", name="get_")),
            calls(call(index=0, name="x", arguments="{")),
            calls(call(index=0, name="get_x", arguments="}")),
        ],
        [whole("a", name="get_x", arguments="{}")],
    ),
    (
        "an empty name and an empty id later on change nothing",
        [calls(call(index=0, id="a", name="f", arguments="{")), calls(call(index=0, id="", name="", arguments="}"))],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "null arguments in the first delta are none yet",
        [
            calls(call(index=0, id="a", name="f") | {"function": {"name": "f", "arguments": None}}),
            calls(call(index=0, arguments="{}")),
        ],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "arguments that are only null stay null",
        [calls({"index": 0, "id": "a", "function": {"name": "f", "arguments": None}})],
        [whole("a", name="f", arguments=None)],
    ),
    ("arguments that never came have no key", [calls(call(index=0, id="a", name="f"))], [whole("a", name="f")]),
    (
        "arguments that are empty stay empty",
        [calls(call(index=0, id="a", name="f", arguments=""))],
        [whole("a", name="f", arguments="")],
    ),
    (
        "an object stays an object",
        [calls(call(index=0, id="a", name="f", arguments={"n": 2**70}))],
        [whole("a", name="f", arguments={"n": 2**70})],
    ),
    (
        "a list of arguments stays what it is",
        [calls(call(index=0, id="a", name="f", arguments=[1]))],
        [whole("a", name="f", arguments=[1])],
    ),
    (
        "whole calls in one chunk",
        [calls(call(index=0, id="a", name="f", arguments=PARIS), call(index=1, id="b", name="f", arguments=ROME))],
        [whole("a", name="f", arguments=PARIS), whole("b", name="f", arguments=ROME)],
    ),
    (
        "an index used again with another id is another call",
        [
            calls(call(index=0, id="a", name="f", arguments="{")),
            calls(call(index=0, arguments="}")),
            calls(call(index=0, id="b", name="f", arguments="{")),
            calls(call(index=0, arguments="}")),
        ],
        [whole("a", name="f", arguments="{}"), whole("b", name="f", arguments="{}")],
    ),
    (
        "one index for all calls, with ids that alternate",
        [calls(call(index=0, id=own, name="f", arguments=part)) for part in ("{", "}") for own in ("a", "b")],
        [whole("a", name="f", arguments="{}"), whole("b", name="f", arguments="{}")],
    ),
    (
        "an id that all calls share joins no two of them",
        [
            calls(call(index=0, id="call_id", name="f", arguments="{}")),
            calls(call(index=1, id="call_id", name="g", arguments="{}")),
        ],
        [whole("call_id", name="f", arguments="{}"), whole("call_id", name="g", arguments="{}")],
    ),
    (
        "whole calls under one index with empty ids are as many calls",
        [calls(call(index=0, id="", name="f", arguments=PARIS)), calls(call(index=0, id="", name="f", arguments=ROME))],
        [whole("", name="f", arguments=PARIS), whole("", name="f", arguments=ROME)],
    ),
    (
        "entries of one list with neither index nor id are as many calls",
        [calls(call(name="f", arguments=""), call(name="f", arguments=""), call(name="g"))],
        [whole(None, name="f", arguments=""), whole(None, name="f", arguments=""), whole(None, name="g")],
    ),
    (
        "another name after arguments is another call where there are no ids",
        [
            calls(call(index=0, name="f", arguments="{")),
            calls(call(index=0, arguments="}")),
            calls(call(index=0, name="g", arguments="{}")),
        ],
        [whole(None, name="f", arguments="{}"), whole(None, name="g", arguments="{}")],
    ),
    (
        "the two halves of a character that came in two chunks are one character, a lone half stays alone",
        [
            calls(call(index=0, id="a", name="f", arguments='{"x": "\ud83d')),
            calls(call(index=0, arguments='\ude00 \ud83d"}')),
        ],
        [whole("a", name="f", arguments='{"x": "\U0001f600 \ud83d"}')],
    ),
    (
        "custom calls keep their free text",
        [
            calls({"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": ""}}),
            calls({"index": 0, "custom": {"input": "SELECT "}}),
            calls({"index": 0, "custom": {"input": "1"}}),
        ],
        [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}],
    ),
    (
        "a gateway's stubs beside a call are not calls",
        [
            chunk(
                {
                    "function_call": {"name": "", "arguments": ""},
                    "tool_calls": [
                        call(index=0, id="a", name="f", arguments="{}") | {"custom": {"name": "", "input": ""}},
                        call(index=1, id="", name="", arguments=""),
                    ],
                }
            )
        ],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "a stub of a function beside a custom call is no call",
        [calls(call(index=0, id="a", name="", arguments="") | {"custom": {"name": "sql", "input": "1"}})],
        [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "1"}}],
    ),
    (
        "one entry that is no list",
        [chunk({"tool_calls": call(id="a", name="f", arguments="{}")})],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "an index in text",
        [calls(call(index="0", id="a", name="f", arguments="{")), calls(call(index=0.0, arguments="}"))],
        [whole("a", name="f", arguments="{}")],
    ),
    (
        "junk between the deltas",
        [
            calls(call(index=0, id="a", name="f", arguments="{")),
            chunk({"tool_calls": [None, 7, "x", {"function": "f"}]}),
            calls(call(index=0, arguments="}")),
        ],
        [whole("a", name="f", arguments="{}")],
    ),
]

A1, A2, A3 = (
    calls(call(index=0, id="a", name="f", arguments="{")),
    calls(call(index=0, arguments="}")),
    chunk({}, "stop"),
)


def of(events: list[JSON], *ids: Any) -> list[JSON]:
    """The events, with their ids replaced in turn; an id of ... is left out."""
    pairs = zip(events, ids * len(events), strict=False) if len(ids) == 1 else zip(events, ids, strict=True)
    return [{key: value for key, value in (event | {"id": own}).items() if value is not ...} for event, own in pairs]


STREAM = [ROLE, A1, A2, A3]
#: Whose chunk is it; the chunks; the ids of the answers and how many calls each has.
IDS: list[tuple[str, list[JSON], list[tuple[str | None, int]]]] = [
    ("one id", STREAM, [("c1", 1)]),
    ("empty ids are one answer", of(STREAM, ""), [(None, 1)]),
    ("no ids are one answer", of(STREAM, ...), [(None, 1)]),
    ("ids of another type are none", of(STREAM, 7), [(None, 1)]),
    ("an id that comes late is the answer's", of(STREAM, "", "x", "x", "x"), [("x", 1)]),
    ("an id that is empty in between changes nothing", of(STREAM, "x", "", "x", ...), [("x", 1)]),
    ("an id of its own for each chunk is one answer", of(STREAM, "w", "x", "y", "z"), [("w", 1)]),
    ("an id that changes on the way is one answer", of(STREAM, "x", "x", "y", "y"), [("x", 1)]),
    ("a usage chunk with an id of its own is no answer", [*STREAM, chunk(id="u", usage={})], [("c1", 1)]),
    ("a first chunk without choices", [chunk(id="", prompt_filter_results=[]), *STREAM], [("c1", 1)]),
    ("an id that opens without choices", [*of(STREAM, "x"), chunk(id="y"), *of(STREAM, "y")], [("x", 1), ("y", 1)]),
    ("two streams one after the other", [*of(STREAM, "x"), *of(STREAM, "y")], [("x", 1), ("y", 1)]),
    ("a second stream after one that was cut", [*of(STREAM[:2], "x"), *of(STREAM, "y")], [("x", 1), ("y", 1)]),
    (
        "a stream of one chunk after one that was cut",
        [*of(STREAM[:2], "x"), chunk({"role": "assistant", "tool_calls": [call(index=0, id="b", name="f")]}, id="y")],
        [("x", 1), ("y", 1)],
    ),
    (
        "two streams interleaved",
        [event for pair in zip(of(STREAM, "x"), of(STREAM, "y"), strict=True) for event in pair],
        [("x", 1), ("y", 1)],
    ),
    (
        "whole answers of one chunk each are as many answers",
        [calls(call(index=0, id="a", name="f", arguments="{}"), id=own, finish="stop") for own in ("x", "y", "z")],
        [("x", 1), ("y", 1), ("z", 1)],
    ),
]

#: What the ends say, chunk by chunk; the finish_reason of the answer.
ENDS: list[tuple[list[str | None], str | None]] = [
    ([None, None], None),
    ([None, "stop"], "stop"),
    (["tool_calls", "stop"], "stop"),
    (["stop", "stop", "tool_calls"], "tool_calls"),
    (["tool_calls", ""], "tool_calls"),
    (["", None], ""),
    (["length", "stop"], "length"),
    (["content_filter", None, "stop"], "content_filter"),
]
