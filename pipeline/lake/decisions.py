"""What a run does with a file: the value that planning gives and landing takes."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from pipeline.lake.identity import FileStat
from pipeline.lake.manifest import FileEntry

NEW = "new"
UNCHANGED = "unchanged"
GROWN = "grown"  # or not read to the end by the last run
REPLACED = "replaced"
MOVED = "moved"
COPY = "copy"


class Decision(Struct):
    """What to do with one file.

    To be read are the new, grown and replaced, from ``start_offset`` (a byte of the decompressed file, on line
    ``start_line``) and no further than ``stat.size`` bytes of the file: what is added meanwhile is the next run's.
    ``other`` is the earlier name of a file that moved (a grown one may have moved as well), or what a copy is of.
    ``digest`` is empty where it has not been needed yet.
    """

    path: str
    name: str
    action: str
    stat: FileStat
    digest: str = ""
    start_offset: int = 0
    start_line: int = 1
    other: str = ""
    salt: str = ""

    @property
    def place_name(self) -> str:
        """What goes with the offset into the key of a turn without an id.

        The name, told apart from a file that had this name before and whose rows the lake still holds: a rotated log.
        """
        return f"{self.name}\0{self.salt}" if self.salt else self.name

    @property
    def to_read(self) -> bool:
        """Whether the file holds something that the lake has not."""
        return self.action in (NEW, GROWN, REPLACED)


def copies_by_owner(files: dict[str, FileEntry]) -> dict[str, list[str]]:
    """Names of the copies of each file that has any."""
    copies: dict[str, list[str]] = defaultdict(list)
    for name, entry in files.items():
        if entry.alias_of:
            copies[entry.alias_of].append(name)
    return copies


def heir_of(files: dict[str, FileEntry], copies: list[str], owner: FileEntry) -> str | None:
    """The copy to which all rows of a file may pass: one that reaches as far as the file was read."""
    return next((copy for copy in copies if copy in files and files[copy].alias_end == owner.end_offset), None)
