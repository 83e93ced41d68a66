"""The lakes that these tests ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_lake import make_lake


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lake(tmp_path_factory.mktemp("small") / "lake")


@pytest.fixture(scope="session")
def empty_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lake(tmp_path_factory.mktemp("empty") / "lake", tables=())
