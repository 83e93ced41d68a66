"""Columns of a made-up lake: pyarrow draws, joins and picks whole columns, and no row passes through Python.

Shares, sizes and skew are those of a busy service: a few models and tools make most calls, and how many are faulty
depends on the tool, on the model and on whether the tool is strict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.tables import TABLES
from pipeline.verdicts import FAULTS, STATE_BY_NAME, STATES
from tests.bench.draw import Columns, Draw, constant, numbers
from tests.bench.logs import FIRST_SECOND
from tests.bench.toolsets import Tool, make_tool
from tests.bench.vocabulary import PARAMETERS

DAYS = 90
#: A hundred turns make a hundred and thirty calls.
_CALLS_OF_100_TURNS = ([1] * 14 + [2] * 3 + [3] * 2 + [0]) * 5
_FAMILIES = ("gpt-5", "gpt-5-mini", "gpt-4.1", "qwen3", "mistral")
MODELS = [f"{family}-{number}" for number in range(6) for family in _FAMILIES]
#: Six services write a file a day each; one of twenty slots is a twentieth of a day's answers.
_SERVICES = ("web",) * 8 + ("mail",) * 5 + ("phone",) * 3 + ("desk",) * 2 + ("batch", "night")
_DAY_US = 86_400 * 1_000_000
FORMATS = ("openai-responses", "openai-responses", "openai-responses", "openai-chat")


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tools of the lake: forty names, every fourth with a second version, and how often each is called wrongly."""

    tools: list[Tool]
    versions: list[int]  # rows of the tools table a tool has

    @classmethod
    def make(cls, seed: int) -> Inventory:
        """Forty tools, drawn with the seed."""
        rng = Random(f"lake-{seed}")
        tools = [make_tool(rng, f"tool_{index:02d}") for index in range(40)]
        return cls(tools, [2 if index % 4 == 0 else 1 for index in range(40)])

    def key(self, index: int, version: int) -> str:
        """Key of one version of a tool; a version that was never made is the last that was."""
        return f"{index:08x}{min(version, self.versions[index] - 1):08x}"

    def table(self) -> Columns:
        """Columns of the table ``tools``."""
        rows = [(index, version) for index, count in enumerate(self.versions) for version in range(count)]
        return {
            "tool_key": [self.key(index, version) for index, version in rows],
            "tool_name": [self.tools[index].name for index, _ in rows],
            "tool_namespace": [None] * len(rows),
            "strict": [self.tools[index].strict for index, _ in rows],
            "description": [self.tools[index].description for index, _ in rows],
            "parameters": [json.dumps({**self.tools[index].schema, "title": f"v{version}"}) for index, version in rows],
            "schema_error": ["dangling $ref" if index == 39 else None for index, _ in rows],
        }


def _day_files(day: pa.Array) -> pa.Array:
    """Name of the file of each day."""
    dates = [datetime.fromtimestamp(FIRST_SECOND + 86_400 * one, UTC).date().isoformat() for one in range(DAYS)]
    return pc.take(pa.array([f"{date}.jsonl" for date in dates]), day)


