"""Why a schema cannot be used, as one sentence with the place in it."""

from __future__ import annotations

from jsonschema_rs import ValidationError

from pipeline.exactjson import quoted
from pipeline.records import JSONValue
from pipeline.toolschema.anatomy import Anatomy, references
from pipeline.toolschema.excerpt import excerpt, shorten
from pipeline.toolschema.paths import resolve, spell_schema_place
from pipeline.toolschema.places import Places
from pipeline.toolschema.wording import Setting, expectation

_DIALECTS = frozenset(
    {"", "json-schema.org/schema"}
    | {f"json-schema.org/draft-0{number}/schema" for number in (4, 6, 7)}
    | {f"json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")}
)
_DEEPEST = 254


def unknown_dialect(schema: dict[str, JSONValue]) -> str:
    """Say that ``$schema`` names no dialect that is known; empty where it does, or is no string."""
    named = schema.get("$schema", "")
    if not isinstance(named, str):
        return ""
    bare = named.removesuffix("#").removeprefix("https://").removeprefix("http://")
    return (
        "" if bare in _DIALECTS else f"$schema names {quoted(named)}, which is no JSON Schema draft from 4 to 2020-12"
    )


def complaint(error: ValueError, anatomy: Anatomy) -> str:
    """Say why the engine did not take a schema."""
    if not isinstance(error, ValidationError):
        deep = "recursion" in str(error).lower()
        return f"it is nested deeper than {_DEEPEST} levels, the limit" if deep else f"it cannot be compiled: {error}"
    kind = type(error.kind).__name__
    if kind == "Referencing":
        return _reference_complaint(str(error.kind.error), anatomy.schema)  # type: ignore[attr-defined]
    steps = [
        anatomy.patterns.get(step, step) if isinstance(step, str) else step
        for step in resolve(anatomy.schema, error.instance_path)
    ]
    place, got = spell_schema_place(steps), excerpt(error.instance)
    if steps and steps[-1] == "type":
        return f"{place}: {got} is no JSON Schema type"
    if kind == "Format":
        return f"{place}: {excerpt(error.instance)} is no ECMA-262 pattern that can be used"
    setting = Setting(anatomy.schema, Places({}, anatomy.patterns))
    return shorten(f"{place}: expected {expectation(error, setting)}; got {got}", 400)


def _reference_complaint(reason: str, schema: JSONValue) -> str:
    """Find the reference that the engine could not follow: it tells what it looked for and not where."""
    found = list(references(schema))
    for place, target in found:
        fragment = target.partition("#")[2]
        if fragment and f"'{fragment}'" in reason:
            return f"{spell_schema_place(place)}: $ref {quoted(target)} leads to nothing in the schema"
    for place, target in found:
        if not target.startswith("#") and target.partition("#")[0].rpartition("/")[2] in reason:
            return f"{spell_schema_place(place)}: $ref {quoted(target)} leads out of the schema, and nothing is fetched"
    return f"a reference cannot be resolved: {quoted(reason)}"
