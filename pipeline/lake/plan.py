"""What to do with each file that was given: read it, go on reading it, or leave it alone. Changes nothing.

A file is known by its path while size, time and inode stand still; by its samples where they moved; and by its content
under any other path. Only where a copy is claimed is every byte compared: of ten exports that begin alike none is
taken for another.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pipeline.errors import PipelineError
from pipeline.lake.decisions import COPY, GROWN, MOVED, NEW, REPLACED, UNCHANGED, Decision, copies_by_owner, heir_of
from pipeline.lake.identity import FileStat, same_content, sampled_digest, source_name
from pipeline.lake.manifest import FileEntry, Manifest


def plan_files(manifest: Manifest, paths: Iterable[str]) -> list[Decision]:
    """Decide about files, in the order given; a path given twice is decided once.

    Raises:
        PipelineError: ``file-unreadable``.

    """
    return _Plan(manifest, list(dict.fromkeys(paths))).decide()


class _Plan:
    """The state of one planning: who is known under which path, and whose content has been claimed."""

    def __init__(self, manifest: Manifest, paths: list[str]) -> None:
        self._files = manifest.files
        self._paths = paths
        self._decided: dict[str, Decision] = {}
        self._claimed: dict[str, str] = {}  # name of an entry -> path where its content is now
        self._by_inode: dict[tuple[int, int], list[str]] = defaultdict(list)
        self._by_content: dict[tuple[int, str], list[str]] = defaultdict(list)
        self._sizes: set[int] = set()
        self._first_new: dict[int, Decision] = {}
        self._new_by_content: dict[tuple[int, str], list[Decision]] = defaultdict(list)

    def decide(self) -> list[Decision]:
        fresh = []
        for path in self._paths:
            with _readable(path):
                decision = self._under_its_name(path)
            self._decided[path] = decision
            if decision.action == NEW:
                fresh.append(decision)
            else:
                self._claimed[decision.name] = path
        if fresh:
            self._find_elsewhere(fresh)
        self._tell_replaced(fresh)
        self._salt()
        return [self._decided[path] for path in self._paths]

    def _under_its_name(self, path: str) -> Decision:
        """The decision where the path still holds what it held; else as if it were new."""
        name, stat = source_name(path), FileStat.of(path)
        entry = self._files.get(name)
        if entry is None or stat.size < entry.stat.size:
            return Decision(path, name, NEW, stat)
        if stat == entry.stat:
            return _known(path, name, stat, entry, entry.digest)
        if stat.size > entry.stat.size and not entry.resumable:
            return Decision(path, name, NEW, stat)
        digest = sampled_digest(path, entry.stat.size)
        if not digest or digest != entry.digest:
            return Decision(path, name, NEW, stat)
        return _known(path, name, stat, entry, digest)

    def _find_elsewhere(self, fresh: list[Decision]) -> None:
        for name, entry in self._files.items():
            self._sizes.add(entry.stat.size)
            self._by_content[entry.stat.size, entry.digest].append(name)
            self._by_inode[entry.stat.device, entry.stat.inode].append(name)
        # Moves first: a file that moved is the owner of its content, whatever else has the same.
        for find in (self._same_file, self._same_content):
            for decision in fresh:
                if decision.action == NEW:
                    with _readable(decision.path):
                        find(decision)

    def _same_file(self, decision: Decision) -> None:
        """The inode of a file that we know, under another name."""
        stat = decision.stat
        for name in self._by_inode.get((stat.device, stat.inode), ()):
            entry = self._files[name]
            fits = stat.size == entry.stat.size or (stat.size > entry.stat.size and entry.resumable)
            if not fits or name in self._claimed or (name == decision.name):
                continue
            if entry.digest and sampled_digest(decision.path, entry.stat.size) == entry.digest:
                self._move(decision, name, entry)
                return

    def _same_content(self, decision: Decision) -> None:
        """A file of the same size and samples, in the lake or earlier in this run. A size never met costs nothing."""
        size = decision.stat.size
        first = self._first_new.setdefault(size, decision)
        if not size or (size not in self._sizes and first is decision):
            return
        if not first.digest:
            first.digest = sampled_digest(first.path, size)
            self._new_by_content[size, first.digest].append(first)
        decision.digest = decision.digest or sampled_digest(decision.path, size)
        content = (size, decision.digest)
        for name in self._by_content.get(content, ()) if decision.digest else ():
            if self._is_moved_or_copy(decision, name, self._files[name]):
                return
        for other in self._new_by_content[content]:
            if other is not decision and same_content(other.path, decision.path, size):
                decision.action, decision.other = COPY, other.name
                return
        if first is not decision:
            self._new_by_content[content].append(decision)

    def _is_moved_or_copy(self, decision: Decision, name: str, entry: FileEntry) -> bool:
        path = self._claimed.get(name)
        if path is None and name != decision.name and name not in self._decided and os.path.exists(name):  # noqa: PTH110
            path = name
        if path is None:
            self._move(decision, name, entry)
            return True
        if not entry.complete or not same_content(path, decision.path, entry.stat.size):
            return False
        # A copy that has not grown owns no rows; who does is then what this one is a copy of.
        owner = name if entry.sources else entry.alias_of
        where = self._claimed.get(owner)
        decision.action, decision.other = COPY, self._decided[where].name if where else owner
        decision.start_offset, decision.start_line = entry.end_offset, entry.end_line
        return True

    def _move(self, decision: Decision, name: str, entry: FileEntry) -> None:
        known = _known(decision.path, decision.name, decision.stat, entry, entry.digest)
        decision.action = MOVED if known.action == UNCHANGED else known.action
        decision.digest, decision.other = known.digest, name
        decision.start_offset, decision.start_line = known.start_offset, known.start_line
        self._claimed[name] = decision.path

    def _tell_replaced(self, fresh: list[Decision]) -> None:
        """Paths that held something else, which is nowhere now; and copies that cannot do without its rows."""
        copies = copies_by_owner(self._files)
        for decision in fresh:
            entry = self._files.get(decision.name)
            if entry is None or decision.name in self._claimed:
                continue
            if decision.action == NEW:
                decision.action = REPLACED
            mine = copies.get(decision.name, [])
            if heir_of(self._files, mine, entry) is None:
                for path in filter(None, (self._claimed.get(copy) for copy in mine)):
                    copy = self._decided[path]
                    self._decided[path] = Decision(path, copy.name, REPLACED, copy.stat)

    def _salt(self) -> None:
        """Tell apart places under a name that rows of another file stand under already."""
        to_read = [decision for decision in self._decided.values() if decision.to_read]
        used: dict[str, set[int]] = defaultdict(set)
        for entry in self._files.values() if to_read else ():
            for source in entry.sources:
                used[source.name].add(source.id)
        copies = copies_by_owner(self._files)
        for decision in to_read:
            own = self._files.get(decision.other if decision.action == GROWN and decision.other else decision.name)
            mine = [source for source in own.sources if source.name == decision.name] if own else []
            if decision.action == GROWN and mine:
                decision.salt = mine[0].salt
                continue
            others = used[decision.name]
            if own and decision.action == REPLACED and not heir_of(self._files, copies.get(decision.name, []), own):
                others = others - {source.id for source in mine}
            if others:
                with _readable(decision.path):
                    decision.salt = sampled_digest(decision.path, decision.stat.size)[:8]


def _known(path: str, name: str, stat: FileStat, entry: FileEntry, digest: str) -> Decision:
    """Decision about content that was read before, up to ``entry.end_offset``."""
    if entry.complete and stat.size == entry.stat.size:
        return Decision(path, name, UNCHANGED, stat, digest)
    # The samples of a grown file are those of its new size, and are not taken yet.
    digest = digest if stat.size == entry.stat.size else ""
    return Decision(path, name, GROWN, stat, digest, entry.end_offset, entry.end_line)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PipelineError(
            "file-unreadable",
            f"{source_name(path)} cannot be read: {error.strerror or error}",
            "check the path and its permissions, or leave it out",
        ) from error
