"""Calls in, the same calls with their verdicts out: which of the nine states each one is in, and why.

What is decided for whole columns: which texts and which pairs of definition and text are distinct, whether a name is
declared, strictness, the precedence of the states, outcomes. What is not: parsing one text, and holding one object
against its schema. Those are calls into C and Rust for a value of its own shape, which no column operation can do; they
run once for each distinct text and each distinct pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.exactjson import certain_object
from pipeline.jsontext import Parsed, parse_arguments
from pipeline.records import ToolDefinition, Violation
from pipeline.toolschema import CompiledSchema, UnjudgeableError, compile_schema
from pipeline.toolset import Toolset, ToolsetsByNumber, nearest_name
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
#: One row a violation; ``call_row`` counts the calls of the batch judged.
VIOLATION_SCHEMA = pa.schema(
    [
        ("call_row", pa.int32()),
        ("violation_index", pa.int32()),
        *((name, pa.string()) for name in Violation.__struct_fields__),
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
    tools = _Tools(calls, toolsets)
    freeform = pc.or_(calls["freeform"], tools.freeform)
    texts = _Texts(calls["arguments"], freeform)
    pairs = _Pairs(tools, texts)
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


def schema_error(definition: ToolDefinition) -> str | None:
    """Why the schema of a definition cannot be used; None where it can."""
    return _compiled(definition.parameters).error


class _Tools:
    """What each call's name leads to: decided once for each distinct (toolset, namespace, name) and spread."""

    def __init__(self, calls: pa.RecordBatch, toolsets: ToolsetsByNumber) -> None:
        names = calls["tool_name"].dictionary_encode()
        namespaces = calls["tool_namespace"].dictionary_encode()
        slot = _combine(
            (calls["toolset"], -1),
            (namespaces.indices, len(namespaces.dictionary)),
            (names.indices, len(names.dictionary)),
        ).dictionary_encode()
        name_of, namespace_of = names.dictionary.to_pylist(), namespaces.dictionary.to_pylist()
        found = [
            _look_up(toolsets, key, name_of, namespace_of)
            for key in _split(slot.dictionary, len(namespace_of), len(name_of))
        ]
        numbers: dict[str, int] = {}
        self.definitions: list[ToolDefinition] = []
        for hit in found:
            if hit.definition is not None and hit.definition.key not in numbers:
                numbers[hit.definition.key] = len(self.definitions)
                self.definitions.append(hit.definition)

        def spread(values: list[Any], column_type: pa.DataType) -> pa.Array:
            return pa.array(values, type=column_type).take(slot.indices)

        defined = [hit.definition for hit in found]
        errors = [None if d is None or d.freeform else schema_error(d) for d in defined]
        self.definition = spread([None if d is None else numbers[d.key] for d in defined], pa.int64())
        self.key = spread([None if d is None else d.key for d in defined], pa.string())
        self.declared = spread([hit.declared for hit in found], pa.bool_())
        self.strict = spread([None if d is None else d.strict for d in defined], pa.bool_())
        self.freeform = spread([d is not None and d.freeform for d in defined], pa.bool_())
        self.schema_error = spread(errors, pa.string())
        self.has_schema_error = pc.is_valid(self.schema_error)
        self.nearest = spread([hit.nearest for hit in found], pa.string())
        self.unknown_detail = spread([hit.unknown_detail for hit in found], pa.string())


class _Hit(NamedTuple):
    definition: ToolDefinition | None
    declared: bool | None
    nearest: str | None = None
    unknown_detail: str | None = None


def _look_up(
    toolsets: ToolsetsByNumber, key: tuple[int, int, int], names: list[str | None], namespaces: list[str | None]
) -> _Hit:
    number, namespace_index, name_index = key
    if number < 0:
        return _Hit(None, None)
    toolset = toolsets[number]
    name = None if name_index < 0 else names[name_index]
    namespace = None if namespace_index < 0 else namespaces[namespace_index]
    definition = None if name is None else toolset.find(namespace, name)
    if definition is not None:
        return _Hit(definition, True)
    nearest = None if name is None else _nearest(name, _names(toolset))
    if not toolset.definitions:
        return _Hit(None, False, None, "no tool was declared: the recorded list is empty")
    count = len(toolset.definitions)
    declared = (
        "one tool is declared, not of this name" if count == 1 else f"{count} tools are declared, none of this name"
    )
    return _Hit(None, False, nearest, declared + (f"; the nearest is {nearest}" if nearest else ""))


def _names(toolset: Toolset) -> tuple[str, ...]:
    return tuple(toolset.names())


@lru_cache(maxsize=4096)
def _nearest(name: str, declared: tuple[str, ...]) -> str | None:
    return nearest_name(name, declared)


