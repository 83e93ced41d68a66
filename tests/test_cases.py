"""Small inputs with the right answers: every call in log order with its state, and how many records cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.run import Judge, Settings
from pipeline.sources import FileSlice, Split
from pipeline.verdicts import STATES

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def judge(path: Path) -> tuple[list[dict[str, Any]], int]:
    calls: list[dict[str, Any]] = []
    rejects = 0
    for batch in Judge(Settings()).batches(Split((FileSlice(str(path)),))):
        rows = batch.calls.to_pylist()
        ids = batch.turns["response_id"].to_pylist()
        paths: dict[int, list[str]] = {}
        for violation in batch.violations.to_pylist():
            paths.setdefault(violation["call_row"], []).append(violation["path"])
        for number, row in enumerate(rows):
            calls.append(
                {
                    "response_id": ids[row["turn_row"]],
                    "call_id": row["call_id"],
                    "tool": row["tool_name"],
                    "state": row["state"],
                    "violation_paths": paths.get(number, []),
                }
            )
        rejects += len(batch.rejects)
    return calls, rejects


@pytest.mark.parametrize("case_file", CASES, ids=lambda file: file.stem)
def test_a_case_is_judged_as_written_beside_it(case_file: Path, tmp_path: Path) -> None:
    case = json.loads(case_file.read_text(encoding="utf-8"))
    log = tmp_path / case["input_name"]
    log.write_bytes(case["input_text"].encode())
    calls, rejects = judge(log)
    for expected, call in zip(case["expect"], calls, strict=False):
        if "violation_paths" not in expected:
            del call["violation_paths"]
    assert (calls, rejects) == (case["expect"], case["expect_rejects"])


def test_every_state_has_a_case() -> None:
    seen = {call["state"] for file in CASES for call in json.loads(file.read_text(encoding="utf-8"))["expect"]}
    assert seen == {state.name for state in STATES}
