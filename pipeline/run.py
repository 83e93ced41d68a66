"""Where the parts meet: splits to records to turns to batches to verdicts, on one core or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
from msgspec import Struct

from pipeline.batches import calls_batch, tools_declared, turns_batch
from pipeline.classify import classify
from pipeline.intake import Intake, Located
from pipeline.interning import Toolsets
from pipeline.records import LineBlock, RecordBlock, ToolDefinition
from pipeline.rows import Rows
from pipeline.sources import Split, read_blocks
from pipeline.turnkeys import turn_keys

#: Turns that are judged together. Large enough for columns to pay, small enough to stay in the cache and in memory.
BATCH_TURNS = 8192
#: Bytes of records, and characters of arguments, after which a batch is judged all the same: its texts are all held,
#: and arguments several times over.
BATCH_BYTES = 48 << 20
BATCH_ARGUMENTS_CHARS = 12 << 20
#: Bytes of a file that are read at a time: what a core keeps at hand. Larger blocks are slower.
BLOCK_BYTES = 256 << 10


class Settings(Struct, frozen=True):
    """What a user decides about judging. ``supplied``: definitions for logs that have none, None where not given."""

    supplied: tuple[ToolDefinition, ...] | None = None
    batch_turns: int = BATCH_TURNS


class Batch(Struct):
    """Some records of a split, judged. ``records`` = ``answered`` + rejects + unrecognised; nothing is lost in silence.

    ``rows`` are the turns and their calls as they were read, ``declared`` how many tools stand with each turn.
    ``calls`` is ``batches.CALL_SCHEMA`` with verdicts, ``violations`` ``classify.VIOLATION_SCHEMA``; all in log order.
    ``turn_keys`` has a string a turn, where keys were asked for.
    """

    rows: Rows
    declared: list[int | None]
    turn_keys: pa.Array | None
    calls: pa.RecordBatch
    violations: pa.RecordBatch
    records: int
    answered: int
    rejects: list[Located]
    unrecognised: list[Located]
    notes: Counter[str]
    definitions: list[ToolDefinition]

    @property
    def turns(self) -> pa.RecordBatch:
        """``batches.TURN_SCHEMA``, made when it is asked for: a check shows the turns of a few calls only."""
        return turns_batch(self.rows, self.declared)


class Judge:
    """Reads records and judges them batch by batch. One for each worker: what it has learned of toolsets is its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._toolsets = Toolsets()
        self._supplied = self._add_supplied()
        self._intake = Intake(self._toolsets)

    def batches(
        self,
        split: Split,
        on_bytes: Callable[[int], None] | None = None,
        on_block: Callable[[RecordBlock | LineBlock], None] | None = None,
        places: Mapping[str, str] | None = None,
    ) -> Iterator[Batch]:
        """The records of a split, judged, in log order. At least one batch, so that counts come out.

        ``on_bytes`` is told how many bytes of the files have been read since the last time, ``on_block`` of each block.
        With ``places`` (source file to the name of its place) the batches have turn keys.

        Raises:
            PipelineError: a file cannot be opened.
        """
        for file_slice in split.slices:
            for block in read_blocks(file_slice, block_bytes=BLOCK_BYTES, on_bytes=on_bytes):
                for read in self._intake.read(block):
                    if on_block is not None:
                        on_block(read)
                if self._is_due():
                    yield self._judge(places)
        yield self._judge(places)

    def _is_due(self) -> bool:
        gathered = self._intake.gathered
        return (
            len(gathered.rows.turns) >= self._settings.batch_turns
            or gathered.size_bytes >= BATCH_BYTES
            or gathered.arguments_chars >= BATCH_ARGUMENTS_CHARS
            or len(gathered.rejects) + len(gathered.unrecognised) >= self._settings.batch_turns
            or self._toolsets.is_full
        )

    def _judge(self, places: Mapping[str, str] | None) -> Batch:
        gathered = self._intake.take()
        rows = gathered.rows
        if self._supplied is not None:
            turns = rows.turns
            turns.toolset = [self._supplied if number is None else number for number in turns.toolset]
        judged = classify(calls_batch(rows), self._toolsets)
        batch = Batch(
            rows,
            tools_declared(rows, self._toolsets),
            None if places is None else turn_keys(rows, places),
            judged.calls,
            judged.violations,
            gathered.records,
            gathered.answered,
            gathered.rejects,
            gathered.unrecognised,
            gathered.notes,
            self._toolsets.take_new_definitions(),
        )
        if self._toolsets.is_full:
            self._toolsets.renew()
            self._supplied = self._add_supplied()
        return batch

    def _add_supplied(self) -> int | None:
        return None if self._settings.supplied is None else self._toolsets.add(self._settings.supplied)