class _Texts:
    """What each call's arguments parse to: each distinct text parsed once. Free text is no JSON and left alone.

    Most texts parse, so the columns that say why one does not start empty and are filled in where there is something.
    """

    def __init__(self, arguments: pa.Array, freeform: pa.Array) -> None:
        encoded = pc.if_else(freeform, None, arguments).dictionary_encode(null_encoding="encode")
        self.index = encoded.indices
        texts = encoded.dictionary.to_pylist()
        size = len(texts)
        self.values: list[dict[str, Any] | None] = [None] * size
        parsed, ends_early = [True] * size, [False] * size
        fault: list[str | None] = [None] * size
        detail: list[str | None] = [None] * size
        duplicate_keys: list[bool | None] = [False] * size
        for at, text in enumerate(texts):
            # Most texts are plain objects, and nothing more has to be known of them. The rest gets the whole look.
            value = None if text is None else certain_object(text)
            if value is not None:
                self.values[at] = value
                continue
            result = parse_arguments(text)
            if isinstance(result, Parsed):
                self.values[at], duplicate_keys[at] = result.value, result.duplicate_keys
            else:
                parsed[at], ends_early[at], duplicate_keys[at] = False, result.ends_early, None
                fault[at], detail[at] = result.name, result.detail

        def spread(values: Sequence[object], column_type: pa.DataType) -> pa.Array:
            return pc.if_else(freeform, None, pa.array(values, type=column_type).take(self.index))

        self.parsed = spread(parsed, pa.bool_()).fill_null(True)
        self.ends_early = spread(ends_early, pa.bool_()).fill_null(False)
        self.fault = spread(fault, pa.string())
        self.fault_detail = spread(detail, pa.string())
        self.duplicate_keys = spread(duplicate_keys, pa.bool_())
        self.judgeable = pc.and_(self.parsed, pc.invert(freeform))


class _Pairs:
    """What each pair of definition and arguments comes to: each distinct pair held against its schema once."""

    def __init__(self, tools: _Tools, texts: _Texts) -> None:
        judged = pc.and_(texts.judgeable, pc.and_(pc.is_valid(tools.definition), pc.invert(tools.has_schema_error)))
        width = max(len(texts.values), 1)
        key = pc.add(pc.multiply(tools.definition, width), texts.index.cast(pa.int64()))
        encoded = pc.if_else(judged, key, None).dictionary_encode()
        self._index = encoded.indices
        self._found: dict[int, tuple[Violation, ...]] = {}
        size = len(encoded.dictionary)
        counts: list[int | None] = [0] * size
        details: list[str | None] = [None] * size
        unjudgeable = [False] * size
        schemas = [_compiled(definition.parameters) for definition in tools.definitions]
        for at, pair in enumerate(encoded.dictionary.to_pylist()):
            definition, text = divmod(pair, width)
            value = texts.values[text] or {}
            schema = schemas[definition]
            try:
                if schema.is_valid(value):
                    continue
                found = schema.violations(value)
            except UnjudgeableError as error:
                counts[at], details[at], unjudgeable[at] = None, str(error), True
            else:
                counts[at], details[at], self._found[at] = len(found), _summary(found), found
        self.violation_count = pa.array(counts, type=pa.int32()).take(self._index)
        self.detail = pa.array(details, type=pa.string()).take(self._index)
        self.unjudgeable = pa.array(unjudgeable, type=pa.bool_()).take(self._index).fill_null(False)

    def violations(self) -> pa.RecordBatch:
        """One row a violation (``VIOLATION_SCHEMA``), calls in row order."""
        broken = pc.indices_nonzero(pc.greater(self.violation_count, 0).fill_null(False)).to_pylist()
        pairs = self._index.take(pa.array(broken, type=pa.int64())).to_pylist()
        rows = [
            (call_row, index, *(getattr(violation, name) for name in Violation.__struct_fields__))
            for call_row, pair in zip(broken, pairs, strict=True)
            for index, violation in enumerate(self._found[pair])
        ]
        columns = list(zip(*rows, strict=True)) or [() for _ in VIOLATION_SCHEMA]
        return pa.RecordBatch.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(columns, VIOLATION_SCHEMA, strict=True)],
            schema=VIOLATION_SCHEMA,
        )


def _summary(violations: tuple[Violation, ...]) -> str | None:
    """The first of the violations, and how many more there are."""
    if not violations:
        return None
    more = len(violations) - 1
    return violations[0].message + (f" (and {more} more)" if more else "")


@lru_cache(maxsize=4096)
def _compiled(parameters: str | None) -> CompiledSchema:
    return compile_schema(parameters)


def _combine(*parts: tuple[pa.Array, int]) -> pa.Array:
    """Several columns of small numbers as one of int64; null counts as -1. Each comes with how many values it has."""
    combined: pa.Array | None = None
    for column, size in parts:
        digit = pc.add(column.cast(pa.int64()).fill_null(-1), 1)
        combined = digit if combined is None else pc.add(pc.multiply(combined, size + 1), digit)
    return combined


def _split(combined: pa.Array, middle_size: int, last_size: int) -> list[tuple[int, int, int]]:
    """The parts of :func:`_combine` for three columns, as they were."""
    split = []
    for value in combined.to_pylist():
        rest, last = divmod(value, last_size + 1)
        first, middle = divmod(rest, middle_size + 1)
        split.append((first - 1, middle - 1, last - 1))
    return split
