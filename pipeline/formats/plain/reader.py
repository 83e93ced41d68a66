"""Reads records many at a time where they are plain ones: the quick way for logs that are all of one kind.

One call decodes all lines of a block into strict twins (:mod:`pipeline.formats.plain.twins`), and their columns are
filled in one statement each. A record reads the same whichever way it goes; only the cost differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

import msgspec
from msgspec import Raw

from pipeline.batches import Rows
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

#: How often in a row plain records may be missed before the pauses stop growing.
_MOST_MISSES = 6


class _Answers(Protocol):
    """What :mod:`responses` and :mod:`chat` know of some answers of theirs."""

    exceptions: list[int]
    tools: list[Raw]

    def add(self, rows: Rows, begin: int, end: int) -> None: ...


class _Kind(NamedTuple):
    """One kind of plain record: its format, what decodes many of them, and how its parts are found and read."""

    format: str
    decode_lines: Callable[[bytes], list[Any]]
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
            msgspec.json.Decoder(one).decode_lines
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
    """Puts plain records, all of one kind, into rows. Remembers of which kind the log is.

    Where records had to be read one by one it pauses, longer each time, before it tries again, so that a log of another
    kind costs hardly more than without it.
    """

    def __init__(self, toolsets: Toolsets) -> None:
        self._toolsets = toolsets
        self._kind = 0
        self._misses = 0
        self._pause = 0

    def read(self, text: bytes, rows: Rows, source_file: str, lines: Sequence[int], offsets: Sequence[int]) -> bool:
        """Put records (spliced, one on each line of ``text``) into rows; false, and nothing done, if any is not plain.

        ``lines`` and ``offsets`` are where each stands in its file.
        """
        if self._pause:
            self._pause -= 1
            return False
        for number in range(self._kind, self._kind + len(KINDS)):
            kind = KINDS[number % len(KINDS)]
            try:
                records = kind.decode_lines(text)
            except (msgspec.DecodeError, RecursionError):
                continue
            if len(records) != len(offsets):  # a record that spreads over lines
                break
            self._kind, self._misses = number % len(KINDS), 0
            _Block(kind, records, self._toolsets).add(rows, source_file, lines, offsets)
            return True
        self._misses = min(self._misses + 1, _MOST_MISSES)
        self._pause = 2**self._misses - 1
        return False


class _Block:
    """Decoded records of one kind on their way into rows: stretch by stretch, and the exceptions one by one."""

    def __init__(self, kind: _Kind, records: list[Any], toolsets: Toolsets) -> None:
        self._kind = kind
        self._records = records
        self._requests = None if kind.requests_of is None else kind.requests_of(records)
        self._answers_read = kind.answers_of(records)
        self._answers = kind.answers(self._answers_read, self._requests)
        self._toolsets = toolsets

    def add(self, rows: Rows, source_file: str, lines: Sequence[int], offsets: Sequence[int]) -> None:
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
