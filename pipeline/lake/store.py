"""The lake as a run sees it: open it, ask what to read, land what the workers staged, commit.

    with Lake(root) as lake:
        decisions = lake.plan(paths)
        lake.begin(decisions)
        ...                                 # in workers: StagedWriter(lake.staging, split_id)
        lake.land(staged, reads)            # in the order of the splits
        lake.commit()                       # as often as is convenient
        lake.finish()

Left by an exception, or killed, the lake is as the last commit left it, and the next run goes on from there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from types import TracebackType

from msgspec import Struct

from pipeline.errors import PipelineError
from pipeline.lake import checkpoints, dedupe, files
from pipeline.lake.commit import Transaction, make_staging, missing_parts, sweep
from pipeline.lake.compact import compact
from pipeline.lake.decisions import Decision
from pipeline.lake.failures import damaged, disk_trouble
from pipeline.lake.keys import KEY_COLUMNS, KeyIndex
from pipeline.lake.lock import LakeLock
from pipeline.lake.manifest import MANIFEST_NAME, Manifest, load, new_manifest, save
from pipeline.lake.parts import count_values
from pipeline.lake.plan import plan_files
from pipeline.lake.staging import StagedParts
from pipeline.tables import TABLES


class Landed(Struct, frozen=True):
    """What became of a split: rows landed, by table, and turns left out since the lake had them (``duplicates``).

    ``states`` counts the verdicts of the calls that landed, where some were left out; else it is empty.
    """

    rows: dict[str, int]
    duplicates: int
    states: dict[str, int]


class Lake:
    """A lake opened for writing; made where there is none. One process at a time, told so by the lock.

    ``full`` forgets everything the lake holds and replaces it by what this run lands, in one commit at the end:
    until then readers see the old rows.

    Raises:
        PipelineError: ``lake-locked``, ``not-a-lake``, ``lake-too-new``, ``lake-unreadable``, ``lake-damaged``,
            ``lake-not-writable``, ``disk-full`` or ``lake-io``.

    """

    def __init__(self, root: Path, *, full: bool = False) -> None:
        self.root = root
        self._full = full
        self._copies: list[Decision] = []
        with disk_trouble(root, "opening the lake"):
            if root.exists() and not root.is_dir():
                raise _not_a_lake(root, "it is a file")
            root.mkdir(parents=True, exist_ok=True)
            self._lock = LakeLock(root)
            try:
                self._txn = self._recovered()
            except BaseException:
                self._lock.release()
                raise
        self._indexes = {table: KeyIndex(column) for table, column in KEY_COLUMNS.items()}

    @property
    def staging(self) -> Path:
        """Directory for the StagedWriters of this run; gone when the lake is closed."""
        return self._txn.staging

    @property
    def manifest(self) -> Manifest:
        """The lake as it will be at the next commit; to look at, not to change."""
        return self._txn.manifest

    def __enter__(self) -> Lake:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def plan(self, paths: Iterable[str]) -> list[Decision]:
        """What to do with each file. Raises: PipelineError, ``file-unreadable``."""
        return plan_files(self.manifest, paths)

    def begin(self, decisions: Sequence[Decision]) -> None:
        """Take note of moved files and take out the rows of replaced ones, all with the next commit."""
        with disk_trouble(self.root, "taking out old rows"):
            self._copies += files.settle(self._txn, decisions)

    def land(self, staged: StagedParts, reads: Sequence[files.FileRead]) -> Landed:
        """Take a finished split into the next commit, each answer once. Splits of one file come in their order.

        ``reads`` says how far the split took each of its files; empty for what has no file, as standard input.
        """
        with disk_trouble(self.root, "landing rows"):
            parts, duplicates = dedupe.only_new(self._txn, staged, self._index("turns"), self._index("tools"))
            ids = [files.note_read(self._txn, read) for read in reads]
            states = count_values(parts["calls"][0], "state") if duplicates and "calls" in parts else {}
            for table, (path, size) in parts.items():
                # A definition belongs to no file: it stays when the file that showed it first is replaced.
                part = self._txn.add(table, path, size, [] if table == "tools" else ids)
                # A part that was written anew for its duplicates has other keys; the index reads them when it must.
                if table in self._indexes and str(path) == staged.parts[table][0]:
                    self._indexes[table].add(part.name, path, staged.runs[table])
        return Landed({table: size.rows for table, (_, size) in parts.items()}, duplicates, states)

    def commit(self) -> None:
        """Make all that has landed count, at once. In a ``full`` run nothing counts before :meth:`finish`."""
        if not self._full:
            self._commit()

    def finish(self) -> None:
        """Note the copies, commit, and merge small parts where there are many."""
        files.note_copies(self._txn, self._copies)
        self._commit()
        with disk_trouble(self.root, "merging small parts"):
            compact(self._txn)
        self._commit()

    def close(self) -> None:
        """Let the lake go, without what has not been committed."""
        with suppress(OSError):  # swept by the next run
            rmtree(self._txn.staging)
        self._lock.release()

    def _commit(self) -> None:
        with disk_trouble(self.root, "committing"):
            placed = self._txn.commit()
        for index in self._indexes.values():
            index.moved(placed)

    def _index(self, table: str) -> KeyIndex:
        """The index of a table's keys, brought up to the parts that it has now."""
        parts = {part.name: self._txn.path_of(table, part) for part in self.manifest.parts[table]}
        if self._indexes[table].names - parts.keys():
            self._indexes[table] = KeyIndex(KEY_COLUMNS[table])
        index = self._indexes[table]
        missing = [(name, path) for name, path in parts.items() if name not in index.names]
        if missing:
            index.read(missing)
        return index

    def _recovered(self) -> Transaction:
        """The lake as the last commit left it, free of what killed runs left, with a staging directory of our own."""
        state = load(self.root)
        if state is None:
            state = self._created()
        for table in TABLES:
            (self.root / table).mkdir(exist_ok=True)
        sweep(self.root, state)
        missing = missing_parts(self.root, state)
        if missing and not self._full:
            raise damaged(self.root, f"{len(missing)} committed parts are missing, first {missing[0]}")
        txn = Transaction(self.root, state, make_staging(self.root, secrets.token_hex(4)))
        if self._full:
            txn.forget_everything()
        return txn

    def _created(self) -> Manifest:
        for table in TABLES:
            (self.root / table).mkdir(exist_ok=True)
            if any(path.suffix == ".parquet" for path in (self.root / table).iterdir()):
                raise _not_a_lake(self.root, f"{table}/ has Parquet files that no {MANIFEST_NAME} speaks of")
        checkpoints.reached("lake-created")
        state = new_manifest()
        save(self.root, state)
        return state


def _not_a_lake(root: Path, why: str) -> PipelineError:
    return PipelineError(
        "not-a-lake", f"{root} is not a lake: {why}", "choose another directory with --lake, or a new one"
    )
