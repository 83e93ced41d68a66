"""Lakes in memory: SIGKILL loses nothing that the kernel has, so they prove as much, without waiting for the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_MEMORY = "/dev/shm"  # noqa: S108 -- a directory of our own is made in it


@pytest.fixture(scope="session")
def memory() -> str | None:
    """A directory in memory; None where there is none, and temporary files go where they always do."""
    return _MEMORY if os.access(_MEMORY, os.W_OK) else None


@pytest.fixture
def tmp_path(memory: str | None) -> Iterator[Path]:
    """A directory of its own for each test."""
    with TemporaryDirectory(dir=memory) as directory:
        yield Path(directory)
