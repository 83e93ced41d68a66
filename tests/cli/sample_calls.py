"""Small logs for the tests of the command: one record or call at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {"port": {"type": "string"}, "day": {"type": "integer"}},
    "required": ["port"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "name": "get_tide", "strict": True, "parameters": SCHEMA},
    {"type": "function", "name": "set_alarm", "strict": False, "parameters": SCHEMA},
]


def call(arguments: Any, name: Any = "get_tide", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "call_1", "name": name, "arguments": arguments, **more}


def response(number: int, *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {"id": f"resp_{number}", "status": "completed", "model": "gpt-5", "created_at": 1767225600}
    return {**head, "tools": TOOLS, "output": list(output), **more}


USABLE = response(1, call('{"port":"Husum"}'))
FINDING = response(2, call('{"port":7}'))


def write(path: Path, *records: Any) -> str:
    """Write records, one a line (text as it is), and name the file."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))
    return str(path)
