"""Each answer once, each tool definition once: what a split brings again is taken out of its parts before they land.

The usual split brings nothing again; it is not touched, and not even read. Otherwise its parts are rewritten in
staging: of a turn that the lake holds all rows go, of a turn that stands in the split several times all but the first,
and each of them leaves a row in ``duplicates``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.commit import Transaction
from pipeline.lake.keys import KeyIndex, Run
from pipeline.lake.parts import PartSize, PartWriter, merge, read_batches, rewrite
from pipeline.lake.staging import StagedParts
from pipeline.tables import arrow_schema

Parts = dict[str, tuple[Path, PartSize]]


def only_new(txn: Transaction, staged: StagedParts, turns: KeyIndex, tools: KeyIndex) -> tuple[Parts, int]:
    """Parts of a split without what the lake or the split itself already holds, and how many turns were left out.

    Raises:
        OSError, pyarrow.ArrowInvalid: a part cannot be written or read.

    """
    parts: Parts = {table: (Path(path), size) for table, (path, size) in staged.parts.items()}
    duplicates = 0
    if "tools" in parts:
        known, repeated = _seen_before(tools, parts["tools"][0], staged.runs["tools"])
        if len(known) or len(repeated):
            _replace(txn, parts, "tools", _FirstOnly("tool_key", "tool_key", known, repeated))
    if "turns" in parts:
        known, repeated = _seen_before(turns, parts["turns"][0], staged.runs["turns"])
        if len(known) or len(repeated):
            duplicates = _without_duplicates(txn, parts, known, repeated)
    return parts, duplicates


def _seen_before(index: KeyIndex, path: Path, run: Run) -> tuple[pa.Array, pa.Array]:
    """Keys of a staged part that the lake holds, and keys that the part itself holds more than once."""
    return index.known(run, path), index.repeated(run, path)


def _without_duplicates(txn: Transaction, parts: Parts, known: pa.Array, repeated: pa.Array) -> int:
    turns, calls = (_FirstOnly("turn_key", key, known, repeated) for key in ("turn_key", "call_key"))
    violations = _FirstGroups()
    if "calls" in parts and "violations" in parts:
        for batch in read_batches(parts["calls"][0], ["call_key", "turn_key", "violation_count"]):
            violations.learn(batch, known, repeated)
    duplicates = PartWriter(txn.scratch("duplicates"), "duplicates")
    try:
        for batch in read_batches(parts["turns"][0]):
            dropped = batch.filter(pc.invert(turns.keep(batch)))
            duplicates.write(dropped.select(arrow_schema("duplicates").names))
        size = duplicates.close()
    except BaseException:
        duplicates.abort()
        raise
    _replace(txn, parts, "turns", _FirstOnly("turn_key", "turn_key", known, repeated))
    _replace(txn, parts, "calls", calls)
    _replace(txn, parts, "violations", violations)
    _append_duplicates(txn, parts, duplicates.path, size)
    return size.rows


def _append_duplicates(txn: Transaction, parts: Parts, path: Path, size: PartSize) -> None:
    if "duplicates" in parts:
        both, joined = [parts["duplicates"][0], path], txn.scratch("duplicates")
        merged = merge(both, joined, "duplicates")
        for old in both:
            old.unlink()
        path, size = joined, merged or size
    parts["duplicates"] = (path, size)


def _replace(txn: Transaction, parts: Parts, table: str, rows: _FirstOnly | _FirstGroups) -> None:
    if table not in parts:
        return
    path = txn.scratch(table)
    size = rewrite(parts[table][0], path, table, lambda batch: batch.filter(rows.keep(batch)))
    parts[table][0].unlink()
    if size is None:
        del parts[table]
    else:
        parts[table] = (path, size)


class _FirstOnly:
    """Keeps a row unless its ``group`` is known; of rows whose group repeats, the first of each ``key``."""

    def __init__(self, group: str, key: str, known: pa.Array, repeated: pa.Array) -> None:
        self._group = group
        self._key = key
        self._known = known
        self._repeated = repeated
        self._met: set[str] = set()

    def keep(self, batch: pa.RecordBatch) -> pa.Array:
        """Mask of the rows to keep; batches must come in order, each once."""
        group = batch.column(self._group)
        mask = pc.invert(pc.is_in(group, value_set=self._known))
        again = pc.is_in(group, value_set=self._repeated)
        if not pc.any(again).as_py():
            return mask
        kept: list[bool] = mask.to_pylist()
        for row in _rows(again):
            key = batch.column(self._key)[row].as_py()
            kept[row] = kept[row] and key not in self._met
            self._met.add(key)
        return pa.array(kept, pa.bool_())


class _FirstGroups:
    """Keeps the violations of the calls that are kept.

    Violations name only the call's key, which a repeated turn shares. They come in the order of the calls, each
    call's from index 0: so of a repeated call the first group is the first occurrence's, if that one had any.
    """

    def __init__(self) -> None:
        self._none: set[str] = set()
        self._first: set[str] = set()
        self._groups: dict[str, int] = {}

    def learn(self, calls: pa.RecordBatch, known: pa.Array, repeated: pa.Array) -> None:
        """Note which calls keep no violations and which the first group; batches of calls in order."""
        gone = pc.is_in(calls.column("turn_key"), value_set=known)
        again = pc.is_in(calls.column("turn_key"), value_set=repeated)
        keys, counts = calls.column("call_key"), calls.column("violation_count")
        self._none.update(keys.filter(pc.and_(gone, pc.greater(pc.fill_null(counts, 0), 0))).to_pylist())
        for row in _rows(pc.and_not(again, gone)):
            key = keys[row].as_py()
            if key not in self._first and key not in self._none:
                (self._first if counts[row].as_py() else self._none).add(key)

    def keep(self, batch: pa.RecordBatch) -> pa.Array:
        """Mask of the violations to keep; batches must come in order, each once."""
        kept = []
        for key, index in zip(
            batch.column("call_key").to_pylist(), batch.column("violation_index").to_pylist(), strict=True
        ):
            if key in self._first and index == 0:
                self._groups[key] = self._groups.get(key, 0) + 1
            kept.append(key not in self._none and self._groups.get(key, 1) == 1)
        return pa.array(kept, pa.bool_())


def _rows(mask: pa.Array) -> Iterator[int]:
    return iter(pc.indices_nonzero(mask).to_pylist())
