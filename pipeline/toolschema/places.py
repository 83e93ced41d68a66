"""What the place of a finding in its schema says of it, whatever the value: looked up once, and kept."""

from __future__ import annotations

from collections.abc import Mapping

from jsonschema_rs import ValidationError
from msgspec import Struct

from pipeline.records import JSONValue
from pipeline.toolschema.paths import applied, descents, pointer, resolve

#: Places that are kept of one schema, some 1 kB each. A recursive schema has any number of them.
_KEPT = 32


class Place(Struct):
    """A place in a schema: the keyword that is broken there, and the steps that lead to it, also as a pointer.

    ``wild`` says of each step down into the value whether it goes to any of many keys. The rest is worded by whoever
    needs it first: what the keyword ``expected``, and which keys are ``allowed`` beside it.
    """

    keyword: str
    steps: list[str | int]
    schema_path: str
    wild: list[bool]
    expected: str | None = None
    allowed: str | None = None


class Places:
    """The places of one schema in which something was found, and the patterns in it as they were written."""

    def __init__(self, schema: JSONValue, patterns: Mapping[str, str]) -> None:
        self.schema = schema
        self.patterns = patterns
        self._known: dict[tuple[str, tuple[str | int, ...], tuple[str | int, ...]], Place] = {}

    def of(self, error: ValidationError) -> Place:
        """Return the place of a finding. The way that led there belongs to it, for a reference leads from many."""
        key = (type(error.kind).__name__, tuple(error.schema_path), tuple(error.evaluation_path))
        place = self._known.get(key)
        if place is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            place = self._known[key] = self._look_at(error)
        return place

    def _look_at(self, error: ValidationError) -> Place:
        steps = resolve(self.schema, error.schema_path)
        for index, step in enumerate(steps):
            if isinstance(step, str) and index and steps[index - 1] == "patternProperties":
                steps[index] = self.patterns.get(step, step)
        return Place(_keyword(error), steps, pointer(steps), descents(error.evaluation_path))


def _keyword(error: ValidationError) -> str:
    """Name the keyword that is broken: the innermost that applied where a plain ``false`` stood under it."""
    kind = type(error.kind).__name__
    if kind == "PropertyNames":
        return "propertyNames"
    if kind == "FalseSchema":
        keywords = [keyword for keyword in applied(error.evaluation_path) if not keyword.startswith("$")]
        return keywords[-1] if keywords else "false"
    return str(error.schema_path[-1]) if error.schema_path else kind
