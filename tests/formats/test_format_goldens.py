"""Every format has a folder with a log and what it is read as. Both ways: no format without, no folder beside."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from turn_pictures import read_log

from pipeline.formats import ANSWERS, ENVELOPES, bare

GOLDEN = Path(__file__).parent / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if path.is_dir())


def expected_formats() -> set[str]:
    """All that a turn's ``format`` can say: each envelope around each answer, streamed where there is an envelope."""
    names = {f"{envelope.PREFIX}{answer.NAME}" for envelope, answer in product(ENVELOPES, ANSWERS)}
    streamed = {
        f"{envelope.PREFIX}{answer.NAME}/stream"
        for envelope, answer in product(ENVELOPES, ANSWERS)
        if envelope is not bare
    }
    return names | streamed | {f"list/{answer.NAME}" for answer in ANSWERS}


def test_every_format_has_a_golden_and_every_golden_a_format() -> None:
    assert {folder.name.replace(".", "/") for folder in FOLDERS} == expected_formats()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_log_is_read_as_written_beside_it(folder: Path) -> None:
    (log,) = folder.glob("log.*")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert read_log(log) == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_golden_holds_turns_of_its_own_format_only(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert {turn["format"] for turn in expected if "format" in turn} == {folder.name.replace(".", "/")}
