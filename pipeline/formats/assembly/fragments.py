"""What a stream brings in pieces, put together: texts, names, and the numbers by which pieces are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

#: Longest index that is read from a string, in digits. None is anywhere near it.
_INDEX_DIGITS = 6


@dataclass(slots=True)
class Fragments:
    """A member that arrives piece by piece as text, or at once as some other JSON value.

    Absent, null and ``""`` are three different things, and stay so: ``seen`` once the member was there at all.
    """

    seen: bool = False
    pieces: list[str] | None = None
    value: Any = None

    def add(self, piece: Any) -> None:
        """Take the member of one delta."""
        self.seen = True
        if isinstance(piece, str):
            if self.pieces is None:
                self.pieces = []
            if piece:
                self.pieces.append(piece)
        elif piece is not None:
            # A parsed value is whole by its nature; where a server repeats it, the last counts.
            self.value = piece

    @property
    def begun(self) -> bool:
        """Whether anything but null and empty text arrived."""
        return bool(self.pieces) or self.value is not None

    def result(self) -> Any:
        """The value, else the joined text, else None."""
        if self.value is not None or self.pieces is None:
            return self.value
        return joined(self.pieces)

    def is_whole_object(self) -> bool:
        """Whether a single piece arrived, and that is a complete JSON object."""
        if self.value is not None:
            return isinstance(self.value, dict)
        return self.pieces is not None and len(self.pieces) == 1 and is_whole_object(self.pieces[0])


@dataclass(slots=True)
class NameFragments:
    """A name that arrives once, or in every delta again, or in pieces.

    Equal pieces are a repetition: servers that repeat the whole name are common, a name made of equal pieces is not
    known. Pieces that differ are parts of the name, in their order.
    """

    seen: bool = False
    pieces: list[str] = field(default_factory=list)
    _varied: bool = False
    _length: int = 0

    def add(self, piece: Any, *, late: bool = False) -> None:
        """Take the name of one delta. ``late``: arguments have begun, when a known name can only be a repetition."""
        if not isinstance(piece, str):
            return
        self.seen = True
        if not piece or (late and self.is_known(piece)):
            return
        self._varied = self._varied or (bool(self.pieces) and piece != self.pieces[0])
        self.pieces.append(piece)
        self._length += len(piece)

    def is_known(self, name: str) -> bool:
        """Whether this is the name so far; joined only where the length agrees, so that all deltas take linear time."""
        if not self._varied:
            return self.pieces[:1] == [name]
        return len(name) == self._length and name == self.result()

    def result(self) -> str:
        """The name; ``""`` where none came."""
        return joined(self.pieces if self._varied else self.pieces[:1])


def in_place(entries: Sequence[tuple[int | None, T]]) -> list[T]:
    """Entries, given in order of arrival, by their index; one that has none stays behind the one before it."""
    place = -1
    placed: list[tuple[int, T]] = []
    for index, entry in entries:
        place = place if index is None else index
        placed.append((place, entry))
    return [entry for _, entry in sorted(placed, key=lambda pair: pair[0])]


def joined(pieces: list[str]) -> str:
    """The pieces as one text. A character whose two halves came in two pieces is one character again."""
    text = "".join(pieces)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def is_whole_object(piece: Any) -> bool:
    """Whether a piece of arguments is a complete JSON object, as text or parsed."""
    if not isinstance(piece, str):
        return isinstance(piece, dict)
    if not (piece.lstrip().startswith("{") and piece.rstrip().endswith("}")):
        return False
    try:
        msgspec.json.decode(piece, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def index_of(value: Any) -> int | None:
    """An index as a whole number; servers also write it as text or with a fraction. None for all else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _INDEX_DIGITS:
        return int(value)
    return None


def text_or_none(value: Any) -> str | None:
    """The value where it is a text that says something; an empty id names nothing."""
    return value if isinstance(value, str) and value else None
