"""Few large parts instead of many small ones: months of daily increments must not become thousands of files."""

from __future__ import annotations

from pipeline.lake.commit import Transaction
from pipeline.lake.manifest import PartEntry
from pipeline.lake.parts import merge
from pipeline.tables import TABLES

#: A part below this size is small; a table may have as many of them before they are merged, up to the target size.
SMALL_PART_BYTES = 16 * 1024 * 1024
MAX_SMALL_PARTS = 16
TARGET_PART_BYTES = 128 * 1024 * 1024


def compact(txn: Transaction) -> int:
    """Merge the small parts of every table that has too many, in the next commit; how many parts went into others.

    Rows stay in the order in which they landed. Memory is bounded by a row group.

    Raises:
        OSError, pyarrow.ArrowInvalid: a part cannot be written or read.

    """
    names = txn.manifest.source_names()
    merged = 0
    for table in TABLES:
        small = [part for part in txn.manifest.parts[table] if part.size_bytes < SMALL_PART_BYTES]
        if len(small) > MAX_SMALL_PARTS:
            for group in _groups(small, names):
                _merge(txn, table, group)
                merged += len(group)
    return merged


def _groups(small: list[PartEntry], names: dict[int, str]) -> list[list[PartEntry]]:
    """Parts to be merged with one another: two or more, and no two sources of one name among them.

    A log that was rotated left its name to another file. In separate parts the rows of the two are told apart by
    the part's source ids; in one part they could not be.
    """
    groups: list[list[PartEntry]] = []
    group: list[PartEntry] = []
    size_bytes = 0
    held: dict[str, int] = {}
    for part in small:
        new = {names[id_]: id_ for id_ in part.source_ids() if id_ in names}
        clash = any(held.get(name, id_) != id_ for name, id_ in new.items())
        if clash or size_bytes >= TARGET_PART_BYTES:
            groups.append(group)
            group, size_bytes, held = [], 0, {}
        group.append(part)
        size_bytes += part.size_bytes
        held |= new
    return [group for group in [*groups, group] if len(group) > 1]


def _merge(txn: Transaction, table: str, group: list[PartEntry]) -> None:
    path = txn.scratch(table)
    size = merge([txn.path_of(table, part) for part in group], path, table)
    for part in group:
        txn.retire(table, part)
    if size is not None:
        txn.add(table, path, size, [id_ for part in group for id_ in part.source_ids()])
