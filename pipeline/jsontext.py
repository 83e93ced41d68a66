"""Arguments text to the object it holds, or to a named fault.

Nothing is repaired: text that is not one JSON object by RFC 8259 is a fault, however near it comes.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.exactjson import Document, Flaw, certain_object, decode
from pipeline.records import FORM_ABSENT, FORM_OTHER, FORM_TEXT, JSONValue

_SPACE = " \t\n\r"
_FENCE = "```"
_ENCODINGS = 4  # how often a string may be wrapped in a string before nobody looks inside any more


class Parsed(Struct, frozen=True):
    """The object that the arguments hold. Of equal keys the last one counts, and ``duplicate_keys`` is set.

    Numbers are exact (``int``, ``float`` or ``Decimal``) and strings can be encoded: a lone surrogate is one character
    of a private plane, see ``exactjson.SURROGATE_SHIFT``.
    """

    value: dict[str, JSONValue]
    duplicate_keys: bool


class Fault(Struct, frozen=True):
    """Why the arguments are no object: a name from ``verdicts.FAULTS`` and a sentence that says where.

    ``ends_early``: the text ends before its document does. It goes beside any name, since a text may be flawed first
    and cut later.
    """

    name: str
    detail: str
    ends_early: bool = False


_ABSENT = Fault("absent", "the call has no arguments field, or it is null")


def parse_arguments(text: str | None, form: str = FORM_TEXT) -> Parsed | Fault:
    """Read the arguments of a call; ``form`` is how they stood in the record, one of ``records.FORM_*``."""
    if text is None or form == FORM_ABSENT:
        return _ABSENT
    if form == FORM_OTHER:
        return Fault("not-an-object", f"the record holds {_kind(text)} instead of a string or an object")
    value = certain_object(text)
    if value is not None:
        return Parsed(value, duplicate_keys=False)
    return _look_again(text)


def _look_again(text: str) -> Parsed | Fault:
    if not text.strip(_SPACE):  # a legal way to call a tool that takes nothing
        return Parsed({}, duplicate_keys=False)
    document = decode(text)
    if isinstance(document, Flaw):
        return _fenced(text) or Fault(document.name, document.detail, document.ends_early)
    value = document.value
    if isinstance(value, dict):
        return Parsed(value, document.duplicate_keys)
    if isinstance(value, str) and _holds_object(value):
        return Fault("double-encoded", "the text is a JSON string that holds an encoded object")
    return Fault("not-an-object", f"the text holds {_kind(text)}, not an object")


def _holds_object(text: str) -> bool:
    for _ in range(_ENCODINGS):
        document = decode(text)
        if not isinstance(document, Document):
            return False
        if not isinstance(document.value, str):
            return isinstance(document.value, dict)
        text = document.value
    return False


def _fenced(text: str) -> Fault | None:
    """Name the Markdown fence around, or after some prose before, what may be JSON."""
    start = text.find(_FENCE)
    if start < 0 or text.lstrip(_SPACE)[0] in '{["':
        return None
    line_end = text.find("\n", start)
    inner = text[line_end + 1 :] if line_end >= 0 else text[start:].lstrip("`")
    close = inner.rfind(_FENCE)
    cut = False
    if close < 0:
        document = decode(inner)
        cut = isinstance(document, Document) or document.ends_early
    return Fault("code-fence", f"a Markdown code fence begins at character {start + 1}", cut)


def _kind(text: str) -> str:
    """Name the kind of JSON value that a text begins with."""
    first = text.lstrip(_SPACE)[:1]
    names = {"[": "a list", '"': "a string", "t": "a boolean", "f": "a boolean", "n": "null"}
    return names.get(first, "a number")
