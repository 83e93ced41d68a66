"""The table of states is the contract: nine names in the order in which they are decided, each with its outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rfc8259 import FAULTS as FAULT_TABLE

from pipeline.checking import check_files
from pipeline.findings import Checked
from pipeline.run import Settings
from pipeline.supplied import read_supplied
from pipeline.verdicts import FAULTS, FINDING, OUTCOMES, STATE_BY_NAME, STATES, USABLE

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_data"

TABLE = [
    ("freeform-not-checked", "unjudged"),
    ("arguments-truncated", "cut"),
    ("arguments-unparseable", "finding"),
    ("tools-not-recorded", "unjudged"),
    ("unknown-tool", "finding"),
    ("tool-schema-invalid", "unjudged"),
    ("arguments-violate-schema", "finding"),
    ("dispatchable-unconstrained", "usable"),
    ("dispatchable", "usable"),
]


def test_the_states_are_those_of_the_contract_in_their_order() -> None:
    assert [(state.name, state.outcome) for state in STATES] == TABLE
    assert list(STATE_BY_NAME) == [name for name, _ in TABLE]
    assert {state.outcome for state in STATES} == set(OUTCOMES)


def test_what_is_not_well_has_a_repair() -> None:
    without = {state.name for state in STATES if not state.repairs}
    assert without == {"freeform-not-checked", "dispatchable"}


def test_every_fault_is_in_the_table_of_texts_or_needs_no_text() -> None:
    named = {name for _, name, _ in FAULT_TABLE}
    assert set(FAULTS) - named <= {"absent", "too-deep"}
    assert named <= set(FAULTS)


STRICT = {"type": "function", "name": "a", "strict": True, "parameters": {"type": "object", "required": ["x"]}}
LOOSE = {**STRICT, "strict": False}
INVALID = {**STRICT, "parameters": {"type": "objekt"}}
CUSTOM = {"type": "custom", "name": "a"}
MAX = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

#: A call with everything wrong that can be, then with one thing less each time: the first that applies is its state.
PRECEDENCE: list[tuple[str, str, list[dict[str, Any]] | None, dict[str, Any], str]] = [
    ("custom_tool_call", "{", None, MAX, "freeform-not-checked"),
    ("function_call", "{", [CUSTOM], MAX, "freeform-not-checked"),
    ("function_call", "{", None, MAX, "arguments-truncated"),
    ("function_call", "{", [], MAX, "arguments-truncated"),
    ("function_call", "{", [INVALID], MAX, "arguments-truncated"),
    ("function_call", "{", None, {}, "arguments-unparseable"),
    ("function_call", "{", [], {}, "arguments-unparseable"),
    ("function_call", "{", [INVALID], {}, "arguments-unparseable"),
    ("function_call", "{}", None, MAX, "tools-not-recorded"),
    ("function_call", "{}", [], MAX, "unknown-tool"),
    ("function_call", "{}", [{**INVALID, "name": "b"}], {}, "unknown-tool"),
    ("function_call", "{}", [INVALID], MAX, "tool-schema-invalid"),
    ("function_call", "{}", [STRICT], MAX, "arguments-violate-schema"),
    ("function_call", "{}", [LOOSE], {}, "arguments-violate-schema"),
    ("function_call", '{"x":1}', [LOOSE], MAX, "dispatchable-unconstrained"),
    ("function_call", '{"x":1}', [STRICT], MAX, "dispatchable"),
]


def states_of(log: Path, settings: Settings | None = None) -> tuple[Checked, list[dict[str, Any]]]:
    total, calls = Checked(), []
    for part in check_files([str(log)], settings or Settings(), show_all=True):
        total.add(part)
        calls += part.findings
    return total, calls


def test_the_first_state_that_applies_is_the_one(tmp_path: Path) -> None:
    lines = []
    for kind, text, tools, more, _ in PRECEDENCE:
        item = {"type": kind, "name": "a", "input" if kind == "custom_tool_call" else "arguments": text}
        lines.append(json.dumps({"output": [item], **({} if tools is None else {"tools": tools}), **more}))
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    _, calls = states_of(tmp_path / "log.jsonl")
    assert [call["state"] for call in calls] == [expected for *_, expected in PRECEDENCE]
    assert [call["outcome"] for call in calls] == [STATE_BY_NAME[expected].outcome for *_, expected in PRECEDENCE]


CHAT_TOOLS = [{"type": "function", "function": {key: value for key, value in STRICT.items() if key != "type"}}]

#: How a turn ended, the calls it made, and the state and truncation of each.
ENDINGS: dict[str, tuple[dict[str, Any], list[tuple[str, str | None]]]] = {
    "only the last call of a cut turn can have been cut": (
        {"finish_reason": "length", "texts": ['{"x":', '{"x":1}', '{"x":']},
        [("arguments-unparseable", "length"), ("dispatchable", "length"), ("arguments-truncated", "length")],
    ),
    "a filter is no ceiling and cuts all the same": (
        {"finish_reason": "content_filter", "texts": ['{"x":']},
        [("arguments-truncated", "content_filter")],
    ),
    "text that parses is never cut, and the evidence stands": (
        {"finish_reason": "length", "texts": ['{"x":1}']},
        [("dispatchable", "length")],
    ),
    "text that is whole and wrong at the end of a cut turn counts as cut": (
        {"finish_reason": "length", "texts": ['{"x":1,}']},
        [("arguments-truncated", "length")],
    ),
    "a limit that is reached cuts what ends early, whatever the ending says": (
        {"finish_reason": "tool_calls", "max_tokens": 10, "texts": ['{"x":', '{"x":']},
        [("arguments-unparseable", "token_limit_reached"), ("arguments-truncated", "token_limit_reached")],
    ),
    "a limit that is reached does not excuse text that is broken otherwise": (
        {"finish_reason": "tool_calls", "max_tokens": 10, "texts": ['{"x":1,}']},
        [("arguments-unparseable", "token_limit_reached")],
    ),
    "a limit that is not reached says nothing": (
        {"finish_reason": "tool_calls", "max_tokens": 11, "texts": ['{"x":']},
        [("arguments-unparseable", None)],
    ),
    "a limit of nothing is no limit": (
        {"finish_reason": "tool_calls", "max_tokens": 0, "texts": ['{"x":']},
        [("arguments-unparseable", None)],
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_cut_or_not(tmp_path: Path, name: str) -> None:
    turn, expected = ENDINGS[name]
    calls = [{"id": "c", "type": "function", "function": {"name": "a", "arguments": text}} for text in turn["texts"]]
    answer = {
        "choices": [{"finish_reason": turn["finish_reason"], "message": {"tool_calls": calls}}],
        "usage": {"completion_tokens": 10},
        "tools": CHAT_TOOLS,
    }
    record = {"request": {"max_tokens": turn.get("max_tokens")}, "response": answer}
    (tmp_path / "log.jsonl").write_text(json.dumps(record))
    _, found = states_of(tmp_path / "log.jsonl")
    assert [(call["state"], call["truncation"]) for call in found] == expected


def test_every_state_occurs_in_the_samples_and_most_can_be_judged_once_tools_are_supplied() -> None:
    total = Checked()
    files = [str(path) for path in sorted(SAMPLES.rglob("*.json*")) if "tools" not in path.parts]
    for part in check_files(files, Settings()):
        total.add(part)
    assert {name for name, count in total.states.items() if count} == set(STATE_BY_NAME)
    supplied = Checked()
    for part in check_files(files, Settings(supplied=read_supplied(str(SAMPLES / "tools" / "workshop-tools.json")))):
        supplied.add(part)
    assert supplied.states["tools-not-recorded"] == 0
    assert supplied.calls == total.calls


def test_the_violation_rate_leaves_out_what_is_cut_or_unjudged() -> None:
    checked = Checked()
    checked.states.update({name: 1 for name, _ in TABLE})
    outcomes = [outcome for _, outcome in TABLE]
    assert checked.finding_count == outcomes.count(FINDING)
    assert checked.judged_count == outcomes.count(FINDING) + outcomes.count(USABLE)
