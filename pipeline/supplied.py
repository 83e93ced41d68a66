"""Tool definitions that the user supplies for logs which have none."""

from __future__ import annotations

from pathlib import Path

from pipeline.definitions import supplied_definitions
from pipeline.errors import PipelineError
from pipeline.records import ToolDefinition


def read_supplied(file: str) -> tuple[ToolDefinition, ...]:
    """The definitions of a file: a list in either OpenAI shape, ``{"tools": [...]}``, or an MCP ``tools/list`` result.

    Raises:
        PipelineError: the file cannot be read, or holds no definitions.
    """
    try:
        document = Path(file).read_bytes()
    except OSError as error:
        raise PipelineError(
            "tools-unreadable", f"cannot read {file}: {error.strerror}", "--tools takes a JSON file of tool definitions"
        ) from error
    definitions = supplied_definitions(document)
    if not definitions:
        raise PipelineError(
            "no-definitions",
            f"{file} holds no tool definitions",
            'it may hold a list of definitions, {"tools": [...]}, or the result of an MCP tools/list',
        )
    return tuple(definitions)
