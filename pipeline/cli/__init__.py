"""The command line: the only printing and the only exit codes. Each command lives in a file of its own."""

from __future__ import annotations

import importlib
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

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return it; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error reaches the user as one line and a hint, a traceback only with ``-vv``."""
        try:
            return super().invoke(ctx)
        except PipelineError as error:
            if ctx.params["verbose"] >= _VERBOSE_TRACEBACK:
                raise
            click.echo(printable_error(error), err=True)
            sys.exit(error.exit_status)
        except BrokenPipeError:
            # The reader of a pipe has had enough. Python would complain once more when it closes standard output.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except (click.exceptions.Exit, click.ClickException, click.Abort, KeyboardInterrupt):
            raise
        except Exception as error:
            if ctx.params["verbose"] >= _VERBOSE_TRACEBACK:
                raise
            unexpected = PipelineError(
                "internal", f"{type(error).__name__}: {error}", "this is a fault of dispatchable; -vv shows where"
            )
            click.echo(printable_error(unexpected), err=True)
            sys.exit(EXIT_FAILED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their one-line summaries, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in COMMANDS])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="dispatchable")
@click.option("-v", "--verbose", count=True, help="Say more; -vv shows the traceback of an error.")
def main(verbose: int) -> None:  # noqa: ARG001 -- read from the context by LazyGroup
    """Find the tool calls in your LLM logs that the dispatcher cannot use."""


def printable_error(error: PipelineError) -> str:
    """The error as it is told, safe for a terminal: paths and messages may hold what a log wrote."""
    hint = f"\n{click.style('hint:', fg='cyan')} {printable(error.hint)}" if error.hint else ""
    return f"{click.style(f'error[{error.code}]:', fg='red', bold=True)} {printable(error.message)}{hint}"
