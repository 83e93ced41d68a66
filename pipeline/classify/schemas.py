"""Compiled schemas, kept by their text: a definition that comes again is compiled once."""

from __future__ import annotations

from functools import lru_cache

from pipeline.records import ToolDefinition
from pipeline.toolschema import CompiledSchema, compile_schema


@lru_cache(maxsize=4096)
def compiled(parameters: str | None) -> CompiledSchema:
    """The checker for the JSON text of a schema; None accepts any object."""
    return compile_schema(parameters)


def schema_error(definition: ToolDefinition) -> str | None:
    """Why the schema of a definition cannot be used; None where it can."""
    return compiled(definition.parameters).error
