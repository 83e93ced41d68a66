"""``dispatchable fetch``: stored answers over the API, as the JSONL that the other commands read."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from pipeline import fetch
from pipeline.cli.terminal import console
from pipeline.errors import EXIT_FINDINGS, PipelineError
from pipeline.printable import printable

#: On a terminal a long list would push the summary out of sight; a pipe or a file gets all of it.
LISTED_ON_TERMINAL = 20
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


@click.command("fetch", short_help="Fetch stored responses over the API.", context_settings={"show_default": True})
@click.option("--ids", "ids_file", metavar="FILE", help="File of ids, one a line; - for standard input.")
@click.option("--ids-field", metavar="NAME", help="FILE is JSONL or CSV, and the ids stand in this field of it.")
@click.option("--stored-completions", is_flag=True, help="Walk the list of stored chat completions instead.")
@click.option("--model", metavar="NAME", help="Only completions of this model.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="Only completions with this; repeatable.")
@click.option(
    "--since", metavar="WHEN", help="Only completions from this date or time on, or of the last 7d, 12h, 30m."
)
@click.option("--out", required=True, metavar="FILE.jsonl", help="File to write or go on with; - for standard output.")
@click.option("--unreadable", metavar="FILE", type=click.Path(path_type=Path), help="Write ids answered with 404 here.")
@click.option("--concurrency", type=click.IntRange(1, 256), default=8, help="Requests at once.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="At most so many requests a second.")
@click.option("--retries", type=click.IntRange(0, 20), default=4, help="Further tries after 429, 5xx or no answer.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=60, help="Seconds to wait for an answer.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, and no summary of a run that went well.")
def command(ids_file: str | None, ids_field: str | None, out: str, unreadable: Path | None, **options: Any) -> None:
    r"""Fetch stored responses and chat completions by id, or all stored completions.

    Only GET is ever sent. The key comes from OPENAI_API_KEY; OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_BASE_URL are
    heeded. Started again, it fetches only what FILE.jsonl does not hold yet.

    Exit code 0: all that can be read was fetched. 1: something failed that another run may get. 2: the work could not
    be done.

    \b
    Examples:
      dispatchable fetch --ids ids.txt --out responses.jsonl
      dispatchable fetch --ids calls.csv --ids-field response_id --out - | dispatchable check -
      dispatchable fetch --stored-completions --since 7d --out completions.jsonl
    """
    query = _query(ids_file, ids_field, unreadable, options)
    _check_paths(ids_file, out, unreadable)
    secrets = fetch.Secrets.of(os.environ)
    with secrets.guard():
        ids = [] if ids_file is None else fetch.read_ids(*_read(ids_file), ids_field)
        secrets.require_key()
    pace = fetch.Pace(options["concurrency"], options["rate"], options["retries"], options["timeout"])
    outcome = fetch.Outcome()
    try:
        with _open_sink(out) as sink, _progress(options["quiet"], out) as tell, _list_of(unreadable, outcome):
            if query is None:
                fetch.fetch_ids(ids, sink, pace, secrets, outcome, tell)
            else:
                fetch.fetch_stored_completions(query, sink, pace, secrets, outcome, tell)
    except (PipelineError, KeyboardInterrupt):
        _say_kept(outcome, out)
        raise
    _summary(outcome, options["quiet"], secrets.scrub)
    if outcome.failed:
        click.get_current_context().exit(EXIT_FINDINGS)


def _query(
    ids_file: str | None, ids_field: str | None, unreadable: Path | None, options: dict[str, Any]
) -> fetch.Query | None:
    """What to list, or None to fetch by id; combinations that mean nothing are refused."""
    if (ids_file is None) is not options["stored_completions"]:
        raise click.UsageError("Give either --ids FILE or --stored-completions.")
    listing = [name for name in ("model", "metadata", "since") if options[name]]
    if ids_file is not None:
        if listing:
            raise click.UsageError(f"--{listing[0]} goes with --stored-completions, not with --ids.")
        return None
    if ids_field is not None or unreadable is not None:
        raise click.UsageError("--ids-field and --unreadable go with --ids.")
    since = options["since"]
    since_s = None if since is None else fetch.parse_since(since, datetime.now(UTC))
    return fetch.Query(options["model"], fetch.parse_metadata(options["metadata"]), since_s)


def _check_paths(ids_file: str | None, out: str, unreadable: Path | None) -> None:
    """Refuse, before anything is sent, an output that would overwrite another file of the run or cannot be opened."""
    if Path(out).suffix in _COMPRESSED:
        raise PipelineError("out-unwritable", f"{out}: fetch writes plain JSONL, which its name must not deny.")
    files = [Path(name) for name in (ids_file, out) if name is not None and name != "-"]
    if len(files) > 1 and _same(*files):
        raise PipelineError("out-unwritable", f"--out {out} is the file of ids itself.", "Give another --out.")
    if unreadable is None:
        return
    if any(_same(unreadable, other) for other in files):
        raise PipelineError("out-unwritable", f"--unreadable {unreadable} is another file of this run.")
    try:
        unreadable.open("ab").close()
    except OSError as error:
        raise PipelineError("out-unwritable", f"Cannot write {unreadable}: {error.strerror}.") from None


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _read(ids_file: str) -> tuple[bytes, str]:
    if ids_file == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    try:
        return Path(ids_file).read_bytes(), ids_file
    except OSError as error:
        raise PipelineError("ids-unreadable", f"Cannot read {ids_file}: {error.strerror}.") from None


def _open_sink(out: str) -> AbstractContextManager[fetch.Sink]:
    if out == "-":
        return contextlib.nullcontext(fetch.LineStream(sys.stdout.buffer))
    return fetch.LineFile(Path(out))


@contextlib.contextmanager
def _list_of(unreadable: Path | None, outcome: fetch.Outcome) -> Iterator[None]:
    """Write the list of unreadable ids however the run ends, once it has begun."""
    try:
        yield
    finally:
        if unreadable is not None:
            fetch.write_unreadable(unreadable, outcome.unreadable)


@contextlib.contextmanager
def _progress(quiet: bool, out: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar with rate and time left, where a person is watching; nothing anywhere else."""
    if quiet or not sys.stderr.isatty() or (out == "-" and sys.stdout.isatty()):
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fetching"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), redirect_stdout=False, transient=True) as progress:
        task = progress.add_task("fetching", total=None, rate="")

        def tell(done: int, total: int | None) -> None:
            speed = progress.tasks[0].speed
            progress.update(task, completed=done, total=total, rate="" if speed is None else f"{speed:,.0f}/s")

        yield tell


