"""What the answers of all APIs have in common: declared tools, ceilings, token counts, times, arguments as they stood."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from msgspec import Raw

from pipeline.decoding import UndecodableError
from pipeline.formats.shapes import NOTHING, Body, Exchange, decode_string
from pipeline.interning import Toolsets
from pipeline.records import FORM_ABSENT, FORM_OBJECT, FORM_OTHER, FORM_TEXT

_QUOTE, _BRACE = 0x22, 0x7B
_MICROSECONDS = 1_000_000
#: Numbers of at least this size are milliseconds or finer, not seconds (as seconds they lie beyond the year 5000).
_FIRST_MILLISECOND = 100_000_000_000
_LAST_INSTANT_US = 253_402_300_799 * _MICROSECONDS  # the end of the year 9999


def text_or_none(value: Any) -> str | None:
    """The value where it is a string; a log may hold anything in its place."""
    return value if isinstance(value, str) else None


def count_or_none(value: Any) -> int | None:
    """The value where it is a whole number that a column of 64 bits holds."""
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return None


def arguments_of(raw: Raw, toolsets: Toolsets) -> tuple[str | None, str]:
    """Arguments as JSON text, and the form in which they stood in the record (``records.FORM_*``).

    Raises:
        UndecodableError: the text is not UTF-8.
    """
    text = bytes(raw)
    if not text or text == b"null":
        return None, FORM_ABSENT
    if text[0] == _QUOTE:
        return decode_string(raw), FORM_TEXT
    try:
        restored = toolsets.restore(text).decode()
    except UnicodeDecodeError as error:
        raise UndecodableError("invalid UTF-8") from error
    return restored, FORM_OBJECT if text[0] == _BRACE else FORM_OTHER


def declared_toolset(exchange: Exchange, toolsets: Toolsets, loaded: Iterable[Raw] = ()) -> int | None:
    """Number of the toolset that stands with a turn, or None where no definitions are recorded.

    The answer's own definitions come first, then the request's, then those that arrived in the output. An empty list
    counts as recorded.
    """
    answer, request = exchange.answer, exchange.request
    lists = [raw for raw in (answer.tools, answer.functions) if raw is not NOTHING]
    if request is not None:
        lists += [raw for raw in (request.tools, request.functions) if raw is not NOTHING]
    lists += loaded
    if len(lists) == 1:
        return toolsets.intern(lists[0])
    return toolsets.union(map(toolsets.intern, lists))


def allowed_tools(exchange: Exchange) -> frozenset[str] | None:
    """Names to which ``tool_choice`` (or the legacy ``function_call``) narrowed the turn; None where it did not."""
    for body in (exchange.answer, exchange.request):
        choice = None if body is None else body.tool_choice or body.function_call
        if choice == "none":
            return frozenset()
        if isinstance(choice, dict):
            return _chosen(choice)
    return None


def _chosen(choice: dict[str, Any]) -> frozenset[str] | None:
    nested = choice.get("allowed_tools")
    entries = (nested if isinstance(nested, dict) else choice).get("tools")
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


def model_of(exchange: Exchange) -> str | None:
    """The model that answered, or else the one that was asked."""
    model = text_or_none(exchange.answer.model)
    if model is None and exchange.request is not None:
        model = text_or_none(exchange.request.model)
    return model


def parallel_allowed(exchange: Exchange) -> bool | None:
    """Whether parallel calls were allowed, where the answer or the request says so."""
    for body in (exchange.answer, exchange.request):
        if body is not None and isinstance(body.parallel_tool_calls, bool):
            return body.parallel_tool_calls
    return None


def tokens_of(answer: Body) -> tuple[int | None, int | None]:
    """Input and output tokens."""
    usage = answer.usage
    if usage is None:
        return None, None
    given = usage.input_tokens if usage.input_tokens is not None else usage.prompt_tokens
    made = usage.output_tokens if usage.output_tokens is not None else usage.completion_tokens
    return count_or_none(given), count_or_none(made)


def reached_token_limit(exchange: Exchange, output_tokens: int | None, answers: int) -> bool:
    """Whether the recorded output tokens have reached the recorded limit.

    The count of a Chat Completions answer is the sum over its choices (``answers`` of them), the limit is for each.
    """
    if output_tokens is None:
        return False
    for body in (exchange.answer, exchange.request):
        if body is None:
            continue
        for limit in (body.max_output_tokens, body.max_completion_tokens, body.max_tokens):
            limit_tokens = count_or_none(limit)
            if limit_tokens is not None and limit_tokens > 0:
                return output_tokens >= limit_tokens * answers
    return False


def created_at_us(exchange: Exchange) -> int | None:
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
    scale = _MICROSECONDS
    while value * scale >= _FIRST_MILLISECOND * _MICROSECONDS and scale > 1:
        scale //= 1000
    instant_us = round(value * scale)
    return instant_us if instant_us <= _LAST_INSTANT_US else None


def _iso_instant_us(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        instant_us = round(moment.timestamp() * _MICROSECONDS)
    except (ValueError, OverflowError):
        return None
    return instant_us if 0 < instant_us <= _LAST_INSTANT_US else None
