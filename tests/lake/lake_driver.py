"""A run in small, over the lake's own interface: reads a toy log, stages splits, lands and commits them.

A line of the toy log is ``{"id": "r1" or null, "calls": [0, 2], "tool": "t1"}``: an answer, the number of violations of
each of its calls, and the one tool that it was shown. Run as a program it can be told to die at a checkpoint.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.lake import checkpoints, committed_parts
from pipeline.lake.decisions import Decision
from pipeline.lake.files import FileRead
from pipeline.lake.staging import StagedParts, StagedWriter
from pipeline.lake.store import Lake, Landed
from pipeline.tables import TABLES, arrow_schema

NOW = datetime(2025, 11, 1, tzinfo=UTC)
SPLIT_BYTES = 200
Rows = dict[str, list[dict[str, Any]]]


def batch_of(table: str, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Rows of a table, columns that a row leaves out being null."""
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(table))


def answer_rows(line: dict[str, Any], place: tuple[str, int, int], place_name: str) -> Rows:
    """The rows of one line of the toy log, which stands at (source_file, source_line, source_offset)."""
    at = dict(zip(("source_file", "source_line", "source_offset"), place, strict=True))
    turn_key = f"id:{line['id']}" if line["id"] else f"place:{place_name}:{place[2]}"
    shared = {"turn_key": turn_key, "response_id": line["id"], "format": "toy", "ingested_at": NOW, **at}
    counts = list(enumerate(line["calls"]))
    return {
        "turns": [{**shared, "choice_index": 0, "calls": len(counts)}],
        "calls": [
            {**shared, "call_key": f"{turn_key}-{index}", "call_index": index, "calls_in_turn": len(counts)}
            | {"tool_name": line["tool"], "arguments": "{}", "state": "dispatchable", "outcome": "usable"}
            | {"violation_count": count}
            for index, count in counts
        ],
        "violations": [
            {"call_key": f"{turn_key}-{index}", "violation_index": number, "keyword": "type", "path": "arguments"}
            | {"path_pattern": "arguments", "message": line.get("says", "wrong")}
            for index, count in counts
            for number in range(count)
        ],
        "tools": [{"tool_key": f"key of {line['tool']}", "tool_name": line["tool"], "strict": False}],
        "rejects": [],
        "duplicates": [],
    }


def splits(decision: Decision, split_bytes: int) -> Iterator[tuple[Rows, FileRead]]:
    """Rows of a file from where it was left, some bytes at a time, and how far each split took it."""
    data = Path(decision.path).read_bytes()[: decision.stat.size]
    offset, number = decision.start_offset, decision.start_line
    while True:
        rows: Rows = {table: [] for table in TABLES}
        begin, torn = offset, False
        while offset < len(data) and offset - begin < split_bytes and not torn:
            end = data.find(b"\n", offset) + 1 or len(data)
            place = (decision.name, number, offset)
            try:
                more = answer_rows(json.loads(data[offset:end]), place, decision.place_name)
            except json.JSONDecodeError:
                torn = not data[:end].endswith(b"\n")
                at = dict(zip(("source_file", "source_line", "source_offset"), place, strict=True))
                more = {"rejects": [{**at, "bytes": end - offset, "reason": "cut", "ingested_at": NOW}]}
            for table, some in more.items():
                rows[table] += some
            if not torn:
                offset, number = end, number + 1
        done = torn or offset >= len(data)
        yield rows, FileRead(decision, offset, number, complete=done, resumable=True, torn=torn)
        if done:
            return


def stage(staging: Path, split_id: str, rows: Rows) -> StagedParts:
    """Write one split as a worker would."""
    with StagedWriter(staging, split_id) as writer:
        for table, some in rows.items():
            writer.write(table, batch_of(table, some))
        return writer.finish()


def ingest(
    lake: Path, paths: Iterable[Path | str], *, full: bool = False, split_bytes: int = SPLIT_BYTES
) -> tuple[dict[str, str], list[Landed]]:
    """A whole run: what was decided for each path, and what became of each split."""
    with Lake(lake, full=full) as opened:
        decisions = opened.plan([str(path) for path in paths])
        opened.begin(decisions)
        landed = []
        for position, decision in enumerate(decisions):
            for step, (rows, read) in enumerate(splits(decision, split_bytes) if decision.to_read else ()):
                staged = stage(opened.staging, f"{position}-{step}", rows)
                landed.append(opened.land(staged, [read]))
                if step % 2:
                    opened.commit()
        opened.finish()
    return {decision.path: decision.action for decision in decisions}, landed


def lake_rows(lake: Path) -> Rows:
    """Every row that counts, in an order that does not depend on parts."""
    rows: Rows = {}
    for table, parts in committed_parts(lake).items():
        some = [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]
        rows[table] = sorted(some, key=repr)
    return rows


def places(lake: Path, table: str = "turns") -> list[tuple[str, str, int]]:
    """Key, file and line of every row of turns or duplicates."""
    return sorted(
        (row["turn_key"], Path(row["source_file"]).name, row["source_line"]) for row in lake_rows(lake)[table]
    )


def write_log(path: Path, *lines: dict[str, Any] | str) -> Path:
    """Write a toy log; a line given as text stands as it is, without a line feed."""
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def answer(id_: str | None, *calls: int, tool: str = "t1", **more: Any) -> dict[str, Any]:
    """One line of a toy log."""
    return {"id": id_, "calls": list(calls), "tool": tool, **more}


def dying_at(where: str, count: int) -> None:
    """Kill this process the ``count``-th time it reaches a checkpoint; ``*`` is any of them."""
    met = 0

    def reached(name: str) -> None:
        nonlocal met
        met += where in ("*", name)
        if met == count and where in ("*", name):
            os.kill(os.getpid(), signal.SIGKILL)

    checkpoints.reached = reached


if __name__ == "__main__":
    lake_argument, full_argument, name_argument, count_argument, *path_arguments = sys.argv[1:]
    dying_at(name_argument, int(count_argument))
    ingest(Path(lake_argument), path_arguments, full=full_argument == "full")
