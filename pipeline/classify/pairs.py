"""What each pair of definition and arguments comes to: parsed once, and held against its schema once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from pipeline.classify.schemas import compiled
from pipeline.classify.tools import Tools
from pipeline.exactjson import certain_object
from pipeline.jsontext import Fault, look_again, parse_arguments
from pipeline.records import Violation
from pipeline.toolschema import UnjudgeableError

#: One row a violation; ``call_row`` counts the calls of the batch judged.
VIOLATION_SCHEMA = pa.schema(
    [
        ("call_row", pa.int32()),
        ("violation_index", pa.int32()),
        *((name, pa.string()) for name in Violation.__struct_fields__),
    ]
)


class _Finding(Struct, frozen=True):
    """What is to be said of a pair. The defaults say that nothing is wrong."""

    parsed: bool = True
    ends_early: bool = False
    fault: str | None = None
    fault_detail: str | None = None
    duplicate_keys: bool | None = False
    violation_count: int | None = 0
    detail: str | None = None
    unjudgeable: bool = False
    violations: tuple[Violation, ...] = ()


#: The findings that every batch begins with: nothing is wrong, and the text is free text, which is left alone.
_FINE, _FREE = 0, 1
_NO_DEFINITION = -1
_FREE_NUMBER, _NO_COUNT = pa.scalar(_FREE, pa.int32()), pa.scalar(None, pa.int32())
_NO_NUMBER, _NO_DEFINITION_NUMBER = pa.scalar(None, pa.int64()), pa.scalar(_NO_DEFINITION, pa.int64())
_COLUMNS: dict[str, pa.DataType] = {
    "parsed": pa.bool_(),
    "ends_early": pa.bool_(),
    "fault": pa.string(),
    "fault_detail": pa.string(),
    "duplicate_keys": pa.bool_(),
    "violation_count": pa.int32(),
    "detail": pa.string(),
    "unjudgeable": pa.bool_(),
}


class Pairs:
    """What is found of each call's arguments, as columns with a row a call, in row order.

    Most pairs are fine and different from all others. So each gets the number of its finding, which is zero unless
    something is to be said, and the columns are spread from the few findings by that number.
    """

    def __init__(self, tools: Tools, arguments: pa.Array, freeform: pa.Array) -> None:
        has_free_text = pc.any(freeform).as_py()
        judged_by = pc.if_else(tools.has_schema_error, _NO_NUMBER, tools.definition)
        self._definitions = judged_by.fill_null(_NO_DEFINITION_NUMBER)
        self._schemas = [compiled(definition.parameters) for definition in tools.definitions]
        self._findings = [_Finding(), _Finding(duplicate_keys=None, violation_count=None)]
        texts = pc.if_else(freeform, "{}", arguments) if has_free_text else arguments
        pairs = list(zip(self._definitions.to_pylist(), texts.to_pylist(), strict=True))
        distinct = dict.fromkeys(pairs, _FINE)
        self._judge(distinct)
        numbers = list(distinct.values() if len(distinct) == len(pairs) else map(distinct.__getitem__, pairs))
        self._numbers = pa.array(numbers, type=pa.int32())
        if has_free_text:
            self._numbers = pc.if_else(freeform, _FREE_NUMBER, self._numbers)
        self.parsed = self._spread("parsed")
        self.ends_early = self._spread("ends_early")
        self.fault = self._spread("fault")
        self.fault_detail = self._spread("fault_detail")
        self.duplicate_keys = self._spread("duplicate_keys")
        self.violation_count = pc.if_else(pc.is_valid(judged_by), self._spread("violation_count"), _NO_COUNT)
        self.detail = self._spread("detail")
        self.unjudgeable = self._spread("unjudgeable")

    def _spread(self, name: str) -> pa.Array:
        values = [getattr(finding, name) for finding in self._findings]
        return pa.array(values, type=_COLUMNS[name]).take(self._numbers)

    def _judge(self, pairs: dict[tuple[int, str | None], int]) -> None:
        """Look at each pair, and write down the number of its finding where something is to be said."""
        # The last one, which is what _NO_DEFINITION leads to, accepts anything.
        accepts: list[Callable[[dict[str, Any]], bool]] = [schema.quick_check for schema in self._schemas]
        accepts.append(lambda _: True)
        for pair in pairs:
            definition, text = pair
            # Most texts are plain objects, and nothing more has to be known of them. The rest gets the whole look.
            value = None if text is None else certain_object(text)
            if value is None:
                finding = self._look_again(definition, text)
                if finding == self._findings[_FINE]:
                    continue
            else:
                try:
                    if accepts[definition](value):
                        continue
                except (ValueError, UnjudgeableError):  # it cannot be said; why not is found out below
                    pass
                finding = self._hold_against(definition, value, repeats=False)
            pairs[pair] = len(self._findings)
            self._findings.append(finding)

    def _look_again(self, definition: int, text: str | None) -> _Finding:
        result = parse_arguments(None) if text is None else look_again(text)
        if isinstance(result, Fault):
            return _Finding(
                parsed=False,
                ends_early=result.ends_early,
                fault=result.name,
                fault_detail=result.detail,
                duplicate_keys=None,
                violation_count=None,
            )
        return self._hold_against(definition, result.value, repeats=result.duplicate_keys)

    def _hold_against(self, definition: int, value: dict[str, Any], *, repeats: bool) -> _Finding:
        if definition == _NO_DEFINITION:
            return _Finding(duplicate_keys=repeats)  # with no count of violations, where there is no definition
        schema = self._schemas[definition]
        try:
            found = schema.violations(value)
        except UnjudgeableError as error:
            return _Finding(duplicate_keys=repeats, violation_count=None, detail=str(error), unjudgeable=True)
        return _Finding(duplicate_keys=repeats, violation_count=len(found), detail=_summary(found), violations=found)

    def violations(self) -> pa.RecordBatch:
        """One row a violation (``VIOLATION_SCHEMA``), calls in row order."""
        broken = pc.indices_nonzero(pc.greater(self.violation_count, 0).fill_null(False))
        numbers = self._numbers.take(broken).to_pylist()
        rows = [
            (call_row, index, *(getattr(violation, name) for name in Violation.__struct_fields__))
            for call_row, number in zip(broken.to_pylist(), numbers, strict=True)
            for index, violation in enumerate(self._findings[number].violations)
        ]
        columns = list(zip(*rows, strict=True)) or [() for _ in VIOLATION_SCHEMA]
        return pa.RecordBatch.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(columns, VIOLATION_SCHEMA, strict=True)],
            schema=VIOLATION_SCHEMA,
        )


def _summary(violations: tuple[Violation, ...]) -> str | None:
    """The first of the violations, and how many more there are."""
    if not violations:
        return None
    more = len(violations) - 1
    return violations[0].message + (f" (and {more} more)" if more else "")
