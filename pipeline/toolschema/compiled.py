"""The checker of one tool's parameters: compiled once, asked for every call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import jsonschema_rs
import orjson

from pipeline.exactjson import Flaw, certain_object, decode
from pipeline.records import JSONValue, Violation
from pipeline.toolschema.anatomy import Anatomy, dissect
from pipeline.toolschema.complaints import complaint, unknown_dialect
from pipeline.toolschema.places import Places
from pipeline.toolschema.shallow import shallow_copy, unconditional
from pipeline.toolschema.wording import Setting, violations_of

#: Characters of a schema that are still read.
MAX_SCHEMA_CHARS = 5_000_000

_STACK_BYTES_PER_CHECK = 2_048  # measured: up to 1.1 kB for each subschema that is being checked
_USUAL_STACK_BYTES = 4 << 20
_LARGEST_STACK_BYTES = 1 << 30
_USUAL_DEPTH = 254  # how deep orjson writes
_ENGINE_GAVE_UP = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})
_WITH_ALTERNATIVES = frozenset({"AnyOf", "OneOfNotValid", "OneOfMultipleValid"})

Answer = TypeVar("Answer")
_stack_size_lock = threading.Lock()


class UnjudgeableError(Exception):
    """The schema can be used, but not on this value: the arguments can neither be cleared nor blamed.

    A pattern that backtracks without end, or a value nested so deeply that checking it would not fit into memory.
    Inside ``not`` and ``if`` the engine hides that a pattern gave up, and takes it for one that does not match.
    """


class CompiledSchema:
    """Checks objects against one schema. ``error`` says why the schema cannot be used, None where it can."""

    def __init__(self, anatomy: Anatomy | None, error: str | None) -> None:
        self.error = error
        self._anatomy = anatomy or Anatomy(True)
        self._validator = _ANYTHING
        if anatomy is not None and error is None:
            try:
                self._validator = jsonschema_rs.validator_for(anatomy.schema, offline=True, validate_formats=False)
            except ValueError as refusal:
                self.error = complaint(refusal, anatomy)
        self._quick = self._validator.is_valid if self.error is None else self._refuse
        self._recursive = self._anatomy.recursive
        self._places = Places(self._anatomy.schema, self._anatomy.patterns)

    @property
    def quick_check(self) -> Callable[[dict[str, JSONValue]], bool]:
        """What :meth:`is_valid` asks, for whoever asks it of many values. It may raise a ``ValueError`` instead."""
        return self.is_valid if self._recursive else self._quick

    def is_valid(self, value: dict[str, JSONValue]) -> bool:
        """Say whether an object matches.

        Raises:
            UnjudgeableError: it cannot be said.

        """
        try:
            if self._recursive:
                return self._with_room(self._quick, value)
            return self._quick(value)
        except ValueError as error:
            raise UnjudgeableError(f"the arguments cannot be checked: {error}") from error

    def violations(self, value: dict[str, JSONValue]) -> tuple[Violation, ...]:
        """Return every way in which an object breaks the schema, in the engine's order; nothing if it matches.

        Raises:
            UnjudgeableError: it cannot be said.

        """
        if self.error is not None:
            self._refuse(value)
        # The engine describes what it found together with all of the value that lies there: it cannot where that is
        # too deep, and takes time with the square of the depth where it can.
        if not self._recursive or _depth(value) <= _USUAL_DEPTH:
            try:
                return self._with_room(self._found, value) if self._recursive else self._found(value)
            except ValueError:
                pass
        return () if self.is_valid(value) else self._found_above(value)

    def _refuse(self, _: Any) -> bool:
        raise UnjudgeableError(f"the schema cannot be used: {self.error}")

    def _found(self, value: JSONValue) -> tuple[Violation, ...]:
        errors = list(self._validator.iter_errors(value))
        _refuse_given_up(errors)
        setting = Setting(value, self._places)
        return tuple([violation for error in errors for violation in violations_of(error, setting)])

    def _found_above(self, value: JSONValue) -> tuple[Violation, ...]:
        """Find what is wrong in the upper levels, where the whole value cannot be shown."""
        copy = shallow_copy(value)
        try:
            errors = self._with_room(lambda upper: list(self._validator.iter_errors(upper)), copy)
        except ValueError:
            return (_TOO_DEEP_TO_SHOW,)
        setting = Setting(copy, self._places)
        certain = (error for error in errors if unconditional(error))
        found = tuple(violation for error in certain for violation in violations_of(error, setting))
        return found or (_TOO_DEEP_TO_SHOW,)

    def _with_room(self, check: Callable[[Any], Answer], value: JSONValue) -> Answer:
        """Run a check with as much stack as a value of its depth can need."""
        need = _depth(value) * self._anatomy.chain * _STACK_BYTES_PER_CHECK
        if need <= _USUAL_STACK_BYTES:
            return check(value)
        if need > _LARGEST_STACK_BYTES:
            raise UnjudgeableError("the arguments are nested too deep to be checked against this recursive schema")
        return _in_thread(lambda: check(value), need + _USUAL_STACK_BYTES)


_ANYTHING = jsonschema_rs.validator_for(True)
_TOO_DEEP_TO_SHOW = Violation(
    keyword="",
    path="arguments",
    path_pattern="arguments",
    schema_path="",
    expected="what the schema asks for",
    got="…",
    message="arguments: they break the schema at a place that is nested too deep to be shown",
)


def compile_schema(parameters: bytes | str | None) -> CompiledSchema:
    """Compile the JSON text of a tool's parameters; None, ``null`` and ``{}`` accept any object. Never raises."""
    if parameters is None:
        return CompiledSchema(None, None)
    try:
        text = parameters if isinstance(parameters, str) else parameters.decode()
    except UnicodeDecodeError as error:
        return CompiledSchema(None, f"it is no UTF-8 text: byte {error.start}")
    if len(text) > MAX_SCHEMA_CHARS:
        return CompiledSchema(None, f"it has more than {MAX_SCHEMA_CHARS:,} characters, the limit")
    schema: JSONValue = certain_object(text)
    if schema is None:
        document = decode(text)
        if isinstance(document, Flaw):
            limit = document.name == "too-deep"
            return CompiledSchema(None, document.detail if limit else f"it is not JSON: {document.detail}")
        schema = document.value
    if schema is None:
        return CompiledSchema(None, None)
    if isinstance(schema, bool):
        return CompiledSchema(Anatomy(schema), None)
    if not isinstance(schema, dict):
        return CompiledSchema(None, "it is neither an object nor a boolean")
    anatomy = dissect(schema, text)
    return CompiledSchema(anatomy, unknown_dialect(schema) or anatomy.problem or None)


