"""What each call's arguments parse to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.exactjson import certain_object
from pipeline.jsontext import Parsed, parse_arguments


class Texts:
    """What each call's arguments parse to: each distinct text parsed once. Free text is no JSON and left alone.

    Most texts parse, so the columns that say why one does not start empty and are filled in where there is something.
    """

    def __init__(self, arguments: pa.Array, freeform: pa.Array) -> None:
        encoded = pc.if_else(freeform, None, arguments).dictionary_encode(null_encoding="encode")
        self.index = encoded.indices
        texts = encoded.dictionary.to_pylist()
        size = len(texts)
        self.values: list[dict[str, Any] | None] = [None] * size
        parsed, ends_early = [True] * size, [False] * size
        fault: list[str | None] = [None] * size
        detail: list[str | None] = [None] * size
        duplicate_keys: list[bool | None] = [False] * size
        for at, text in enumerate(texts):
            # Most texts are plain objects, and nothing more has to be known of them. The rest gets the whole look.
            value = None if text is None else certain_object(text)
            if value is not None:
                self.values[at] = value
                continue
            result = parse_arguments(text)
            if isinstance(result, Parsed):
                self.values[at], duplicate_keys[at] = result.value, result.duplicate_keys
            else:
                parsed[at], ends_early[at], duplicate_keys[at] = False, result.ends_early, None
                fault[at], detail[at] = result.name, result.detail

        def spread(values: Sequence[object], column_type: pa.DataType) -> pa.Array:
            return pc.if_else(freeform, None, pa.array(values, type=column_type).take(self.index))

        self.parsed = spread(parsed, pa.bool_()).fill_null(True)
        self.ends_early = spread(ends_early, pa.bool_()).fill_null(False)
        self.fault = spread(fault, pa.string())
        self.fault_detail = spread(detail, pa.string())
        self.duplicate_keys = spread(duplicate_keys, pa.bool_())
        self.judgeable = pc.and_(self.parsed, pc.invert(freeform))
