"""What one writes in an afternoon: the standard ``json`` and ``jsonschema`` over a log of Responses objects.

Honest work, not a straw man: validators are kept for each distinct tool, a call is parsed once, and nothing is stored.
It knows unknown tools, arguments that do not parse, cut answers and violations; it prints counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

_validators: dict[str, Draft202012Validator | None] = {}


def validator(tool: dict[str, Any]) -> Draft202012Validator | None:
    """The validator of a tool's parameters; None where the schema itself is wrong."""
    parameters = tool.get("parameters") or {}
    text = json.dumps(parameters)
    if text not in _validators:
        try:
            Draft202012Validator.check_schema(parameters)
            _validators[text] = Draft202012Validator(parameters)
        except SchemaError:
            _validators[text] = None
    return _validators[text]


def refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which the standard library would take."""
    raise ValueError(name)


def verdicts(response: dict[str, Any]) -> Iterator[str]:
    """One verdict for each function call of a response."""
    tools = {tool.get("name"): tool for tool in response.get("tools") or []}
    for item in response["output"]:
        if item["type"] != "function_call":
            continue
        try:
            arguments = json.loads(item["arguments"] or "{}", parse_constant=refuse_constant)
        except ValueError:
            yield "truncated" if response["status"] == "incomplete" else "unparseable"
            continue
        if not isinstance(arguments, dict):
            yield "unparseable"
        elif item["name"] not in tools:
            yield "unknown tool"
        else:
            tool = tools[item["name"]]
            judge = validator(tool)
            if judge is None:
                yield "schema invalid"
            elif any(True for _ in judge.iter_errors(arguments)):
                yield "violation"
            else:
                yield "fine, strict" if tool.get("strict") else "fine"


def main() -> None:
    """Count the verdicts of the file that is named on the command line."""
    counts: Counter[str] = Counter()
    with Path(sys.argv[1]).open(encoding="utf-8") as log:
        for line in log:
            counts.update(verdicts(json.loads(line)))
    for verdict, count in counts.most_common():
        print(f"{verdict:16} {count}")


if __name__ == "__main__":
    main()
