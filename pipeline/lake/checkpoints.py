"""The points at which a run changes the disk, each with a name, so that a test can end the process at every one."""

from __future__ import annotations

#: Every name that :func:`reached` is called with, in the order in which a run first meets them.
NAMES: tuple[str, ...] = (
    "lake-created",
    "staging-made",
    "part-staged",
    "part-rewritten",
    "part-renamed",
    "manifest-written",
    "manifest-replaced",
    "part-retired",
    "staging-removed",
)


def reached(name: str) -> None:
    """Do nothing. Tests put a function here that kills the process at a point of their choice."""
