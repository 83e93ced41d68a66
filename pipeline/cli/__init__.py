"""The command line: the only printing and the only exit codes. Each command lives in a file of its own."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

import click

from pipeline import __version__
from pipeline.errors import EXIT_FAILED, PipelineError
from pipeline.printable import printable

_VERBOSE_TRACEBACK = 2

#: Command name -> module that defines it as ``command``. Imported when asked for, so that ``--help`` stays quick.
COMMANDS: dict[str, str] = {
    "check": "pipeline.cli.check",
    "ingest": "pipeline.cli.ingest",
    "report": "pipeline.cli.report",
    "sql": "pipeline.cli.sql",
    "schema": "pipeline.cli.schema",
    "fetch": "pipeline.cli.fetch",
    "explain": "pipeline.cli.explain",
}
SUMMARIES: dict[str, str] = {
    "check": "Judge logs and print what is wrong; nothing is kept.",
    "ingest": "Land the verdicts in Parquet, only what is new.",
    "report": "Run a canned report over the lake, or list them.",
    "sql": "Run any query over the same views, read-only.",
    "schema": "Print the data dictionary of the lake.",
    "fetch": "Fetch stored responses over the API.",
    "explain": "Say what a state means and what repairs it.",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- the name that click calls it by
        """Names in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """Import the module of a command and return it; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        if command.help:
            # Click wants a control character where a raw docstring has this mark: the lines that follow are not joined.
            command.help = command.help.replace("\\b\n", "\b\n")
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error reaches the user as one line and a hint, a traceback only with ``-vv``."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            # The reader of a pipe has had enough. Python would complain once more when it closes standard output.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except (Exception, KeyboardInterrupt) as error:
            if ctx.params["verbose"] >= _VERBOSE_TRACEBACK:
                raise
            told = told_error(error)
            click.echo(printable_error(told), err=True)
            sys.exit(told.exit_status)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- as above
        """List the commands with their one-line summaries, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in COMMANDS])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="dispatchable")
@click.option("-v", "--verbose", count=True, help="Say more; -vv shows the traceback of an error.")
def main(verbose: int) -> None:
    """Find the tool calls in your LLM logs that the dispatcher cannot use."""
    del verbose  # LazyGroup reads it from the context
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An encoding that lacks a character of the picture, or of a log, gets its escape.
            stream.reconfigure(errors="backslashreplace")


def told_error(error: BaseException) -> PipelineError:
    """What a user is told of an exception that ended a command."""
    if isinstance(error, PipelineError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return PipelineError("interrupted", "stopped before the work was done")
    return PipelineError(
        "internal", f"{type(error).__name__}: {error}", "this is a fault of dispatchable; -vv shows where"
    )


def printable_error(error: PipelineError) -> str:
    """The error as it is told, safe for a terminal: paths and messages may hold what a log wrote.

    A message of several lines (DuckDB shows where a query breaks) keeps them, set off from what we say ourselves.
    """
    message = "\n  ".join(map(printable, error.message.split("\n")))
    hint = f"\n{click.style('hint:', fg='cyan')} {printable(error.hint)}" if error.hint else ""
    return f"{click.style(f'error[{error.code}]:', fg='red', bold=True)} {message}{hint}"
