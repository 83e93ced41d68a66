"""What a run came to: what was kept, what cannot be read any more, what failed and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

#: Told after every answer: how many are done, and how many there will be (None where nobody can know).
Tell = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a second run would try again: an id or a place in the list, and why it failed."""

    what: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """The count of a run, filled as it goes so that a run that ends early still has one.

    ``asked`` counts distinct ids (or listed completions), ``kept`` the lines written now, ``already`` those that the
    output held before; ``unreadable`` holds the ids the API answers 404 for.
    """

    asked: int = 0
    kept: int = 0
    already: int = 0
    unreadable: list[str] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
