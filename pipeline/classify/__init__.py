"""Calls in, the same calls with their verdicts out: which of the nine states each one is in, and why.

What is decided for whole columns: whether a name is declared, strictness, the precedence of the states, outcomes. What
is not: parsing one text, and holding one object against its schema. Those are calls into C and Rust for a value of its
own shape, which no column operation can do; they run once for each distinct pair of definition and text.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.classify.pairs import VIOLATION_SCHEMA, Pairs
from pipeline.classify.schemas import schema_error
from pipeline.classify.tools import Tools
from pipeline.toolset import ToolsetsByNumber
from pipeline.verdicts import (
    ARGUMENTS_TRUNCATED,
    ARGUMENTS_UNPARSEABLE,
    ARGUMENTS_VIOLATE_SCHEMA,
    DISPATCHABLE,
    DISPATCHABLE_UNCONSTRAINED,
    FREEFORM_NOT_CHECKED,
    STATES,
    TOOL_SCHEMA_INVALID,
    TOOLS_NOT_RECORDED,
    UNKNOWN_TOOL,
)

__all__ = ["VERDICT_SCHEMA", "VIOLATION_SCHEMA", "Judged", "classify", "schema_error"]

#: The columns that judging adds to a batch of calls, row by row.
VERDICT_SCHEMA = pa.schema(
    [
        ("tool_key", pa.string()),
        ("tool_declared", pa.bool_()),
        ("strict", pa.bool_()),
        ("state", pa.string()),
        ("outcome", pa.string()),
        ("fault", pa.string()),
        ("detail", pa.string()),
        ("violation_count", pa.int32()),
        ("duplicate_keys", pa.bool_()),
        ("nearest_tool", pa.string()),
    ]
)
_STATE_NAMES = pa.array([state.name for state in STATES])
_OUTCOMES = pa.array([state.outcome for state in STATES])
# Constants have their type here, since Arrow is slow to find it out.
_NO_TEXT = pa.scalar(None, pa.string())
_ZERO = pa.scalar(0, pa.int32())
_STATE_NUMBER = {state: pa.scalar(number, pa.int8()) for number, state in enumerate(STATES)}


class Judged(NamedTuple):
    """A judged batch: the calls with ``VERDICT_SCHEMA`` behind their own columns, and their violations in row order."""

    calls: pa.RecordBatch
    violations: pa.RecordBatch


def classify(calls: pa.RecordBatch, toolsets: ToolsetsByNumber) -> Judged:
    """Judge every call. Same rows in the same order, with the verdict columns behind; one row more for each violation.

    ``calls`` has the columns of ``batches.CALL_SCHEMA``; its toolset numbers are those of ``toolsets``.
    """
    tools = Tools(calls, toolsets)
    freeform = pc.or_(calls["freeform"], tools.freeform)
    pairs = Pairs(tools, calls["arguments"], freeform)
    ends_early = pc.and_(calls["at_token_limit"], pairs.ends_early)
    can_be_cut = pc.or_(pc.is_valid(calls["cut_evidence"]), ends_early)
    unparsed = pc.invert(pairs.parsed)
    state = pc.case_when(
        pc.make_struct(
            freeform,
            pc.and_(unparsed, can_be_cut),
            unparsed,
            pc.is_null(calls["toolset"]),
            pc.is_null(tools.definition),
            pc.or_(tools.has_schema_error, pairs.unjudgeable),
            pc.greater(pairs.violation_count, _ZERO),
            pc.invert(tools.strict),
        ),
        *(
            _STATE_NUMBER[decided]
            for decided in (
                FREEFORM_NOT_CHECKED,
                ARGUMENTS_TRUNCATED,
                ARGUMENTS_UNPARSEABLE,
                TOOLS_NOT_RECORDED,
                UNKNOWN_TOOL,
                TOOL_SCHEMA_INVALID,
                ARGUMENTS_VIOLATE_SCHEMA,
                DISPATCHABLE_UNCONSTRAINED,
                DISPATCHABLE,
            )
        ),
    )
    state_name = _STATE_NAMES.take(state)
    unknown = pc.equal(state, _STATE_NUMBER[UNKNOWN_TOOL])
    verdicts = [
        tools.key,
        tools.declared,
        tools.strict,
        state_name,
        _OUTCOMES.take(state),
        pairs.fault,
        pc.coalesce(
            pairs.fault_detail,
            pc.if_else(pc.equal(state, _STATE_NUMBER[TOOL_SCHEMA_INVALID]), tools.schema_error, _NO_TEXT),
            pc.if_else(unknown, tools.unknown_detail, _NO_TEXT),
            pairs.detail,
        ),
        pairs.violation_count,
        pairs.duplicate_keys,
        pc.if_else(pc.or_(unknown, unparsed), tools.nearest, _NO_TEXT),
    ]
    columns = [*calls.columns, *verdicts]
    schema = pa.schema([*calls.schema, *VERDICT_SCHEMA])
    return Judged(pa.RecordBatch.from_arrays(columns, schema=schema), pairs.violations())
