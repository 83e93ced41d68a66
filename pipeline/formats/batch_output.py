"""A line of an OpenAI Batch output file: ``{custom_id, response: {status_code, body}, error}``."""

from __future__ import annotations

from pipeline.formats.shapes import NOTHING, Body, Exchange
from pipeline.formats.sides import Side, read_side
from pipeline.interning import Toolsets

PREFIX = "batch/"


def unwrap(record: Body, toolsets: Toolsets) -> list[Exchange | Side] | None:
    """The exchange of a batch line; None where the record is no batch line.

    Raises:
        UndecodableError: the body cannot be decoded.
    """
    if record.custom_id is None or (record.response is NOTHING and record.error is None):
        return None
    if record.response is NOTHING or bytes(record.response) == b"null":
        code = record.error.get("code") if isinstance(record.error, dict) else None
        told = f": {code}" if isinstance(code, str) and code else ""
        return [Side([], reason=f"a batch row without an answer{told}")]
    side = read_side(bytes(record.response), toolsets)
    if not side.bodies:
        return [side]
    return [Exchange(body, None, None, side.streamed, side.document) for body in side.bodies]
