"""What the engine found, in our own words: one sentence for every keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema_rs import ValidationError
from msgspec import Struct

from pipeline.exactjson import quoted
from pipeline.records import JSONValue, Violation
from pipeline.toolschema.excerpt import excerpt, listed, shorten
from pipeline.toolschema.paths import applied, descents, look_up, pointer, resolve, spell

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
    """What the wording looks things up in: the arguments, the schema, and the patterns as they were written."""

    value: JSONValue
    schema: JSONValue
    patterns: Mapping[str, str]


def violations_of(error: ValidationError, setting: Setting) -> Iterator[Violation]:
    """Yield the violations that one finding of the engine stands for: one for each key that is too many."""
    steps = resolve(setting.value, error.instance_path)
    path, pattern = spell(steps, descents(error.evaluation_path))
    at = _schema_steps(error, setting)
    keyword = keyword_of(error)
    for expected, got, message in _findings(error, keyword, setting, at):
        yield Violation(
            keyword=keyword,
            path=path,
            path_pattern=pattern,
            schema_path=pointer(at),
            expected=shorten(expected),
            got=got,
            message=f"{shorten(path)}: {message}",
        )


def keyword_of(error: ValidationError) -> str:
    """Name the keyword that is broken: the innermost that applied where a plain ``false`` stood under it."""
    kind = type(error.kind).__name__
    if kind == "PropertyNames":
        return "propertyNames"
    if kind == "FalseSchema":
        keywords = [keyword for keyword in applied(error.evaluation_path) if not keyword.startswith("$")]
        return keywords[-1] if keywords else "false"
    return str(error.schema_path[-1]) if error.schema_path else kind


def _schema_steps(error: ValidationError, setting: Setting) -> list[str | int]:
    steps = resolve(setting.schema, error.schema_path)
    for index, step in enumerate(steps):
        if isinstance(step, str) and index and steps[index - 1] == "patternProperties":
            steps[index] = setting.patterns.get(step, step)
    return steps


def _findings(
    error: ValidationError, keyword: str, setting: Setting, at: list[str | int]
) -> Iterator[tuple[str, str, str]]:
    """Yield expected, got and the rest of the message."""
    kind = type(error.kind).__name__
    details: Any = error.kind
    instance: Any = error.instance
    if kind == "Required":
        key = excerpt(details.property)
        why = "is missing" if keyword == "required" else "is missing, and another key demands it"
        yield f"the key {key}", excerpt(instance), f"the key {key} {why}"
    elif kind in _CLOSED or (kind == "FalseSchema" and keyword == "additionalProperties" and _is_parent(error)):
        yield from _too_many(error, kind, setting, at)
    elif kind == "PropertyNames":
        inner: ValidationError = details.error
        expected, got = f"keys that are {expectation(inner, setting)}", excerpt(inner.instance)
        yield expected, got, f"expected {expected}; got the key {got}"
    else:
        expected, got = expectation(error, setting), excerpt(instance)
        count = f"{len(instance)}: " if kind in _COUNTED else ""
        yield expected, got, f"expected {shorten(expected)}; got {count}{got}"


def _is_parent(error: ValidationError) -> bool:
    """Whether the place is the object itself: the engine reports a plain ``additionalProperties: false`` so."""
    return len(descents(error.evaluation_path)) > len(error.instance_path)


def _too_many(
    error: ValidationError, kind: str, setting: Setting, at: list[str | int]
) -> Iterator[tuple[str, str, str]]:
    details: Any = error.kind
    instance: Any = error.instance
    if kind == "FalseSchema":  # the engine shows a member here, and the place of the object
        instance = look_up(setting.value, resolve(setting.value, error.instance_path))
    unexpected = list(instance) if kind == "FalseSchema" else details.unexpected
    declared = _declared_keys(setting.schema, at)
    expected = f"no key but {listed(declared)}" if declared else "no further key"
    for key in unexpected:
        got = excerpt(key)
        yield expected, got, f"the key {got} is not allowed; expected {shorten(expected)}"


def _declared_keys(schema: JSONValue, at: list[str | int]) -> list[JSONValue]:
    """Return the keys declared beside the keyword at ``at``, where its parent can be reached from the root."""
    parent = look_up(schema, at[:-1])
    declared = parent.get("properties") if isinstance(parent, dict) else None
    return list(declared) if isinstance(declared, dict) else []


def expectation(error: ValidationError, setting: Setting) -> str:
    """Say what a keyword wants, as the end of a sentence that begins with "expected"."""
    name = type(error.kind).__name__
    details = error.kind.as_dict()
    if name in _COUNTED:
        return _plural(_COUNTED[name], details["limit"])
    if name in _LIMITS:
        return f"{_LIMITS[name]} {excerpt(details['limit'])}"
    if name in _ALTERNATIVES:
        return _alternatives(error, setting)
    if name == "OneOfMultipleValid":
        context = details["context"]
        matching = [str(index + 1) for index, reasons in enumerate(context) if not reasons]
        return f"exactly one alternative to match, not {' and '.join(matching)} of {len(context)}"
    say = _EXPECTATIONS.get(name)
    return say(details, setting) if say else _by_keyword(error, setting)


_EXPECTATIONS: dict[str, Callable[[dict[str, Any], Setting], str]] = {
    "Type": lambda details, _: " or ".join(sorted(details["types"], key=lambda name: name == "null")),
    "Enum": lambda details, _: (
        f"one of {listed(details['options'])}" if len(details["options"]) > 1 else listed(details["options"])
    ),
    "Constant": lambda details, _: excerpt(details["expected_value"]),
    "MultipleOf": lambda details, _: f"a multiple of {excerpt(details['multiple_of'])}",
    "Pattern": lambda details, setting: (
        f"text that matches the pattern {quoted(setting.patterns.get(details['pattern'], details['pattern']))}"
    ),
    "Required": lambda details, _: f"the key {quoted(details['property'])}",
    "UniqueItems": lambda *_: "items that all differ",
    "Not": lambda details, _: f"anything but what matches {excerpt(details['schema'], 160)}",
    "AdditionalProperties": lambda details, _: f"no key {listed(details['unexpected'])}",
    "UnevaluatedProperties": lambda details, _: f"no key {listed(details['unexpected'])}",
    "UnevaluatedItems": lambda *_: "no items but those that the schema describes",
    "FalseSchema": lambda *_: "nothing there",
    "Format": lambda details, _: f"text in the format {details['format']}",
}


def _by_keyword(error: ValidationError, setting: Setting) -> str:
    """Say what is wanted where the engine gives no detail: it is read from the schema."""
    keyword = keyword_of(error)
    node = look_up(setting.schema, resolve(setting.schema, error.schema_path))
    wanted = {"minContains": "at least {} item", "maxContains": "at most {} item", "contains": "at least {} item"}
    if keyword in wanted:
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
