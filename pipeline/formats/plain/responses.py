"""Plain Responses answers, many at a time, into columns: what ``formats.responses`` makes of each."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.formats.plain.twins import PlainRequest, PlainResponse, PlainUsage
from pipeline.formats.responses import (
    CUSTOM_CALL,
    FUNCTION_CALL,
    INCOMPLETE,
    LOADING,
    NAME,
    UNFINISHED,
    read,
    truncation_of,
)
from pipeline.formats.shapes import NOTHING
from pipeline.formats.turns import MICROSECONDS
from pipeline.records import FORM_TEXT
from pipeline.rows import Rows

__all__ = ["NAME", "Answers", "read"]

_OWN_WAY = LOADING | {CUSTOM_CALL}
_NO_USAGE = PlainUsage()


class Answers:
    """Some answers. ``exceptions`` are the positions of those in which something is not as usual.

    ``tools`` are their tool lists, one an answer. Statements for whole columns, since each is some thirty times
    quicker than a call of a function for every answer.
    """

    def __init__(self, answers: Sequence[PlainResponse], requests: Sequence[PlainRequest] | None) -> None:
        self._answers = answers
        self._calls = [[item for item in answer.output if item.type == FUNCTION_CALL] for answer in answers]
        self.tools = [answer.tools for answer in answers]
        if requests is None and self._has_usual_items():
            self.exceptions = self._exceptions()
        else:
            self.exceptions = list(range(len(answers)))

    def _has_usual_items(self) -> bool:
        kinds = {item.type for answer in self._answers for item in answer.output}
        whole = [call.arguments is not None and call.name for calls in self._calls for call in calls]
        return all(whole) and kinds.isdisjoint(_OWN_WAY)

    def _exceptions(self) -> list[int]:
        return [
            position
            for position, answer in enumerate(self._answers)
            if answer.status in UNFINISHED
            or answer.created_at is None
            or (answer.tool_choice.__class__ is not str and answer.tool_choice is not None)
            or answer.tool_choice == "none"
            or answer.functions is not NOTHING
            or (answer.max_output_tokens is not None and _is_at_limit(answer))
        ]

    def add(self, rows: Rows, begin: int, end: int) -> None:
        """Add the answers from ``begin`` to before ``end``, no exceptions: what they say, not where they stand."""
        answers, calls_of, turns = self._answers[begin:end], self._calls[begin:end], rows.turns
        nothing = [None] * len(answers)
        turns.response_id += [answer.id for answer in answers]
        turns.model += [answer.model for answer in answers]
        turns.created_at_us += [(answer.created_at or 0) * MICROSECONDS for answer in answers]
        turns.response_status += [answer.status for answer in answers]
        turns.finish_reason += nothing
        turns.truncation += [
            truncation_of(answer.incomplete_details) if answer.status == INCOMPLETE else None for answer in answers
        ]
        turns.token_limit_reached += [False] * len(answers)
        turns.calls += map(len, calls_of)
        turns.choice_index += [0] * len(answers)
        turns.parallel_tool_calls += [answer.parallel_tool_calls for answer in answers]
        usages = [answer.usage or _NO_USAGE for answer in answers]
        turns.input_tokens += [usage.input_tokens for usage in usages]
        turns.output_tokens += [usage.output_tokens for usage in usages]
        turns.allowed_tools += nothing
        items, calls = [item for calls in calls_of for item in calls], rows.calls
        calls.call_id += [item.call_id for item in items]
        calls.tool_name += [item.name for item in items]
        calls.tool_namespace += [item.namespace for item in items]
        calls.arguments += [item.arguments for item in items]
        calls.arguments_form += [FORM_TEXT] * len(items)
        calls.freeform += [False] * len(items)
        calls.item_incomplete += [item.status == INCOMPLETE for item in items]


def _is_at_limit(answer: PlainResponse) -> bool:
    output_tokens = (answer.usage or _NO_USAGE).output_tokens
    return output_tokens is not None and 0 < (answer.max_output_tokens or 0) <= output_tokens
