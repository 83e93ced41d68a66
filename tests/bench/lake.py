"""Makes a lake of ten million calls to time reports on: ``python -m tests.bench.lake --out LAKE``.

The columns come from ``lake_columns``; here they become tables, files and a lake that the reports accept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

if not __package__:  # run as a plain script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pipeline.lake import manifest
from pipeline.lake.parts import PartWriter
from pipeline.tables import arrow_schema
from tests.bench.draw import Columns, Draw, constant
from tests.bench.lake_columns import Inventory, make_calls, make_turns, make_violations
from tests.bench.logs import SEED

TURNS_IN_PART = 400_000
BATCH_ROWS = 32_768


def as_table(name: str, columns: Columns) -> pa.Table:
    """The columns as a table of the lake, in its order and with its types."""
    schema = arrow_schema(name)
    arrays = [
        pa.array(columns[field.name], field.type) if isinstance(columns[field.name], list) else columns[field.name]
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def parts(calls: int, seed: int = SEED) -> Iterator[dict[str, pa.Table]]:
    """The lake, part by part: table name -> rows. ``calls`` is rounded up to what a hundred turns make, 130."""
    draw, inventory = Draw(seed), Inventory.make(seed)
    total = -(-calls // 130) * 100
    for first in range(0, total, TURNS_IN_PART):
        turns = make_turns(draw, first, min(TURNS_IN_PART, total - first), total)
        judged = as_table("calls", make_calls(draw, turns, inventory))
        made = {"turns": as_table("turns", turns), "calls": judged}
        made["violations"] = as_table("violations", make_violations(draw, judged))
        made["duplicates"] = made["turns"].slice(0, len(made["turns"]) // 200).select(arrow_schema("duplicates").names)
        made["rejects"] = _rejects(made["turns"])
        if first == 0:
            made["tools"] = as_table("tools", inventory.table())
        yield made


def _rejects(turns: pa.Table) -> pa.Table:
    some = turns.slice(0, len(turns) // 5000).combine_chunks()
    rows = len(some)
    columns = {
        name: some[name].combine_chunks() for name in ("source_file", "source_line", "source_offset", "ingested_at")
    }
    columns["bytes"] = constant(812, rows, pa.int64())
    columns["reason"] = constant("the text ends before the document does", rows, pa.string())
    columns["excerpt"] = constant('{"id":"resp_', rows, pa.string())
    return as_table("rejects", columns)


def write_lake(out: Path, calls: int, seed: int = SEED) -> dict[str, int]:
    """Write the lake into a new directory and return how many rows each table has.

    Parts and manifest are the product's own, so that the reports find here what they find anywhere. No log stands
    behind the rows: the manifest names no file that was read.
    """
    lake = manifest.new_manifest()
    out.mkdir(parents=True, exist_ok=True)
    for number, made in enumerate(parts(calls, seed)):
        for name, table in made.items():
            path = out / name / f"part-{lake.lake_id}-{number:06d}.parquet"
            path.parent.mkdir(exist_ok=True)
            lake.parts[name].append(_write_part(path, name, table))
    manifest.save(out, lake)
    return {name: sum(part.rows for part in entries) for name, entries in lake.parts.items()}


def _write_part(path: Path, name: str, table: pa.Table) -> manifest.PartEntry:
    writer = PartWriter(path, name)
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        writer.write(batch)
    size = writer.close()
    return manifest.PartEntry(path.name, size.rows, size.size_bytes, [])


def main() -> None:
    """Make the lake that the command line asks for."""
    parser = argparse.ArgumentParser(prog="lake", description="Make a lake to time reports on.")
    parser.add_argument("--calls", type=int, default=10_000_000, help="how many calls (default: ten million)")
    parser.add_argument("--out", type=Path, required=True, help="directory to make")
    parser.add_argument("--seed", type=int, default=SEED, help="another lake of the same kind")
    options = parser.parse_args()
    if options.out.exists() and any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty")
    began = time.perf_counter()
    for name, count in write_lake(options.out, options.calls, options.seed).items():
        print(f"{name:11} {count:>12,} rows")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
