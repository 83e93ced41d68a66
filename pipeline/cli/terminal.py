"""The two streams of a command: data on standard output, progress and summaries on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rich.console import Console

#: Columns of a picture in a pipe or a file, where no terminal says how wide it is.
PIPE_COLUMNS = 80
#: Work that is done sooner than this shows no progress.
PROGRESS_AFTER_S = 0.6
_BYTES_PER_MB = 1_000_000


def console(*, stderr: bool = False) -> Console:
    """A console on one of the streams: coloured on a terminal, plain and 80 columns wide elsewhere; NO_COLOR holds."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command, which knows its exit codes."""
            raise  # noqa: PLE0704 -- the error that rich is handling

    stream = sys.stderr if stderr else sys.stdout
    terminal = stream.isatty()
    return Piped(
        file=stream if terminal else cast("IO[str]", _WithoutTrailingBlanks(stream)),
        width=None if terminal else PIPE_COLUMNS,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


class _WithoutTrailingBlanks:
    """A stream for whole lines. Tables are padded to their full width, which nobody wants in a file."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


class Progress:
    """How far the reading is, on standard error while it is a terminal; silent otherwise."""

    def __init__(self, total_bytes: int | None) -> None:
        self._total_bytes = total_bytes
        self._bytes = 0
        self._rows = 0
        self._started = time.monotonic()
        self._shown_at = self._started + PROGRESS_AFTER_S - 0.1
        self._shown = False

    def expect(self, total_bytes: int) -> None:
        """Take note of how many bytes there are to read, where that shows only later."""
        self._total_bytes = total_bytes

    def advance(self, size_bytes: int, rows: int = 0) -> None:
        """Count bytes that have been read, and rows that have landed."""
        self._bytes += size_bytes
        self._rows += rows
        now = time.monotonic()
        if now - self._shown_at >= 0.1:
            self._shown_at = now
            self._show(now)

    def _show(self, now: float) -> None:
        rate = self._bytes / max(now - self._started, 1e-9)
        text = f"{self._bytes / _BYTES_PER_MB:,.0f} MB  {rate / _BYTES_PER_MB:,.0f} MB/s"
        if self._rows:
            rows_per_s = self._rows / max(now - self._started, 1e-9)
            text = f"{self._rows:,} rows  {rows_per_s:,.0f} rows/s  {text}"
        if self._total_bytes:
            share = min(self._bytes / self._total_bytes, 1.0)
            width = 10 if self._rows else 24  # all of it fits on 80 columns
            filled = round(share * width)
            left_s = max(self._total_bytes - self._bytes, 0) / rate if rate else 0
            text = f"{'━' * filled}{'╌' * (width - filled)} {share:4.0%}  {text}  {left_s:,.0f} s left"
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


@contextmanager
def progress(total_bytes: int | None, *, quiet: bool) -> Iterator[Progress | None]:
    """A progress line for the length of a block; None where there is no terminal to show it on."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    shown = Progress(total_bytes)
    try:
        yield shown
    finally:
        shown.clear()
