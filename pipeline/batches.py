"""Turns as Arrow batches: what goes into the classifier, and what comes out of it.

Two batches go together: one row a turn, one row a call. A call's row names its turn's row (``turn_row``), so that what
belongs to the turn is stored once and joined only where a whole row is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.rows import Rows, TurnColumns
from pipeline.tables import TIMESTAMP
from pipeline.toolset import ToolsetsByNumber

_TEXT = pa.string()
_COUNT = pa.int32()

#: One row a turn, in log order. ``tools_declared`` is null where no definitions are recorded.
TURN_SCHEMA = pa.schema(
    [
        ("format", _TEXT),
        ("response_id", _TEXT),
        ("model", _TEXT),
        ("created_at", TIMESTAMP),
        ("choice_index", _COUNT),
        ("response_status", _TEXT),
        ("finish_reason", _TEXT),
        ("truncation", _TEXT),
        ("calls", _COUNT),
        ("tools_declared", _COUNT),
        ("parallel_tool_calls", pa.bool_()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("source_file", _TEXT),
        ("source_line", pa.int64()),
        ("source_offset", pa.int64()),
    ]
)

#: One row a call, in log order. ``cut_evidence`` says why the call can have been cut, ``at_token_limit`` that it can
#: have been if its text ends early; both only ever on a call that the ending of the turn can have touched. ``toolset``
#: is a number that means something until the toolsets are renewed.
CALL_SCHEMA = pa.schema(
    [
        ("turn_row", _COUNT),
        ("toolset", _COUNT),
        ("call_index", _COUNT),
        ("call_id", _TEXT),
        ("tool_name", _TEXT),
        ("tool_namespace", _TEXT),
        ("arguments", _TEXT),
        ("arguments_form", _TEXT),
        ("freeform", pa.bool_()),
        ("cut_evidence", _TEXT),
        ("at_token_limit", pa.bool_()),
        ("truncation", _TEXT),
        ("outside_tool_choice", pa.bool_()),
    ]
)

#: Evidence on the call's own item, and that of the token counts.
ITEM_INCOMPLETE = "item_incomplete"
TOKEN_LIMIT_REACHED = "token_limit_reached"  # noqa: S105 -- tokens of text, not of access

#: The mark that a gateway leaves in strings it shortened, and the name under which that is told.
_LOGGER_MARK = "(litellm_truncated skipped "
_LOGGER_NAME = "litellm_truncated"


def tools_declared(rows: Rows, toolsets: ToolsetsByNumber) -> list[int | None]:
    """How many tools stand declared with each turn, None where that is not recorded; in the order of the rows."""
    numbers = rows.turns.toolset
    counts = {number: None if number is None else len(toolsets[number].definitions) for number in set(numbers)}
    return [counts[number] for number in numbers]


def turns_batch(rows: Rows, declared: Sequence[int | None]) -> pa.RecordBatch:
    """One row a turn (``TURN_SCHEMA``), in the order of the rows; ``declared`` are its :func:`tools_declared`."""
    turns = rows.turns
    columns = [
        turns.format,
        turns.response_id,
        turns.model,
        turns.created_at_us,
        turns.choice_index,
        turns.response_status,
        turns.finish_reason,
        _evidence(turns),
        turns.calls,
        list(declared),
        turns.parallel_tool_calls,
        turns.input_tokens,
        turns.output_tokens,
        turns.source_file,
        turns.line,
        turns.offset,
    ]
    return _batch(columns, TURN_SCHEMA)


def calls_batch(rows: Rows) -> pa.RecordBatch:
    """One row a call (``CALL_SCHEMA``), turn by turn; ``turn_row`` counts the turns of the rows."""
    turns, calls = rows.turns, rows.calls
    first_calls = pa.array(accumulate(turns.calls, initial=0), type=_COUNT)
    turn_row = pc.list_parent_indices(pa.ListArray.from_arrays(first_calls, pa.nulls(len(calls)))).cast(_COUNT)
    call_index: pa.Array | list[int] = [0] * len(calls)
    if max(turns.calls, default=0) > 1:
        call_index = pc.subtract(pa.array(range(len(calls)), type=_COUNT), first_calls.take(turn_row))
    cut_evidence, at_token_limit, truncation = _endings(rows)
    columns: list[pa.Array | list[Any]] = [
        turn_row,
        pa.array(turns.toolset, type=_COUNT).take(turn_row),
        call_index,
        calls.call_id,
        calls.tool_name,
        calls.tool_namespace,
        calls.arguments,
        calls.arguments_form,
        calls.freeform,
        cut_evidence,
        at_token_limit,
        truncation,
        _outside_tool_choice(rows),
    ]
    return _batch(columns, CALL_SCHEMA)


def _endings(rows: Rows) -> tuple[list[str | None], list[bool], list[str | None]]:
    """Evidence that a call can have been cut, that it can have been by the token limit, and what the turn shows.

    The ending of a turn touches its last call only. Most turns end well, so the columns start empty.
    """
    turns, incomplete = rows.turns, rows.calls.item_incomplete
    cut_evidence: list[str | None] = [None] * len(incomplete)
    at_token_limit = [False] * len(incomplete)
    truncation: list[str | None] = [None] * len(incomplete)
    evidence = _evidence(turns)
    if evidence.count(None) == len(evidence) and True not in incomplete:
        return cut_evidence, at_token_limit, truncation
    first = 0
    for turn, count in enumerate(turns.calls):
        after = first + count
        if count and evidence[turn] is not None:
            truncation[first:after] = [evidence[turn]] * count
            cut_evidence[after - 1] = turns.truncation[turn]
            at_token_limit[after - 1] = turns.token_limit_reached[turn]
        for row in range(first, after):
            if incomplete[row]:
                cut_evidence[row] = ITEM_INCOMPLETE
                truncation[row] = turns.truncation[turn] or ITEM_INCOMPLETE
        first = after
    return cut_evidence, at_token_limit, truncation


def _outside_tool_choice(rows: Rows) -> list[bool | None]:
    allowed = rows.turns.allowed_tools
    if allowed.count(None) == len(allowed):
        return [None] * len(rows.calls)
    allowed_of_call = (names for names, count in zip(allowed, rows.turns.calls, strict=True) for _ in range(count))
    return [
        None if names is None else name not in names
        for names, name in zip(allowed_of_call, rows.calls.tool_name, strict=True)
    ]


def logger_truncation(arguments: pa.Array) -> pa.Array:
    """Name of the logger whose mark stands in arguments that it shortened, a string a row; null where there is none."""
    texts = arguments.buffers()[-1]
    # Hardly any text has it, and all texts lie side by side: looking through them at once is the quickest way to know.
    if texts is None or _LOGGER_MARK.encode() not in texts.to_pybytes():
        return pa.nulls(len(arguments), _TEXT)
    marked = pc.match_substring(arguments, _LOGGER_MARK)
    return pc.if_else(marked, _LOGGER_NAME, pa.scalar(None, _TEXT))


def _evidence(turns: TurnColumns) -> list[str | None]:
    """Why each turn can have been cut: what it says itself, or else that it reached its token limit."""
    if True not in turns.token_limit_reached:
        return turns.truncation
    return [
        said or (TOKEN_LIMIT_REACHED if reached else None)
        for said, reached in zip(turns.truncation, turns.token_limit_reached, strict=True)
    ]


def _batch(columns: Sequence[pa.Array | list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        column if isinstance(column, pa.Array) else _column(column, member.type)
        for column, member in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(values: list[Any], data_type: pa.DataType) -> pa.Array:
    """The values as an array. Many columns hold one and the same object all along, which takes a tenth of the time."""
    if len(values) > 1 and values[0] is values[-1] and values.count(values[0]) == len(values):
        return pa.repeat(pa.scalar(values[0], data_type), len(values))
    return pa.array(values, type=data_type)
