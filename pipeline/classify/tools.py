"""Which definition each call's name leads to, and what is said of a name that leads to none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.classify.schemas import schema_error
from pipeline.records import ToolDefinition
from pipeline.toolset import Toolset, ToolsetsByNumber, nearest_name

_NOTHING, _ONE = pa.scalar(-1, pa.int64()), pa.scalar(1, pa.int64())


class Tools:
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


def _combine(*parts: tuple[pa.Array, int]) -> pa.Array:
    """Several columns of small numbers as one of int64; null counts as -1. Each comes with how many values it has."""
    combined: pa.Array | None = None
    for column, size in parts:
        digit = pc.add(column.cast(pa.int64()).fill_null(_NOTHING), _ONE)
        combined = digit if combined is None else pc.add(pc.multiply(combined, pa.scalar(size + 1, pa.int64())), digit)
    return combined


def _split(combined: pa.Array, middle_size: int, last_size: int) -> list[tuple[int, int, int]]:
    """The parts of :func:`_combine` for three columns, as they were."""
    split = []
    for value in combined.to_pylist():
        rest, last = divmod(value, last_size + 1)
        first, middle = divmod(rest, middle_size + 1)
        split.append((first - 1, middle - 1, last - 1))
    return split
