"""What a schema is made of: its subschemas, the patterns in them, and how far a check can unfold.

The engine is native code: a check that descends too far ends the process, and one that fans out too far never returns.
Both can be seen beforehand, in the schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from pipeline.records import JSONValue
from pipeline.toolschema.ecmapattern import PatternError, to_engine
from pipeline.toolschema.excerpt import excerpt
from pipeline.toolschema.paths import spell_schema_place
from pipeline.toolschema.unfolding import MAX_UNFOLDED, Targets, unfold

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


#: One of these stands in the text of any schema in which there is something to rewrite or to follow: a name may be
#: spelled with escapes.
_TELLING = ("pattern", "$", *_ANNOTATIONS, "\\u")


class Anatomy(Struct):
    """A schema as the engine takes it. ``patterns`` leads from a pattern as it takes it to the one that was written.

    ``problem`` says why it cannot be used, empty if nothing was found. ``chain`` is the number of subschemas that can
    lie inside one another on the same value; ``recursive`` whether a check can be nested as deeply as the value is.
    """

    schema: JSONValue
    patterns: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    chain: int = 1
    recursive: bool = False


def dissect(schema: dict[str, Any], text: str) -> Anatomy:
    """Rewrite the patterns of a schema, in place, and measure how it unfolds. ``text`` is what it was read from."""
    anatomy = Anatomy(schema)
    if not any(name in text for name in _TELLING):
        return anatomy
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
        pending.extend((child, (*place, *steps)) for steps, child in _children(node))
    if not anatomy.problem:
        _measure(anatomy, nodes, Targets(schema, anchors))
    return anatomy


def _measure(anatomy: Anatomy, nodes: list[dict[str, Any]], targets: Targets) -> None:
    """Follow the references, if there are any."""
    names = {name for node in nodes for name in _REFERENCES if isinstance(node.get(name), str)}
    if not names:
        return

    def led_to(node: dict[str, Any]) -> list[dict[str, Any]]:
        found = (targets.of(node[name]) for name in _REFERENCES if isinstance(node.get(name), str))
        return [target for target in found if target is not None]

    def in_place(node: dict[str, Any]) -> list[dict[str, Any]]:
        return [child for steps, child in _children(node) if steps[0] in _IN_PLACE] + led_to(node)

    def below(node: dict[str, Any]) -> list[dict[str, Any]]:
        return [child for _, child in _children(node)] + led_to(node)

    here, everywhere = unfold(nodes, in_place), unfold(nodes, below)
    anatomy.chain = here.chain
    anatomy.recursive = everywhere.endless or everywhere.chain > MAX_CHAIN or targets.unknown or names != {"$ref"}
    if here.endless:
        anatomy.problem = "a $ref leads back to itself without descending into the arguments"
    elif here.checks > MAX_UNFOLDED:
        anatomy.problem = f"its $refs unfold to more than {MAX_UNFOLDED:,} checks of one value, the limit"
    elif here.chain > MAX_CHAIN:
        anatomy.problem = f"more than {MAX_CHAIN:,} subschemas apply to one value inside one another, the limit"


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
