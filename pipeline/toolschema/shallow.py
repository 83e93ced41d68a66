"""The upper levels of a value that is too deep for the engine to show."""

from __future__ import annotations

from typing import Any

from jsonschema_rs import ValidationError

from pipeline.records import JSONValue
from pipeline.toolschema.paths import applied

#: Levels that are kept: what is found just above the cut may be the cut's own doing.
KEPT_LEVELS = 64

#: Keywords that look at a value itself, or at its keys, and keywords that only lead to a value.
_LOCAL = frozenset(
    {"type", "required", "additionalProperties", "minProperties", "maxProperties", "minItems", "maxItems"}
    | {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"pattern", "propertyNames", "dependentRequired", "properties", "patternProperties", "items", "prefixItems"}
    | {"additionalItems", "allOf", "$ref"}
)


def shallow_copy(value: JSONValue) -> JSONValue:
    """Copy the upper levels of a value; what is an object or a list below them becomes an empty one."""
    root: list[Any] = [value]
    pending: list[tuple[Any, int]] = [(root, 0)]
    while pending:
        copy, depth = pending.pop()
        for slot, child in list(copy.items() if isinstance(copy, dict) else enumerate(copy)):
            if isinstance(child, (dict, list)):
                copy[slot] = type(child)() if depth > KEPT_LEVELS else child.copy()
                pending.append((copy[slot], depth + 1))
    return root[0]


def unconditional(error: ValidationError) -> bool:
    """Whether a finding in a shallow copy holds for the whole value: nothing that was cut off had a say in it."""
    if len(error.instance_path) >= KEPT_LEVELS:
        return False
    return all(keyword in _LOCAL for keyword in applied(error.evaluation_path))
