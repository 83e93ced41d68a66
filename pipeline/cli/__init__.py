"""The command line: the only printing and the only exit codes. Each command lives in a file of its own."""

from __future__ import annotations

import importlib
from typing import Any

import click

from pipeline import __version__

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their one-line summaries, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in COMMANDS])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="dispatchable")
def main(**_: Any) -> None:
    """Find the tool calls in your LLM logs that the dispatcher cannot use."""