def _summary(outcome: fetch.Outcome, quiet: bool, scrub: Callable[[str], str]) -> None:
    parts = [f"{outcome.kept:,} fetched", f"{outcome.already:,} held already"]
    parts += [f"{len(outcome.unreadable):,} unreadable", f"{len(outcome.failed):,} failed"]
    if not quiet or outcome.failed:
        click.echo(f"{outcome.asked:,} asked for: {', '.join(parts)}", err=True)
    if outcome.unreadable and not quiet:
        _list("unreadable (404: expired, or never stored)", outcome.unreadable)
        if outcome.asked == len(outcome.unreadable):
            click.echo("  None was found: are the key's project and OPENAI_BASE_URL the right ones?", err=True)
    if outcome.failed:
        _list(
            "failed (run again to fetch what is missing)",
            [f"{one.what}: {scrub(one.reason)}" for one in outcome.failed],
        )


def _list(title: str, lines: list[str]) -> None:
    click.echo(f"{title}:", err=True)
    shown = lines[:LISTED_ON_TERMINAL] if sys.stderr.isatty() else lines
    for line in shown:
        click.echo(f"  {line}", err=True)
    if len(shown) < len(lines):
        click.echo(f"  and {len(lines) - len(shown):,} more", err=True)


def _say_kept(outcome: fetch.Outcome, out: str) -> None:
    if outcome.kept and out != "-":
        click.echo(f"{outcome.kept:,} fetched before this, and kept in {printable(out)}", err=True)
