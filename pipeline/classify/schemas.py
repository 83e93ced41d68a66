"""Compiled schemas, kept by their text: a definition that comes again is compiled once."""

from __future__ import annotations

from functools import lru_cache

from pipeline.records import ToolDefinition
from pipeline.toolschema import CompiledSchema, compile_schema

#: Compiled schemas that are kept, some 20 kB each. A log in which every toolset is new makes any number.
_KEPT = 1024


@lru_cache(maxsize=_KEPT)
def compiled(parameters: str | None) -> CompiledSchema:
    """The checker for the JSON text of a schema; None accepts any object."""
    return compile_schema(parameters)


def schema_error(definition: ToolDefinition) -> str | None:
    """Why the schema of a definition cannot be used; None where it can."""
    return compiled(definition.parameters).error
