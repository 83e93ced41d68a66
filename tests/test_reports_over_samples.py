"""Every report over the sample logs looks as its golden file says; UPDATE_GOLDENS=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import main

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden" / "reports"
REPORTS = sorted(file.stem for file in (ROOT / "sql").glob("*.sql"))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("samples") / "lake"
    before = Path.cwd()
    os.chdir(ROOT)  # source_file is the path as it was given
    try:
        done = CliRunner().invoke(main, ["ingest", "sample_data", "--lake", str(place), "--jobs", "1", "--exit-zero"])
    finally:
        os.chdir(before)
    assert done.exit_code == 0, done.stderr
    return place


def test_every_report_has_a_golden_file_and_every_golden_file_a_report() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*.csv")) == REPORTS


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_over_the_samples_is_its_golden_file(name: str, lake: Path) -> None:
    done = CliRunner().invoke(main, ["report", name, "--lake", str(lake), "--format", "csv"])
    assert done.exit_code == 0, done.stderr
    golden = GOLDEN / f"{name}.csv"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_bytes(done.stdout_bytes)
    assert done.stdout_bytes == golden.read_bytes()
