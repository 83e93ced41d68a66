"""Ways to run the command: in this process, as a process of its own, or on a pseudo terminal."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

from click.testing import CliRunner, Result

from pipeline.cli import main

#: What no output may hold, whatever a log holds: controls other than the line feed, and marks that turn or hide text.
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def run(*args: str, stdin: bytes | None = None) -> Result:
    """The command in this process; ``stdout`` and ``stderr`` apart, neither a terminal."""
    return CliRunner().invoke(main, list(args), input=stdin)


def run_process(
    *args: str, cwd: Path | None = None, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    command = [sys.executable, "-m", "pipeline", *args]
    return subprocess.run(  # noqa: S603 -- our own command
        command, cwd=cwd, input=stdin, capture_output=True, env={**os.environ, **(env or {})}, check=False
    )


def on_terminal(*args: str, columns: int = 80, env: dict[str, str] | None = None) -> tuple[str, int]:
    """What the command writes to a terminal of so many columns, and its exit code."""
    parent, child = pty.openpty()
    ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = {"TERM": "xterm-256color", **{key: value for key, value in os.environ.items() if key not in _TERMINAL}}
    process = subprocess.Popen(  # noqa: S603 -- our own command
        [sys.executable, "-m", "pipeline", *args],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**settings, **(env or {})},
    )
    os.close(child)
    written = b""
    try:
        while chunk := os.read(parent, 65536):
            written += chunk
    except OSError:  # the other end is closed
        pass
    os.close(parent)
    return written.decode().replace("\r\n", "\n"), process.wait()


_TERMINAL = {"TERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "COLORTERM"}
