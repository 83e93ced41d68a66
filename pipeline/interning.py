"""The trick that makes reading a log cheaper than parsing it: a tool array seen before is known by its bytes.

In most logs the tool definitions are most of the bytes, and the same few lists come again and again. So before a record
is decoded, its known lists are cut out and a short token is put in their place; only a list never seen is parsed.

Why that changes no verdict:

- The bytes ``"tools":`` can stand inside a JSON string only with a backslash before the first quote, since a bare quote
  would end the string. That one byte is looked at.
- A list is cut only if all its bytes follow, and those bytes are one complete JSON array. No complete array is the
  beginning of another JSON value, so what is cut is exactly the value that stands there.
- The token holds a random number made by this process; no log can hold it beforehand.
- Where a value that is kept as text (arguments logged as an object, a list never seen) or read in another way (events
  of a stream, ``tool_choice``) holds a token, the list is put back.
- Whatever is not cut is decoded like the rest and meets the same table, by its whole text.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence

import msgspec

from pipeline.decoding import keep_lone_surrogates
from pipeline.definitions import read_definitions
from pipeline.records import ToolDefinition
from pipeline.toolset import Toolset

_NAME = b'"tools":'
_NAME_BYTES = len(_NAME)
_BACKSLASH, _OPENING_BRACKET = 0x5C, 0x5B
#: How far the next list is looked for at first. In a longer stretch, the search would first prepare itself for a long
#: one, which takes as long as finding a list that is near.
_WINDOW_BYTES = 1 << 14
#: Bytes of a list by which candidates are looked up before all of it is compared.
_HEAD_BYTES = 96
#: Lists with the same head that are kept for comparison; later ones are decoded every time.
_CANDIDATES_PER_HEAD = 16
#: What the table may hold before :meth:`Toolsets.renew` empties it.
_LIMIT_TOOLSETS = 4096
_LIMIT_BYTES = 16 << 20


class Toolsets:
    """All toolsets met since the last renewal, by number. Bounded: the owner calls :meth:`renew` between batches."""

    def __init__(self) -> None:
        self._toolsets: list[Toolset] = []
        self._number_by_text: dict[bytes, int | None] = {b"": None}  # where nothing stands, no toolset does
        self._number_by_parts: dict[tuple[int, ...], int] = {}
        self._candidates: dict[bytes, list[tuple[bytes, bytes]]] = {}
        self._new_definitions: list[ToolDefinition] = []
        self._bytes_kept = 0
        self._token_prefix = f'"{secrets.token_hex(12)}:'.encode()
        self._token = re.compile(re.escape(self._token_prefix) + rb'\d+"')
        self._text_by_token: dict[bytes, bytes] = {}

    def __getitem__(self, number: int) -> Toolset:
        return self._toolsets[number]

    def add(self, definitions: Sequence[ToolDefinition]) -> int:
        """Number of a toolset that stands in no log (supplied by the user)."""
        self._toolsets.append(Toolset(definitions))
        self._new_definitions += definitions
        return len(self._toolsets) - 1

    def take_new_definitions(self) -> list[ToolDefinition]:
        """Definitions that came in since the last time, in order, some of them perhaps again."""
        taken, self._new_definitions = self._new_definitions, []
        return taken

    def splice(self, text: bytes | bytearray, end: int | None = None) -> bytes:
        """One record, or lines of them, with every known tool list replaced by its token: of ``text[:end]``."""
        stop = len(text) if end is None else end
        pieces: list[bytes | bytearray] = []
        done = begin = 0
        find, starts_with, candidates_of = text.find, text.startswith, self._candidates.get
        position = find(_NAME, 0, min(_WINDOW_BYTES, stop))
        while position >= 0 or (position := find(_NAME, begin, stop)) >= 0:
            begin = position + _NAME_BYTES
            candidates = candidates_of(bytes(text[begin : begin + _HEAD_BYTES]))
            if candidates is None and starts_with(b" ", begin):
                while starts_with(b" ", begin):
                    begin += 1
                candidates = candidates_of(bytes(text[begin : begin + _HEAD_BYTES]))
            if candidates is not None and text[position - 1] != _BACKSLASH:
                for known, token in candidates:
                    if starts_with(known, begin, stop):
                        pieces += (text[done:begin], token)
                        done = begin = begin + len(known)
                        break
            position = find(_NAME, begin, min(begin + _WINDOW_BYTES, stop))
        pieces.append(text[done:stop])
        return b"".join(pieces)

    def restore(self, text: bytes) -> bytes:
        """The text as it stood in the record: every token replaced by its list."""
        if self._token_prefix not in text:
            return text
        return self._token.sub(lambda token: self._text_by_token[token[0]], text)

    def restore_list(self, value: object) -> object:
        """The list for a token that was decoded as a string, None where it cannot be; any other value as it is."""
        text = self._text_by_token.get(f'"{value}"'.encode()) if isinstance(value, str) else None
        if text is None:
            return value
        try:
            return msgspec.json.decode(keep_lone_surrogates(text))
        except (msgspec.DecodeError, RecursionError):
            return None

    def intern(self, array: msgspec.Raw) -> int | None:
        """Number of the toolset that a JSON value holds, a token or the text of an array; None where it is no list."""
        text = bytes(array)
        try:
            return self._number_by_text[text]
        except KeyError:
            return self._learn(self.restore(text))

    def intern_all(self, arrays: Iterable[msgspec.Raw]) -> list[int | None]:
        """:meth:`intern` for each of many values; None where there is none (``Raw()``)."""
        known = self._number_by_text
        try:
            return [known[bytes(array)] for array in arrays]
        except KeyError:
            return [self.intern(array) for array in arrays]

    def union(self, numbers: Iterable[int | None]) -> int | None:
        """Number of the toolset that holds the definitions of several; None where all are None.

        Earlier ones first, and of equal names only the first: an answer echoes what its request declared.
        """
        parts = tuple(dict.fromkeys(number for number in numbers if number is not None))
        if len(parts) < 2:
            return parts[0] if parts else None
        number = self._number_by_parts.get(parts)
        if number is None:
            first_of_name: dict[tuple[str | None, str], ToolDefinition] = {}
            for part in parts:
                for definition in self._toolsets[part].definitions:
                    first_of_name.setdefault((definition.namespace, definition.name), definition)
            self._toolsets.append(Toolset(tuple(first_of_name.values())))
            number = len(self._toolsets) - 1
            self._number_by_parts[parts] = number
        return number

    @property
    def is_full(self) -> bool:
        """Whether the table has reached its size and should be renewed before more records are read."""
        return self._bytes_kept > _LIMIT_BYTES or len(self._toolsets) > _LIMIT_TOOLSETS

    def renew(self) -> None:
        """Forget everything. Numbers handed out before mean nothing any more."""
        self._toolsets.clear()
        self._number_by_text = {b"": None}
        self._number_by_parts.clear()
        self._candidates.clear()
        self._text_by_token.clear()
        self._bytes_kept = 0

    def _learn(self, text: bytes) -> int | None:
        if text in self._number_by_text:
            return self._number_by_text[text]
        definitions = read_definitions(text)
        number = None if definitions is None else self.add(definitions)
        self._number_by_text[text] = number
        self._bytes_kept += len(text)
        if len(text) > _HEAD_BYTES and text[0] == _OPENING_BRACKET:
            candidates = self._candidates.setdefault(text[:_HEAD_BYTES], [])
            if len(candidates) < _CANDIDATES_PER_HEAD:
                token = self._token_prefix + b'%d"' % len(self._number_by_text)
                candidates.append((text, token))
                self._number_by_text[token] = number
                self._text_by_token[token] = text
        return number
