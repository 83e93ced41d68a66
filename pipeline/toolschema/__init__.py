"""A tool's JSON Schema to a compiled checker, and what a checker finds to violations in our own words.

All of JSON Schema, drafts 4 to 2020-12, through jsonschema-rs, which nothing else in the project may touch. A ``$ref``
is resolved inside its own schema: nothing here opens a socket or a file.
"""

from pipeline.toolschema.compiled import CompiledSchema, UnjudgeableError, compile_schema

__all__ = ["CompiledSchema", "UnjudgeableError", "compile_schema"]
