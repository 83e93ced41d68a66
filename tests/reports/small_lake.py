"""A small lake made by hand: few rows, every state, two models, two versions of a tool, rejects and duplicates."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.lake.manifest import PartEntry, new_manifest, save
from pipeline.tables import TABLES, arrow_schema
from pipeline.verdicts import STATE_BY_NAME

START = dt.datetime(2026, 5, 1, 8, tzinfo=dt.UTC)
INGESTED = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
#: A tool name that tries to colour a terminal, turn its reading order and break out of a table.
HOSTILE = "rm\x1b[31m|\u202e<b>\nx"


class Some(NamedTuple):
    """The same call several times, made on one day of May 2026 (0: at no recorded time)."""

    times: int
    tool: str | None
    version: str | None
    model: str | None
    state: str
    day: int
    arguments: str = '{"query":"brakes"}'
    fault: str | None = None
    nearest: str | None = None
    namespace: str | None = None
    violation: tuple[str, str, str] | None = None
    output_tokens: int | None = 120


CALLS = (
    Some(30, "find_parts", "aaaaaaaaaaaaaaaa", "gpt-5", "dispatchable-unconstrained", 1),
    Some(3, "find_parts", "aaaaaaaaaaaaaaaa", "gpt-5", "arguments-violate-schema", 2, '{"category":"bell"}',
         violation=("enum", "arguments.category", "arguments.category")),
    Some(2, "find_parts", "bbbbbbbbbbbbbbbb", "gpt-5-mini", "arguments-violate-schema", 3, '{"rows":[{},{}]}',
         violation=("required", "arguments.rows[1].sku", "arguments.rows[*].sku")),
    Some(6, "find_parts", "bbbbbbbbbbbbbbbb", "gpt-5-mini", "dispatchable-unconstrained", 3),
    Some(2, "find_parts", "bbbbbbbbbbbbbbbb", "gpt-5-mini", "arguments-unparseable", 3, '{"query":"chain",}',
         fault="trailing-comma"),
    Some(1, "check_stock", "cccccccccccccccc", "gpt-5-mini", "arguments-unparseable", 2, '"{\\"sku\\":1}"',
         fault="double-encoded"),
    Some(20, "check_stock", "cccccccccccccccc", "gpt-5", "dispatchable", 2, '{"sku":"BR-2210"}'),
    Some(2, "check_stock", "cccccccccccccccc", "gpt-5-mini", "arguments-truncated", 3, '{"sku":"BR-22',
         output_tokens=4096),
    Some(1, "book_repair", "dddddddddddddddd", "gpt-5-mini", "arguments-truncated", 3, '{"day":"2026',
         output_tokens=4095),
    Some(9, "book_repair", "dddddddddddddddd", "gpt-5-mini", "dispatchable-unconstrained", 3, '{"day":"2026-05-07"}'),
    Some(4, "order_parts", "eeeeeeeeeeeeeeee", "gpt-5", "dispatchable", 4, '{"sku":"CH-1"}', namespace="supplier"),
    Some(2, "findparts", None, "gpt-5-mini", "unknown-tool", 4, nearest="find_parts"),
    Some(1, HOSTILE, None, "gpt-5-mini", "unknown-tool", 4),
    Some(3, "find_parts", None, None, "tools-not-recorded", 0),
    Some(1, "fit_frame", "ffffffffffffffff", "gpt-5", "tool-schema-invalid", 4),
    Some(1, "workshop_note", "9999999999999999", "gpt-5", "freeform-not-checked", 4, "clean the stand"),
    Some(1, None, None, "gpt-5", "arguments-unparseable", 4, "null", fault="not-an-object"),
)  # fmt: skip
STRICT = frozenset({"check_stock", "order_parts"})
TOOLS = (
    ("aaaaaaaaaaaaaaaa", "find_parts", None, '{"type":"object"}', None),
    ("bbbbbbbbbbbbbbbb", "find_parts", None, '{"type":"object","required":["rows"]}', None),
    ("cccccccccccccccc", "check_stock", None, '{"type":"object","required":["sku"]}', None),
    ("dddddddddddddddd", "book_repair", None, '{"type":"object"}', None),
    ("eeeeeeeeeeeeeeee", "order_parts", "supplier", '{"type":"object"}', None),
    ("ffffffffffffffff", "fit_frame", None, '{"$ref":"#/$defs/Frame"}', "dangling $ref #/$defs/Frame"),
    ("9999999999999999", "workshop_note", None, None, None),
    ("8888888888888888", "opening_hours", None, None, None),
)


def rows_of(table: str) -> list[dict[str, Any]]:
    """Rows of one table, all columns set."""
    rows = {
        "calls": call_rows,
        "violations": violation_rows,
        "turns": turn_rows,
        "tools": tool_rows,
        "rejects": reject_rows,
        "duplicates": duplicate_rows,
    }[table]()
    return [{column.name: row.get(column.name) for column in TABLES[table]} for row in rows]


def call_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for kind in CALLS:
        for _ in range(kind.times):
            number = len(rows)
            made = START + dt.timedelta(days=kind.day - 1, minutes=number) if kind.day else None
            cut = kind.state == "arguments-truncated"
            rows.append({
                "call_key": f"turn{number // 2:03d}:{number % 2}",
                "turn_key": f"turn{number // 2:03d}",
                "source_file": f"logs/{'chat' if kind.model == 'gpt-5-mini' else 'responses'}.jsonl",
                "source_line": number // 2 + 1,
                "source_offset": number // 2 * 1000,
                "format": "openai-responses",
                "response_id": f"resp_{number // 2:03d}",
                "model": kind.model,
                "created_at": made,
                "call_index": number % 2,
                "calls_in_turn": 2,
                "call_id": f"call_{number:03d}",
                "tool_name": kind.tool,
                "tool_namespace": kind.namespace,
                "tool_key": kind.version,
                "tool_declared": None if kind.state == "tools-not-recorded" else kind.version is not None,
                "strict": kind.tool in STRICT if kind.version else None,
                "arguments": kind.arguments,
                "arguments_bytes": len(kind.arguments),
                "arguments_form": "text",
                "state": kind.state,
                "outcome": STATE_BY_NAME[kind.state].outcome,
                "fault": kind.fault,
                "violation_count": int(bool(kind.violation)) if kind.version and not kind.fault and not cut else None,
                "nearest_tool": kind.nearest,
                "response_status": "incomplete" if cut else "completed",
                "truncation": "max_output_tokens" if cut else None,
                "output_tokens": kind.output_tokens,
                "ingested_at": INGESTED,
            })  # fmt: skip
    return rows


def violation_rows() -> list[dict[str, Any]]:
    kinds = [kind for kind in CALLS for _ in range(kind.times)]
    rows = []
    for call, kind in zip(call_rows(), kinds, strict=True):
        if kind.violation:
            keyword, path, pattern = kind.violation
            rows.append({
                **call, "violation_index": 0, "keyword": keyword, "path": path, "path_pattern": pattern,
                "schema_path": "/properties", "expected": "another value", "got": '"bell"',
                "message": f"{path}: not what {keyword} asks for",
            })  # fmt: skip
    return rows


def turn_rows() -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for call in call_rows():
        turn = rows.setdefault(call["turn_key"], {**call, "choice_index": 0, "calls": 0, "parallel_tool_calls": None})
        turn["calls"] += 1
    # A turn that made no call, and one that made two although the request had said one at a time.
    rows["turn000"]["parallel_tool_calls"] = False
    rows["turn999"] = {**rows["turn000"], "turn_key": "turn999", "calls": 0}
    return list(rows.values())


def tool_rows() -> list[dict[str, Any]]:
    return [
        {"tool_key": key, "tool_name": name, "tool_namespace": namespace, "strict": name in STRICT,
         "description": f"The tool {name}.", "parameters": parameters, "schema_error": error}
        for key, name, namespace, parameters, error in TOOLS
    ]  # fmt: skip


def reject_rows() -> list[dict[str, Any]]:
    return [
        {"source_file": "logs/chat.jsonl", "source_line": line, "source_offset": line * 1000, "bytes": 10 * line,
         "reason": reason, "excerpt": '{"id": "resp_', "ingested_at": INGESTED}
        for line, reason in ((7, "not JSON"), (9, "not JSON"), (12, "half-written"))
    ]  # fmt: skip


def duplicate_rows() -> list[dict[str, Any]]:
    return [
        {"turn_key": f"turn{number:03d}", "source_file": "logs/again.jsonl", "source_line": number + 1,
         "source_offset": number * 1000, "ingested_at": INGESTED}
        for number in range(4)
    ]  # fmt: skip


def make_lake(root: Path, tables: tuple[str, ...] = tuple(TABLES)) -> Path:
    """Lake at ``root``: two parts of calls, one of every other table, none of those that are not in ``tables``."""
    manifest = new_manifest()
    for table in TABLES:
        (root / table).mkdir(parents=True)
        rows = pa.Table.from_pylist(rows_of(table), schema=arrow_schema(table))
        pieces = [rows.slice(0, 40), rows.slice(40)] if table == "calls" else [rows]
        for number, piece in enumerate(pieces if table in tables else []):
            name = f"part-{number}.parquet"
            pq.write_table(piece, root / table / name, compression="zstd")
            manifest.parts[table].append(PartEntry(name, piece.num_rows, 0, [(1, 1)]))
    save(root, manifest)
    return root
