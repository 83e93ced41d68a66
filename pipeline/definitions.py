"""Tool definitions as every provider spells them, read into :class:`ToolDefinition` values.

One reader for all spellings, because a definition that is not understood would accuse the model of calling a tool that
nobody declared. Read: OpenAI Responses (flat) and Chat Completions (under ``function``), legacy ``functions``,
namespaces, custom tools, MCP ``inputSchema`` and the ``input_schema`` of other providers behind gateways.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pipeline.decoding import Decoder, UndecodableError
from pipeline.records import ToolDefinition

#: A tool type that takes free text instead of JSON arguments.
_FREEFORM_TYPE = "custom"
_NAMESPACE_TYPE = "namespace"
#: A tool with a name that is a server's, not a function's.
_SERVER_TYPE = "mcp"
_NOTHING = Raw()
#: Entries up to this length are remembered, 4,096 of them; longer ones are read each time.
_LONGEST_KEPT_BYTES = 4096


class _Body(Struct, gc=False):
    """Where a definition says what it is: the entry itself, or the object under ``function`` or ``custom``."""

    name: Any = None
    strict: Any = None
    description: Any = None
    parameters: Raw = _NOTHING
    input_schema: Raw = _NOTHING
    inputSchema: Raw = _NOTHING  # noqa: N815 -- spelled so in MCP
    parametersJsonSchema: Raw = _NOTHING  # noqa: N815 -- spelled so by Google's servers


class _Entry(_Body, gc=False):
    """One entry of a tools array."""

    type: Any = None
    function: Raw = _NOTHING
    custom: Raw = _NOTHING
    tools: Raw = _NOTHING


class _Listing(Struct):
    """A document that holds definitions: ``{"tools": [...]}``, or an MCP result around it."""

    tools: Raw = _NOTHING
    result: Raw = _NOTHING


_decode_entries = Decoder(list[Raw])
_decode_entry = Decoder(_Entry)
_decode_body = Decoder(_Body)
_decode_listing = Decoder(_Listing)


def read_definitions(array_json: bytes) -> list[ToolDefinition] | None:
    """Definitions of a JSON array, in their order; namespaces are unfolded.

    Tools that the provider runs itself (web search, MCP servers) have no name to call and are left out. None where the
    text is no JSON array, or holds entries of which not one is an object: then no definitions are recorded.
    """
    try:
        entries = _decode_entries(array_json)
    except UndecodableError:
        return None
    objects = [entry for entry in map(bytes, entries) if entry.startswith(b"{")]
    if entries and not objects:
        return None
    return [
        definition
        for entry in objects
        for definition in (_known(entry) if len(entry) <= _LONGEST_KEPT_BYTES else _unfold(entry, None))
    ]


def supplied_definitions(document: bytes) -> list[ToolDefinition] | None:
    """Definitions of a file that a user supplies: a bare list, ``{"tools": [...]}``, or an MCP ``tools/list`` result.

    None where it is none of these.
    """
    document = document.lstrip(b"\xef\xbb\xbf \t\r\n")
    if document.startswith(b"["):
        return read_definitions(document)
    try:
        listing = _decode_listing(document)
        if bytes(listing.result):
            listing = _decode_listing(listing.result)
    except UndecodableError:
        return None
    return read_definitions(bytes(listing.tools)) if bytes(listing.tools) else None


@lru_cache(maxsize=4096)
def _known(entry_json: bytes) -> tuple[ToolDefinition, ...]:
    """The definitions of one entry. A list that is new as a whole mostly holds the tools of the one before it."""
    return tuple(_unfold(entry_json, None))


def _unfold(entry_json: bytes, namespace: str | None) -> Iterator[ToolDefinition]:
    try:
        entry = _decode_entry(entry_json)
        if entry.type == _NAMESPACE_TYPE:
            inner = entry.name if isinstance(entry.name, str) else namespace
            for member in map(bytes, _decode_entries(entry.tools) if bytes(entry.tools) else ()):
                if member.startswith(b"{"):
                    yield from _unfold(member, inner)
            return
        nested = _first_object(entry.function, entry.custom)
        body: _Body = _decode_body(nested) if nested else entry
    except UndecodableError:
        return
    if not isinstance(body.name, str) or (entry.type == _SERVER_TYPE and not nested):
        return
    freeform = entry.type == _FREEFORM_TYPE or (nested is not None and nested == bytes(entry.custom))
    yield _definition(body, body.name, namespace, freeform)


def _first_object(*candidates: Raw) -> bytes | None:
    return next((text for text in map(bytes, candidates) if text.startswith(b"{")), None)


def _definition(body: _Body, name: str, namespace: str | None, freeform: bool) -> ToolDefinition:
    spellings = (body.parameters, body.input_schema, body.inputSchema, body.parametersJsonSchema)
    schema = next((text for text in map(bytes, spellings) if text and text != b"null"), None)
    parameters = None if schema is None else _canonical(schema)
    description = body.description if isinstance(body.description, str) else None
    strict = body.strict is True
    content = msgspec.json.encode([name, namespace, strict, freeform, description, parameters])
    key = blake2b(content, digest_size=8).hexdigest()
    return ToolDefinition(key, name, namespace, strict, freeform, description, parameters)


def _canonical(schema: bytes) -> str:
    """The schema without insignificant blanks, so that one definition has one key however a logger spells it."""
    try:
        return msgspec.json.encode(msgspec.json.decode(schema)).decode()
    except (msgspec.MsgspecError, OverflowError, RecursionError):
        return schema.decode(errors="replace")
