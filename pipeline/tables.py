"""The tables of the lake: every column with its Arrow type and a line of meaning. The data dictionary reads this.

Flat types only, so that any BI tool reads the files as they are: string, bool, int32, int64, double, date32 and
``timestamp[us, UTC]``. Null means not recorded or not judged, never fine.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: name, Arrow type, whether it may be null, and what it means in one line."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = True


def _key(name: str, meaning: str) -> Column:
    return Column(name, pa.string(), meaning, nullable=False)


_SOURCE = (
    _key("source_file", "path of the file that holds the record, as it was given"),
    Column("source_line", pa.int64(), "line on which the record begins, from 1", nullable=False),
    Column("source_offset", pa.int64(), "byte offset of the record in the decompressed file", nullable=False),
)
_INGESTED = Column("ingested_at", TIMESTAMP, "when the row was landed", nullable=False)

CALLS: tuple[Column, ...] = (
    _key("call_key", "stable key of the call: the turn's key and the call's index"),
    _key("turn_key", "stable key of the turn that made the call"),
    *_SOURCE,
    _key("format", "log format in which the turn was found"),
    Column("response_id", pa.string(), "id of the answer, where it has one"),
    Column("model", pa.string(), "model that answered"),
    Column("created_at", TIMESTAMP, "when the answer was made, where recorded"),
    Column("call_index", pa.int32(), "position of the call in its turn, from 0", nullable=False),
    Column("calls_in_turn", pa.int32(), "how many calls the turn made", nullable=False),
    Column("call_id", pa.string(), "id of the call, where it has one (not unique)"),
    Column("tool_name", pa.string(), "name that was called, as written"),
    Column("tool_namespace", pa.string(), "namespace of the call, where it has one"),
    Column("tool_key", pa.string(), "key of the definition by which the call was judged (table tools)"),
    Column("tool_declared", pa.bool_(), "whether a definition of this name stands with the call; null: none recorded"),
    Column("strict", pa.bool_(), "whether that definition says strict: true; null: no definition"),
    Column("arguments", pa.string(), "arguments as JSON text, as the model wrote them"),
    Column("arguments_bytes", pa.int64(), "length of the arguments in bytes of UTF-8"),
    Column("arguments_form", pa.string(), "how they stood in the record: text, object, absent or other"),
    _key("state", "verdict, one of nine"),
    _key("outcome", "what the verdict counts towards: usable, finding, cut or unjudged"),
    Column("fault", pa.string(), "what is wrong with arguments that do not parse to an object"),
    Column("detail", pa.string(), "one sentence about this verdict"),
    Column("violation_count", pa.int32(), "how many violations the call has; null: not validated"),
    Column("duplicate_keys", pa.bool_(), "whether an object in the arguments repeats a key (the last counts)"),
    Column("nearest_tool", pa.string(), "for an unknown tool: the declared name most like it"),
    Column("outside_tool_choice", pa.bool_(), "whether tool_choice had narrowed the turn to other tools; null: not"),
    Column("logger_truncation", pa.string(), "marker of a logger that shortened the arguments, where one is seen"),
    Column("response_status", pa.string(), "status of the answer (Responses API)"),
    Column("finish_reason", pa.string(), "why the answer ended (Chat Completions)"),
    Column("truncation", pa.string(), "evidence that the turn or this call was cut; null: none"),
    Column("output_tokens", pa.int64(), "output tokens of the turn, where recorded"),
    _INGESTED,
)

VIOLATIONS: tuple[Column, ...] = (
    _key("call_key", "the call (table calls)"),
    Column("violation_index", pa.int32(), "position among the call's violations, from 0", nullable=False),
    Column("tool_name", pa.string(), "name that was called"),
    Column("model", pa.string(), "model that answered"),
    Column("created_at", TIMESTAMP, "when the answer was made, where recorded"),
    _key("keyword", "JSON Schema keyword that was broken"),
    _key("path", "place in the arguments, as in arguments.rows[0].sku"),
    _key("path_pattern", "the same with indexes left out, as in arguments.rows[*].sku"),
    Column("schema_path", pa.string(), "place in the schema, a JSON pointer"),
    Column("expected", pa.string(), "what the schema asks for there"),
    Column("got", pa.string(), "what stands there, shortened"),
    Column("message", pa.string(), "both in one sentence"),
)

TURNS: tuple[Column, ...] = (
    _key("turn_key", "stable key of the turn"),
    Column("response_id", pa.string(), "id of the answer, where it has one"),
    _key("format", "log format in which the turn was found"),
    Column("model", pa.string(), "model that answered"),
    Column("created_at", TIMESTAMP, "when the answer was made, where recorded"),
    Column("choice_index", pa.int32(), "which choice of its answer the turn is, from 0", nullable=False),
    Column("response_status", pa.string(), "status of the answer (Responses API)"),
    Column("finish_reason", pa.string(), "why the answer ended (Chat Completions)"),
    Column("truncation", pa.string(), "evidence that the turn was cut; null: none"),
    Column("calls", pa.int32(), "how many calls the turn made", nullable=False),
    Column("tools_declared", pa.int32(), "how many tools stand declared with the turn; null: not recorded"),
    Column("parallel_tool_calls", pa.bool_(), "whether parallel calls were allowed, where recorded"),
    Column("input_tokens", pa.int64(), "input tokens, where recorded"),
    Column("output_tokens", pa.int64(), "output tokens, where recorded"),
    *_SOURCE,
    _INGESTED,
)

TOOLS: tuple[Column, ...] = (
    _key("tool_key", "digest of the whole definition"),
    _key("tool_name", "declared name"),
    Column("tool_namespace", pa.string(), "namespace it is declared in, where there is one"),
    Column("strict", pa.bool_(), "whether the definition says strict: true", nullable=False),
    Column("description", pa.string(), "description of the tool"),
    Column("parameters", pa.string(), "JSON Schema of the arguments, as JSON text"),
    Column("schema_error", pa.string(), "why the schema cannot be used; null: it can"),
)

REJECTS: tuple[Column, ...] = (
    *_SOURCE,
    Column("bytes", pa.int64(), "length of what could not be read", nullable=False),
    _key("reason", "why it could not be read"),
    Column("excerpt", pa.string(), "how it begins"),
    _INGESTED,
)

DUPLICATES: tuple[Column, ...] = (
    _key("turn_key", "the turn that the lake already holds (table turns)"),
    *_SOURCE,
    _INGESTED,
)

TABLES: dict[str, tuple[Column, ...]] = {
    "calls": CALLS,
    "violations": VIOLATIONS,
    "turns": TURNS,
    "tools": TOOLS,
    "rejects": REJECTS,
    "duplicates": DUPLICATES,
}

TABLE_MEANINGS: dict[str, str] = {
    "calls": "one row a call, with its verdict",
    "violations": "one row a violation of a call's schema",
    "turns": "one row a model answer, with or without calls",
    "tools": "one row a distinct tool definition",
    "rejects": "one row a record that could not be read",
    "duplicates": "one row a turn that was met again and landed nowhere else",
}


def arrow_schema(table: str) -> pa.Schema:
    """Arrow schema of a table of the lake, columns in their order, each with its meaning as metadata."""
    return pa.schema(
        pa.field(column.name, column.type, column.nullable, {"meaning": column.meaning}) for column in TABLES[table]
    )
