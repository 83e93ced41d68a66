"""What the engine found, in our own words: one sentence for every keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jsonschema_rs import ValidationError
from msgspec import Struct

from pipeline.exactjson import quoted
from pipeline.records import JSONValue, Violation
from pipeline.toolschema.excerpt import excerpt, listed, shorten
from pipeline.toolschema.paths import ROOT, look_up, resolve, spell
from pipeline.toolschema.places import Place, Places

_ALTERNATIVES = ("AnyOf", "OneOfNotValid")
_CLOSED = ("AdditionalProperties", "UnevaluatedProperties")
_COUNTED = {
    "MinItems": "at least {} item",
    "MaxItems": "at most {} item",
    "AdditionalItems": "at most {} item",
    "MinLength": "at least {} character",
    "MaxLength": "at most {} character",
    "MinProperties": "at least {} key",
    "MaxProperties": "at most {} key",
}
_LIMITS = {
    "Minimum": "at least",
    "Maximum": "at most",
    "ExclusiveMinimum": "more than",
    "ExclusiveMaximum": "less than",
}


class Setting(Struct):
    """What the wording looks things up in: the arguments, and the places of their schema."""

    value: JSONValue
    places: Places


def violations_of(error: ValidationError, setting: Setting) -> list[Violation]:
    """Return the violations that one finding of the engine stands for: one for each key that is too many."""
    place = setting.places.of(error)
    tokens = error.instance_path
    path, pattern = spell(resolve(setting.value, tokens), place.wild) if tokens else (ROOT, ROOT)
    shown = shorten(path)
    return [
        Violation(
            keyword=place.keyword,
            path=path,
            path_pattern=pattern,
            schema_path=place.schema_path,
            expected=shorten(expected),
            got=got,
            message=f"{shown}: {message}",
        )
        for expected, got, message in _findings(error, place, setting)
    ]


def _findings(error: ValidationError, place: Place, setting: Setting) -> list[tuple[str, str, str]]:
    """Return expected, got and the rest of the message."""
    kind = type(error.kind).__name__
    details: Any = error.kind
    instance: Any = error.instance
    if kind == "Required":
        key = excerpt(details.property)
        why = "is missing" if place.keyword == "required" else "is missing, and another key demands it"
        return [(f"the key {key}", excerpt(instance), f"the key {key} {why}")]
    if kind in _CLOSED:
        return _too_many(details.unexpected, place, setting)
    # The engine reports a plain ``additionalProperties: false`` with the place of the object, and shows a member.
    if kind == "FalseSchema" and place.keyword == "additionalProperties":
        steps = resolve(setting.value, error.instance_path)
        if len(place.wild) > len(steps):
            return _too_many(list(look_up(setting.value, steps)), place, setting)
    if kind == "PropertyNames":
        inner: ValidationError = details.error
        expected, got = f"keys that are {expectation(inner, setting)}", excerpt(inner.instance)
        return [(expected, got, f"expected {expected}; got the key {got}")]
    expected, got = _expected(error, place, setting), excerpt(instance)
    count = f"{len(instance)}: " if kind in _COUNTED else ""
    return [(expected, got, f"expected {shorten(expected)}; got {count}{got}")]


def _too_many(unexpected: list[str], place: Place, setting: Setting) -> list[tuple[str, str, str]]:
    expected = place.allowed
    if expected is None:
        declared = _declared_keys(setting.places.schema, place.steps)
        expected = place.allowed = f"no key but {listed(declared)}" if declared else "no further key"
    shown = shorten(expected)
    keys = [excerpt(key) for key in unexpected]
    return [(expected, key, f"the key {key} is not allowed; expected {shown}") for key in keys]


def _declared_keys(schema: JSONValue, at: list[str | int]) -> list[JSONValue]:
    """Return the keys declared beside the keyword at ``at``, where its parent can be reached from the root."""
    parent = look_up(schema, at[:-1])
    declared = parent.get("properties") if isinstance(parent, dict) else None
    return list(declared) if isinstance(declared, dict) else []


def expectation(error: ValidationError, setting: Setting) -> str:
    """Say what a keyword wants, as the end of a sentence that begins with "expected"."""
    return _expected(error, setting.places.of(error), setting)


def _expected(error: ValidationError, place: Place, setting: Setting) -> str:
    """Word what a keyword wants, once for each place unless the value has a say in it."""
    if place.expected is not None:
        return place.expected
    name = type(error.kind).__name__
    if name in _ALTERNATIVES:
        return _alternatives(error, setting)
    details = error.kind.as_dict()
    if name == "OneOfMultipleValid":
        context = details["context"]
        matching = [str(index + 1) for index, reasons in enumerate(context) if not reasons]
        return f"exactly one alternative to match, not {' and '.join(matching)} of {len(context)}"
    if name in _BY_VALUE:
        return _BY_VALUE[name](details)
    place.expected = _by_schema(name, details, place, setting.places)
    return place.expected


_BY_VALUE: dict[str, Callable[[dict[str, Any]], str]] = {
    "Required": lambda details: f"the key {quoted(details['property'])}",
    "AdditionalProperties": lambda details: f"no key {listed(details['unexpected'])}",
    "UnevaluatedProperties": lambda details: f"no key {listed(details['unexpected'])}",
}
_BY_SCHEMA: dict[str, Callable[[dict[str, Any]], str]] = {
    "Type": lambda details: " or ".join(sorted(details["types"], key=lambda name: name == "null")),
    "Enum": lambda details: (
        f"one of {listed(details['options'])}" if len(details["options"]) > 1 else listed(details["options"])
    ),
    "Constant": lambda details: excerpt(details["expected_value"]),
    "MultipleOf": lambda details: f"a multiple of {excerpt(details['multiple_of'])}",
    "UniqueItems": lambda _: "items that all differ",
    "Not": lambda details: f"anything but what matches {excerpt(details['schema'], 160)}",
    "UnevaluatedItems": lambda _: "no items but those that the schema describes",
    "FalseSchema": lambda _: "nothing there",
    "Format": lambda details: f"text in the format {details['format']}",
}


def _by_schema(name: str, details: dict[str, Any], place: Place, places: Places) -> str:
    """Say what is wanted where the schema alone decides it."""
    if name in _COUNTED:
        return _plural(_COUNTED[name], details["limit"])
    if name in _LIMITS:
        return f"{_LIMITS[name]} {excerpt(details['limit'])}"
    if name == "Pattern":
        pattern = details["pattern"]
        return f"text that matches the pattern {quoted(places.patterns.get(pattern, pattern))}"
    say = _BY_SCHEMA.get(name)
    return say(details) if say else _by_keyword(place, places.schema)


def _by_keyword(place: Place, schema: JSONValue) -> str:
    """Say what is wanted where the engine gives no detail: it is read from the schema."""
    keyword = place.keyword
    wanted = {"minContains": "at least {} item", "maxContains": "at most {} item", "contains": "at least {} item"}
    if keyword in wanted:
        node = look_up(schema, place.steps)
        number = node if keyword != "contains" and isinstance(node, (int, float)) else 1
        return _plural(wanted[keyword], int(number)) + " of the kind that contains asks for"
    return f"what {keyword} asks for"


def _alternatives(error: ValidationError, setting: Setting) -> str:
    """Say why every alternative failed, by the first thing that each one missed."""
    reasons: list[str] = []
    for number, context in enumerate(error.kind.as_dict()["context"], 1):
        if not context:
            continue
        first = context[0]
        below = resolve(error.instance, first.instance_path[len(error.instance_path) :])
        where = f"{spell(below, root='')[0].removeprefix('.')}: " if below else ""
        reasons.append(f"({number}) {where}{expectation(first, setting)}")
    return shorten(" or ".join(dict.fromkeys(reasons))) or "a match for one of the alternatives"


def _plural(phrase: str, number: int) -> str:
    return phrase.format(f"{number:,}") + ("" if number == 1 else "s")
