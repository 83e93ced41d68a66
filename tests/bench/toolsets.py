"""Forty toolsets of realistic definitions, and arguments for each tool: fitting, or broken in a named way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.bench.vocabulary import NOUNS, PARAMETERS, VERBS, Parameter, prose, sentence

TOOLSET_COUNT = 40
TOOLS_MIN, TOOLS_MAX = 4, 14

#: Ways in which generated arguments go wrong, and what a judge must call the result. Cut-off text and unknown names
#: are made where the whole turn is known.
VIOLATING = ("wrong-value", "missing", "extra")
UNPARSEABLE = (
    "not-an-object",
    "double-encoded",
    "code-fence",
    "trailing-comma",
    "single-quotes",
    "nan-or-infinity",
    "control-character",
    "bad-escape",
    "trailing-text",
    "several-documents",
    "not-json",
)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its parameters in order, how many of them are required (the first), and its definition."""

    name: str
    strict: bool
    parameters: tuple[Parameter, ...]
    required: int
    description: str
    schema: dict[str, Any]

    def responses_form(self) -> dict[str, Any]:
        """Definition as the Responses API echoes it."""
        return {
            "type": "function",
            "description": self.description,
            "name": self.name,
            "parameters": self.schema,
            "strict": self.strict,
        }

    def chat_form(self) -> dict[str, Any]:
        """Definition as a Chat Completions request carries it; a loose tool says nothing about strictness."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": {**function, "strict": True} if self.strict else function}

    def fitting(self, rng: Random) -> list[str]:
        """Members of arguments that match the schema, each as ``"name":value``."""
        return [
            f'"{parameter.name}":{parameter.fitting(rng)}'
            for index, parameter in enumerate(self.parameters)
            if index < self.required or rng.random() < 0.5
        ]


def make_tool(rng: Random, name: str) -> Tool:
    """A tool of two to six parameters. Strict tools require all of them, as the API demands."""
    parameters = tuple(rng.sample(PARAMETERS, rng.randrange(2, 7)))
    strict = rng.random() < 0.5
    required = len(parameters) if strict else max(1, len(parameters) // 2)
    schema = {
        "type": "object",
        "properties": {p.name: {"description": sentence(rng, rng.randrange(4, 11)), **p.schema} for p in parameters},
        "required": [p.name for p in parameters[:required]],
        "additionalProperties": False,
    }
    return Tool(name, strict, parameters, required, prose(rng, 100), schema)


def make_toolsets(seed: int, tools_min: int = TOOLS_MIN, tools_max: int = TOOLS_MAX) -> list[list[Tool]]:
    """Forty lists of tools out of one pool, sizes spread evenly between the two bounds (both included)."""
    rng = Random(f"toolsets-{seed}")
    pool = [make_tool(rng, f"{verb}_{noun}") for verb in VERBS for noun in NOUNS]
    sizes = [tools_min + index % (tools_max - tools_min + 1) for index in range(TOOLSET_COUNT)]
    return [rng.sample(pool, size) for size in sizes]


def arguments(rng: Random, tool: Tool) -> str:
    """Arguments text that the tool's schema accepts."""
    return "{" + ",".join(tool.fitting(rng)) + "}"


def violating_arguments(rng: Random, tool: Tool, kind: str) -> str:
    """A JSON object that breaks the tool's schema in one of the ways of ``VIOLATING``."""
    members = tool.fitting(rng)
    position = rng.randrange(tool.required)
    if kind == "wrong-value":
        parameter = tool.parameters[position]
        members[position] = f'"{parameter.name}":{parameter.breaking}'
    elif kind == "missing":
        del members[position]
    else:
        members.append('"confirmed":true')
    return "{" + ",".join(members) + "}"


def unparseable_arguments(rng: Random, tool: Tool, kind: str) -> str:
    """Text that does not parse to a JSON object, in one of the ways of ``UNPARSEABLE``."""
    text = arguments(rng, tool)
    first = tool.parameters[0].name
    made = {
        "not-an-object": f"[{text}]",
        "double-encoded": json.dumps(text),
        "code-fence": f"```json\n{text}\n```",
        "trailing-comma": text[:-1] + ",}",
        "single-quotes": text.replace('"', "'"),
        "nan-or-infinity": f'{{"{first}":NaN}}',
        "control-character": f'{{"{first}":"one\ntwo {rng.randrange(10**6)}"}}',
        "bad-escape": f'{{"{first}":"it\\\'s {rng.randrange(10**6)}"}}',
        "trailing-text": f"{text} I will do it now.",
        "several-documents": text + text,
        "not-json": f"{first}={rng.randrange(10**6)}",
    }
    return made[kind]
