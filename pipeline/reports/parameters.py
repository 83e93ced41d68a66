"""What a report can be asked for: typed parameters, read from text, bound as values and written as SQL literals."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import PipelineError

Value = str | int | float | bool | dt.datetime | None

INT64_MAX = 2**63 - 1


def _integer(text: str) -> int:
    value = int(text)
    if abs(value) > INT64_MAX:
        raise ValueError
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _timestamp(text: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    # A bare date or time is UTC, as everything in the lake is; an offset that is written counts.
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)


@dataclass(frozen=True, slots=True)
class ParameterType:
    """How values of one type are read from text (``ValueError`` or ``KeyError`` where they cannot be)."""

    sql: str
    example: str
    read: Callable[[str], Value]


TYPES: dict[str, ParameterType] = {
    "text": ParameterType("VARCHAR", "any text", str),
    "integer": ParameterType("BIGINT", "a whole number such as 20", _integer),
    "number": ParameterType("DOUBLE", "a number such as 0.05", _number),
    "boolean": ParameterType("BOOLEAN", "true or false", _boolean),
    "timestamp": ParameterType(
        "TIMESTAMP WITH TIME ZONE", "a date or time such as 2026-05-01 or 2026-05-01T12:00Z", _timestamp
    ),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter: ``type`` is a name in ``TYPES``, ``default`` None where nothing is asked for."""

    name: str
    type: str
    default: Value
    help: str

    @property
    def option(self) -> str:
        """Name as people type it, in kebab-case."""
        return self.name.replace("_", "-")

    def read(self, text: str) -> Value:
        """Value that ``text`` stands for.

        Raises: PipelineError ``parameter-invalid`` where it is not of the parameter's type.
        """
        try:
            return TYPES[self.type].read(text)
        except (ValueError, KeyError, OverflowError):
            raise PipelineError(
                "parameter-invalid",
                f"{self.option}: {text!r} is not {TYPES[self.type].example}",
                f"{self.option} means: {self.help}",
            ) from None

    def literal(self, value: Value) -> str:
        """``value`` as a SQL literal of the parameter's type."""
        sql_type = TYPES[self.type].sql
        if value is None:
            return f"CAST(NULL AS {sql_type})"
        if isinstance(value, dt.datetime):
            return f"CAST('{value.isoformat(sep=' ')}' AS {sql_type})"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return str(value)


#: Parameters that mean the same in every report: a report names them and need not explain them again.
COMMON: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("since", "timestamp", None, "only what was made at or after this date or time (UTC)"),
        Parameter("until", "timestamp", None, "only what was made before this date or time (UTC)"),
        Parameter("model", "text", None, "only this model, or those that a pattern with * and ? matches"),
        Parameter("tool", "text", None, "only this tool, or those that a pattern with * and ? matches"),
        Parameter("min_calls", "integer", 1, "leave out groups of fewer calls than this"),
    )
}
