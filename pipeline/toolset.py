"""The tools that a turn was shown, and how a call's name finds its definition among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

from pipeline.records import ToolDefinition

#: How much of a name is looked at for likeness, with how many declared names it is compared, and what counts as alike.
_LIKENESS_CHARACTERS = 120
_LIKENESS_NAMES = 256
_LIKENESS_CUTOFF = 0.6
#: A declared name shorter than this is no sign of anything where it stands inside another.
_PART_CHARACTERS = 4
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")


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
        """Declared names in order, each with its namespace where it has one (``crm.lookup``)."""
        return [f"{d.namespace}.{d.name}" if d.namespace else d.name for d in self.definitions]


def nearest_name(name: str, declared: Sequence[str]) -> str | None:
    """The declared name that was likely meant by one that is not declared, or None.

    In this order: the same words in another spelling; a declared name at the beginning or end of the called one (before
    control tokens, or after a prefix such as ``functions.``); another verb for the same thing; most letter pairs in
    common.
    """
    name = name[:_LIKENESS_CHARACTERS]
    names = [one for one in declared[:_LIKENESS_NAMES] if len(one) <= _LIKENESS_CHARACTERS]
    words = _words(name)
    tests: tuple[Callable[[str], bool], ...] = (
        lambda one: bool(words) and _words(one) == words,
        lambda one: len(one) >= _PART_CHARACTERS and (name.startswith(one) or name.endswith(one)),
        lambda one: bool(words[1:]) and _words(one)[1:] == words[1:],
        lambda one: _likeness(name, one) >= _LIKENESS_CUTOFF,
    )
    for is_alike in tests:
        alike = [one for one in names if is_alike(one)]
        if alike:
            return max(alike, key=lambda one: _likeness(name, one))
    return None


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def _letter_pairs(name: str) -> frozenset[str]:
    return frozenset(map("".join, zip(name.lower(), name.lower()[1:], strict=False)))


def _likeness(name: str, other: str) -> float:
    """Share of the letter pairs that two names have in common, 0 to 1: unlike an edit distance, cheap on any names."""
    pairs, others = _letter_pairs(name), _letter_pairs(other)
    return 2 * len(pairs & others) / (len(pairs) + len(others) or 1)


class ToolsetsByNumber(Protocol):
    """Whoever knows toolsets by the numbers that turns carry."""

    def __getitem__(self, number: int) -> Toolset:
        """The toolset of a number."""