def make_turns(draw: Draw, first: int, rows: int, total: int) -> Columns:
    """Columns of ``rows`` turns, the first of them number ``first`` of ``total``.

    They come as a lake that is fed every night has them: day by day, and within a day service by service, so that the
    rows of one file lie together.
    """
    number = pc.add(numbers(rows), first)
    days = pc.multiply(pc.divide(pc.cast(number, pa.float64()), total), DAYS)
    day = pc.cast(pc.floor(days), pa.int64())
    moment = pc.add(pc.multiply(day, _DAY_US), draw.below(rows, _DAY_US))
    created = pc.cast(pc.add(moment, FIRST_SECOND * 1_000_000), pa.timestamp("us", "UTC"))
    slot = pc.cast(pc.floor(pc.multiply(pc.subtract(days, pc.floor(days)), len(_SERVICES))), pa.int64())
    path = pc.binary_join_element_wise("/var/log/llm", pc.take(pa.array(_SERVICES), slot), _day_files(day), "/")
    of_hundred = pc.subtract(number, pc.multiply(pc.divide(number, 100), 100))
    counts = pc.take(pa.array(_CALLS_OF_100_TURNS, pa.int32()), of_hundred)
    cut = pc.less(draw.uniform(rows), 0.008)
    chat = draw.one_of(rows, FORMATS, skew=1.0)
    is_chat = pc.equal(chat, FORMATS[-1])
    nothing = pa.nulls(rows, pa.string())
    return {
        "turn_key": draw.hexadecimal(rows, 8),
        "response_id": pc.binary_join_element_wise("resp", draw.hexadecimal(rows, 6), "_"),
        "format": chat,
        "model": draw.one_of(rows, MODELS, skew=2.0),
        "created_at": created,
        "choice_index": constant(0, rows, pa.int32()),
        "response_status": pc.if_else(is_chat, nothing, pc.if_else(cut, "incomplete", "completed")),
        "finish_reason": pc.if_else(is_chat, pc.if_else(cut, "length", "tool_calls"), nothing),
        "truncation": pc.if_else(cut, pc.if_else(is_chat, "length", "max_output_tokens"), nothing),
        "calls": counts,
        "tools_declared": pc.cast(pc.add(draw.below(rows, 11), 4), pa.int32()),
        "parallel_tool_calls": constant(True, rows, pa.bool_()),
        "input_tokens": pc.add(draw.below(rows, 9000, skew=2.0), 400),
        "output_tokens": pc.add(draw.below(rows, 900, skew=2.0), 20),
        "source_file": path,
        "source_line": pc.add(number, 1),
        "source_offset": pc.multiply(number, 12_400),
        "ingested_at": created,
    }


def make_calls(draw: Draw, turns: Columns, inventory: Inventory) -> Columns:
    """Columns of all calls of these turns, judged by lot."""
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(turns["calls"])])
    rows = offsets[-1].as_py()
    parent = pc.list_parent_indices(pa.ListArray.from_arrays(offsets, pa.nulls(rows)))
    of_turn = {name: pc.take(turns[name], parent) for name in _SHARED}
    index = pc.cast(pc.subtract(numbers(rows), pc.take(offsets, parent)), pa.int32())
    tool = draw.below(rows, 40, skew=2.0)
    late = pc.cast(pc.greater(turns["created_at"], pa.scalar(_middle(), pa.timestamp("us", "UTC"))), pa.int64())
    key_index = pc.add(pc.multiply(tool, 2), pc.take(late, parent))
    strict = pc.take(pa.array([tool.strict for tool in inventory.tools]), tool)
    state = _states(draw, of_turn, tool, strict)
    names = pc.take(pa.array([tool.name for tool in inventory.tools]), tool)
    unknown = pc.equal(state, "unknown-tool")
    unrecorded = pc.equal(state, "tools-not-recorded")
    undeclared = pc.or_(unknown, unrecorded)
    unparseable = pc.equal(state, "arguments-unparseable")
    text = _arguments(draw, rows)
    keys = pa.array([inventory.key(index, version) for index in range(40) for version in range(2)])
    return {
        **of_turn,
        "call_key": pc.binary_join_element_wise(of_turn["turn_key"], pc.cast(index, pa.string()), "-"),
        "call_index": index,
        "calls_in_turn": of_turn["calls"],
        "call_id": pc.binary_join_element_wise("call", draw.hexadecimal(rows, 5), "_"),
        "tool_name": pc.if_else(unknown, pc.binary_join_element_wise(names, "s", ""), names),
        "tool_namespace": pa.nulls(rows, pa.string()),
        "tool_key": pc.if_else(undeclared, pa.nulls(rows, pa.string()), pc.take(keys, key_index)),
        "tool_declared": pc.if_else(unrecorded, pa.nulls(rows, pa.bool_()), pc.invert(unknown)),
        "strict": pc.if_else(undeclared, pa.nulls(rows, pa.bool_()), strict),
        "arguments": text,
        "arguments_bytes": pc.cast(pc.binary_length(text), pa.int64()),
        "arguments_form": constant("text", rows, pa.string()),
        "state": state,
        "outcome": _mapped(state, {one.name: one.outcome for one in STATES}),
        "fault": pc.if_else(unparseable, draw.one_of(rows, list(FAULTS), skew=1.5), pa.nulls(rows, pa.string())),
        "detail": _mapped(state, {one.name: one.meaning for one in STATES}),
        "violation_count": pc.if_else(
            pc.equal(state, "arguments-violate-schema"),
            pc.cast(pc.add(draw.below(rows, 2, skew=1.5), 1), pa.int32()),
            pc.if_else(pc.starts_with(state, "dispatchable"), pa.scalar(0, pa.int32()), pa.scalar(None, pa.int32())),
        ),
        "duplicate_keys": constant(False, rows, pa.bool_()),
        "nearest_tool": pc.if_else(unknown, names, pa.nulls(rows, pa.string())),
        "outside_tool_choice": constant(None, rows, pa.bool_()),
        "logger_truncation": constant(None, rows, pa.string()),
    }


