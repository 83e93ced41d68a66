"""A slow, plain judge on the standard ``json`` and the stock ``jsonschema``: what the fast one must agree with.

It knows the rules and nothing of the fast judge's ways. Import it as ``from slow_reference import …``: pytest puts the
folder of a test file on the path, and ``tests/judgement`` is on it for every test through ``pythonpath``.

The stock packages are no oracle everywhere. Keep out of what is asked of them: numbers of more than 4,300 digits,
exponents beyond a double, nesting beyond 500, ``$`` before a last line feed, ``\\d`` and ``\\w`` beyond ASCII,
``\\p{…}``, fractions under ``multipleOf``, floats of 2^53 and more.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema

_SURROGATES = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_DIALECTS = {
    "http://json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}


class NotAnObject(Exception):  # noqa: N818 - it is an answer of the reference, not an error of ours
    """The arguments do not parse to an object."""


def slow_object(text: str | None) -> tuple[dict[str, Any], bool]:
    """Return the object that arguments text holds, and whether a key came twice.

    Raises:
        NotAnObject: it holds none.

    """
    if text is None:
        raise NotAnObject
    if not text.strip(" \t\n\r"):
        return {}, False
    twice = False

    def from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        pairs = [(_encodable(key), value) for key, value in pairs]
        twice = twice or len({key for key, _ in pairs}) < len(pairs)
        return dict(pairs)

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    if text[0] == "\ufeff":
        raise NotAnObject
    try:
        value = json.loads(text, object_pairs_hook=from_pairs, parse_constant=refuse)
    except ValueError as error:
        raise NotAnObject from error
    if not isinstance(value, dict):
        raise NotAnObject
    return _without_lone_surrogates(value), twice


def slow_violations(schema: dict[str, Any], value: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """Return where an object breaks a schema, as sorted pairs of path and keyword.

    Raises:
        jsonschema.SchemaError: the schema fails its meta-schema.

    """
    dialect = schema.get("$schema", "https://json-schema.org/draft/2020-12/schema").removesuffix("#")
    validator = _DIALECTS[dialect]
    validator.check_schema(schema)
    found = [(tuple(error.absolute_path), str(error.validator)) for error in validator(schema).iter_errors(value)]
    return sorted(found, key=repr)


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_lone_surrogates(item) for key, item in value.items()}
    return value


def _encodable(text: str) -> str:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATES.sub(lambda match: chr(ord(match.group()) - 0xD800 + 0x10F800), joined)
