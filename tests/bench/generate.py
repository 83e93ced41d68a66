"""Writes logs to benchmark with: ``python -m tests.bench.generate rich --size-mb 512 --out rich.jsonl``.

Sizes are of the text, before compression. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

if not __package__:  # run as a plain script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.logs import SEED
from tests.bench.other_logs import records

MB = 1_000_000
SMALL_FILES = 10_000
_FILES_IN_FOLDER = 100
_BATCH_RECORDS = 200

#: Kind -> what it is, and the shape of its records.
KINDS: dict[str, tuple[str, str]] = {
    "rich": ("Responses objects of about 12 kB, 4 to 14 tools each out of 40 toolsets, 1.3 calls a record", "rich"),
    "lean": ("Responses objects of about 0.6 kB with one small tool and one call", "lean"),
    "chat-pairs": ("Chat Completions pairs of about 8 kB, tools in the request", "chat-pairs"),
    "batch": ("Batch output lines with Responses bodies", "batch"),
    "fresh-tools": ("as rich, but no two records have the same toolset", "fresh-tools"),
    "array": ("rich as one compact JSON array", "rich"),
    "array-pretty": ("rich as one indented JSON array", "rich"),
    "gzip": ("rich as JSON Lines, gzip", "rich"),
    "zstd": ("rich as JSON Lines, zstd", "rich"),
    "small-files": ("rich, one record a file, in a tree of folders; --files instead of --size-mb", "rich"),
}


def lines(shape: str, size_bytes: int, seed: int, spaced: bool) -> Iterator[str]:
    """Records of a shape until their lines reach ``size_bytes``; at least one."""
    written = 0
    for record in records(shape, seed, spaced):
        yield record
        written += len(record.encode()) + 1
        if written >= size_bytes:
            return


def chunks(parts: Iterable[str]) -> Iterator[bytes]:
    """The same text as bytes, some hundred parts at a time."""
    held: list[str] = []
    for part in parts:
        held.append(part)
        if len(held) == _BATCH_RECORDS:
            yield "".join(held).encode()
            held.clear()
    yield "".join(held).encode()


def _array(records_: Iterator[str], pretty: bool) -> Iterator[str]:
    yield "[" + ("\n" if pretty else "")
    for index, record in enumerate(records_):
        text = json.dumps(json.loads(record), indent=2, ensure_ascii=False) if pretty else record
        yield (",\n" if pretty else ",") + text if index else text
    yield "]\n"


def _copy(parts: Iterable[str], sink: IO[bytes] | gzip.GzipFile) -> None:
    for chunk in chunks(parts):
        sink.write(chunk)


def write_log(kind: str, size_bytes: int, out: Path, seed: int = SEED, spaced: bool = False) -> None:
    """Write one file of a kind other than ``small-files``, about ``size_bytes`` long before compression."""
    made = lines(KINDS[kind][1], size_bytes, seed, spaced)
    jsonl = (record + "\n" for record in made)
    with out.open("wb") as file:
        if kind.startswith("array"):
            _copy(_array(made, kind == "array-pretty"), file)
        elif kind == "gzip":
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=4) as packed:
                _copy(jsonl, packed)
        elif kind == "zstd":
            import pyarrow as pa  # only here, and not quick to import

            with pa.CompressedOutputStream(file, "zstd") as packed:
                _copy(jsonl, packed)
        else:
            _copy(jsonl, file)


def write_small_files(files: int, out: Path, seed: int = SEED, spaced: bool = False) -> None:
    """Write a tree of folders with one record a file, and beside it the same records in one file, ``OUT.jsonl``."""
    made = records("rich", seed, spaced)
    with out.with_name(out.name + ".jsonl").open("wb") as together:
        for index in range(files):
            folder = out / f"{index // _FILES_IN_FOLDER:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            data = next(made).encode() + b"\n"
            (folder / f"response-{index:05d}.json").write_bytes(data)
            together.write(data)


def _parser() -> argparse.ArgumentParser:
    kinds = "\n".join(f"  {kind:13} {meaning}" for kind, (meaning, _) in KINDS.items())
    parser = argparse.ArgumentParser(
        prog="generate",
        description="Write a log to benchmark with.",
        epilog=f"kinds:\n{kinds}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help="which log (below)")
    parser.add_argument("--size-mb", type=float, default=512, help="size of the text in megabytes (default: 512)")
    parser.add_argument("--files", type=int, default=SMALL_FILES, help="how many small files (default: 10000)")
    parser.add_argument("--out", type=Path, required=True, help="file to write; a folder for small-files")
    parser.add_argument("--spaced", action="store_true", help="a blank after each comma and colon")
    parser.add_argument("--seed", type=int, default=SEED, help="other records of the same kind")
    return parser


def main() -> None:
    """Write what the command line asks for."""
    options = _parser().parse_args()
    if options.kind == "small-files":
        write_small_files(options.files, options.out, options.seed, options.spaced)
    else:
        write_log(options.kind, int(options.size_mb * MB), options.out, options.seed, options.spaced)


if __name__ == "__main__":
    main()
