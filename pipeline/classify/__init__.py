"""Calls in, the same calls with their verdicts out: which of the nine states each one is in, and why.

What is decided for whole columns: which texts and which pairs of definition and text are distinct, whether a name is
declared, strictness, the precedence of the states, outcomes. What is not: parsing one text, and holding one object
against its schema. Those are calls into C and Rust for a value of its own shape, which no column operation can do; they
run once for each distinct text and each distinct pair.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.classify.pairs import VIOLATION_SCHEMA, Pairs
from pipeline.classify.schemas import schema_error
from pipeline.classify.texts import Texts
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
    texts = Texts(calls["arguments"], freeform)
    pairs = Pairs(tools, texts)
    ends_early = pc.and_(calls["at_token_limit"], texts.ends_early)
    can_be_cut = pc.or_(pc.is_valid(calls["cut_evidence"]), ends_early)
    unparsed = pc.invert(texts.parsed)
    state = pc.case_when(
        pc.make_struct(
            freeform,
            pc.and_(unparsed, can_be_cut),
            unparsed,
            pc.is_null(calls["toolset"]),
            pc.is_null(tools.definition),
            pc.or_(tools.has_schema_error, pairs.unjudgeable),
            pc.greater(pairs.violation_count, 0),
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
        texts.fault,
        pc.coalesce(
            texts.fault_detail,
            pc.if_else(pc.equal(state, _STATE_NUMBER[TOOL_SCHEMA_INVALID]), tools.schema_error, None),
            pc.if_else(unknown, tools.unknown_detail, None),
            pairs.detail,
        ),
        pairs.violation_count,
        texts.duplicate_keys,
        pc.if_else(pc.or_(unknown, unparsed), tools.nearest, None),
    ]
    columns = [*calls.columns, *verdicts]
    schema = pa.schema([*calls.schema, *VERDICT_SCHEMA])
    return Judged(pa.RecordBatch.from_arrays(columns, schema=schema), pairs.violations())
