"""``dispatchable check``: judge logs and print what is wrong. The linter: nothing is kept."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import IO, Any

import click

from pipeline.checking import SPLIT_BYTES, check_files
from pipeline.cli.cells import json_bytes
from pipeline.cli.terminal import console, progress
from pipeline.errors import EXIT_CLEAN, EXIT_FINDINGS, PipelineError
from pipeline.findings import Checked
from pipeline.intake import Located
from pipeline.run import Settings
from pipeline.sources import STDIN, find_files
from pipeline.supplied import read_supplied
from pipeline.verdicts import STATES

SCHEMA_VERSION = 1
#: Rejects that are kept for the picture; the machine formats have them all.
_REJECTS_KEPT = 50


@click.command("check", short_help="Judge logs and print what is wrong; nothing is kept.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--tools",
    "tools_file",
    metavar="FILE",
    help='Tool definitions for logs that have none: a list, {"tools": [...]}, or an MCP tools/list result.',
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json", "jsonl"]),
    default="table",
    show_default=True,
    help="How to print.",
)
@click.option("--show-all", is_flag=True, help="Every call in json and jsonl, every kind of finding in the table.")
@click.option("--fail-over", metavar="RATE", help="Exit 1 only when the violation rate is over this, as in 0.5%.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    metavar="N",
    help="Worker processes.  [default: all cores, where there is enough to share out]",
)
@click.option(
    "-q", "--quiet", is_flag=True, help="No picture and no progress; the exit code and the machine formats remain."
)
def command(
    paths: tuple[str, ...],
    tools_file: str | None,
    output_format: str,
    show_all: bool,
    fail_over: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    r"""Judge every tool call in the logs at PATH: a file, a directory, a glob, or - for standard input.

    Exit code 0: no finding. 1: findings (over --fail-over, where given). 2: the work could not be done.

    \b
    Examples:
      dispatchable check logs/
      dispatchable check 'exports/2026-05-*.jsonl.gz' --fail-over 0.5%
      dispatchable check chat.jsonl --tools tools.json --format json
      zcat log.gz | dispatchable check - --format jsonl
    """
    limit = None if fail_over is None else parse_rate(fail_over)
    settings = Settings(supplied=None if tools_file is None else read_supplied(tools_file))
    files = find_files(paths)
    with _spool(output_format) as spool:
        printer = _Printer(output_format, spool, quiet=quiet)
        total = _check(files, settings, jobs, show_all, printer, quiet=quiet)
        printer.finish(total, len(files), show_all=show_all)
    sys.exit(_exit_code(total, files, limit))


def parse_rate(text: str) -> float:
    """A share between 0 and 1 from a percentage.

    Raises:
        PipelineError: it is not written as a percentage.
    """
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 <= share <= 1:
        raise PipelineError("bad-rate", f"--fail-over {text!r} is not a percentage", "write it as in --fail-over 0.5%")
    return share


def _check(
    files: list[str], settings: Settings, jobs: int | None, show_all: bool, printer: _Printer, *, quiet: bool
) -> Checked:
    total = Checked()
    total_bytes = sum(map(_size_bytes, files))
    workers = jobs or (1 if total_bytes <= SPLIT_BYTES else os.cpu_count() or 1)
    with progress(total_bytes or None, quiet=quiet) as shown:
        on_bytes = shown.advance if shown else None
        for part in check_files(
            files, settings, show_all=show_all, jobs=workers, split_bytes=SPLIT_BYTES, on_bytes=on_bytes
        ):
            total.add(part)
            printer.print_part(part)
    return total


def _spool(output_format: str) -> IO[bytes]:
    """Where the calls of a document wait, since its summary stands before them; the other formats need no file."""
    if output_format != "json":
        return io.BytesIO()
    import tempfile  # which imports every compression there is

    return tempfile.TemporaryFile("w+b")


def _size_bytes(file: str) -> int:
    """Size of a file; 0 for standard input and for what has none."""
    try:
        return Path(file).stat().st_size if file != STDIN else 0
    except OSError:
        return 0


class _Printer:
    """Prints parts as they come where the format allows it, and the rest when all has been read."""

    def __init__(self, output_format: str, spool: IO[bytes], *, quiet: bool) -> None:
        self._format = output_format
        self._spool = spool
        self._quiet = quiet
        self._out = sys.stdout.buffer
        self._rejects: list[Located] = []
        self._first_call = True

    def print_part(self, part: Checked) -> None:
        """Print or keep what a part brings, in log order."""
        if self._format == "jsonl":
            for finding in part.findings:
                self._out.write(json_bytes(finding) + b"\n")
            self._out.flush()
        elif self._format == "json":
            for finding in part.findings:
                self._spool.write((b"" if self._first_call else b",\n  ") + json_bytes(finding))
                self._first_call = False
        keep = None if self._format == "json" else max(_REJECTS_KEPT - len(self._rejects), 0)
        self._rejects += part.rejects[:keep]

    def finish(self, total: Checked, files: int, *, show_all: bool) -> None:
        """Print what only the end can tell: the document, or the picture."""
        if self._format == "json":
            self._print_document(total, files)
        elif self._format == "table" and not self._quiet:
            from pipeline.cli.picture import show

            show(console(), total, self._rejects, files, all_groups=show_all)
        elif not self._quiet:
            sys.stderr.write(
                f"{files:,} files, {total.records:,} records, {total.calls:,} calls, {total.finding_count:,} findings,"
                f" {total.reject_count:,} rejects, {total.unrecognised.total():,} unrecognised\n"
            )

    def _print_document(self, total: Checked, files: int) -> None:
        out = self._out
        out.write(b'{"schema_version": %d,\n "summary": ' % SCHEMA_VERSION)
        out.write(json_bytes(summary(total, files)))
        out.write(b',\n "calls": [')
        self._spool.seek(0)
        while piece := self._spool.read(1 << 20):
            out.write(piece)
        out.write(b'],\n "rejects": [')
        out.write(b",\n  ".join(json_bytes(_reject(located)) for located in self._rejects))
        out.write(b"]}\n")
        out.flush()


def summary(total: Checked, files: int) -> dict[str, Any]:
    """The counts of the machine format: all nine states, zeros too; what was not recognised by kind."""
    return {
        "files": files,
        "records": total.records,
        "turns": total.turns,
        "calls": total.calls,
        "findings": total.finding_count,
        "rejects": total.reject_count,
        "states": {state.name: total.states[state.name] for state in STATES},
        "violation_rate": total.finding_count / total.judged_count if total.judged_count else None,
        "parallel_turns": total.parallel_turns,
        "unrecognised": total.unrecognised.total(),
        "unrecognised_kinds": dict(total.unrecognised.most_common()),
    }


def _reject(located: Located) -> dict[str, Any]:
    reject: Any = located.what
    return {
        "source_file": located.source_file,
        "source_line": reject.line,
        "source_offset": reject.offset,
        "reason": reject.reason,
        "excerpt": reject.excerpt,
    }


def _exit_code(total: Checked, files: list[str], limit: float | None) -> int:
    """0, 1, or the error that says why the work could not be done.

    Raises:
        PipelineError: nothing was read at all, or there is a file of which nothing could be read.
    """
    if not total.records:
        raise PipelineError(
            "nothing-to-read",
            f"no record in {_some(files)}: empty",
            "check the path; a log holds JSON, one document a line",
        )
    unreadable = total.unreadable_files()
    if unreadable:
        raise PipelineError(
            "unreadable-file",
            f"nothing could be read in {_some(list(unreadable))}: {next(iter(unreadable.values()))}",
            "the rejects say where, with line and offset; all that could be read was judged",
        )
    if not total.answered:
        kind, _ = total.unrecognised.most_common(1)[0]
        raise PipelineError(
            "nothing-recognised",
            f"no record of a known format in {_some(files)}: {kind}",
            "the README lists the formats; the answer has to stand in the log as the API gave it",
        )
    rate = total.finding_count / total.judged_count if total.judged_count else 0.0
    failed = total.finding_count > 0 if limit is None else rate > limit
    return EXIT_FINDINGS if failed else EXIT_CLEAN


def _some(files: list[str]) -> str:
    more = len(files) - 3
    return ", ".join(files[:3]) + (f" and {more} more" if more > 0 else "")
