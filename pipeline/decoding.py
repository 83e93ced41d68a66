"""JSON bytes -> typed values, forgiving about what a log holds and exact about what is JSON.

The quick way is msgspec's partial decode: it skips whatever the type does not name, and checks the grammar of what it
skips. Three things that are legal JSON stop it, and each gets a second, slower look: a lone surrogate escape, a member
of another type than expected, and a number that no machine type holds. What then still fails is not JSON, and the
record a reject.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

#: A surrogate escape that has no partner. An even number of backslashes before it are pairs of their own.
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)"
    rb"(?:(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"  # a proper pair: kept
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
#: A backslash of ours: one that stands for the first character of a lone surrogate escape. A log may spell a backslash
#: so too; before ours are written, those of the log are spelled with two.
_OUR_BACKSLASH = rb"\u005C"
_FOREIGN_BACKSLASH = re.compile(rb"(?<!\\)((?:\\\\)*)\\u005C")
#: One of ours, before the rest of the escape that it belongs to.
_KEPT_SURROGATE = re.compile(rb"(?<!\\)((?:\\\\)*)\\u005C(?=u[dD][89a-fA-F])")
#: Longest document that is parsed a second time only to say where it breaks.
_EXPLAIN_LIMIT_BYTES = 16 << 20


class UndecodableError(ValueError):
    """The bytes are no JSON document that can be read: ``reason``, and the byte ``position`` where that shows."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position


class Decoder(Generic[T]):
    r"""Decodes JSON documents of one type. Members of another type than expected are left at their defaults.

    A lone surrogate escape becomes its own text (``\ud83d``, six characters) in a decoded string, so that it survives
    into UTF-8; in arguments text that is again a JSON escape and judged as such. ``Raw`` members stay as recorded.
    """

    def __init__(self, into: type[T]) -> None:
        self._type = into
        self._decode: Callable[[Any], T] = msgspec.json.Decoder(into).decode

    def __call__(self, document: bytes | msgspec.Raw) -> T:
        """One value from one JSON document.

        Raises:
            UndecodableError: the bytes are no single JSON document, are nested too deep, or hold another type.
        """
        try:
            return self._decode(document)
        except (msgspec.DecodeError, RecursionError):
            return self._second_look(bytes(document))

    def _second_look(self, document: bytes) -> T:
        kept = keep_lone_surrogates(document)
        try:
            value = self._decode(kept)
        except msgspec.ValidationError:
            value = _salvage(kept, self._type)
            if value is _MISFIT:
                raise UndecodableError(f"not {_article(self._type)}") from None
        except (msgspec.DecodeError, RecursionError) as error:
            raise explain(document, error) from None
        return value if kept is document else typing.cast("T", _as_recorded(value))


def keep_lone_surrogates(document: bytes) -> bytes:
    r"""Spell the backslash of each lone surrogate escape as ``\u005C``: the document itself where it has none."""
    if b"\\ud" not in document and b"\\uD" not in document:
        return document

    def rewrite(match: re.Match[bytes]) -> bytes:
        lone: bytes | None = match["lone"]
        return match[0] if lone is None else match[1] + _OUR_BACKSLASH + lone[1:]

    return _LONE_SURROGATE.sub(rewrite, _FOREIGN_BACKSLASH.sub(rb"\1\\\\", document))


def restore_lone_surrogates(kept: bytes) -> bytes:
    """Undo :func:`keep_lone_surrogates`."""
    return _KEPT_SURROGATE.sub(rb"\1\\", kept)


def _as_recorded(value: Any) -> Any:
    """The value with its raw members as they stood in the record, wherever it holds some."""
    if isinstance(value, msgspec.Raw):
        kept = bytes(value)
        restored = restore_lone_surrogates(kept)
        return value if restored == kept else msgspec.Raw(restored)
    if isinstance(value, list):
        return [_as_recorded(element) for element in value]
    if isinstance(value, dict):
        return {key: _as_recorded(element) for key, element in value.items()}
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            setattr(value, name, _as_recorded(getattr(value, name)))
    return value


def explain(document: bytes, error: Exception) -> UndecodableError:
    """Say why a document cannot be decoded, with the byte position where the standard library finds it.

    msgspec's own wording is not used: it calls a lone surrogate "truncated".
    """
    if isinstance(error, RecursionError):
        return UndecodableError("nested deeper than 900 levels")
    if len(document) > _EXPLAIN_LIMIT_BYTES:
        return UndecodableError("not JSON")
    try:
        text = document.decode()
    except UnicodeDecodeError as invalid:
        return UndecodableError("invalid UTF-8", invalid.start)
    try:
        json.loads(text, parse_constant=_refuse_constant, parse_int=len, parse_float=len)
    except json.JSONDecodeError as invalid_json:
        position = len(text[: invalid_json.pos].encode())
        ended = invalid_json.pos >= len(text.rstrip()) or invalid_json.msg.startswith("Unterminated string")
        return UndecodableError("half written: ends before the document does" if ended else "not JSON", position)
    except RecursionError:
        return UndecodableError("nested deeper than 900 levels")
    except ValueError:
        return UndecodableError("not JSON: NaN or Infinity")
    return UndecodableError("not JSON")


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


class _Misfit:
    """What a value becomes that has another type than the one expected."""


_MISFIT = _Misfit()


def _article(into: object) -> str:
    return "a JSON array" if typing.get_origin(into) is list else "a JSON object"


def _salvage(document: bytes, into: Any) -> Any:
    """Decode what fits and leave the rest at its default; ``_MISFIT`` where nothing does, as in a list of misfits."""
    for option in typing.get_args(into) if isinstance(into, types.UnionType) else (into,):
        try:
            return msgspec.json.decode(document, type=option)
        except (msgspec.DecodeError, RecursionError):
            value = _salvage_parts(document, option)
        if value is not _MISFIT:
            return value
    return _MISFIT


def _salvage_parts(document: bytes, option: Any) -> Any:
    try:
        if typing.get_origin(option) is list:
            (element_type,) = typing.get_args(option)
            elements = [
                _salvage(bytes(raw), element_type) for raw in msgspec.json.decode(document, type=list[msgspec.Raw])
            ]
            fitting = [element for element in elements if element is not _MISFIT]
            return fitting if fitting or not elements else _MISFIT
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            members = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
            fields = msgspec.structs.fields(option)
            found = {
                f.name: _salvage(bytes(members[f.encode_name]), f.type) for f in fields if f.encode_name in members
            }
            return option(**{name: value for name, value in found.items() if value is not _MISFIT})
    except (msgspec.DecodeError, RecursionError):
        pass
    return _MISFIT
