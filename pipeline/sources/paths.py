"""What people name on a command line -> the files to read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.errors import PipelineError

STDIN = "-"

#: Endings of files that are never logs. In a directory they are passed over; named by themselves they are read.
NOT_LOGS = frozenset(
    {".arrow", ".avro", ".db", ".duckdb", ".feather", ".orc", ".parquet", ".pkl", ".sqlite", ".sqlite3"}
    | {".csv", ".doc", ".docx", ".htm", ".html", ".md", ".pdf", ".rst", ".tsv", ".xls", ".xlsx", ".xml"}
    | {".bmp", ".gif", ".ico", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
    | {".css", ".exe", ".ipynb", ".js", ".py", ".pyc", ".sh", ".sql", ".ts"}
    | {".bak", ".cfg", ".ini", ".lock", ".pid", ".swp", ".tmp", ".toml", ".yaml", ".yml"}
)
#: What a lake keeps at its top, beside a folder for each of its tables. It may lie among the logs, and is none.
_LAKE_FILES = frozenset({"_manifest.json", "_manifest.json.next", "_lock"})
_LAKE_FOLDERS = ("calls", "turns")


def find_files(paths: Sequence[str]) -> list[str]:
    """Files to read, each once, in the order of ``paths`` and sorted below each directory.

    A path is a file, a directory (read with all below it, save hidden files, editors' leftovers, ``NOT_LOGS`` and what
    belongs to a lake), a glob (``**`` crosses directories) or ``-`` for standard input.

    Raises: PipelineError: ``path-not-found``; ``no-match`` for a glob; ``no-files`` for a directory without any log;
    ``path-unreadable`` for a directory that may not be listed.
    """
    found: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        for file in _expand(path):
            found.setdefault(file if file == STDIN else _real(file, folders), file)
    return list(found.values())


def _real(file: str, folders: dict[str, str]) -> str:
    """The path of a file without links in it. ``folders`` keeps those of folders: a log may be ten thousand files."""
    folder, name = os.path.split(file)
    if name in ("", ".", "..") or os.path.islink(file):  # noqa: PTH114 - a Path for each would take as long as the rest
        return os.path.realpath(file)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return f"{folders[folder]}/{name}"


def _expand(path: str) -> Iterator[str]:
    if path == STDIN:
        yield path
    elif Path(path).is_dir():
        yield from _below(path)
    elif os.path.lexists(path):
        yield path
    elif glob.has_magic(path):
        yield from _matches(path)
    else:
        raise PipelineError(
            "path-not-found",
            f"there is no file or directory {path!r}",
            "Name a file, a directory, a glob, or - for standard input.",
        )


def _matches(pattern: str) -> Iterator[str]:
    """What a glob matches: files as they are, and of a directory what a walk finds below it."""
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    empty = True
    for match in matches:
        for file in _walk(match) if Path(match).is_dir() else () if _is_of_lake(match) else (match,):
            empty = False
            yield file
    if empty:
        raise PipelineError(
            "no-match",
            f"no file matches the pattern {pattern!r}",
            "Put the pattern in quotes, so that the shell leaves it alone; ** stands for any directories between.",
        )


def _below(directory: str) -> Iterator[str]:
    empty = True
    for file in _walk(directory):
        empty = False
        yield file
    if empty:
        raise PipelineError(
            "no-files",
            f"the directory {directory!r} holds no log files",
            "Hidden files and those of other kinds (such as .md or .parquet) are passed over; name one to read it.",
        )


def _walk(directory: str) -> Iterator[str]:
    """Log files below a directory, sorted by path; links to directories are not followed, as they may go in circles."""
    try:
        with os.scandir(directory) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        raise _unreadable(error) from error
    folder = str(Path(directory))
    below = "" if folder == "." else f"{folder.rstrip('/')}/"
    for entry in entries:
        if entry.name in _LAKE_FILES and _is_lake(folder):
            continue
        # What a link leads to is asked of the path, which takes a circle for what it is: no file.
        if _may_be_log(entry.name) and (Path(entry).is_file() if entry.is_symlink() else entry.is_file()):
            yield below + entry.name
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _walk(below + entry.name)


def _may_be_log(name: str) -> bool:
    hidden_or_left_over = name.startswith((".", "~$", "#")) or name.endswith("~")
    return not hidden_or_left_over and os.path.splitext(name)[1].lower() not in NOT_LOGS  # noqa: PTH122 - as above


def _is_lake(folder: str) -> bool:
    at = Path(folder)
    return any((at / name).exists() for name in _LAKE_FILES) and all((at / name).is_dir() for name in _LAKE_FOLDERS)


def _is_of_lake(file: str) -> bool:
    """Whether a file is a part of a lake, in its table or in staging, or one of those at a lake's top."""
    path = Path(file)
    if path.name in _LAKE_FILES:
        return _is_lake(str(path.parent))
    return path.suffix == ".parquet" and any(_is_lake(str(folder)) for folder in list(path.parents)[1:3])


def _unreadable(error: OSError) -> PipelineError:
    return PipelineError(
        "path-unreadable",
        f"the directory {error.filename!r} cannot be listed ({error.strerror})",
        "Give yourself the right to read it, or name the files that are to be read.",
    )
