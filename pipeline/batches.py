"""Turns as Arrow batches: what goes into the classifier, and what comes out of it.

Two batches go together: one row a turn, one row a call. A call's row names its turn's row (``turn_row``), so that what
belongs to the turn is stored once and joined only where a whole row is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import Turn
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


def turns_batch(turns: Sequence[Turn], toolsets: ToolsetsByNumber) -> pa.RecordBatch:
    """One row a turn (``TURN_SCHEMA``), in the order given."""
    columns: list[Sequence[object]] = [
        [turn.format for turn in turns],
        [turn.response_id for turn in turns],
        [turn.model for turn in turns],
        [turn.created_at_us for turn in turns],
        [turn.choice_index for turn in turns],
        [turn.response_status for turn in turns],
        [turn.finish_reason for turn in turns],
        [_turn_evidence(turn) for turn in turns],
        [len(turn.calls) for turn in turns],
        [None if turn.toolset is None else len(toolsets[turn.toolset].definitions) for turn in turns],
        [turn.parallel_tool_calls for turn in turns],
        [turn.input_tokens for turn in turns],
        [turn.output_tokens for turn in turns],
        [turn.source_file for turn in turns],
        [turn.line for turn in turns],
        [turn.offset for turn in turns],
    ]
    return _batch(columns, TURN_SCHEMA)


def calls_batch(turns: Sequence[Turn]) -> pa.RecordBatch:
    """One row a call of these turns (``CALL_SCHEMA``), turn by turn; ``turn_row`` counts the turns given."""
    calls = [call for turn in turns for call in turn.calls]
    cut_evidence, at_token_limit, truncation = _endings(turns, len(calls))
    columns: list[Sequence[object]] = [
        [row for row, turn in enumerate(turns) for _ in turn.calls],
        [turn.toolset for turn in turns for _ in turn.calls],
        [index for turn in turns for index in range(len(turn.calls))],
        [call.call_id for call in calls],
        [call.tool_name for call in calls],
        [call.tool_namespace for call in calls],
        [call.arguments for call in calls],
        [call.arguments_form for call in calls],
        [call.freeform for call in calls],
        cut_evidence,
        at_token_limit,
        truncation,
        _outside_tool_choice(turns, len(calls)),
    ]
    return _batch(columns, CALL_SCHEMA)


def _endings(turns: Sequence[Turn], rows: int) -> tuple[list[str | None], list[bool], list[str | None]]:
    """Evidence that a call can have been cut, that it can have been by the token limit, and what the turn shows.

    The ending of a turn touches its last call only. Most turns end well, so the columns start empty.
    """
    cut_evidence: list[str | None] = [None] * rows
    at_token_limit = [False] * rows
    truncation: list[str | None] = [None] * rows
    first = 0
    for turn in turns:
        after = first + len(turn.calls)
        if after > first:
            evidence = _turn_evidence(turn)
            if evidence is not None:
                truncation[first:after] = [evidence] * (after - first)
                cut_evidence[after - 1] = turn.truncation
                at_token_limit[after - 1] = turn.token_limit_reached
            for row, call in enumerate(turn.calls, first):
                if call.item_incomplete:
                    cut_evidence[row] = ITEM_INCOMPLETE
                    truncation[row] = turn.truncation or ITEM_INCOMPLETE
        first = after
    return cut_evidence, at_token_limit, truncation


def _outside_tool_choice(turns: Sequence[Turn], rows: int) -> list[bool | None]:
    if all(turn.allowed_tools is None for turn in turns):
        return [None] * rows
    return [
        None if turn.allowed_tools is None else call.tool_name not in turn.allowed_tools
        for turn in turns
        for call in turn.calls
    ]


def logger_truncation(arguments: pa.Array) -> pa.Array:
    """Name of the logger whose mark stands in arguments that it shortened, a string a row; null where there is none."""
    marked = pc.match_substring(arguments, _LOGGER_MARK)
    return pc.if_else(marked, _LOGGER_NAME, pa.scalar(None, _TEXT))


def turn_keys(turns: Sequence[Turn], places: Mapping[str, str]) -> pa.Array:
    """A stable key of each turn, as 32 hexadecimal digits.

    A turn is known by its answer's id, creation time, choice and calls. One without an id is known by its place alone:
    the name that ``places`` has for its source file, its offset, and its position among the turns of the record.
    """
    keys = []
    place: tuple[str, int] = ("", -1)
    position = 0
    for turn in turns:
        here = (turn.source_file, turn.offset)
        position = position + 1 if here == place else 0
        place = here
        if turn.response_id is None:
            known_by = f"place\0{places[turn.source_file]}\0{turn.offset}\0{position}"
        else:
            calls = "".join(f"\0{call.call_id}\0{call.tool_name}\0{call.arguments}" for call in turn.calls)
            known_by = f"{turn.response_id}\0{turn.created_at_us}\0{turn.choice_index}{calls}"
        keys.append(blake2b(known_by.encode(errors="surrogatepass"), digest_size=16).hexdigest())
    return pa.array(keys, type=_TEXT)


def _turn_evidence(turn: Turn) -> str | None:
    return turn.truncation or (TOKEN_LIMIT_REACHED if turn.token_limit_reached else None)


def _batch(columns: Sequence[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
