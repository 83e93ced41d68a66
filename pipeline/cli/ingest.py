"""``dispatchable ingest``: land the verdicts in Parquet, only what is new."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pipeline.cli.terminal import console, progress
from pipeline.errors import EXIT_CLEAN, EXIT_FINDINGS, PipelineError
from pipeline.run import Settings
from pipeline.sources import find_files
from pipeline.supplied import read_supplied

_NAMED = 3


@click.command("ingest", short_help="Land the verdicts in Parquet, only what is new.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--lake", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The lake; made if missing."
)
@click.option("--tools", "tools_file", metavar="FILE", help="Tool definitions for logs that have none.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [default: all cores]")
@click.option("--full", is_flag=True, help="Read everything anew and replace what the lake holds.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 in spite of findings, as for cron.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def command(
    paths: tuple[str, ...],
    lake: Path,
    tools_file: str | None,
    jobs: int | None,
    full: bool,
    exit_zero: bool,
    quiet: bool,
) -> None:
    r"""Land the verdicts on the logs at PATH in the lake DIR, in flat Parquet; only what is new.

    What was read is known again: a second run over the same files adds nothing, a file that grew is read on from where
    it was left, and one that was renamed or copied adds nothing either. An answer that stands in several exports
    lands once.

    Exit code 0: no finding among what was landed. 1: findings. 2: the work, or a part of it, could not be done.

    \b
    Examples:
      dispatchable ingest logs/ --lake lake
      dispatchable ingest 'exports/*.jsonl.gz' --lake lake --jobs 4
      dispatchable ingest logs/ --lake lake --exit-zero --quiet
    """
    from pipeline.ingest import ingest

    settings = Settings(supplied=None if tools_file is None else read_supplied(tools_file))
    files = find_files(paths)
    with progress(None, quiet=quiet) as shown:
        done = ingest(
            files,
            lake,
            settings,
            jobs=jobs or os.cpu_count() or 1,
            full=full,
            on_plan=shown.expect if shown else None,
            on_split=shown.advance if shown else None,
        )
    if not quiet:
        from pipeline.cli.picture import show_ingested

        show_ingested(console(stderr=True), done, str(lake))
    if done.unread:
        raise unread_error(done.unread)
    sys.exit(EXIT_FINDINGS if done.checked.finding_count and not exit_zero else EXIT_CLEAN)


def unread_error(files: list[str]) -> PipelineError:
    """What to say of files that could not be opened, after all others have landed."""
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return PipelineError(
        "file-unreadable",
        f"{', '.join(map(repr, files[:_NAMED]))}{more} cannot be opened; all else has landed",
        "look at the name and at your right to read it; the next run takes what it then finds",
    )
