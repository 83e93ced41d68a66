"""Commit and recovery: parts are renamed into place, then the manifest names them, then what they replace goes.

Parts are on the disk before they are renamed (their writers waited for that), the renames before the manifest is
replaced, and the manifest before anything is removed: a power cut at any point leaves a manifest whose parts all
exist. Removal needs no waiting; what survives it is swept at the next start.
"""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from pipeline.lake import checkpoints
from pipeline.lake.manifest import Manifest, PartEntry, Source, discard_unfinished, save, to_ranges
from pipeline.lake.parts import PartSize, PartWriter, sync
from pipeline.tables import TABLES

STAGING = "_staging"
_RUN_DIRECTORY = re.compile(r"run-[0-9a-f]{8}")


class Transaction:
    """The changes of a run since its last commit. ``manifest`` is the lake as it will be; readers see it at commit.

    ``staging`` is where new parts are written, on the same file system, so that a rename is all it takes.
    """

    def __init__(self, root: Path, state: Manifest, staging: Path) -> None:
        self.root = root
        self.manifest = state
        self.staging = staging
        self.dirty = False
        self._staged: dict[str, tuple[str, Path]] = {}
        self._retired: list[Path] = []
        self._numbered = 0

    def path_of(self, table: str, part: PartEntry) -> Path:
        """Where a part lies now: in its table, or in staging until the commit."""
        staged = self._staged.get(part.name)
        return staged[1] if staged else self.root / table / part.name

    def scratch(self, table: str) -> Path:
        """A new path in staging."""
        self._numbered += 1
        return self.staging / f"rewritten-{self._numbered:06d}.{table}.parquet"

    def add(self, table: str, path: Path, size: PartSize, source_ids: list[int]) -> PartEntry:
        """Take a staged part into the lake, under a name that no other part ever had or will have."""
        self._numbered += 1
        name = f"part-{self.manifest.lake_id}-{self.manifest.generation + 1:08d}-{self._numbered:06d}.parquet"
        part = PartEntry(name, size.rows, size.size_bytes, to_ranges(source_ids))
        self._staged[name] = (table, path)
        self.manifest.parts[table].append(part)
        self.dirty = True
        return part

    def retire(self, table: str, part: PartEntry) -> None:
        """Take a part out of the lake; its file goes after the commit."""
        self.manifest.parts[table].remove(part)
        staged = self._staged.pop(part.name, None)
        self._retired.append(staged[1] if staged else self.root / table / part.name)
        self.dirty = True

    def forget_everything(self) -> None:
        """Take all parts and files out of the lake, in this commit."""
        for table, parts in self.manifest.parts.items():
            for part in list(parts):
                self.retire(table, part)
        self.manifest.files = {}
        self.dirty = True

    def new_source(self, name: str, salt: str) -> Source:
        """An id under which rows of a file land from now on."""
        source = Source(self.manifest.next_source, name, salt)
        self.manifest.next_source += 1
        return source

    def commit(self) -> dict[str, Path]:
        """Make the changes count, all at once; part names to where they lie now. Nothing is done where nothing changed.

        Raises:
            OSError: the disk refused. What was renamed is taken back, and the lake is as the last commit left it; the
                transaction is of no more use.

        """
        if not self.dirty:
            return {}
        self._give_every_table_a_part()
        placed: dict[str, Path] = {}
        self.manifest.generation += 1
        try:
            for name, (table, path) in self._staged.items():
                placed[name] = self.root / table / name
                path.rename(placed[name])
                checkpoints.reached("part-renamed")
            for table in sorted({table for table, _ in self._staged.values()}):
                sync(self.root / table)
            save(self.root, self.manifest)
        except OSError:
            for path in placed.values():
                path.unlink(missing_ok=True)
            raise
        sync(self.root)
        self._remove_retired()
        self._staged = {}
        self._numbered = 0
        self.dirty = False
        return placed

    def _remove_retired(self) -> None:
        for path in self._retired:
            with suppress(OSError):  # the next start sweeps what does not go now
                path.unlink(missing_ok=True)
            checkpoints.reached("part-retired")
        self._retired = []

    def _give_every_table_a_part(self) -> None:
        """Give a table without rows a part without rows, so that whoever globs it finds its columns, not an error."""
        for table in TABLES:
            parts = self.manifest.parts[table]
            for empty in [part for part in parts if not part.rows] if len(parts) > 1 else ():
                self.retire(table, empty)
            if not parts:
                path = self.scratch(table)
                self.add(table, path, PartWriter(path, table).close(), [])


def make_staging(root: Path, token: str) -> Path:
    """Make the directory in which this run writes. Raises: OSError."""
    staging = root / STAGING / f"run-{token}"
    staging.mkdir(parents=True)
    checkpoints.reached("staging-made")
    return staging


def sweep(root: Path, state: Manifest) -> None:
    """Remove what killed runs left: their staging, an unfinished manifest, and parts of ours that no manifest names.

    Call only while holding the lock. Touches nothing whose name is not exactly of our making, lake id included.

    Raises:
        OSError: something cannot be removed.

    """
    discard_unfinished(root)
    staging = root / STAGING
    for directory in staging.iterdir() if staging.is_dir() else ():
        if _RUN_DIRECTORY.fullmatch(directory.name):
            shutil.rmtree(directory)
            checkpoints.reached("staging-removed")
    ours = re.compile(rf"part-{state.lake_id}-\d{{8,}}-\d{{6,}}\.parquet")
    for table in TABLES:
        named = {part.name for part in state.parts[table]}
        for path in (root / table).iterdir():
            if path.name not in named and ours.fullmatch(path.name):
                path.unlink()
                checkpoints.reached("part-retired")


def missing_parts(root: Path, state: Manifest) -> list[str]:
    """Parts that the manifest names and the disk does not have, as ``table/name``. Raises: OSError."""
    missing: list[str] = []
    for table in TABLES:
        there = {path.name for path in (root / table).iterdir()} if state.parts[table] else set()
        missing += [f"{table}/{part.name}" for part in state.parts[table] if part.name not in there]
    return missing
