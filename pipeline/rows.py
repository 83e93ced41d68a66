"""Turns and calls as they are read, one list a column: no value for a turn or a call where a log has millions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from pipeline.records import Call, Turn


class Places(NamedTuple):
    """Where some records stand: their file, and the line and the offset of each in it."""

    source_file: str
    lines: Sequence[int]
    offsets: Sequence[int]

    def between(self, begin: int, end: int) -> Places:
        """The places of the records from ``begin`` to before ``end``."""
        return Places(self.source_file, self.lines[begin:end], self.offsets[begin:end])


class TurnColumns(Struct):
    """Turns as columns of equal length, each named as the member of :class:`Turn`; ``calls`` is how many each made."""

    format: list[str] = field(default_factory=list)
    response_id: list[str | None] = field(default_factory=list)
    model: list[str | None] = field(default_factory=list)
    created_at_us: list[int | None] = field(default_factory=list)
    response_status: list[str | None] = field(default_factory=list)
    finish_reason: list[str | None] = field(default_factory=list)
    truncation: list[str | None] = field(default_factory=list)
    token_limit_reached: list[bool] = field(default_factory=list)
    toolset: list[int | None] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    choice_index: list[int] = field(default_factory=list)
    parallel_tool_calls: list[bool | None] = field(default_factory=list)
    input_tokens: list[int | None] = field(default_factory=list)
    output_tokens: list[int | None] = field(default_factory=list)
    allowed_tools: list[frozenset[str] | None] = field(default_factory=list)
    source_file: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.offset)


class CallColumns(Struct):
    """Calls as columns of equal length, turn by turn, each named as the member of :class:`Call`."""

    call_id: list[str | None] = field(default_factory=list)
    tool_name: list[str | None] = field(default_factory=list)
    tool_namespace: list[str | None] = field(default_factory=list)
    arguments: list[str | None] = field(default_factory=list)
    arguments_form: list[str] = field(default_factory=list)
    freeform: list[bool] = field(default_factory=list)
    item_incomplete: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.call_id)


class Rows(Struct):
    """Turns and their calls on their way into batches, in log order. Whoever reads records puts them in."""

    turns: TurnColumns = field(default_factory=TurnColumns)
    calls: CallColumns = field(default_factory=CallColumns)

    def add(self, turn: Turn, source_file: str, line: int, offset: int) -> None:
        """One turn, with where its record stands."""
        turns, calls = self.turns, self.calls
        for name in _TURN_MEMBERS:
            getattr(turns, name).append(getattr(turn, name))
        turns.calls.append(len(turn.calls))
        turns.source_file.append(source_file)
        turns.line.append(line)
        turns.offset.append(offset)
        for call in turn.calls:
            for name in Call.__struct_fields__:
                getattr(calls, name).append(getattr(call, name))


_TURN_MEMBERS = tuple(name for name in Turn.__struct_fields__ if name != "calls")
