"""Toolsets by number: each list of definitions read once, however often it comes and by whatever text it is known.

A list is known by its bytes, or by the token that stands for it where it has been cut out (:mod:`pipeline.splicing`).
The token holds a random number made by this process, so that no log can hold it beforehand. Where a value that is kept
as text (arguments logged as an object, a list never seen) or read in another way (events of a stream, ``tool_choice``)
holds a token, the list is put back.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence

import msgspec

from pipeline.decoding import keep_lone_surrogates
from pipeline.definitions import read_definitions
from pipeline.records import ToolDefinition
from pipeline.splicing import Splicer
from pipeline.toolset import Toolset

#: What the table may hold before :meth:`Toolsets.renew` empties it.
_LIMIT_TOOLSETS = 4096
_LIMIT_BYTES = 16 << 20


class Toolsets:
    """All toolsets met since the last renewal, by number. Bounded: the owner calls :meth:`renew` between batches."""

    def __init__(self) -> None:
        self._toolsets: list[Toolset] = []
        self._number_by_text: dict[bytes, int | None] = {b"": None}  # where nothing stands, no toolset does
        self._number_by_parts: dict[tuple[int, ...], int] = {}
        self._splicer = Splicer()
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

    def splice(self, record: bytes) -> bytes:
        """The record with every known tool list replaced by its token."""
        return self._splicer.splice(record)

    def splice_lines(self, text: bytes | bytearray, begins: Sequence[int], end: int) -> bytes:
        """The same for ``text[:end]``, whose lines begin where ``begins`` says."""
        return self._splicer.splice_lines(text, begins, end)

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
        self._splicer.clear()
        self._text_by_token.clear()
        self._bytes_kept = 0

    def _learn(self, text: bytes) -> int | None:
        if text in self._number_by_text:
            return self._number_by_text[text]
        definitions = read_definitions(text)
        number = None if definitions is None else self.add(definitions)
        self._number_by_text[text] = number
        self._bytes_kept += len(text)
        token = self._token_prefix + b'%d"' % len(self._number_by_text)
        if self._splicer.learn(text, token):
            self._number_by_text[token] = number
            self._text_by_token[token] = text
        return number
