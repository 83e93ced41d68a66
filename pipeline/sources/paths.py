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


def find_files(paths: Sequence[str]) -> list[str]:
    """Files to read, each once, in the order of ``paths`` and sorted below each directory.

    A path is a file, a directory (read with all below it, save hidden files, editors' leftovers and ``NOT_LOGS``), a
    glob (``**`` crosses directories) or ``-`` for standard input.

    Raises: PipelineError: ``path-not-found``; ``no-match`` for a glob; ``no-files`` for a directory without any log;
    ``path-unreadable`` for a directory that may not be listed.
    """
    found: dict[str, str] = {}
    for path in paths:
        for file in _expand(path):
            found.setdefault(file if file == STDIN else os.path.realpath(file), file)
    return list(found.values())


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
        for file in _walk(match) if Path(match).is_dir() else (match,):
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
    for folder, folders, files in os.walk(directory, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if _may_be_log(name) and path.is_file():
                yield str(path)


def _may_be_log(name: str) -> bool:
    hidden_or_left_over = name.startswith((".", "~$", "#")) or name.endswith("~")
    return not hidden_or_left_over and Path(name).suffix.lower() not in NOT_LOGS


def _unreadable(error: OSError) -> None:
    raise PipelineError(
        "path-unreadable",
        f"the directory {error.filename!r} cannot be listed ({error.strerror})",
        "Give yourself the right to read it, or name the files that are to be read.",
    ) from error
