"""Runs the benchmarks and prints Markdown tables: ``python -m tests.bench.run``.

Every command is a whole process, start-up included, and is held against an ``orjson.loads`` loop over the same records
that runs right before it, in turn, so that a machine that slows down slows both.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

if not __package__:  # run as a plain script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import plan
from tests.bench.measure import CommandFailedError, Run, Sample, machine, product, run_once
from tests.bench.stock import Stock

_HERE = Path(__file__).resolve().parent
_LOOP = "baselines/orjson_loop.py"


class Bench:
    """Runs rows against a stock of logs. ``rounds`` is how often each command runs."""

    def __init__(self, stock: Stock, rounds: int) -> None:
        self.stock = stock
        self.rounds = rounds
        self.lake = stock.directory / "lake-of-this-run"
        self.failures: list[str] = []

    def command(self, row: plan.Row) -> list[str]:
        """The row's command with its paths filled in."""
        log = str(self.stock.log(row.log, row.size_mb)) if row.log else ""
        words = [word.format(log=log, lake=self.lake) for word in row.command]
        if words[0] == "dispatchable":
            return [*product(), *words[1:]]
        scripts = [str(_HERE / word) if word.startswith("baselines/") else word for word in words[1:]]
        return [sys.executable, *scripts]

    def pairs(self, rows: Sequence[plan.Row], yardstick: Callable[[plan.Row], list[str]]) -> list[Result]:
        """Run every row beside its yardstick, all rows once, then all of them again, and so on.

        A row whose command fails is left out, and its last words are kept in ``failures``.
        """
        kept = {row.label: (list[Run](), list[Run]()) for row in rows}
        for row in rows:
            self.command(row)  # makes the log
            yardstick(row)
        for round_ in range(self.rounds):
            for row in rows:
                if row.label not in kept:
                    continue
                print(f"{round_ + 1}/{self.rounds} {row.label}", file=sys.stderr)
                if not row.keeps_lake:
                    shutil.rmtree(self.lake, ignore_errors=True)
                try:
                    other, own = run_once(yardstick(row)), run_once(self.command(row))
                except CommandFailedError as error:
                    self.failures.append(f"{row.label}: {error}")
                    del kept[row.label]
                    continue
                kept[row.label][0].append(own)
                kept[row.label][1].append(other)
        shutil.rmtree(self.lake, ignore_errors=True)
        return [
            Result(row, Sample(tuple(kept[row.label][0])), Sample(tuple(kept[row.label][1])), self._size_mb(row))
            for row in rows
            if row.label in kept
        ]

    def _size_mb(self, row: plan.Row) -> float:
        """Size of the text that the row reads, before compression and in one file, in megabytes."""
        if not row.log:
            return 0
        return self.stock.log(row.yardstick or row.log, row.size_mb).stat().st_size / 1e6

    def loop(self, row: plan.Row) -> list[str]:
        """The ``orjson.loads`` loop over the row's records."""
        return [sys.executable, str(_HERE / _LOOP), str(self.stock.log(row.yardstick or row.log, row.size_mb))]


class Result:
    """One measured row."""

    def __init__(self, row: plan.Row, own: Sample, other: Sample, size_mb: float) -> None:
        self.row, self.own, self.other, self.size_mb = row, own, other, size_mb

    def cells(self) -> list[str]:
        """Work, size, time, processor time, speed, memory, ratio and limit."""
        row, own = self.row, self.own
        ratio, limit = own.ratio_to(self.other), row.limit
        bound = "" if limit is None else f"{limit:g}" + ("" if ratio <= limit else " (missed)")
        if row.limit_s is not None:
            bound = f"{row.limit_s:g} s" + ("" if own.seconds <= row.limit_s else " (missed)")
        speed = f"{self.size_mb / own.seconds:,.0f}" if self.size_mb > 1 else ""
        size = f"{self.size_mb:,.0f} MB" if self.size_mb > 1 else ""
        times = f"{own.seconds:.2f} s", f"{own.cpu_s:.2f} s"
        return [row.label, size, *times, speed, f"{own.peak_mb:,.0f} MB", f"{ratio:.2f}", bound]


