"""Taking rows out of the lake: those of a file that was replaced, or the reject of a line that was half-written then.

Parts that hold such rows are written again without them; the old ones go with the commit that names the new ones.

**An answer that another file holds as well is not lost.** Where the lake had left the other file's occurrence out as
a duplicate, the row stays and passes to that place (``source_file``, ``source_line``, ``source_offset``), and its row
in ``duplicates`` goes: it is the same answer with the same calls, known by the same key. So nothing needs to be read
again, and it works when the other file has long been deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.commit import Transaction
from pipeline.lake.manifest import PartEntry, Source
from pipeline.lake.parts import read_batches, rewrite

_PLACE = ("source_file", "source_line", "source_offset")
Place = tuple[str, int, int]
Change = Callable[[pa.RecordBatch], pa.RecordBatch]


def remove_sources(txn: Transaction, sources: list[Source]) -> None:
    """Take out every row of these sources, in the next commit.

    Raises:
        OSError, pyarrow.ArrowInvalid: a part cannot be written or read.

    """
    if sources:
        _Removal(txn, sources).run()


def remove_rejects(txn: Transaction, sources: list[Source], offset: int) -> None:
    """Take out what was rejected from a byte offset of a file on. Raises: OSError, pyarrow.ArrowInvalid."""
    names = {source.id: source.name for source in sources}
    for part in list(txn.manifest.parts["rejects"]):
        held = part.holds(names)
        if held:
            wanted = pa.array(sorted({names[id_] for id_ in held}), pa.string())
            _rewrite(txn, "rejects", part, partial(_without_rejects, names=wanted, offset=offset))


def _without_rejects(batch: pa.RecordBatch, names: pa.Array, offset: int) -> pa.RecordBatch:
    there = pc.and_(
        pc.is_in(batch.column("source_file"), value_set=names), pc.greater_equal(batch.column(_PLACE[2]), offset)
    )
    return batch.filter(pc.invert(there))


class _Removal:
    """One removal: what is doomed, who inherits, and the parts written again."""

    def __init__(self, txn: Transaction, sources: list[Source]) -> None:
        self._txn = txn
        self._ids = {source.id for source in sources}
        self._names = txn.manifest.source_names() | {source.id: source.name for source in sources}
        self._heirs: dict[str, Place] = {}
        self._heir_ids: dict[str, int] = {}  # of the source that inherits
        self._passed: set[int] = set()
        self._dead_calls: list[pa.Array] = []

    def run(self) -> None:
        self._find_heirs(self._doomed_turns())
        # The calls before their violations, whose keys they tell.
        for table in ("calls", "violations", "turns", "rejects"):
            self._rewrite_table(table)
        self._rewrite_duplicates()

    def _doomed_turns(self) -> pa.Array:
        keys = [
            batch.column("turn_key").filter(self._doomed(batch, part))
            for part in self._parts("turns")
            for batch in read_batches(self._txn.path_of("turns", part), ["turn_key", "source_file"])
        ]
        return pa.concat_arrays(keys) if keys else pa.array([], pa.string())

    def _find_heirs(self, turns: pa.Array) -> None:
        """The first other place at which each doomed turn was met."""
        if not len(turns):
            return
        for part in self._txn.manifest.parts["duplicates"]:
            living = {self._names[id_]: id_ for id_ in part.source_ids() if id_ not in self._ids}
            for batch in read_batches(self._txn.path_of("duplicates", part)):
                mask = pc.is_in(batch.column("turn_key"), value_set=turns)
                for row in batch.filter(pc.and_not(mask, self._doomed(batch, part))).to_pylist():
                    if row["turn_key"] not in self._heirs:
                        self._heirs[row["turn_key"]] = (row[_PLACE[0]], row[_PLACE[1]], row[_PLACE[2]])
                        if row["source_file"] in living:  # standard input is no file, and has no id
                            self._heir_ids[row["turn_key"]] = living[row["source_file"]]

    def _parts(self, table: str) -> list[PartEntry]:
        return [part for part in self._txn.manifest.parts[table] if part.holds(self._ids)]

    def _doomed(self, batch: pa.RecordBatch, part: PartEntry) -> pa.Array:
        names = pa.array(sorted({self._names[id_] for id_ in part.holds(self._ids)}), pa.string())
        return pc.is_in(batch.column("source_file"), value_set=names)

    def _rewrite_table(self, table: str) -> None:
        changes = {
            "calls": self._calls,
            "violations": self._violations,
            "turns": self._inherited,
            "rejects": self._living,
        }
        for part in self._parts(table):
            change = partial(changes[table], part=part)
            # Violations tell no place, so that any heir may have some; of calls and turns it is seen who gets which.
            self._passed = set(self._heir_ids.values()) if table == "violations" else set()
            _rewrite(self._txn, table, part, change, self._ids, self._passed)

    def _calls(self, batch: pa.RecordBatch, part: PartEntry) -> pa.RecordBatch:
        dead = pc.and_not(self._doomed(batch, part), self._inheritable(batch))
        violating = pc.greater(pc.fill_null(batch.column("violation_count"), 0), 0)
        self._dead_calls.append(batch.column("call_key").filter(pc.and_(dead, violating)))
        return self._inherited(batch, part)

    def _living(self, batch: pa.RecordBatch, part: PartEntry) -> pa.RecordBatch:
        return batch.filter(pc.invert(self._doomed(batch, part)))

    def _violations(self, batch: pa.RecordBatch, part: PartEntry) -> pa.RecordBatch:  # noqa: ARG002
        dead = pa.chunked_array(self._dead_calls, pa.string())
        return batch.filter(pc.invert(pc.is_in(batch.column("call_key"), value_set=dead)))

    def _inheritable(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.is_in(batch.column("turn_key"), value_set=pa.array(list(self._heirs), pa.string()))

    def _inherited(self, batch: pa.RecordBatch, part: PartEntry) -> pa.RecordBatch:
        """The batch without doomed rows, save those that pass to another place."""
        doomed, inheritable = self._doomed(batch, part), self._inheritable(batch)
        passing = pc.and_(doomed, inheritable)
        if pc.any(passing).as_py():
            places = [
                self._heirs[key] if passes else None
                for key, passes in zip(batch.column("turn_key").to_pylist(), passing.to_pylist(), strict=True)
            ]
            for position, name in enumerate(_PLACE):
                field = batch.schema.field(name)
                heirs = pa.array([place[position] if place else None for place in places], field.type)
                column = pc.if_else(passing, heirs, batch.column(name))
                batch = batch.set_column(batch.schema.get_field_index(name), field, column)
            passed = batch.column("turn_key").filter(passing).unique().to_pylist()
            self._passed.update(self._heir_ids[key] for key in passed if key in self._heir_ids)
        return batch.filter(pc.or_(pc.invert(doomed), inheritable))

    def _rewrite_duplicates(self) -> None:
        unclaimed = dict(self._heirs)
        heir_ids = set(self._heir_ids.values())
        for part in list(self._txn.manifest.parts["duplicates"]):
            claimable = unclaimed and (part.holds(heir_ids) or len(self._heir_ids) < len(self._heirs))
            if claimable or part.holds(self._ids):
                change = partial(self._duplicates, part=part, unclaimed=unclaimed)
                _rewrite(self._txn, "duplicates", part, change, self._ids)

    def _duplicates(self, batch: pa.RecordBatch, part: PartEntry, unclaimed: dict[str, Place]) -> pa.RecordBatch:
        batch = self._living(batch, part)
        kept = []
        for row in batch.select(["turn_key", *_PLACE]).to_pylist():
            claimed = unclaimed.get(row["turn_key"]) == tuple(row[name] for name in _PLACE)
            if claimed:
                del unclaimed[row["turn_key"]]
            kept.append(not claimed)
        return batch.filter(pa.array(kept, pa.bool_()))


def _rewrite(
    txn: Transaction,
    table: str,
    part: PartEntry,
    change: Change,
    without: set[int] | None = None,
    with_: set[int] | None = None,
) -> None:
    path = txn.scratch(table)
    size = rewrite(txn.path_of(table, part), path, table, change)
    txn.retire(table, part)
    if size is not None:
        ids = (set(part.source_ids()) - (without or set())) | (with_ or set())
        txn.add(table, path, size, sorted(ids))
