"""Judged batches as plain values: the calls worth showing, in the words of the machine formats, and all the counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from pipeline.batches import logger_truncation
from pipeline.intake import Located
from pipeline.records import Reject, Unrecognised
from pipeline.run import Batch
from pipeline.verdicts import (
    ARGUMENTS_TRUNCATED,
    ARGUMENTS_UNPARSEABLE,
    ARGUMENTS_VIOLATE_SCHEMA,
    FINDING,
    STATE_BY_NAME,
    STATES,
    UNKNOWN_TOOL,
    USABLE,
)

#: Kinds of finding that are kept apart before the rest is counted under one head. A hostile log makes any number.
_GROUP_LIMIT = 5_000
#: Characters of a text that are kept where texts are kept for the whole of a run. A hostile log makes any length.
_TEXT_LIMIT = 200
#: Keys of an unrecognised record that are told.
_KEYS_SHOWN = 12
_TURN_COLUMNS = ("source_file", "source_line", "response_id", "model")
_CALL_COLUMNS = (
    "call_index",
    "call_id",
    "tool_name",
    "tool_namespace",
    "state",
    "outcome",
    "fault",
    "detail",
    "strict",
    "arguments",
    "truncation",
)
_VIOLATION_COLUMNS = ("path", "keyword", "expected", "got", "message")


class GroupKey(Struct, frozen=True):
    """What findings have in common: state, tool, the place or kind of the fault, and the keyword."""

    state: str
    tool_name: str
    place: str
    keyword: str


class Group(Struct):
    """How many findings share a key, and one of them."""

    count: int
    example: str
    message: str


class Checked(Struct):
    """What some part of a log came to. Adds up with :meth:`add`; everything counts from zero.

    ``findings`` are the calls to show, in log order, with the keys of the machine formats; ``files_rejected`` has the
    first reason of each file with rejects.
    """

    records: int = 0
    answered: int = 0
    turns: int = 0
    calls: int = 0
    parallel_turns: int = 0
    parallel_calls: int = 0
    states: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    groups: dict[GroupKey, Group] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    reject_count: int = 0
    rejects: list[Located] = field(default_factory=list)
    unrecognised: Counter[str] = field(default_factory=Counter)
    files_read: Counter[str] = field(default_factory=Counter)
    files_rejected: dict[str, str] = field(default_factory=dict)

    @property
    def finding_count(self) -> int:
        """Calls whose verdict is a finding."""
        return sum(self.states[state.name] for state in STATES if state.outcome == FINDING)

    @property
    def judged_count(self) -> int:
        """Findings and usable calls: what a violation rate is a share of."""
        return self.finding_count + sum(self.states[state.name] for state in STATES if state.outcome == USABLE)

    def unreadable_files(self) -> dict[str, str]:
        """Files that have rejects and not one record that could be read, in log order, each with the first reason."""
        return {file: reason for file, reason in self.files_rejected.items() if not self.files_read[file]}

    def add(self, part: Checked) -> None:
        """Count another part in. Its lists (findings and rejects) are left to the caller, who knows what to keep."""
        self.records += part.records
        self.answered += part.answered
        self.turns += part.turns
        self.calls += part.calls
        self.parallel_turns += part.parallel_turns
        self.parallel_calls += part.parallel_calls
        self.states.update(part.states)
        self.warnings.update(part.warnings)
        self.notes.update(part.notes)
        self.reject_count += part.reject_count
        self.files_read.update(part.files_read)
        for file, reason in part.files_rejected.items():
            self.files_rejected.setdefault(file, reason)
        for kind, count in part.unrecognised.items():
            known = kind in self.unrecognised or len(self.unrecognised) < _GROUP_LIMIT
            self.unrecognised[kind if known else "other kinds"] += count
        for key, group in part.groups.items():
            known = key in self.groups or len(self.groups) < _GROUP_LIMIT
            _count_group(self.groups, key if known else GroupKey(key.state, "(others)", "", ""), group)


def check_batch(batch: Batch, show_all: bool) -> Checked:
    """What one batch comes to; with ``show_all`` every call is kept as a finding, else only those not usable."""
    checked = count_batch(batch)
    checked.findings, checked.groups = _findings(batch, show_all)
    return checked


def count_batch(batch: Batch) -> Checked:
    """What one batch comes to in numbers, with no finding kept."""
    counts = pc.value_counts(batch.calls["state"]).to_pylist()
    turns = batch.rows.turns
    parallel = [made for made in turns.calls if made > 1]
    return Checked(
        records=batch.records,
        answered=batch.answered,
        turns=len(turns),
        calls=batch.calls.num_rows,
        parallel_turns=len(parallel),
        parallel_calls=sum(parallel),
        states=Counter({count["values"]: count["counts"] for count in counts}),
        warnings=_warnings(batch.calls),
        notes=batch.notes,
        reject_count=len(batch.rejects),
        rejects=batch.rejects,
        unrecognised=Counter(_kind(located.what) for located in batch.unrecognised),
        files_read=_files_read(batch),
        files_rejected={located.source_file: located.what.reason for located in reversed(batch.rejects)},
    )


def _kind(what: Reject | Unrecognised) -> str:
    """What kind of record was not recognised, in words: the reason and its keys."""
    reason = what.reason[:_TEXT_LIMIT]
    if isinstance(what, Unrecognised) and what.keys:
        more = len(what.keys) - _KEYS_SHOWN
        keys = ", ".join(key[:_TEXT_LIMIT] for key in what.keys[:_KEYS_SHOWN]) + (
            f", and {more} more" if more > 0 else ""
        )
        return f"{reason}; keys: {keys}"
    return reason


def _files_read(batch: Batch) -> Counter[str]:
    """How many records of each file were readable, recognised or not."""
    read = Counter(batch.rows.turns.source_file)
    read.update(located.source_file for located in batch.unrecognised)
    return read


def _warnings(calls: pa.RecordBatch) -> Counter[str]:
    """What is odd about calls and no fault by itself: counted beside the verdicts."""
    masks = {
        "arguments that repeat a key (the last value counts)": calls["duplicate_keys"],
        "arguments logged as an object, not as a string": pc.equal(calls["arguments_form"], "object"),
        "calls outside what tool_choice allowed": calls["outside_tool_choice"],
        "arguments that a logger shortened (litellm_truncated)": pc.is_valid(logger_truncation(calls["arguments"])),
    }
    return Counter({text: count for text, mask in masks.items() if (count := pc.sum(mask.cast(pa.int64())).as_py())})


def _findings(batch: Batch, show_all: bool) -> tuple[list[dict[str, Any]], dict[GroupKey, Group]]:
    calls = batch.calls
    if show_all:
        shown = pa.array(range(calls.num_rows), type=pa.int32())
    else:
        shown = pc.indices_nonzero(pc.not_equal(calls["outcome"], USABLE)).cast(pa.int32())
    rows = calls.take(shown)
    turns, turn_rows = batch.rows.turns, rows["turn_row"].to_pylist()
    violations: dict[int, list[dict[str, Any]]] = {}
    for violation in batch.violations.to_pylist():
        violations.setdefault(violation["call_row"], []).append(violation)
    places = (turns.source_file, turns.line, turns.response_id, turns.model)
    columns = [[column[row] for row in turn_rows] for column in places]
    columns += [rows[name].to_pylist() for name in _CALL_COLUMNS]
    names = _TURN_COLUMNS + _CALL_COLUMNS
    findings = []
    groups: dict[GroupKey, Group] = {}
    for row, nearest, *values in zip(shown.to_pylist(), rows["nearest_tool"].to_pylist(), *columns, strict=True):
        finding = dict(zip(names, values, strict=True))
        broken = violations.get(row, [])
        for key, message in _groups_of(finding, broken, nearest):
            _count_group(groups, key, Group(1, f"{finding['source_file']}:{finding['source_line']}", message))
        finding["violations"] = [{name: violation[name] for name in _VIOLATION_COLUMNS} for violation in broken]
        finding["repairs"] = list(STATE_BY_NAME[finding["state"]].repairs)
        findings.append(finding)
    return findings, groups


def _count_group(groups: dict[GroupKey, Group], key: GroupKey, group: Group) -> None:
    known = groups.get(key)
    if known is None:
        groups[key] = Group(group.count, group.example, group.message)
    else:
        known.count += group.count


def _groups_of(
    finding: dict[str, Any], violations: list[dict[str, Any]], nearest: str | None
) -> list[tuple[GroupKey, str]]:
    """The groups that one call counts in: one for each distinct place and keyword it breaks, else one for its kind."""
    if finding["outcome"] == USABLE:
        return []
    state, tool_name = finding["state"], (finding["tool_name"] or "")[:_TEXT_LIMIT]
    detail = (finding["detail"] or "")[:_TEXT_LIMIT]
    if state == ARGUMENTS_VIOLATE_SCHEMA.name:
        keyed = {
            GroupKey(state, tool_name, violation["path_pattern"][:_TEXT_LIMIT], violation["keyword"]): violation[
                "message"
            ][:_TEXT_LIMIT]
            for violation in reversed(violations)
        }
        return list(reversed(keyed.items()))
    if state == ARGUMENTS_UNPARSEABLE.name:
        return [(GroupKey(state, tool_name, "", finding["fault"] or ""), detail)]
    if state == ARGUMENTS_TRUNCATED.name:
        return [(GroupKey(state, tool_name, "", (finding["truncation"] or "")[:_TEXT_LIMIT]), detail)]
    if state == UNKNOWN_TOOL.name:
        return [(GroupKey(state, tool_name, f"nearest: {nearest}" if nearest else "", ""), detail)]
    return [(GroupKey(state, tool_name, "", ""), detail)]
