"""The logs and lakes to measure with: made once, kept in a directory, made anew where their generator has changed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_GENERATORS = ("generate.py", "logs.py", "other_logs.py", "toolsets.py", "vocabulary.py")
_LAKE_GENERATORS = (*_GENERATORS, "lake.py", "lake_columns.py", "draw.py")
_SMALL_LOG_MB = 0.05


class Stock:
    """A directory of generated logs. ``size_mb`` is the size of a log unless a smaller one is asked for."""

    def __init__(self, directory: Path, size_mb: float, small_files: int) -> None:
        self.directory = directory
        self._size_mb = size_mb
        self._small_files = small_files
        directory.mkdir(parents=True, exist_ok=True)

    def log(self, name: str, size_mb: float | None = None) -> Path:
        """Path of a log, made now if need be. Names are kinds of ``generate``, and those that ``plan`` adds.

        Raises:
            subprocess.CalledProcessError: the generator failed.
        """
        if name.startswith("small-files"):
            return self._small(name)
        kind, spaced = name.removesuffix("-spaced"), name.endswith("-spaced")
        if name == "rich-small":
            kind, size_mb = "rich", _SMALL_LOG_MB
        size = self._size_mb if size_mb is None else min(size_mb, self._size_mb)
        path = self.directory / f"{name}-{size:g}mb-{_digest(_GENERATORS)}{_SUFFIXES.get(kind, '.jsonl')}"
        if not path.exists():
            flags = ("--spaced",) if spaced else ()
            unfinished = path.with_name(path.name + ".unfinished")
            _generate("generate.py", kind, "--size-mb", f"{size:g}", "--out", str(unfinished), *flags)
            unfinished.replace(path)
        return path

    def _small(self, name: str) -> Path:
        tree = self.directory / f"small-files-{self._small_files}-{_digest(_GENERATORS)}"
        if not tree.exists():
            unfinished = self.directory / "small-files.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _generate("generate.py", "small-files", "--files", str(self._small_files), "--out", str(unfinished))
            unfinished.with_name(unfinished.name + ".jsonl").replace(tree.with_name(tree.name + ".jsonl"))
            unfinished.replace(tree)
        return tree.with_name(tree.name + ".jsonl") if name.endswith(".jsonl") else tree

    def lake(self, calls: int) -> Path:
        """Path of a lake of so many calls, made now if need be.

        Raises:
            subprocess.CalledProcessError: the generator failed.
        """
        path = self.directory / f"lake-{calls}-{_digest(_LAKE_GENERATORS)}"
        if not path.exists():
            unfinished = self.directory / "lake.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _generate("lake.py", "--calls", str(calls), "--out", str(unfinished))
            unfinished.replace(path)
        return path


_SUFFIXES = {"array": ".json", "array-pretty": ".json", "gzip": ".jsonl.gz", "zstd": ".jsonl.zst"}


def _digest(files: tuple[str, ...]) -> str:
    """Eight digits that change when a generator does."""
    return hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in files)).hexdigest()[:8]


def _generate(script: str, *arguments: str) -> None:
    # In a process of its own: its memory must not count as that of the commands that are measured later.
    print(f"making {' '.join(arguments)}", file=sys.stderr)
    subprocess.run([sys.executable, str(_HERE / script), *arguments], check=True, stdout=subprocess.DEVNULL)
