"""How far a graph of subschemas unfolds when it is followed, and where references lead in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote

from pipeline.records import JSONValue

#: Checks that may follow from looking at one value once.
MAX_UNFOLDED = 1_000_000


class Extent(NamedTuple):
    """What following a graph from any node can come to: nodes met in all, nodes in a row, and whether it never ends.

    ``checks`` is exact up to ``MAX_UNFOLDED`` and capped above it; both numbers are nothing where there is no end.
    """

    checks: int
    chain: int
    endless: bool


def unfold(nodes: Iterable[dict[str, Any]], following: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Extent:
    """Measure a graph; an explicit stack, and every node once, those that follow before those that lead there."""
    checks: dict[int, int] = {}
    chains: dict[int, int] = {}
    open_nodes: set[int] = set()
    for start in nodes:
        stack = [start]
        while stack:
            node = stack[-1]
            if id(node) in checks:
                stack.pop()
                continue
            children = following(node)
            if id(node) not in open_nodes:
                open_nodes.add(id(node))
                waiting = [child for child in children if id(child) not in checks]
                if any(id(child) in open_nodes for child in waiting):
                    return Extent(0, 0, endless=True)
                stack.extend(waiting)
                continue
            checks[id(node)] = min(MAX_UNFOLDED + 1, 1 + sum(checks[id(child)] for child in children))
            chains[id(node)] = 1 + max((chains[id(child)] for child in children), default=0)
            open_nodes.discard(id(node))
            stack.pop()
    return Extent(max(checks.values(), default=0), max(chains.values(), default=0), endless=False)


class Targets:
    """Where references lead, as far as it can be read off: pointers from the root, anchors and identifiers.

    ``unknown`` is set once a reference was asked for that leads somewhere else.
    """

    def __init__(self, schema: JSONValue, anchors: dict[str, dict[str, Any]]) -> None:
        self.unknown = False
        self._schema = schema
        self._anchors = anchors
        self._known: dict[str, Any] = {}

    def of(self, reference: str) -> dict[str, Any] | None:
        """Return the subschema that a reference leads to, None if that is not known or no object."""
        if reference not in self._known:
            self._known[reference] = self._look_up(reference)
        target = self._known[reference]
        if isinstance(target, dict):
            return target
        self.unknown = self.unknown or not isinstance(target, bool)
        return None

    def _look_up(self, reference: str) -> Any:
        base, _, fragment = reference.partition("#")
        node: Any = self._anchors.get(base) if base else self._schema
        if fragment.startswith("/"):
            for token in unquote(fragment[1:]).split("/"):
                node = _step(node, token.replace("~1", "/").replace("~0", "~"))
        elif fragment:
            node = self._anchors.get(unquote(fragment))
        return node


def _step(node: Any, token: str) -> Any:
    if isinstance(node, dict):
        return node.get(token)
    if isinstance(node, list) and token.isdecimal() and len(token) < 8 and int(token) < len(node):
        return node[int(token)]
    return None
