"""Places: in the arguments (``arguments.rows[0].sku``), across calls (``arguments.rows[*].sku``), and in the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.exactjson import quoted

ROOT = "arguments"

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
#: Keywords of an evaluation path that take a further token (a name or an index) with them.
_WITH_ARGUMENT = frozenset(
    {"properties", "patternProperties", "prefixItems", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"}
)
#: Keywords that go one step down into the value, and whether the key that they go to is one of any number.
_DESCENDS = {
    "properties": False,
    "patternProperties": True,
    "additionalProperties": True,
    "unevaluatedProperties": True,
    "items": False,
    "prefixItems": False,
    "additionalItems": False,
    "unevaluatedItems": False,
    "contains": False,
}


def resolve(container: Any, tokens: Sequence[str | int]) -> list[str | int]:
    """Return the steps of an engine's path as they are in ``container``: ``str`` for keys, ``int`` for indexes.

    The engine spells a key of digits like an index, so only the container can tell.
    """
    steps: list[str | int] = []
    node = container
    for token in tokens:
        step = token
        if isinstance(node, dict):
            step = token if isinstance(token, str) else _key(node, token)
            node = node.get(step)
        else:
            node = node[token] if isinstance(node, list) and isinstance(token, int) and token < len(node) else None
        steps.append(step)
    return steps


def _key(node: dict[str, Any], token: int) -> str:
    if str(token) in node:
        return str(token)
    for key in node:  # it was written with zeros or a plus sign before it
        digits = key.removeprefix("+").lstrip("0")
        if digits == str(token) or (not digits and key.endswith("0") and token == 0):
            return key
    return str(token)


def look_up(container: Any, steps: Sequence[str | int]) -> Any:
    """Return what lies at some steps; None where they lead nowhere."""
    node = container
    for step in steps:
        if isinstance(node, dict):
            node = node.get(str(step))
        else:
            node = node[step] if isinstance(node, list) and isinstance(step, int) and step < len(node) else None
    return node


def spell(steps: Sequence[str | int], wild: Sequence[bool] = (), root: str = ROOT) -> tuple[str, str]:
    """Write steps as a path, and as the pattern that like paths share; ``wild[i]`` says that key ``i`` is any key."""
    path, pattern = [root], [root]
    for index, step in enumerate(steps):
        if isinstance(step, int):
            path.append(f"[{step}]")
            pattern.append("[*]")
        else:
            plain = (step.isascii() and step.isidentifier()) or _IDENTIFIER.fullmatch(step)
            spelled = f".{step}" if plain else f"[{quoted(step)}]"
            path.append(spelled)
            pattern.append(".*" if index < len(wild) and wild[index] else spelled)
    return "".join(path), "".join(pattern)


def spell_schema_place(steps: Sequence[str | int]) -> str:
    """Write a place in a schema for a person: ``properties.f.type``."""
    return spell(steps, root="")[0].removeprefix(".") or "the schema"


def pointer(steps: Sequence[str | int]) -> str:
    """Write a place in a schema as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def applied(evaluation_path: Sequence[str | int]) -> Iterator[str]:
    """Yield the keywords of an evaluation path, without the names and indexes that belong to them."""
    skip = False
    for index, token in enumerate(evaluation_path):
        if skip:
            skip = False
            continue
        following = evaluation_path[index + 1] if index + 1 < len(evaluation_path) else None
        skip = token in _WITH_ARGUMENT or (token == "items" and isinstance(following, int))  # noqa: S105 - a path token
        yield str(token)


def descents(evaluation_path: Sequence[str | int]) -> list[bool]:
    """Return, for each step down into the value that an evaluation path makes, whether it goes to any of many keys."""
    return [_DESCENDS[keyword] for keyword in applied(evaluation_path) if keyword in _DESCENDS]