def _refuse_given_up(errors: list[jsonschema_rs.ValidationError]) -> None:
    """Raise where the engine gave up on a pattern, be it in an alternative of an alternative."""
    pending = list(errors)
    for error in pending:  # it grows under the loop
        kind = type(error.kind).__name__
        if kind in _ENGINE_GAVE_UP:
            raise UnjudgeableError("a pattern of the schema backtracks too far on this value to be decided")
        if kind in _WITH_ALTERNATIVES:
            for alternative in error.kind.as_dict()["context"]:
                pending.extend(alternative)


def _depth(value: JSONValue) -> int:
    """Return a bound on the nesting of a value: the usual one if orjson can write it, else the exact one."""
    try:
        orjson.dumps(value)
    except TypeError:
        pass
    else:
        return _USUAL_DEPTH
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for node in level
            if isinstance(node, (dict, list))
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth


def _in_thread(work: Callable[[], Answer], stack_bytes: int) -> Answer:
    """Run in a thread of its own with a large stack, and return or raise what it does."""
    results: list[Answer] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except (ValueError, UnjudgeableError) as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    with _stack_size_lock:
        usual = threading.stack_size(-(-stack_bytes // 4096) * 4096)
        try:
            thread.start()
        except RuntimeError as error:
            raise UnjudgeableError("there is no memory to check arguments that are nested so deep") from error
        finally:
            threading.stack_size(usual)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
