"""The tools that a turn was shown, and how a call's name finds its definition among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipeline.records import ToolDefinition


class Toolset:
    """The tools that a turn was shown: definitions by (namespace, name), the first of equal names counting."""

    __slots__ = ("_by_name", "definitions")

    def __init__(self, definitions: Sequence[ToolDefinition]) -> None:
        self.definitions = tuple(definitions)
        self._by_name: dict[tuple[str | None, str], ToolDefinition] = {}
        for definition in definitions:
            self._by_name.setdefault((definition.namespace, definition.name), definition)

    def find(self, namespace: str | None, name: str) -> ToolDefinition | None:
        """The definition that a call names, or None.

        Names match exactly. A deferred function may come back with a namespace equal to its own name.
        """
        found = self._by_name.get((namespace, name))
        if found is None and namespace is not None and namespace == name:
            found = self._by_name.get((None, name))
        return found

    def names(self) -> list[str]:
        """Declared names, namespaces left out, in order."""
        return [definition.name for definition in self.definitions]


class ToolsetsByNumber(Protocol):
    """Whoever knows toolsets by the numbers that turns carry."""

    def __getitem__(self, number: int) -> Toolset:
        """The toolset of a number."""
