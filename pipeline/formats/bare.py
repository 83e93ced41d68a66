"""A record that is the answer itself, a Responses object or a stored chat completion; a request may stand beside it."""

from __future__ import annotations

from pipeline.formats.shapes import NOTHING, Body, Exchange
from pipeline.formats.sides import Side, first_body
from pipeline.interning import Toolsets

PREFIX = ""


def unwrap(record: Body, toolsets: Toolsets) -> list[Exchange | Side] | None:
    """The exchange whose answer the record is; None where it holds neither ``output`` items nor ``choices``."""
    if record.choices is None and not isinstance(record.output, list):
        return None
    request = None
    for beside in (record.request, record.req, record.input, record.body):
        if beside is not NOTHING:
            request = first_body(bytes(beside), toolsets)
            break
    return [Exchange(record, request, record.timestamp or record.ts or record.time)]
