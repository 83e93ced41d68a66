"""Blocks of a file to what is gathered of them: rows of turns, rejects, unrecognised records, and how many of each.

The three ways a block is read, the quickest first: all lines at once, each record by itself, each record as bytes that
somebody has to make sense of. They differ in cost alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from pipeline.decoding import UndecodableError
from pipeline.formats import Outcome, Page, PlainReader, Unread, read_record
from pipeline.interning import Toolsets
from pipeline.records import LineBlock, RecordBlock, Reject, Unrecognised
from pipeline.rows import Places, Rows
from pipeline.sources import BLANKS, frame_lines, split_documents

_EXCERPT_BYTES = 160

#: A page of a list that says there is more.
NOTE_HAS_MORE = "list pages that say has_more: the log goes on elsewhere"


class Located(NamedTuple):
    """A reject or an unrecognised record with the file it stands in."""

    source_file: str
    what: Reject | Unrecognised


class Gathered(Struct):
    """What has been read and not judged yet."""

    rows: Rows = field(default_factory=Rows)
    rejects: list[Located] = field(default_factory=list)
    unrecognised: list[Located] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    answered: int = 0
    size_bytes: int = 0
    arguments_chars: int = 0


class Intake:
    """Reads blocks into what is ``gathered``, from which whoever judges it takes it away."""

    def __init__(self, toolsets: Toolsets) -> None:
        self.gathered = Gathered()
        self._toolsets = toolsets
        self._plain = PlainReader(toolsets)

    def take(self) -> Gathered:
        """What has been gathered since the last time."""
        gathered, self.gathered = self.gathered, Gathered()
        return gathered

    def read(self, block: RecordBlock | LineBlock) -> Iterator[RecordBlock | LineBlock]:
        """Read a block; it comes out as it has been read, as lines or as records."""
        arguments = self.gathered.rows.calls.arguments
        before = len(arguments)
        if isinstance(block, RecordBlock):
            self._read_records(block)
            yield block
        elif self._read_lines(block):
            yield block
        else:
            for framed in frame_lines(block):
                self._read_records(framed)
                yield framed
        self.gathered.arguments_chars += sum(map(len, filter(None, arguments[before:])))

    def _read_lines(self, block: LineBlock) -> bool:
        """Read lines as the records that they seem to be; false, and nothing done, where one of them is none."""
        offsets = block.offsets
        text = self._toolsets.splice_lines(block.text, block.begins, block.end)
        lines = range(block.first_line, block.first_line + len(offsets))
        places = Places(source_name(block.source_file), lines, offsets)
        if self._plain.read(text, self.gathered.rows, places):
            self._count_plain(len(offsets), len(text))
            return True
        raws = [raw.strip(BLANKS) for raw in _lines_of(bytes(block.text[: block.end]))]
        documents = _lines_of(text)
        if not len(raws) == len(documents) == len(offsets) or not all(raw.endswith(b"}") for raw in raws):
            return False
        self._read_each(raws, documents, places)
        return True

    def _read_records(self, block: RecordBlock) -> None:
        gathered, raws = self.gathered, block.raws
        before = len(gathered.rejects)
        places = Places(source_name(block.source_file), block.lines, block.offsets)
        documents = [self._toolsets.splice(raw) for raw in raws]
        text = b"\n".join(documents)
        if raws and self._plain.read(text, gathered.rows, places):
            self._count_plain(len(raws), len(text))
        else:
            self._read_each(raws, documents, places)
        gathered.records += len(block.rejects)
        if block.rejects:
            gathered.rejects += [Located(places.source_file, reject) for reject in block.rejects]
            gathered.rejects[before:] = sorted(gathered.rejects[before:], key=lambda located: located.what.offset)

    def _read_each(self, raws: Sequence[bytes], documents: Sequence[bytes], places: Places) -> None:
        """Read records one by one, plain ones or not."""
        source_file, lines, offsets = places
        others: list[int] = []

        def read_other(position: int) -> None:
            others.append(position)
            self._read_one(raws[position], documents[position], source_file, lines[position], offsets[position])

        self._plain.read_each(documents, self.gathered.rows, places, read_other)
        self._count_plain(len(documents) - len(others), sum(map(len, documents)))

    def _count_plain(self, records: int, size_bytes: int) -> None:
        gathered = self.gathered
        gathered.records += records
        gathered.answered += records
        gathered.size_bytes += size_bytes

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
        gathered = self.gathered
        if isinstance(outcome, Page):
            gathered.notes[NOTE_HAS_MORE] += outcome.has_more
            for element in outcome.outcomes:
                self._take(element, source_file, line, offset)
            return
        gathered.records += 1
        if isinstance(outcome, Unread):
            unrecognised = Unrecognised(line, offset, outcome.reason, outcome.keys)
            gathered.unrecognised.append(Located(source_file, unrecognised))
            return
        gathered.answered += 1
        for turn in outcome:
            gathered.rows.add(turn, source_file, line, offset)

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
            self.gathered.records += 1
            self.gathered.rejects.append(Located(source_file, reject))


def _lines_of(text: bytes) -> list[bytes]:
    return text.removesuffix(b"\n").split(b"\n")


def source_name(path: str) -> str:
    """A path as it stands in ``source_file``: bytes of it that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()
