"""What the answers of all APIs have in common: declared tools, ceilings, token counts, times, arguments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Raw

from pipeline.decoding import UndecodableError
from pipeline.formats.shapes import NOTHING, Body, Exchange, decode_string
from pipeline.interning import Toolsets
from pipeline.records import FORM_ABSENT, FORM_OBJECT, FORM_OTHER, FORM_TEXT, Call, Turn

MICROSECONDS = 1_000_000
#: Numbers of at least this size are milliseconds or finer, not seconds (as seconds they lie beyond the year 5000).
FIRST_MILLISECOND = 100_000_000_000
_LAST_INSTANT_US = 253_402_300_799 * MICROSECONDS  # the end of the year 9999


def turn_of(
    exchange: Exchange,
    toolsets: Toolsets,
    name: str,
    toolset: int | None,
    calls: list[Call],
    *,
    response_status: str | None,
    finish_reason: str | None = None,
    truncation: str | None = None,
    choice_index: int = 0,
    answers: int = 1,
) -> Turn:
    """The turn that an answer made, with all that the APIs say in the same words.

    ``answers`` is how many turns share the answer's token counts. Written out in one piece because it runs for every
    turn of a log: calls of small functions would cost more than what they do.
    """
    answer, request = exchange.answer, exchange.request
    response_id, model, parallel, usage = answer.id, answer.model, answer.parallel_tool_calls, answer.usage
    if request is not None:
        model = model if isinstance(model, str) else request.model
        parallel = parallel if isinstance(parallel, bool) else request.parallel_tool_calls
    input_tokens = output_tokens = None
    at_limit = False
    if usage is not None:
        input_tokens = count_or_none(usage.prompt_tokens if usage.input_tokens is None else usage.input_tokens)
        output_tokens = count_or_none(usage.completion_tokens if usage.output_tokens is None else usage.output_tokens)
        limit_tokens = _token_limit(answer) or (None if request is None else _token_limit(request))
        at_limit = limit_tokens is not None and output_tokens is not None and output_tokens >= limit_tokens * answers
    created = answer.created if answer.created_at is None else answer.created_at
    if type(created) is int and 0 < created < FIRST_MILLISECOND:
        created_at_us: int | None = created * MICROSECONDS
    else:
        created_at_us = _created_at_us(exchange)
    return Turn(
        name,
        response_id if isinstance(response_id, str) else None,
        model if isinstance(model, str) else None,
        created_at_us,
        response_status,
        finish_reason,
        truncation,
        at_limit,
        toolset,
        calls,
        choice_index,
        parallel if isinstance(parallel, bool) else None,
        input_tokens,
        output_tokens,
        _allowed_tools(answer, request, toolsets),
    )


def text_or_none(value: Any) -> str | None:
    """The value where it is a string; a log may hold anything in its place."""
    return value if isinstance(value, str) else None


def count_or_none(value: Any) -> int | None:
    """The value where it is a whole number that a column of 64 bits holds."""
    return value if type(value) is int and -(2**63) <= value < 2**63 else None


def arguments_of(raw: Raw | str | None, toolsets: Toolsets) -> tuple[str | None, str]:
    """Arguments as JSON text, and the form in which they stood in the record (``records.FORM_*``).

    ``raw`` is what stood in the record, or the string itself where it is known to have been one (None: it was absent).

    Raises:
        UndecodableError: the text is not UTF-8.
    """
    if isinstance(raw, str):
        return raw, FORM_TEXT
    if raw is None:
        return None, FORM_ABSENT
    text = bytes(raw)
    if text.startswith(b'"'):
        return decode_string(raw), FORM_TEXT
    if not text or text == b"null":
        return None, FORM_ABSENT
    try:
        restored = toolsets.restore(text).decode()
    except UnicodeDecodeError as error:
        raise UndecodableError("invalid UTF-8") from error
    return restored, FORM_OBJECT if text.startswith(b"{") else FORM_OTHER


def declared_toolset(exchange: Exchange, toolsets: Toolsets, loaded: Sequence[Raw] = ()) -> int | None:
    """Number of the toolset that stands with a turn, or None where no definitions are recorded.

    The answer's own definitions come first, then the request's, then those that arrived in the output. An empty list
    counts as recorded.
    """
    answer, request = exchange.answer, exchange.request
    if request is None and answer.functions is NOTHING and not loaded:
        return None if answer.tools is NOTHING else toolsets.intern(answer.tools)
    lists = [answer.tools, answer.functions]
    if request is not None:
        lists += (request.tools, request.functions)
    return toolsets.union([toolsets.intern(raw) for raw in (*lists, *loaded) if raw is not NOTHING])


def _allowed_tools(answer: Body, request: Body | None, toolsets: Toolsets) -> frozenset[str] | None:
    """Names to which ``tool_choice`` (or the legacy ``function_call``) narrowed the turn; None where it did not."""
    choice = answer.tool_choice or answer.function_call
    if choice is None and request is not None:
        choice = request.tool_choice or request.function_call
    if isinstance(choice, dict):
        return _chosen(choice, toolsets)
    return frozenset() if choice == "none" else None


def _chosen(choice: dict[str, Any], toolsets: Toolsets) -> frozenset[str] | None:
    nested = choice.get("allowed_tools")
    entries = toolsets.restore_list((nested if isinstance(nested, dict) else choice).get("tools"))
    if not isinstance(entries, list):
        entries = [choice]
    names = set()
    for entry in entries:
        if isinstance(entry, dict):
            inner = entry.get("function") or entry.get("custom") or entry
            name = inner.get("name") if isinstance(inner, dict) else None
            if isinstance(name, str):
                names.add(name)
    return frozenset(names) or None


def _token_limit(body: Body) -> int | None:
    """The recorded ceiling for output tokens, under whichever of its names."""
    limit = body.max_output_tokens or body.max_completion_tokens or body.max_tokens
    limit_tokens = count_or_none(limit)
    return limit_tokens if limit_tokens is not None and limit_tokens > 0 else None


def _created_at_us(exchange: Exchange) -> int | None:
    """When the answer was made, in microseconds since 1970 UTC: the answer's own time, or else the log record's."""
    answer = exchange.answer
    for value in (answer.created_at, answer.created, exchange.logged_at):
        if value is not None:
            instant_us = _instant_us(value)
            if instant_us is not None:
                return instant_us
    return None


def _instant_us(value: Any) -> int | None:
    """Seconds since 1970 as int, float or digits, milliseconds and finer by their size, or an ISO 8601 text.

    Zero is what test recorders and zero-value stubs write for "no time".
    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _iso_instant_us(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        return None
    scale = MICROSECONDS
    while value * scale >= FIRST_MILLISECOND * MICROSECONDS and scale > 1:
        scale //= 1000
    instant_us = round(value * scale)
    return instant_us if instant_us <= _LAST_INSTANT_US else None


def _iso_instant_us(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        instant_us = round(moment.timestamp() * MICROSECONDS)
    except (ValueError, OverflowError):
        return None
    return instant_us if 0 < instant_us <= _LAST_INSTANT_US else None
