"""Where the parts meet: splits to records to turns to batches to verdicts, on one core or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa
from msgspec import Struct, field

from pipeline.batches import Rows, calls_batch, tools_declared, turn_keys, turns_batch
from pipeline.classify import classify
from pipeline.decoding import UndecodableError
from pipeline.formats import Outcome, Page, PlainReader, Unread, read_record
from pipeline.interning import Toolsets
from pipeline.records import LineBlock, RecordBlock, Reject, ToolDefinition, Unrecognised
from pipeline.sources import Split, frame_lines, read_blocks, split_documents

#: Turns that are judged together. Large enough for columns to pay, small enough to stay in the cache and in memory.
BATCH_TURNS = 8192
#: Bytes of records after which a batch is judged all the same, since its texts are all held.
BATCH_BYTES = 48 << 20
#: Bytes of a file that are read at a time: what a core keeps at hand. Larger blocks are slower.
BLOCK_BYTES = 256 << 10
_EXCERPT_BYTES = 160
#: Records that are tried at once as plain ones.
_PLAIN_RECORDS = 16

#: A page of a list that says there is more.
NOTE_HAS_MORE = "list pages that say has_more: the log goes on elsewhere"


class Settings(Struct, frozen=True):
    """What a user decides about judging. ``supplied``: definitions for logs that have none, None where not given."""

    supplied: tuple[ToolDefinition, ...] | None = None
    batch_turns: int = BATCH_TURNS


class Located(NamedTuple):
    """A reject or an unrecognised record with the file it stands in."""

    source_file: str
    what: Reject | Unrecognised


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


class _Pending(Struct):
    """What has been read and not judged yet."""

    rows: Rows = field(default_factory=Rows)
    rejects: list[Located] = field(default_factory=list)
    unrecognised: list[Located] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    answered: int = 0
    size_bytes: int = 0


class Judge:
    """Reads records and judges them batch by batch. One for each worker: what it has learned of toolsets is its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._toolsets = Toolsets()
        self._supplied = self._add_supplied()
        self._pending = _Pending()
        self._plain_lines = PlainReader(self._toolsets)
        self._plain_records = PlainReader(self._toolsets)

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
                for read in self._read(block):
                    if on_block is not None:
                        on_block(read)
                if self._is_due():
                    yield self._judge(places)
        yield self._judge(places)

    def _read(self, block: RecordBlock | LineBlock) -> Iterator[RecordBlock | LineBlock]:
        """Read a block; it comes out as it has been read, as lines or as records."""
        if isinstance(block, RecordBlock):
            self._read_records(block)
            yield block
        elif self._read_lines(block):
            yield block
        else:
            for framed in frame_lines(block):
                self._read_records(framed)
                yield framed

    def _read_lines(self, block: LineBlock) -> bool:
        """Read lines all at once; false, and nothing done, where they are not plain records one and all."""
        pending, offsets = self._pending, block.offsets
        text = self._toolsets.splice(block.text, block.end)
        lines = range(block.first_line, block.first_line + len(offsets))
        if not self._plain_lines.read(text, pending.rows, source_name(block.source_file), lines, offsets):
            return False
        pending.records += len(offsets)
        pending.answered += len(offsets)
        pending.size_bytes += len(text)
        return True

    def _read_records(self, block: RecordBlock) -> None:
        pending = self._pending
        before = len(pending.rejects)
        source_file = source_name(block.source_file)
        for first in range(0, len(block.raws), _PLAIN_RECORDS):
            after = first + _PLAIN_RECORDS
            raws, lines, offsets = block.raws[first:after], block.lines[first:after], block.offsets[first:after]
            documents = [self._toolsets.splice(raw) for raw in raws]
            pending.size_bytes += sum(map(len, raws))
            if self._plain_records.read(b"\n".join(documents), pending.rows, source_file, lines, offsets):
                pending.records += len(raws)
                pending.answered += len(raws)
                continue
            for raw, document, line, offset in zip(raws, documents, lines, offsets, strict=True):
                self._read_one(raw, document, source_file, line, offset)
        pending.records += len(block.rejects)
        if block.rejects:
            pending.rejects += [Located(source_file, reject) for reject in block.rejects]
            pending.rejects[before:] = sorted(pending.rejects[before:], key=lambda located: located.what.offset)

    def _read_one(self, raw: bytes, document: bytes, source_file: str, line: int, offset: int) -> None:
        try:
            try:
                outcome = read_record(document, self._toolsets)
            except UndecodableError:
                if len(document) == len(raw):
                    raise
                # Once more with nothing cut out, so that the place it names is one of the record.
                outcome = read_record(raw, self._toolsets)
        except UndecodableError as error:
            self._read_glued(raw, source_file, line, offset, error)
        else:
            self._take(outcome, source_file, line, offset)

    def _take(self, outcome: Outcome | Page, source_file: str, line: int, offset: int) -> None:
        pending = self._pending
        if isinstance(outcome, Page):
            pending.notes[NOTE_HAS_MORE] += outcome.has_more
            for element in outcome.outcomes:
                self._take(element, source_file, line, offset)
            return
        pending.records += 1
        if isinstance(outcome, Unread):
            unrecognised = Unrecognised(line, offset, outcome.reason, outcome.keys)
            pending.unrecognised.append(Located(source_file, unrecognised))
            return
        pending.answered += 1
        for turn in outcome:
            pending.rows.add(turn, source_file, line, offset)

    def _read_glued(self, raw: bytes, source_file: str, line: int, offset: int, error: UndecodableError) -> None:
        """A line that is not one document may be several; what cannot be read even so is one reject."""
        for start, document in split_documents(raw) or [(0, raw)]:
            if len(document) != len(raw):
                try:
                    self._take(read_record(document, self._toolsets), source_file, line, offset + start)
                    continue
                except UndecodableError as inner:
                    error = inner
            place = "" if error.position is None else f" (byte {error.position} of the record)"
            excerpt = document[:_EXCERPT_BYTES].decode(errors="backslashreplace")
            reject = Reject(line, offset + start, len(document), error.reason + place, excerpt)
            self._pending.records += 1
            self._pending.rejects.append(Located(source_file, reject))

    def _is_due(self) -> bool:
        pending = self._pending
        return (
            len(pending.rows.turns) >= self._settings.batch_turns
            or pending.size_bytes >= BATCH_BYTES
            or len(pending.rejects) + len(pending.unrecognised) >= self._settings.batch_turns
            or self._toolsets.is_full
        )

    def _judge(self, places: Mapping[str, str] | None) -> Batch:
        pending, self._pending = self._pending, _Pending()
        rows = pending.rows
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
            pending.records,
            pending.answered,
            pending.rejects,
            pending.unrecognised,
            pending.notes,
            self._toolsets.take_new_definitions(),
        )
        if self._toolsets.is_full:
            self._toolsets.renew()
            self._supplied = self._add_supplied()
        return batch

    def _add_supplied(self) -> int | None:
        return None if self._settings.supplied is None else self._toolsets.add(self._settings.supplied)


def source_name(path: str) -> str:
    """A path as it stands in ``source_file``: bytes of it that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()
