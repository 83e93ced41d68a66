"""Judged batches as rows of the lake: what belongs to the turn joined to each call, keys made, one batch a table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.batches import logger_truncation
from pipeline.classify import schema_error
from pipeline.intake import Located
from pipeline.records import Reject, ToolDefinition
from pipeline.run import Batch
from pipeline.tables import TABLES, TIMESTAMP, arrow_schema

#: What a call tells of its turn. ``truncation`` is the call's own, and ``ingested_at`` is made for it.
_SHARED = {column.name for column in TABLES["calls"]} - {"truncation", "ingested_at"}
_TURN_COLUMNS = [column.name for column in TABLES["turns"] if column.name in _SHARED | {"calls"}]


def land(batch: Batch, ingested_at: datetime) -> dict[str, pa.RecordBatch]:
    """The rows of a batch (one with turn keys) for the tables calls, violations, turns and rejects, in log order."""
    turns = _turns(batch, ingested_at)
    calls = _calls(batch, turns, ingested_at)
    return {
        "calls": calls,
        "violations": _violations(batch, calls),
        "turns": turns,
        "rejects": rejects(batch.rejects, ingested_at),
    }


def tools(definitions: Iterable[ToolDefinition]) -> pa.RecordBatch:
    """One row a definition, in the order given, each with why its schema cannot be used."""
    rows = list(definitions)
    return _assemble(
        "tools",
        {
            "tool_key": [row.key for row in rows],
            "tool_name": [row.name for row in rows],
            "tool_namespace": [row.namespace for row in rows],
            "strict": [row.strict for row in rows],
            "description": [row.description for row in rows],
            "parameters": [row.parameters for row in rows],
            "schema_error": [None if row.freeform else schema_error(row) for row in rows],
        },
    )


def rejects(located: list[Located], ingested_at: datetime) -> pa.RecordBatch:
    """One row a reject, in the order given."""
    pairs = [(one.source_file, one.what) for one in located if isinstance(one.what, Reject)]
    return _assemble(
        "rejects",
        {
            "source_file": [source_file for source_file, _ in pairs],
            "source_line": [reject.line for _, reject in pairs],
            "source_offset": [reject.offset for _, reject in pairs],
            "bytes": [reject.size_bytes for _, reject in pairs],
            "reason": [reject.reason for _, reject in pairs],
            "excerpt": [reject.excerpt for _, reject in pairs],
            "ingested_at": _instant(ingested_at, len(pairs)),
        },
    )


def _turns(batch: Batch, ingested_at: datetime) -> pa.RecordBatch:
    turns = batch.turns
    columns = {name: turns[name] for name in turns.schema.names}
    columns |= {
        "turn_key": batch.turn_keys,
        "ingested_at": _instant(ingested_at, turns.num_rows),
    }
    return _assemble("turns", columns)


def _calls(batch: Batch, turns: pa.RecordBatch, ingested_at: datetime) -> pa.RecordBatch:
    calls = batch.calls
    joined = turns.select(_TURN_COLUMNS)
    one_each = _has_one_call_each(turns)
    if not one_each:
        joined = joined.take(calls["turn_row"])
    columns = {name: joined[name] for name in joined.schema.names}
    columns["calls_in_turn"] = columns.pop("calls")
    columns |= {name: calls[name] for name in calls.schema.names}
    index = pa.scalar("0") if one_each else calls["call_index"].cast(pa.string())
    columns |= {
        "call_key": pc.binary_join_element_wise(columns["turn_key"], index, "-"),
        "arguments_bytes": pc.binary_length(calls["arguments"]).cast(pa.int64()),
        "logger_truncation": logger_truncation(calls["arguments"]),
        "ingested_at": _instant(ingested_at, calls.num_rows),
    }
    return _assemble("calls", columns)


def _has_one_call_each(turns: pa.RecordBatch) -> bool:
    """Whether every turn made exactly one call, as in most logs: then the turns are joined to their calls already."""
    return bool(pc.all(pc.equal(turns["calls"], 1)).as_py())


def _violations(batch: Batch, calls: pa.RecordBatch) -> pa.RecordBatch:
    violations = batch.violations
    row = violations["call_row"]
    columns = {name: calls[name].take(row) for name in ("call_key", "tool_name", "model", "created_at")}
    columns |= {name: violations[name] for name in violations.schema.names}
    return _assemble("violations", columns)


def _instant(moment: datetime, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(moment, TIMESTAMP), rows)


@cache
def _schema(table: str) -> pa.Schema:
    return arrow_schema(table)


def _assemble(table: str, columns: dict[str, object]) -> pa.RecordBatch:
    """A batch with the columns of a table of the lake, in their order; other columns are left out."""
    schema = _schema(table)
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, type=field.type)
        for field in schema
        for column in (columns[field.name],)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
