"""Arguments text to the object it holds, or to a named fault.

Nothing is repaired: text that is not one JSON object by RFC 8259 is a fault, however near it comes.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.exactjson import certain_object, first_flaw, read_sound, sound_string
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
    return look_again(text)


def look_again(text: str) -> Parsed | Fault:
    """Read arguments text that is no ``certain_object``: most such texts are faults."""
    first = text.lstrip(_SPACE)[:1]
    if not first:  # a legal way to call a tool that takes nothing
        return Parsed({}, duplicate_keys=False)
    fault = None if first in '{["' else _fenced(text)  # nothing else that is JSON can hold a fence
    if fault is not None:
        return fault
    flaw = first_flaw(text)
    if flaw is not None:
        return Fault(*flaw)
    if first == "{":
        return Parsed(*read_sound(text))
    if first == '"' and _holds_object(text):
        return Fault("double-encoded", "the text is a JSON string that holds an encoded object")
    return Fault("not-an-object", f"the text holds {_kind(text)}, not an object")


def _holds_object(text: str) -> bool:
    """Whether a sound text is a string that holds an object, or a string that does."""
    for _ in range(_ENCODINGS):
        text = sound_string(text)
        if certain_object(text) is not None:
            return True
        if first_flaw(text) is not None:
            return False
        first = text.lstrip(_SPACE)[:1]
        if first != '"':
            return first == "{"
    return False


def _fenced(text: str) -> Fault | None:
    """Name the Markdown fence around, or after some prose before, what may be JSON."""
    start = text.find(_FENCE)
    if start < 0:
        return None
    line_end = text.find("\n", start)
    inner = text[line_end + 1 :] if line_end >= 0 else text[start:].lstrip("`")
    close = inner.rfind(_FENCE)
    cut = False
    if close < 0:
        flaw = first_flaw(inner)
        cut = flaw is None or flaw.ends_early
    return Fault("code-fence", f"a Markdown code fence begins at character {start + 1}", cut)


def _kind(text: str) -> str:
    """Name the kind of JSON value that a text begins with."""
    first = text.lstrip(_SPACE)[:1]
    names = {"[": "a list", '"': "a string", "t": "a boolean", "f": "a boolean", "n": "null"}
    return names.get(first, "a number")