HEADINGS = ["work, whole process", "log", "time", "cpu", "MB/s", "peak memory", "ratio", "at most"]


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns padded to be readable as they are."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    rule = ["-" * width for width in widths]
    return "\n".join("| " + " | ".join(line) + " |" for line in [padded[0], rule, *padded[1:]])


def speed(bench: Bench) -> str:
    """Ours and the baselines over the large logs; the ratio is to ``orjson.loads`` over the same records."""
    return table(HEADINGS, [result.cells() for result in bench.pairs(plan.SPEED, bench.loop)])


def small_files(bench: Bench) -> str:
    """Ten thousand small files against one file of the same records."""
    return table(HEADINGS, [result.cells() for result in bench.pairs(plan.SMALL_FILES, bench.loop)])


def start_up(bench: Bench) -> str:
    """Start-up; here the ratio is to importing click."""
    results = bench.pairs(plan.START_UP, lambda _: [sys.executable, "-c", "import click"])
    return table(HEADINGS, [result.cells() for result in results])


def growth(bench: Bench) -> str:
    """Time and memory of ``ingest`` with one worker as the log grows."""
    rows: list[list[str]] = []
    before_s = before_mb = 0.0
    for size_mb in plan.GROWTH_SIZES_MB:
        stock = Stock(bench.stock.directory, size_mb, 0)
        row = plan.SPEED[0]
        sized = Bench(stock, min(bench.rounds, 3))
        results = sized.pairs([row], sized.loop)
        bench.failures += sized.failures
        for result in results:
            growth_times, grown = (result.size_mb / before_mb, result.own.seconds / before_s) if rows else (1.0, 1.0)
            missed = " (missed)" if grown > plan.GROWTH_LIMIT / 10 * growth_times else ""
            rows.append([*result.cells()[:6], f"{growth_times:.2f}", f"{grown:.2f}{missed}"])
            before_s, before_mb = result.own.seconds, result.size_mb
    return table([*HEADINGS[:6], "data to the row above", "time to the row above"], rows)


def reports(bench: Bench) -> str:
    """Every canned report over a lake of ten million calls."""
    lake = str(bench.stock.lake(plan.LAKE_CALLS))
    names = sorted(path.stem for path in (_HERE.parents[1] / "sql").glob("*.sql"))
    rows = [plan.Row(f"report {name}", "", ("dispatchable", "report", name, "--lake", lake)) for name in names]
    results = bench.pairs(rows, lambda _: [sys.executable, "-c", "pass"])
    cells = []
    for result in results:
        seconds = result.own.seconds
        bound = f"{plan.REPORT_LIMIT_S:g} s" + ("" if seconds <= plan.REPORT_LIMIT_S else " (missed)")
        cells.append([result.row.label, f"{seconds:.2f} s", f"{result.own.peak_mb:,.0f} MB", bound])
    return table(["report over ten million calls", "time", "peak memory", "at most"], cells)


SECTIONS: dict[str, Callable[[Bench], str]] = {
    "speed": speed,
    "small-files": small_files,
    "start-up": start_up,
    "growth": growth,
    "reports": reports,
}


def main() -> int:
    """Run what the command line asks for; 1 where a command failed."""
    parser = argparse.ArgumentParser(prog="run", description="Run the benchmarks and print Markdown tables.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"which: {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "dispatchable-bench", help="cache")
    parser.add_argument("--size-mb", type=float, default=512, help="size of the large logs (default: 512)")
    parser.add_argument("--files", type=int, default=10_000, help="how many small files (default: 10000)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (default: 5); the median counts")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    bench = Bench(Stock(options.dir, options.size_mb, options.files), options.rounds)
    print(machine())
    for name, section in SECTIONS.items():
        if not options.sections or name in options.sections:
            print(f"\n{section.__doc__}\n\n{section(bench)}", flush=True)
    for failure in bench.failures:
        print(f"\nfailed: {failure}")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
