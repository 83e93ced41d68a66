"""Plain answers of Chat Completions, many at a time, into columns: what ``formats.chat`` makes of each."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.formats.chat import CEILINGS, NAME, read
from pipeline.formats.plain.twins import PlainChatUsage, PlainCompletion, PlainRequest
from pipeline.formats.shapes import NOTHING
from pipeline.formats.turns import MICROSECONDS
from pipeline.records import FORM_TEXT
from pipeline.rows import Rows

__all__ = ["NAME", "Answers", "read"]

_NO_USAGE = PlainChatUsage()
_NO_REQUEST = PlainRequest()


class Answers:
    """Some answers, with their requests where there are any; as :class:`pipeline.formats.plain.responses.Answers`."""

    def __init__(self, answers: Sequence[PlainCompletion], requests: Sequence[PlainRequest] | None) -> None:
        self._answers = answers
        self._requests = requests or [_NO_REQUEST] * len(answers)
        self._calls = [answer.choices[0].message.tool_calls or [] for answer in answers]
        self.tools = [(answer if requests is None else request).tools for answer, request in self._pairs()]
        if self._has_usual_calls():
            self.exceptions = self._exceptions(requests is not None)
        else:
            self.exceptions = list(range(len(answers)))

    def _pairs(self) -> list[tuple[PlainCompletion, PlainRequest]]:
        return list(zip(self._answers, self._requests, strict=True))

    def _has_usual_calls(self) -> bool:
        functions = [call.function for calls in self._calls for call in calls]
        whole = [function.arguments is not None and function.name for function in functions]
        return all(whole)

    def _exceptions(self, is_pair: bool) -> list[int]:
        return [
            position
            for position, (answer, request) in enumerate(self._pairs())
            if len(answer.choices) > 1
            or answer.created is None
            or (is_pair and answer.tools is not NOTHING)
            or answer.functions is not NOTHING
            or request.functions is not NOTHING
            or _narrows(answer)
            or _narrows(request)
            or _is_at_limit(answer, request)
        ]

    def add(self, rows: Rows, begin: int, end: int) -> None:
        """Add the answers from ``begin`` to before ``end``, no exceptions: what they say, not where they stand."""
        answers, requests, calls_of = self._answers[begin:end], self._requests[begin:end], self._calls[begin:end]
        turns, nothing = rows.turns, [None] * len(answers)
        choices = [answer.choices[0] for answer in answers]
        pairs = list(zip(answers, requests, strict=True))
        turns.response_id += [answer.id for answer in answers]
        turns.model += [request.model if answer.model is None else answer.model for answer, request in pairs]
        turns.created_at_us += [(answer.created or 0) * MICROSECONDS for answer in answers]
        turns.response_status += nothing
        turns.finish_reason += [choice.finish_reason for choice in choices]
        turns.truncation += [
            choice.finish_reason
            if choice.finish_reason is not None and choice.finish_reason.lower() in CEILINGS
            else None
            for choice in choices
        ]
        turns.token_limit_reached += [False] * len(answers)
        turns.calls += map(len, calls_of)
        turns.choice_index += [choice.index or 0 for choice in choices]
        turns.parallel_tool_calls += [
            request.parallel_tool_calls if answer.parallel_tool_calls is None else answer.parallel_tool_calls
            for answer, request in pairs
        ]
        usages = [answer.usage or _NO_USAGE for answer in answers]
        turns.input_tokens += [usage.prompt_tokens for usage in usages]
        turns.output_tokens += [usage.completion_tokens for usage in usages]
        turns.allowed_tools += nothing
        self._add_calls(rows, begin, end)

    def _add_calls(self, rows: Rows, begin: int, end: int) -> None:
        made, calls = [call for calls in self._calls[begin:end] for call in calls], rows.calls
        nothing = [None] * len(made)
        functions = [call.function for call in made]
        calls.call_id += [call.id for call in made]
        calls.tool_name += [function.name for function in functions]
        calls.tool_namespace += nothing
        calls.arguments += [function.arguments for function in functions]
        calls.arguments_form += [FORM_TEXT] * len(made)
        calls.freeform += [False] * len(made)
        calls.item_incomplete += [False] * len(made)


def _narrows(body: PlainCompletion | PlainRequest) -> bool:
    """Whether ``tool_choice`` or ``function_call`` may narrow the turn to some tools, or to none."""
    choice, legacy = body.tool_choice, body.function_call
    if legacy is not None:
        return True
    return choice is not None and (choice.__class__ is not str or choice == "none")


def _is_at_limit(answer: PlainCompletion, request: PlainRequest) -> bool:
    limit_tokens = request.max_output_tokens or request.max_completion_tokens or request.max_tokens
    if not limit_tokens:
        return False
    output_tokens = (answer.usage or _NO_USAGE).completion_tokens
    return output_tokens is not None and output_tokens >= limit_tokens
