"""Framing of streamed answers: text of server-sent events, JSON Lines or a JSON array -> event objects, and their kind.

A log may keep a streamed answer as the text that came over the wire. :mod:`pipeline.formats.assembly` makes
answers of its events.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from pipeline.formats.assembly.kinds import is_stream_event

#: How far into a lone document the marks of an event are looked for, in characters, and how many lines are looked at.
_GLANCE_CHARACTERS = 65_536
_GLANCE_LINES = 3
_END_OF_STREAM = "[DONE]"
_LEADING = re.compile(r"\ufeff?\s*")
_SPACE = re.compile(r"[\s,]*")
#: One of these stands in any event of an OpenAI stream, and in few other documents.
_EVENT_MARKS = re.compile(r'"(?:delta"|event"\s*:|type"\s*:\s*"response\.|object"\s*:\s*"chat\.completion\.chunk)')


class EventLog(Struct):
    """What a text of events holds: ``events`` in their order, and how many entries were ``broken``: no JSON object."""

    events: list[dict[str, Any]] = field(default_factory=list)
    broken: int = 0

    def add(self, text: str, name: str = "") -> None:
        """Take the data of one event; the name of its ``event:`` line is kept where the data does not say its type."""
        text = text.strip()
        if not text or text == _END_OF_STREAM:
            return
        self.take(_decode_event(text), name)

    def take(self, event: Any, name: str = "") -> None:
        """Take one event that is decoded already; whatever is no object is broken."""
        if not isinstance(event, dict):
            self.broken += 1
        elif name and not isinstance(event.get("type"), str):
            self.events.append({"event": name, "data": event})
        elif isinstance(event.get("data"), str) and "event" in event:
            self.events.append({**event, "data": _decode_event(event["data"])})
        else:
            self.events.append(event)


def is_event_text(text: str) -> bool:
    """Whether a string looks like a streamed answer: server-sent events, or JSON Lines or a JSON array of events.

    A look at the beginning only. One whole answer in JSON is no event text.
    """
    start = _start_of(text)
    if text.startswith("data:", start):
        return True
    if text.startswith(("event:", "id:", "retry:", ":"), start):
        return "data:" in text
    if text.startswith("[", start):
        first = next(_array_elements(text, start), None)
        return isinstance(first, dict) and is_stream_event(first)
    return text.startswith("{", start) and _are_event_lines(text, start)


def parse_events(text: str) -> EventLog:
    """Event objects of a text, whichever of the three framings it has. Never raises; what is no object is counted."""
    start = _start_of(text)
    log = EventLog()
    if text.startswith("[", start) and not text.startswith(_END_OF_STREAM, start):
        for element in _array_elements(text, start):
            log.take(element)
    elif text.startswith("{", start):
        for line in text[start:].split("\n"):
            log.add(line)
    else:
        _read_sse(text[start:], log)
    return log


def _start_of(text: str) -> int:
    match = _LEADING.match(text)
    return match.end() if match else 0


def _are_event_lines(text: str, start: int) -> bool:
    """Whether JSON Lines hold events. A lone document counts only where it can be nothing but an event."""
    lines = [line for line in text[start:].split("\n", _GLANCE_LINES)[:_GLANCE_LINES] if line.strip()]
    if len(lines) < 2 and not _EVENT_MARKS.search(text, start, start + _GLANCE_CHARACTERS):
        return False
    return any(is_stream_event(event) for line in lines if (event := _decode_event(line.strip())) is not None)


def _read_sse(text: str, log: EventLog) -> None:
    """Server-sent events by their rules: a blank line ends one, and so does the end of the text."""
    name = ""
    data: list[tuple[str, str]] = []
    # Only these three end a line; str.splitlines would also split at characters that JSON leaves bare in strings.
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            data.append((line[5:], name))
        elif not line:
            _end_event(data, log)
            name, data = "", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("{"):
            # A server that fails in the middle of a stream may append a bare body.
            _end_event(data, log)
            data = []
            log.add(line)
    _end_event(data, log)


def _end_event(data: Sequence[tuple[str, str]], log: EventLog) -> None:
    """Take the data lines of one event, each with the event name that stood above it."""
    if len(data) > 1 and any(_decode_event(line) is not None for line, _ in data[:2]):
        # A logger dropped the blank lines: each line is an event.
        for line, name in data:
            log.add(line, name)
    elif data:
        log.add("\n".join(line for line, _ in data), data[-1][1])


def _array_elements(text: str, start: int) -> Iterator[Any]:
    """Elements of a JSON array one by one: where the text is cut off, those before it count; the cut one is None."""
    position = _after_space(text, start + 1)
    while position < len(text):
        if text[position] == "]":
            if text[position + 1 :].strip():
                yield None
            return
        try:
            element, position = _SLOW.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield None
            return
        yield element
        position = _after_space(text, position)


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _finite(text: str) -> float:
    """A number beyond the range of doubles is legal JSON; infinity could not be written down again."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(text)))


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_FAST = msgspec.json.Decoder()
_SLOW = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def _decode_event(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, or None. The second look is for what only the standard library reads.

    The first decoder keeps large integers exact; it refuses lone surrogates and numbers beyond the range of doubles.
    """
    try:
        value = _FAST.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        try:
            value = _SLOW.decode(text)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
