"""The manifest: what has been read and which parts are committed, one JSON document replaced whole at each commit."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct, field

from pipeline.errors import PipelineError
from pipeline.lake import checkpoints
from pipeline.lake.identity import FileStat
from pipeline.tables import TABLES

VERSION = 1
MANIFEST_NAME = "_manifest.json"
_NEXT_NAME = "_manifest.json.next"


class Source(Struct, frozen=True, array_like=True):
    """Rows of a file under one name: parts name the id, rows the name.

    A file that was renamed and then grew has two. A log that was rotated leaves its name to another file while its
    rows keep theirs: the ids tell the two apart. ``salt`` then goes into the keys of turns that are known by their
    place alone, since the same place held another turn before.
    """

    id: int
    name: str
    salt: str = ""


class FileEntry(Struct, omit_defaults=True):
    """A file that has been read: what it was known by, and how far it was read.

    ``end_offset`` counts bytes of the decompressed file and ``end_line`` lines from 1: where reading goes on. Not
    ``complete``: a run was stopped before it had landed all of it. ``torn``: the last line was half-written and stands
    in rejects at ``end_offset``. ``alias_of``: the content up to ``alias_end`` was landed from that file, of which
    this one is a copy.
    """

    stat: FileStat
    digest: str
    end_offset: int
    end_line: int
    sources: list[Source]
    complete: bool = True
    resumable: bool = False
    torn: bool = False
    alias_of: str = ""
    alias_end: int = 0


class PartEntry(Struct):
    """A committed part: its file name, its size, and the ids of the sources it may hold rows of, as closed ranges."""

    name: str
    rows: int
    size_bytes: int
    sources: list[tuple[int, int]]

    def holds(self, ids: Iterable[int]) -> set[int]:
        """Which of ``ids`` the part may hold rows of."""
        return {id_ for id_ in ids if any(first <= id_ <= last for first, last in self.sources)}

    def source_ids(self) -> list[int]:
        """All ids, in order."""
        return [id_ for first, last in self.sources for id_ in range(first, last + 1)]


class Manifest(Struct):
    """Everything a lake knows of itself. ``generation`` counts commits; ``next_source`` is the next free source id."""

    version: int
    lake_id: str
    generation: int = 0
    next_source: int = 1
    files: dict[str, FileEntry] = field(default_factory=dict)
    parts: dict[str, list[PartEntry]] = field(default_factory=lambda: {table: [] for table in TABLES})

    def source_names(self) -> dict[int, str]:
        """Name of every source id that rows may stand under."""
        return {source.id: source.name for entry in self.files.values() for source in entry.sources}


def new_manifest() -> Manifest:
    """Manifest of a lake in which nothing has landed."""
    return Manifest(VERSION, secrets.token_hex(4))


def to_ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Closed ranges that cover exactly these ids: ten thousand small files of one split are one range."""
    ranges: list[tuple[int, int]] = []
    for id_ in sorted(set(ids)):
        if ranges and ranges[-1][1] == id_ - 1:
            ranges[-1] = (ranges[-1][0], id_)
        else:
            ranges.append((id_, id_))
    return ranges


def load(lake: Path) -> Manifest | None:
    """Manifest of the last commit; None where there is none.

    Raises:
        PipelineError: ``lake-too-new`` or ``lake-unreadable``.

    """
    try:
        data = (lake / MANIFEST_NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(lake, error.strerror or str(error)) from error
    try:
        version = msgspec.json.decode(data, type=_VersionOnly).version
        if version <= VERSION:
            return msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(lake, str(error)) from error
    raise PipelineError(
        "lake-too-new",
        f"{lake} was written by a newer version (manifest {version}, this one knows {VERSION})",
        "upgrade dispatchable, or use another lake",
    )


class _VersionOnly(Struct):
    version: int


def save(lake: Path, manifest: Manifest) -> None:
    """Replace the manifest: the moment of a commit. Its bytes are on the disk before its name is.

    Raises:
        OSError: nothing was replaced, unless ``manifest-replaced`` had been reached.

    """
    following = lake / _NEXT_NAME
    try:
        with following.open("wb") as file:
            file.write(msgspec.json.encode(manifest))
            file.flush()
            os.fsync(file.fileno())
        checkpoints.reached("manifest-written")
        following.replace(lake / MANIFEST_NAME)
    except OSError:
        following.unlink(missing_ok=True)
        raise
    checkpoints.reached("manifest-replaced")


def discard_unfinished(lake: Path) -> None:
    """Remove a manifest that a killed run was still writing."""
    (lake / _NEXT_NAME).unlink(missing_ok=True)


def committed_parts(lake: Path) -> dict[str, list[str]]:
    """Absolute paths of the parts that count, for every table, as of the last commit. Takes no lock.

    A run that is rewriting rows removes replaced parts right after its commit, so a reader that then misses a file
    asks again and starts over.

    Raises:
        PipelineError: ``not-a-lake``, ``lake-too-new`` or ``lake-unreadable``.

    """
    manifest = load(lake)
    if manifest is None:
        raise PipelineError(
            "not-a-lake",
            f"{lake} is not a lake: it has no {MANIFEST_NAME}" if lake.is_dir() else f"there is no lake at {lake}",
            "make one with: dispatchable ingest PATH --lake DIR",
        )
    root = lake.resolve()
    return {table: [str(root / table / part.name) for part in manifest.parts.get(table, [])] for table in TABLES}


def _unreadable(lake: Path, why: str) -> PipelineError:
    return PipelineError(
        "lake-unreadable",
        f"the manifest of {lake} cannot be read: {why}",
        f"restore {MANIFEST_NAME} from a backup; or move the directory away and ingest into a new one",
    )
