"""The slow way through the same rooms: nothing cut out, no record tried together with others; and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pipeline import intake, interning, run, splicing
from pipeline.formats import PlainReader
from pipeline.interning import Toolsets
from pipeline.run import Batch, Judge, Settings
from pipeline.sources import FileSlice, Split


class PlainToolsets(Toolsets):
    """Toolsets that cut nothing out of a record."""

    def splice(self, record: bytes) -> bytes:
        return record

    def splice_lines(self, text: bytes | bytearray, begins: Sequence[int], end: int) -> bytes:
        return bytes(text[:end])


class NoPlainReader(PlainReader):
    """A reader to whom no record is plain."""

    def read(self, *_: Any) -> bool:
        return False

    def read_each(self, documents: Sequence[bytes], *others: Any) -> None:
        for position in range(len(documents)):
            others[-1](position)


@contextmanager
def reading_plainly() -> Iterator[None]:
    """Every record decoded on its own, with all its bytes."""
    with patch.object(run, "Toolsets", PlainToolsets), patch.object(intake, "PlainReader", NoPlainReader):
        yield


@contextmanager
def renewing_often() -> Iterator[None]:
    """Tables that are full after a few toolsets; blocks must be small for that to be noticed."""
    with (
        patch.object(interning, "_LIMIT_TOOLSETS", 2),
        patch.object(splicing, "_CANDIDATES", 2),
    ):
        yield


def judged(log: Path, settings: Settings | None = None, block_bytes: int = run.BLOCK_BYTES) -> dict[str, Any]:
    """All that comes of a log, batch boundaries left out. What a block teaches is of use from the next one on."""
    split = Split((FileSlice(str(log)),))
    with patch.object(run, "BLOCK_BYTES", block_bytes):
        return flat(Judge(settings or Settings()).batches(split))


def flat(batches: Iterable[Batch]) -> dict[str, Any]:
    found: dict[str, Any] = {"turns": [], "rejects": [], "unrecognised": [], "notes": {}, "records": 0, "answered": 0}
    definitions: dict[str, Any] = {}
    for batch in batches:
        found["turns"] += rows(batch)
        found["rejects"] += batch.rejects
        found["unrecognised"] += batch.unrecognised
        found["records"] += batch.records
        found["answered"] += batch.answered
        for note, count in batch.notes.items():
            found["notes"][note] = found["notes"].get(note, 0) + count
        definitions.update({definition.key: definition for definition in batch.definitions})
    return {**found, "definitions": definitions}


def rows(batch: Batch) -> list[dict[str, Any]]:
    """The turns of a batch, each with its calls, each with its violations. Toolset numbers are nobody's business."""
    turns = [{**turn, "calls_made": []} for turn in batch.turns.to_pylist()]
    calls = [{**call, "violations": []} for call in batch.calls.to_pylist()]
    for violation in batch.violations.to_pylist():
        calls[violation.pop("call_row")]["violations"].append(violation)
    for call in calls:
        del call["toolset"]
        turns[call.pop("turn_row")]["calls_made"].append(call)
    return turns
