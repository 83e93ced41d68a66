"""Logs in small for the tests of ingest, what a lake holds of them, and the command as a program that dies when told.

As a program it is the command line itself. ``DIE_AT`` names a checkpoint (``*``: any), ``DIE_COUNT`` which time it is
met, and ``DIE_WHO`` the process that dies there: ``self``, or the ``parent`` of the worker that meets it.
``SPLIT_BYTES`` makes small splits, and a commit after each. ``FILE_BYTES`` is the size that no file may exceed.
``PROGRESS_AT_ONCE`` shows progress from the first byte on.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pipeline.cli import terminal
from pipeline.ingest import Ingested, ingest, ingestion
from pipeline.lake import checkpoints, committed_parts
from pipeline.run import Settings

Row = dict[str, Any]
Rows = dict[str, list[Row]]
PROGRAM = str(Path(__file__))
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "Tells the weather.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
        "additionalProperties": False,
    },
}
FINE = '{"city":"Turin","days":3}'
WRONG = '{"city":7,"days":"three"}'  # two violations
BROKEN = '{"city":"Turin",'


def answer(id_: str | None, *arguments: str, tool: str = "weather", **more: Any) -> Row:
    """One stored response, with a call for each arguments text; without an id it is known by its place alone."""
    calls = [
        {"type": "function_call", "call_id": f"call_{index}", "name": tool, "arguments": text}
        for index, text in enumerate(arguments)
    ]
    record: Row = {"id": id_, "object": "response", "created_at": 1_777_600_000, "status": "completed"}
    record |= {"model": "gpt-5", "output": calls, "tools": [WEATHER]} | more
    if id_ is None:
        del record["id"]
    return record


def answers(first: int, how_many: int) -> list[Row]:
    """Answers with ids of their own, every fifth with a call that breaks its schema."""
    return [
        answer(f"resp_{number:06d}", *([FINE, WRONG] if number % 5 == 0 else [FINE]))
        for number in range(first, first + how_many)
    ]


def lines(*records: Row | str) -> str:
    """Records as JSON Lines; a text stands as it is."""
    return "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records)


def write_log(path: Path, *records: Row | str) -> Path:
    """Write records as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(*records))
    return path


def append(path: Path, *records: Row | str) -> Path:
    """Let a log grow."""
    with path.open("a") as log:
        log.write(lines(*records))
    return path


def land(lake: Path, *paths: Path, jobs: int = 1, full: bool = False) -> Ingested:
    """One run over files."""
    return ingest([str(path) for path in paths], lake, Settings(), jobs=jobs, full=full)


def rows_of(lake: Path) -> Rows:
    """Every row that counts, save when it was landed, in an order that does not depend on parts."""
    rows: Rows = {}
    for table, parts in committed_parts(lake).items():
        some = [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]
        for row in some:
            row.pop("ingested_at", None)
        rows[table] = sorted(some, key=repr)
    return rows


def fresh_rows(lake: Path, *paths: Path) -> Rows:
    """The rows of one run over files as they are now, into a lake of its own."""
    land(lake, *paths)
    return rows_of(lake)


def places(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Where rows come from: name of the file and line."""
    return sorted((Path(row["source_file"]).name, row["source_line"]) for row in rows)


def ids(lake: Path) -> list[str | None]:
    """Ids of all answers that the lake holds, with repetitions if there are any."""
    return sorted((row["response_id"] for row in rows_of(lake)["turns"]), key=str)


def only_what_counts(lake: Path) -> bool:
    """Whether nothing lies about: the tables hold what the manifest names and no more, and staging is empty."""
    named = {path for parts in committed_parts(lake).values() for path in parts}
    there = {str(path.resolve()) for table in committed_parts(lake) for path in (lake / table).iterdir()}
    staging = lake / "_staging"
    return there == named and not (staging.exists() and list(staging.iterdir()))


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start this program with arguments of the command line, in a process group of its own."""
    return subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, PROGRAM, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers_of(pid: int) -> list[int]:
    """Processes that a process has started and that live."""
    return [
        int(status.parent.name)
        for status in Path("/proc").glob("[0-9]*/stat")
        if (fields := _status(status)) and fields[1] == str(pid) and fields[0] != "Z"
    ]


def lives(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    fields = _status(Path("/proc", str(pid), "stat"))
    return bool(fields) and fields[0] != "Z"


def _status(path: Path) -> list[str]:
    """State and parent of a process, and more; nothing where it has gone."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def killed_over(number: int) -> int:
    """Work for a worker: the number again, but 3 is too much."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def out_of_memory_over(number: int) -> int:
    """Work for a worker: the number again, but 3 is too much."""
    if number == 3:
        raise MemoryError
    return number


def die_at(where: str, times: int = 1, who: str = "self") -> None:
    """Have this process, or the parent of the worker that it is, killed when a checkpoint is met so many times."""
    met = count(1)

    def reached(name: str) -> None:
        if where in ("*", name) and next(met) == times:
            os.kill(os.getppid() if who == "parent" else os.getpid(), signal.SIGKILL)

    checkpoints.reached = reached


# Workers import this file as well, under another name.
if __name__ in ("__main__", "__mp_main__") and "DIE_AT" in os.environ:
    die_at(os.environ["DIE_AT"], int(os.environ.get("DIE_COUNT", "1")), os.environ.get("DIE_WHO", "self"))
if __name__ == "__main__":
    if "FILE_BYTES" in os.environ:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["FILE_BYTES"]),) * 2)
    if "SPLIT_BYTES" in os.environ:
        ingestion.SPLIT_BYTES = ingestion.SPLIT_BYTES_ALONE = int(os.environ["SPLIT_BYTES"])
        ingestion._SMALLEST_SPLIT_BYTES = ingestion.SPLIT_BYTES
        ingestion._COMMIT_EVERY_S = 0.0
    if "PROGRESS_AT_ONCE" in os.environ:
        terminal.PROGRESS_AFTER_S = 0
    from pipeline.cli import main

    main()