_SHARED = [column.name for column in TABLES["turns"] if column.name in {c.name for c in TABLES["calls"]} | {"calls"}]


def _middle() -> int:
    return (FIRST_SECOND + DAYS * 43_200) * 1_000_000


def _mapped(column: pa.Array, values: dict[str, str]) -> pa.Array:
    """Each value of a column replaced by what the dictionary holds for it."""
    return pc.take(pa.array(list(values.values())), pc.index_in(column, pa.array(list(values))))


def _arguments(draw: Draw, rows: int) -> pa.Array:
    """Arguments texts, nearly all of them distinct."""
    customer, limit = pc.cast(draw.below(rows, 10**6), pa.string()), pc.cast(draw.below(rows, 500), pa.string())
    words = draw.one_of(rows, [f"{a} {b} {a}" for a in FAULTS for b in FAULTS])
    return pc.binary_join_element_wise(
        '{"customer_id":"C-', customer, '","query":"', words, '","limit":', limit, ',"dry_run":false}', ""
    )


def _states(draw: Draw, of_turn: Columns, tool: pa.Array, strict: pa.Array) -> pa.Array:
    """A state for each call. Violations come with loose tools, later tools of the list and later models."""
    rows = len(tool)
    lot = draw.uniform(rows)
    model = pc.index_in(of_turn["model"], pa.array(MODELS))
    rate = pc.multiply(pc.add(pc.cast(tool, pa.float64()), 4), pc.add(pc.cast(model, pa.float64()), 6))
    rate = pc.multiply(rate, pc.if_else(strict, 0.00002, 0.0002))
    state = pc.if_else(strict, STATE_BY_NAME["dispatchable"].name, STATE_BY_NAME["dispatchable-unconstrained"].name)
    state = pc.if_else(pc.less(lot, pc.add(rate, 0.03)), STATE_BY_NAME["arguments-violate-schema"].name, state)
    for bound, name in (
        (0.030, "unknown-tool"),
        (0.022, "arguments-unparseable"),
        (0.015, "tools-not-recorded"),
        (0.005, "freeform-not-checked"),
    ):
        state = pc.if_else(pc.less(lot, bound), STATE_BY_NAME[name].name, state)
    state = pc.if_else(pc.equal(tool, 39), STATE_BY_NAME["tool-schema-invalid"].name, state)
    cut = pc.and_(pc.is_valid(of_turn["truncation"]), pc.less(lot, 0.7))
    return pc.if_else(cut, STATE_BY_NAME["arguments-truncated"].name, state)


def make_violations(draw: Draw, calls: pa.Table) -> Columns:
    """Columns of the violations of these calls: as many a call as it says it has, one or two."""
    broken = calls.filter(pc.equal(calls["state"], "arguments-violate-schema"))
    twice = broken.filter(pc.equal(broken["violation_count"], 2))
    both = pa.concat_tables([broken, twice]).combine_chunks()
    rows = len(both)
    parameter = draw.below(rows, len(PARAMETERS), skew=1.5)
    path = pc.binary_join_element_wise("arguments", pc.take(pa.array([p.name for p in PARAMETERS]), parameter), ".")
    keyword = draw.one_of(rows, ["type", "enum", "required", "additionalProperties", "pattern", "minItems"], skew=1.5)
    first = pa.concat_arrays([constant(0, len(broken), pa.int32()), constant(1, len(twice), pa.int32())])
    return {
        **{name: both[name].combine_chunks() for name in ("call_key", "tool_name", "model", "created_at")},
        "violation_index": first,
        "keyword": keyword,
        "path": path,
        "path_pattern": path,
        "schema_path": pc.binary_join_element_wise("", "properties", keyword, "/"),
        "expected": keyword,
        "got": pc.cast(draw.below(rows, 10**6), pa.string()),
        "message": pc.binary_join_element_wise(path, keyword, " breaks "),
    }
