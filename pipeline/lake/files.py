"""The files side of a run: moves, replacements and progress, noted in the manifest that the next commit writes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pipeline.lake.commit import Transaction
from pipeline.lake.decisions import COPY, GROWN, MOVED, UNCHANGED, Decision, copies_by_owner, heir_of
from pipeline.lake.identity import FileStat, sampled_digest
from pipeline.lake.manifest import FileEntry, Source
from pipeline.lake.removal import remove_rejects, remove_sources


class FileRead(Struct):
    """How far one split took one file.

    ``end_offset`` (bytes of the decompressed file) and ``end_line`` say where reading goes on; a torn last line is left
    to the next run by naming its own beginning, with ``torn`` set and its reject among the staged rows. ``complete`` is
    set with the last split of the file; ``resumable`` for files that can be read on from the middle once they
    grow. ``digest``: of ``decision.stat.size`` bytes, where the worker has taken it before reading.
    """

    decision: Decision
    end_offset: int
    end_line: int
    complete: bool = True
    resumable: bool = False
    torn: bool = False
    digest: str = ""


def settle(txn: Transaction, decisions: Sequence[Decision]) -> list[Decision]:
    """Bring the manifest up to the decisions, before anything is read; the copies come back, to be noted at the end.

    Raises:
        OSError, pyarrow.ArrowInvalid: a part cannot be written or read.

    """
    files = txn.manifest.files
    moved = {decision.other: decision.name for decision in decisions if decision.action in (MOVED, GROWN)}
    moved.pop("", None)
    moving = {new: files.pop(old) for old, new in moved.items()}
    displaced = {
        decision.name: files.pop(decision.name)
        for decision in decisions
        if decision.name in files and not _in_place(decision)
    }
    files.update(moving)
    doomed = _let_go(files, displaced, moved)
    txn.dirty = txn.dirty or bool(moving or displaced)
    remove_sources(txn, doomed)
    for decision in decisions:
        known = files.get(decision.name)
        if known is None:
            continue
        if decision.action in (UNCHANGED, MOVED) and known.stat != decision.stat:
            known.stat = decision.stat
            txn.dirty = True
        if decision.action == GROWN and known.torn:
            remove_rejects(txn, known.sources, known.end_offset)
            known.torn = False
            txn.dirty = True
    return [decision for decision in decisions if decision.action == COPY]


def _in_place(decision: Decision) -> bool:
    """Whether the file under this name still begins with what the lake knows by the name."""
    return decision.action == UNCHANGED or (decision.action == GROWN and not decision.other)


def _let_go(files: dict[str, FileEntry], displaced: dict[str, FileEntry], moved: dict[str, str]) -> list[Source]:
    """Part with entries whose names hold something else now, and tell the copies; the sources whose rows go."""
    copies = copies_by_owner(files)
    for owner in moved.keys() & copies.keys():
        for copy in copies[owner]:
            files[copy].alias_of = moved[owner]
    doomed: list[Source] = []
    for name, entry in displaced.items():
        mine = [copy for copy in copies.get(name, []) if copy in files]
        heir = heir_of(files, mine, entry)
        if heir is None:
            doomed += entry.sources
            # Each of these has lost its first part: it is read anew, now or when it is next given.
            doomed += [source for copy in mine for source in files.pop(copy).sources]
            continue
        new = files[heir]
        new.sources, new.alias_of, new.alias_end = entry.sources + new.sources, entry.alias_of, entry.alias_end
        new.torn = new.torn or (entry.torn and new.end_offset == entry.end_offset)
        for copy in mine:
            files[copy].alias_of = files[copy].alias_of if copy == heir else heir
    return doomed


def note_read(txn: Transaction, read: FileRead) -> int:
    """Note how far a file was read; the id of the source under which its rows land."""
    decision = read.decision
    entry = txn.manifest.files.get(decision.name)
    if entry is None:
        entry = FileEntry(decision.stat, "", 0, 1, [])
        txn.manifest.files[decision.name] = entry
    if entry.stat != decision.stat or not entry.digest:
        entry.digest = read.digest or decision.digest or _digest_after_reading(decision)
    entry.stat = decision.stat
    entry.end_offset, entry.end_line = read.end_offset, read.end_line
    entry.complete, entry.resumable, entry.torn = read.complete, read.resumable, read.torn
    source = next((source for source in entry.sources if source.name == decision.name), None)
    if source is None:
        source = txn.new_source(decision.name, decision.salt)
        entry.sources.append(source)
    txn.dirty = True
    return source.id


def note_copies(txn: Transaction, copies: Sequence[Decision]) -> None:
    """Note files that add nothing, so that the next run knows them at a glance; only where the other was read whole."""
    files = txn.manifest.files
    for copy in copies:
        owner = files.get(copy.other)
        if owner is None or not owner.complete:
            continue
        offset, line = copy.start_offset or owner.end_offset, copy.start_line
        files[copy.name] = FileEntry(
            copy.stat,
            copy.digest,
            offset,
            line if copy.start_offset else owner.end_line,
            [],
            resumable=owner.resumable,
            alias_of=copy.other,
            alias_end=offset,
        )
        txn.dirty = True


def _digest_after_reading(decision: Decision) -> str:
    """Digest of what was read; empty, so that it matches nothing, where the file may have been changed meanwhile."""
    try:
        now = FileStat.of(decision.path)
        grown = now.size > decision.stat.size and (now.device, now.inode) == (
            decision.stat.device,
            decision.stat.inode,
        )
        return sampled_digest(decision.path, decision.stat.size) if now == decision.stat or grown else ""
    except OSError:
        return ""
