"""Request and response in one record, under the names that home-made wrappers, gateways and tracers use."""

from __future__ import annotations

from pipeline.formats.shapes import NOTHING, Body, Exchange, text_of
from pipeline.formats.sides import Side, first_body, read_side
from pipeline.interning import Toolsets

PREFIX = "pair/"

#: Names of the two sides. A record may hold several pairs of names; the first whose answer can be read counts.
_NAMES = (
    ("request", "response"),
    ("request_body", "response_body"),
    ("req", "res"),
    ("body", "response"),
    ("kwargs", "response"),
    ("kwargs", "result"),
    ("params", "response"),
    ("params", "result"),
    ("input", "output"),
    ("prompt", "completion"),
    ("request", "completion"),
    ("", "response"),
    ("", "completion"),
    ("", "result"),
)


def unwrap(record: Body, toolsets: Toolsets) -> list[Exchange | Side] | None:
    """One exchange an answer found under a pair of names; None where no pair of names is there.

    Raises:
        UndecodableError: the answer's side cannot be decoded.
    """
    unread: Side | None = None
    for request_name, answer_name in _NAMES:
        answer = text_of(getattr(record, answer_name))
        request = text_of(getattr(record, request_name)) if request_name else b""
        if not answer or (request_name and not request):
            continue
        side = read_side(answer, toolsets)
        if side.bodies:
            asked = _request(record, request, toolsets)
            logged_at = next(
                (t for t in (record.ts, record.timestamp, record.time, record.created_at) if t is not None), None
            )
            return [Exchange(body, asked, logged_at, side.streamed, side.document) for body in side.bodies]
        unread = unread or side
    return None if unread is None else [unread]


def _request(record: Body, text: bytes, toolsets: Toolsets) -> Body | None:
    """The request side, with the definitions that the record itself carries where the request has none."""
    asked = first_body(text, toolsets) if text else None
    if asked is None:
        return record
    if asked.tools is NOTHING and asked.functions is NOTHING:
        asked.tools, asked.functions = record.tools, record.functions
    return asked
