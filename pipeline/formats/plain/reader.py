"""Reads records many at a time where they are plain ones: the quick way for logs that are all of one kind.

One call decodes all lines of a block into strict twins (:mod:`pipeline.formats.plain.twins`), and their columns are
filled in one statement each. A record reads the same whichever way it goes; only the cost differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

import msgspec
from msgspec import Raw

from pipeline.formats.plain import chat, responses
from pipeline.formats.plain.twins import (
    PlainBatchLine,
    PlainCompletion,
    PlainPair,
    PlainRequest,
    PlainResponse,
)
from pipeline.formats.shapes import NOTHING, Body, Exchange
from pipeline.interning import Toolsets
from pipeline.records import Turn
from pipeline.rows import Places, Rows

#: How often in a row plain records may be missed before the pauses stop growing.
_MOST_MISSES = 6


class _Answers(Protocol):
    """What :mod:`responses` and :mod:`chat` know of some answers of theirs."""

    exceptions: list[int]
    tools: list[Raw]

    def add(self, rows: Rows, begin: int, end: int) -> None: ...


class _Kind(NamedTuple):
    """One kind of plain record: its format, what decodes it, and how its parts are found and read."""

    format: str
    decoder: msgspec.json.Decoder[Any]
    answers_of: Callable[[list[Any]], list[Any]]
    requests_of: Callable[[list[Any]], list[PlainRequest]] | None
    answers: Callable[[Any, Any], _Answers]
    read: Callable[[Exchange, Toolsets], list[Turn] | None]


def _requests_of(pairs: list[PlainPair[Any]]) -> list[PlainRequest]:
    """The requests, each with the definitions that the record itself carries where the request has none."""
    for pair in pairs:
        request = pair.request
        if request.tools is NOTHING and request.functions is NOTHING:
            request.tools, request.functions = pair.tools, pair.functions
    return [pair.request for pair in pairs]


def _kinds() -> tuple[_Kind, ...]:
    kinds = []
    for twin, answer in ((PlainResponse, responses), (PlainCompletion, chat)):
        read, answers = answer.read, cast("Callable[[Any, Any], _Answers]", answer.Answers)
        bare, pair, line = (
            msgspec.json.Decoder(one)
            for one in (twin, PlainPair[twin], PlainBatchLine[twin])  # type: ignore[valid-type]
        )
        kinds += [
            _Kind(answer.NAME, bare, list, None, answers, read),
            _Kind(f"pair/{answer.NAME}", pair, lambda of: [one.response for one in of], _requests_of, answers, read),
            _Kind(f"batch/{answer.NAME}", line, lambda of: [one.response.body for one in of], None, answers, read),
        ]
    return tuple(kinds)


KINDS = _kinds()


class PlainReader:
    """Puts plain records into rows, and remembers of which kind the log is.

    Where hardly any record was plain it pauses, longer each time, before it tries again, so that a log of another kind
    costs hardly more than without it.
    """

    def __init__(self, toolsets: Toolsets) -> None:
        self._toolsets = toolsets
        self._kind = 0
        self._misses = 0
        self._pause = 0

    def read(self, text: bytes, rows: Rows, places: Places) -> bool:
        """Put records (spliced, one on each line of ``text``) into rows; false, and nothing done, if any is not plain.

        They must be of one kind.
        """
        if self._pause:
            return False
        for number in self._kinds():
            try:
                records = KINDS[number].decoder.decode_lines(text)
            except (msgspec.DecodeError, RecursionError):
                continue
            if len(records) != len(places.offsets):  # a record that spreads over lines
                return False
            self._kind, self._misses = number, 0
            _Block(KINDS[number], records, self._toolsets).add(rows, places)
            return True
        return False

    def read_each(
        self, documents: Sequence[bytes], rows: Rows, places: Places, read_other: Callable[[int], None]
    ) -> None:
        """The same for records of which some are not plain: ``read_other`` is called with the position of each.

        Whatever it puts into the rows comes in the order of the records.
        """
        if self._pause:
            self._pause -= 1
            for position in range(len(documents)):
                read_other(position)
            return
        others = 0
        run: list[Any] = []
        kind = self._kind
        for position, document in enumerate(documents):
            record = self._decode(document)
            if run and (record is None or self._kind != kind):
                _Block(KINDS[kind], run, self._toolsets).add(rows, places.between(position - len(run), position))
                run = []
            if record is None:
                others += 1
                read_other(position)
            else:
                kind = self._kind
                run.append(record)
        if run:
            _Block(KINDS[kind], run, self._toolsets).add(
                rows, places.between(len(documents) - len(run), len(documents))
            )
        if others * 2 > len(documents):
            self._misses = min(self._misses + 1, _MOST_MISSES)
            self._pause = 2**self._misses - 1
        else:
            self._misses = 0

    def _kinds(self) -> Sequence[int]:
        """All kinds, the one that was met last before the others."""
        return (*range(self._kind, len(KINDS)), *range(self._kind))

    def _decode(self, document: bytes) -> Any:
        """The record of a document, and its kind remembered; None where it is not plain."""
        for number in self._kinds():
            try:
                record = KINDS[number].decoder.decode(document)
            except (msgspec.DecodeError, RecursionError):
                continue
            self._kind = number
            return record
        return None


class _Block:
    """Decoded records of one kind on their way into rows: stretch by stretch, and the exceptions one by one."""

    def __init__(self, kind: _Kind, records: list[Any], toolsets: Toolsets) -> None:
        self._kind = kind
        self._records = records
        self._requests = None if kind.requests_of is None else kind.requests_of(records)
        self._answers_read = kind.answers_of(records)
        self._answers = kind.answers(self._answers_read, self._requests)
        self._toolsets = toolsets

    def add(self, rows: Rows, places: Places) -> None:
        source_file, lines, offsets = places
        exceptions = [(position, self._turns(position)) for position in self._answers.exceptions]
        toolsets = self._toolsets.intern_all(self._answers.tools)
        begin = 0
        for position, turns in (*exceptions, (len(offsets), [])):
            if begin < position:
                columns = rows.turns
                self._answers.add(rows, begin, position)
                columns.format += [self._kind.format] * (position - begin)
                columns.toolset += toolsets[begin:position]
                columns.source_file += [source_file] * (position - begin)
                columns.line += lines[begin:position]
                columns.offset += offsets[begin:position]
            for turn in turns:
                turn.format = self._kind.format
                rows.add(turn, source_file, lines[position], offsets[position])
            begin = position + 1

    def _turns(self, position: int) -> list[Turn]:
        request = None if self._requests is None else cast("Body", self._requests[position])
        record = self._records[position]
        logged_at = None
        if request is not None:
            times = (record.ts, record.timestamp, record.time, record.created_at)
            logged_at = next((time for time in times if time is not None), None)
        return self._kind.read(Exchange(self._answers_read[position], request, logged_at), self._toolsets) or []
