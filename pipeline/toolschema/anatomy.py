"""What a schema is made of: its subschemas, the patterns in them, and how far one check of one value can unfold.

The engine is native code: a check that descends too far ends the process, and one that fans out too far never returns.
Both can be seen from the schema alone, by following the keywords that apply to the very same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field

from pipeline.records import JSONValue
from pipeline.toolschema.ecmapattern import PatternError, to_engine
from pipeline.toolschema.excerpt import excerpt
from pipeline.toolschema.paths import spell_schema_place

#: Checks that may follow from looking at one value once.
MAX_UNFOLDED = 1_000_000
#: Subschemas that may apply to the same value inside one another.
MAX_CHAIN = 1_000

_ONE = frozenset(
    {"additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems"}
    | {"contains", "propertyNames", "not", "if", "then", "else"}
)
_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_MAP = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})
_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor", "$id", "id")
#: Annotations by the later drafts, which the engine asserts in the earlier ones.
_ANNOTATIONS = ("contentEncoding", "contentMediaType")


class Anatomy(Struct):
    """A schema as the engine takes it. ``patterns`` leads from a pattern as it takes it to the one that was written.

    ``problem`` says why it cannot be used, empty if nothing was found. ``chain`` is the number of subschemas that can
    lie inside one another on the same value; ``descends`` whether a check can be nested as deeply as the value is.
    """

    schema: JSONValue
    patterns: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    chain: int = 1
    descends: bool = False


def dissect(schema: dict[str, Any]) -> Anatomy:
    """Rewrite the patterns of a schema, in place, and measure how it unfolds."""
    anatomy = Anatomy(schema)
    nodes: list[dict[str, Any]] = []
    anchors: dict[str, dict[str, Any]] = {}
    pending: list[tuple[dict[str, Any], tuple[str | int, ...]]] = [(schema, ())]
    while pending:
        node, place = pending.pop()
        nodes.append(node)
        try:
            _rewrite_patterns(node, anatomy.patterns)
        except PatternError as error:
            anatomy.problem = anatomy.problem or f"{spell_schema_place(place)}: {error}"
        for name in _ANNOTATIONS:
            node.pop(name, None)
        for name in _ANCHORS:
            if isinstance(node.get(name), str):
                anchors.setdefault(node[name].removeprefix("#"), node)
        anatomy.descends = anatomy.descends or "uniqueItems" in node or any(name in node for name in _REFERENCES)
        pending.extend((child, (*place, *steps)) for steps, child in _children(node))
    if anatomy.descends and not anatomy.problem:
        _measure(anatomy, nodes, _Targets(schema, anchors))
    return anatomy


def references(schema: JSONValue) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the place and the target of every reference in a schema."""
    pending: list[tuple[dict[str, Any], tuple[str | int, ...]]] = [(schema, ())] if isinstance(schema, dict) else []
    while pending:
        node, place = pending.pop()
        for name in _REFERENCES:
            if isinstance(node.get(name), str):
                yield place, node[name]
        pending.extend((child, (*place, *steps)) for steps, child in _children(node))


def _children(node: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    for keyword, value in node.items():
        if isinstance(value, dict):
            if keyword in _ONE:
                yield (keyword,), value
            elif keyword in _MAP:
                for name, child in value.items():
                    if isinstance(child, dict):
                        yield (keyword, name), child
        elif isinstance(value, list) and keyword in _LIST:
            for index, child in enumerate(value):
                if isinstance(child, dict):
                    yield (keyword, index), child


def _rewrite_patterns(node: dict[str, Any], patterns: dict[str, str]) -> None:
    def rewritten(pattern: str) -> str:
        try:
            result = to_engine(pattern)
        except PatternError as error:
            raise PatternError(f"the pattern {excerpt(pattern)} is not ECMA-262: {error}") from None
        if result != pattern:
            patterns[result] = pattern
        return result

    if isinstance(node.get("pattern"), str):
        node["pattern"] = rewritten(node["pattern"])
    by_pattern = node.get("patternProperties")
    if isinstance(by_pattern, dict):
        node["patternProperties"] = {rewritten(pattern): child for pattern, child in by_pattern.items()}


class _Targets:
    """Where references lead, as far as that can be read off: pointers from the root, anchors and identifiers."""

    def __init__(self, schema: JSONValue, anchors: dict[str, dict[str, Any]]) -> None:
        self._schema = schema
        self._anchors = anchors
        self._known: dict[str, dict[str, Any] | None] = {}

    def of(self, reference: str) -> dict[str, Any] | None:
        """Return the subschema that a reference leads to, None if that is not known or no object."""
        if reference not in self._known:
            self._known[reference] = self._look_up(reference)
        return self._known[reference]

    def _look_up(self, reference: str) -> dict[str, Any] | None:
        base, _, fragment = reference.partition("#")
        node: Any = self._schema if not base else self._anchors.get(base)
        if fragment.startswith("/"):
            for token in unquote(fragment[1:]).split("/"):
                node = _step(node, token.replace("~1", "/").replace("~0", "~"))
        elif fragment:
            node = self._anchors.get(unquote(fragment))
        return node if isinstance(node, dict) else None


def _step(node: Any, token: str) -> Any:
    if isinstance(node, dict):
        return node.get(token)
    if isinstance(node, list) and token.isdecimal() and len(token) < 8 and int(token) < len(node):
        return node[int(token)]
    return None


def _measure(anatomy: Anatomy, nodes: list[dict[str, Any]], targets: _Targets) -> None:
    """Count, for every subschema, what looking at one value can lead to; an explicit stack, children before parents."""
    costs: dict[int, int] = {}
    chains: dict[int, int] = {}
    open_nodes: set[int] = set()
    for start in nodes:
        stack = [start]
        while stack:
            node = stack[-1]
            if id(node) in costs:
                stack.pop()
                continue
            children = _in_place(node, targets)
            if id(node) not in open_nodes:
                open_nodes.add(id(node))
                waiting = [child for child in children if id(child) not in costs]
                if any(id(child) in open_nodes for child in waiting):
                    anatomy.problem = "a $ref leads back to itself without descending into the arguments"
                    return
                stack.extend(waiting)
                continue
            costs[id(node)] = min(MAX_UNFOLDED + 1, 1 + sum(costs[id(child)] for child in children))
            chains[id(node)] = 1 + max((chains[id(child)] for child in children), default=0)
            open_nodes.discard(id(node))
            stack.pop()
    anatomy.chain = max(chains.values())
    if max(costs.values()) > MAX_UNFOLDED:
        anatomy.problem = f"its $refs unfold to more than {MAX_UNFOLDED:,} checks of one value, the limit"
    elif anatomy.chain > MAX_CHAIN:
        anatomy.problem = f"more than {MAX_CHAIN:,} subschemas apply to one value inside one another, the limit"


def _in_place(node: dict[str, Any], targets: _Targets) -> list[dict[str, Any]]:
    """Return the subschemas that a value is checked against because it is checked against ``node``."""
    found = [child for steps, child in _children(node) if steps[0] in _IN_PLACE]
    for name in _REFERENCES:
        if isinstance(node.get(name), str):
            target = targets.of(node[name])
            if target is not None:
                found.append(target)
    return found
