"""What each pair of definition and arguments comes to."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.classify.schemas import compiled
from pipeline.classify.texts import Texts
from pipeline.classify.tools import Tools
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


class Pairs:
    """What each pair of definition and arguments comes to: each distinct pair held against its schema once."""

    def __init__(self, tools: Tools, texts: Texts) -> None:
        judged = pc.and_(texts.judgeable, pc.and_(pc.is_valid(tools.definition), pc.invert(tools.has_schema_error)))
        width = max(len(texts.values), 1)
        key = pc.add(pc.multiply(tools.definition, width), texts.index.cast(pa.int64()))
        encoded = pc.if_else(judged, key, None).dictionary_encode()
        self._index = encoded.indices
        self._found: dict[int, tuple[Violation, ...]] = {}
        size = len(encoded.dictionary)
        counts: list[int | None] = [0] * size
        details: list[str | None] = [None] * size
        unjudgeable = [False] * size
        schemas = [compiled(definition.parameters) for definition in tools.definitions]
        for at, pair in enumerate(encoded.dictionary.to_pylist()):
            definition, text = divmod(pair, width)
            value = texts.values[text] or {}
            schema = schemas[definition]
            try:
                if schema.is_valid(value):
                    continue
                found = schema.violations(value)
            except UnjudgeableError as error:
                counts[at], details[at], unjudgeable[at] = None, str(error), True
            else:
                counts[at], details[at], self._found[at] = len(found), _summary(found), found
        self.violation_count = pa.array(counts, type=pa.int32()).take(self._index)
        self.detail = pa.array(details, type=pa.string()).take(self._index)
        self.unjudgeable = pa.array(unjudgeable, type=pa.bool_()).take(self._index).fill_null(False)

    def violations(self) -> pa.RecordBatch:
        """One row a violation (``VIOLATION_SCHEMA``), calls in row order."""
        broken = pc.indices_nonzero(pc.greater(self.violation_count, 0).fill_null(False)).to_pylist()
        pairs = self._index.take(pa.array(broken, type=pa.int64())).to_pylist()
        rows = [
            (call_row, index, *(getattr(violation, name) for name in Violation.__struct_fields__))
            for call_row, pair in zip(broken, pairs, strict=True)
            for index, violation in enumerate(self._found[pair])
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
