"""The registry: which records are recognised, and how their turns are read.

A format is an *envelope* (how a log wraps an exchange) around an *answer* (the shape of one API). To add one: write its
file, add its line below, and put an example with its right answer into ``tests/formats/golden``. An envelope has
``PREFIX`` and ``unwrap(record, toolsets) -> exchanges | None``; an answer has ``NAME`` and ``read(exchange, toolsets)
-> turns | None``. Both say None for what is not theirs; the first that says otherwise counts.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from pipeline.decoding import UndecodableError
from pipeline.formats import bare, batch_output, chat, pair, responses
from pipeline.formats.plain import PlainReader
from pipeline.formats.shapes import (
    NOTHING,
    Body,
    Exchange,
    decode_anything,
    decode_array,
    decode_body,
)
from pipeline.formats.sides import Side, keys_of
from pipeline.interning import Toolsets
from pipeline.records import Turn

__all__ = ["Outcome", "Page", "PlainReader", "Unread", "read_record"]

#: In this order: the more specific wrapping first.
ENVELOPES = (batch_output, bare, pair)
ANSWERS = (responses, chat)

_LIST = "list"


class Unread(Struct, frozen=True):
    """A record that is JSON and yields no turn: why, and its keys."""

    reason: str
    keys: tuple[str, ...] = ()


#: What becomes of one record: its turns, or why there are none.
Outcome = list[Turn] | Unread


class Page(Struct, frozen=True):
    """A page of a list: each element is a record of its own. ``has_more``: the page says that others follow it."""

    outcomes: list[Outcome]
    has_more: bool


def read_record(document: bytes, toolsets: Toolsets) -> Outcome | Page:
    """What becomes of one JSON document, its known tool lists spliced out.

    Raises:
        UndecodableError: it is not JSON, or cannot be decoded; the record is a reject.
    """
    if not document.startswith(b"{"):
        decode_anything(document)
        return Unread("not an object")
    record = decode_body(document)
    if record.object == _LIST and record.data is not NOTHING and bytes(record.data).startswith(b"["):
        return Page(_read_page(record, toolsets), record.has_more is True)
    try:
        return _read_one(document, record, toolsets)
    except UndecodableError as error:
        # Its position counts from the beginning of some text in the record, not from that of the record.
        raise UndecodableError(f"{error.reason}, in a text inside the record") from error


def _read_page(page: Body, toolsets: Toolsets) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for element in map(bytes, decode_array(page.data)):
        if not element.startswith(b"{"):
            outcomes.append(Unread("an element of a list page that is not an object"))
            continue
        try:
            outcomes.append(_read_one(element, decode_body(element), toolsets, prefix="list/"))
        except UndecodableError as error:
            outcomes.append(Unread(f"an element of a list page that cannot be read: {error.reason}"))
    return outcomes or [Unread("an empty list page", ("object", "data"))]


def _read_one(document: bytes, record: Body, toolsets: Toolsets, prefix: str = "") -> Outcome:
    for envelope in ENVELOPES:
        unwrap: Callable[[Body, Toolsets], list[Exchange | Side] | None] = envelope.unwrap
        exchanges = unwrap(record, toolsets)
        if exchanges is None:
            continue
        turns: list[Turn] = []
        unread: Unread | None = None
        for exchange in exchanges:
            if isinstance(exchange, Side):
                unread = Unread(exchange.reason, exchange.keys or keys_of(document))
                continue
            found = _read_answer(exchange, toolsets)
            if not found:
                answer = exchange.answer
                unread = unread or Unread(_why_unread(answer), keys_of(exchange.document or document))
                continue
            for turn in found:
                turn.format = f"{prefix}{envelope.PREFIX}{turn.format}{'/stream' if exchange.streamed else ''}"
            turns += found
        if turns:
            return turns
        if unread is not None:
            return unread
    return Unread(_why_unread(record), keys_of(document))


def _read_answer(exchange: Exchange, toolsets: Toolsets) -> list[Turn] | None:
    for answer in ANSWERS:
        read: Callable[[Exchange, Toolsets], list[Turn] | None] = answer.read
        turns = read(exchange, toolsets)
        if turns is not None:
            return turns
    return None


def _why_unread(body: Body) -> str:
    """The likeliest reason, in words for the person who has to find the right file or flag."""
    if body.error is not None:
        error = body.error
        code = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
        return f"an error instead of an answer ({code})" if isinstance(code, str) else "an error instead of an answer"
    if body.choices is not None:
        if not body.choices:
            return "an answer without choices"
        return "one chunk of a stream: the stream has to be kept whole"
    if body.messages is not NOTHING or (body.custom_id is not None and body.body is not NOTHING):
        return "a request without its answer"
    return "no answer of a format known here"
