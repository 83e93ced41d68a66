"""Runs a command as a user would, start-up included, and says how long it took and how much memory it held."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: ``check`` and ``ingest`` end with 1 where they found something, and generated logs hold faults.
GOOD_ENDINGS = (0, 1)
_SHOWN_PACKAGES = ("dispatchable", "orjson", "msgspec", "jsonschema-rs", "pyarrow", "duckdb", "jsonschema")


class CommandFailedError(Exception):
    """A benchmarked command did not do its work; the message has its last words."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall time, processor time of all its processes, and the peak memory of the largest of them."""

    seconds: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Several runs of one command."""

    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """Median of the wall times."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu_s(self) -> float:
        """Median of the processor times, which a busy machine disturbs less."""
        return statistics.median(run.cpu_s for run in self.runs)

    @property
    def peak_mb(self) -> float:
        """Largest of the peaks."""
        return max(run.peak_mb for run in self.runs)

    def ratio_to(self, other: Sample) -> float:
        """Median of the ratios of wall times, each run held against its neighbour in time."""
        pairs = zip(self.runs, other.runs, strict=True)
        return statistics.median(run.seconds / yardstick.seconds for run, yardstick in pairs)


def run_once(command: Sequence[str]) -> Run:
    """Run a command to its end with its output thrown away.

    The peak is that of ``wait4``: it starts from what this process held when it began the command, so the process that
    measures imports nothing large. The kernel keeps the largest process, not the sum over several workers.

    Raises:
        CommandFailedError: it ended with something else than 0 or 1.
    """
    # Compiled modules are kept, as where the command is installed; else each start would compile them anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        words = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in GOOD_ENDINGS:
        last = words.decode(errors="replace").strip()[-300:]
        raise CommandFailedError(f"ended with {process.returncode}: {last}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def machine() -> str:
    """The machine and the versions, in one line of Markdown."""
    cpu = platform.processor() or platform.machine()
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    info = Path("/proc/cpuinfo")
    if info.exists():
        facts = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        named = {key.strip(): value.strip() for key, value in facts.items()}
        model = "family {cpu family} model {model}".format_map(named) if "cpu family" in named else ""
        cpu = f"{named.get('model name', cpu)} ({model})" if model else named.get("model name", cpu)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {found}" for name in _SHOWN_PACKAGES if (found := _version(name)))
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    return (
        f"{cpu}, {cores} cores, {memory_gb:.0f} GB of memory, {system}, Python {platform.python_version()}; {packages}."
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def product() -> list[str]:
    """The installed command, or the package run as a module where no command lies beside this Python."""
    command = Path(sys.executable).with_name("dispatchable")
    return [str(command)] if command.exists() else [sys.executable, "-m", "pipeline"]
