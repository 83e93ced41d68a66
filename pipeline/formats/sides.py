"""One side of an exchange, however it was kept: an object, a string of JSON, event text, an HTTP message around it."""

from __future__ import annotations

from msgspec import Raw, Struct

from pipeline.decoding import Decoder, UndecodableError
from pipeline.formats.assembly import assemble, encode_answer, name_stream
from pipeline.formats.events import is_event_text, parse_events
from pipeline.formats.shapes import NOTHING, Body, decode_array, decode_body, decode_string
from pipeline.interning import Toolsets

#: How many strings and HTTP messages around a body are taken off.
_WRAPPINGS = 3
_decode_members = Decoder(dict[str, Raw])


class Side(Struct):
    """What stood on one side: the bodies read, whether they were streamed, and why there are none.

    ``document`` is the text of the body where there is just one, for who has to tell its keys.
    """

    bodies: list[Body]
    document: bytes = b""
    streamed: bool = False
    reason: str = ""
    keys: tuple[str, ...] = ()


def read_side(text: bytes, toolsets: Toolsets) -> Side:
    """The body (several where a stream held several answers) of one side of an exchange.

    Raises:
        UndecodableError: an object that cannot be decoded.
    """
    for _ in range(_WRAPPINGS):
        if text.startswith(b"{"):
            body = decode_body(text)
            inner = body.body
            if inner is NOTHING or bytes(inner) == b"null" or body.choices is not None or body.output is not None:
                return Side([body], text)
            text = bytes(inner)
        elif text.startswith(b'"'):
            string = decode_string(text)
            if is_event_text(string):
                return _streamed(string)
            text = string.strip().encode()
        else:
            break
    if text.startswith(b"["):
        return _listed(toolsets.restore(text))
    return Side([], reason="no JSON object" if text and text != b"null" else "nothing recorded")


def keys_of(document: bytes) -> tuple[str, ...]:
    """Names of the members of an object, in order; empty for anything else."""
    try:
        return tuple(_decode_members(document))
    except UndecodableError:
        return ()


def _listed(text: bytes) -> Side:
    """An array: the chunks or events of a stream, one object each, or else a list of output messages."""
    first = next(iter(decode_array(text)), None)
    if first is not None and bytes(first).startswith(b"{"):
        try:
            side = _streamed(text.decode())
        except UnicodeDecodeError as error:
            raise UndecodableError("invalid UTF-8") from error
        if side.bodies:
            return side
    return Side([], reason="a list that holds no answer")


def _streamed(text: str) -> Side:
    stream = parse_events(text)
    try:
        answers = [encode_answer(answer) for answer in assemble(stream.events)]
    except RecursionError as error:
        raise UndecodableError("nested too deep") from error
    if answers:
        return Side([decode_body(answer) for answer in answers], streamed=True)
    return Side([], streamed=True, reason=name_stream(stream.events).encode(errors="backslashreplace").decode())


def first_body(text: bytes, toolsets: Toolsets) -> Body | None:
    """The first body of a side, for a request: None where it cannot be read, which leaves the answer readable."""
    try:
        bodies = read_side(text, toolsets).bodies
    except UndecodableError:
        return None
    return bodies[0] if bodies else None
