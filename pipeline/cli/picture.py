"""What a check found, for a person: states, findings by kind, repairs, what could not be read. 80 columns will do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich import console as rich_console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.findings import Checked, Group, GroupKey
from pipeline.intake import Located
from pipeline.printable import printable
from pipeline.records import Reject
from pipeline.tables import TABLES
from pipeline.verdicts import CUT, FINDING, STATES, UNJUDGED, USABLE

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pipeline.ingest import Ingested

_STYLE_BY_OUTCOME = {USABLE: "green", FINDING: "red", CUT: "yellow", UNJUDGED: "blue"}
_MARK_BY_OUTCOME = {USABLE: "✓", FINDING: "✗", CUT: "✂", UNJUDGED: "?"}
_NO_SHARE = "\N{EN DASH}"
_TIMES = "\N{MULTIPLICATION SIGN}"
_GROUPS_SHOWN = 15
_LOCATED_SHOWN = 5
_INDENT = (0, 0, 0, 2)


def show(console: Console, checked: Checked, rejects: list[Located], files: int, *, all_groups: bool) -> None:
    """Print the whole picture; ``rejects`` are the first few of them, ``all_groups`` leaves no kind of finding out."""
    console.print(_headline(checked, files))
    console.print()
    console.print(Padding(_states(checked), _INDENT))
    console.print()
    console.print(Padding(_rate(checked), _INDENT))
    _section(console, "Findings", _groups(checked, FINDING, all_groups))
    _section(console, "Cut and not judged", _groups(checked, (CUT, UNJUDGED), all_groups))
    _section(console, "What repairs it", _repairs(checked))
    _section(
        console, f"Rejects: {_count(checked.reject_count, 'record')} could not be read", _rejects(rejects, checked)
    )
    unrecognised = _count(checked.unrecognised.total(), "record")
    _section(console, f"Unrecognised: {unrecognised} without an answer to judge", _kinds(checked.unrecognised))
    _section(console, "Noted", _notes(checked))


def show_ingested(console: Console, done: Ingested, lake: str) -> None:
    """Print what an ingest did: files, rows, and what the calls landed by it came to."""
    files = [f"{count:,} {action}" for action, count in sorted(done.decisions.items())]
    console.print(Text(f"{_count(done.decisions.total(), 'file')}: {', '.join(files)}", style="bold"))
    for path in done.replaced[:_LOCATED_SHOWN]:
        console.print(Text(f"  replaced: {printable(path)} (its old rows are gone)"))
    rows = [f"{done.rows[table]:,} {table}" for table in TABLES if done.rows[table]]
    landed = ", ".join(rows) if rows else "nothing new"
    console.print(Text(f"landed in {printable(lake)}: {landed}"))
    if done.duplicates:
        console.print(Text(f"{_count(done.duplicates, 'turn')} stood there already: noted as duplicates"))
    if done.torn:
        ended = "1 file ends in a record" if done.torn == 1 else f"{done.torn:,} files end in records"
        console.print(Text(f"{ended} that cannot be read: read again once there is more of it"))
    for file, reason in list(done.checked.unreadable_files().items())[:_LOCATED_SHOWN]:
        console.print(Text(f"nothing could be read in {printable(file)}: {printable(reason)}", style="yellow"))
    if done.checked.calls:
        console.print()
        console.print(Padding(_states(done.checked), _INDENT))
        console.print()
        console.print(Padding(_rate(done.checked), _INDENT))
    _section(console, "Unrecognised", _kinds(done.checked.unrecognised))


def _section(console: Console, title: str, body: RenderableType | None) -> None:
    if body is not None:
        console.print()
        console.print(Text(title, style="bold"))
        console.print(Padding(body, _INDENT))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _headline(checked: Checked, files: int) -> Text:
    parts = (
        _count(files, "file"),
        _count(checked.records, "record"),
        _count(checked.turns, "turn"),
        _count(checked.calls, "tool call"),
    )
    return Text("  ".join(parts), style="bold")


def _states(checked: Checked) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    table.add_column("state")
    table.add_column("calls", justify="right")
    table.add_column("share", justify="right")
    for state in reversed(STATES):
        count = checked.states[state.name]
        style = _STYLE_BY_OUTCOME[state.outcome] if count else "dim"
        share = f"{count / checked.calls:.1%}" if checked.calls else _NO_SHARE
        table.add_row(
            Text(_MARK_BY_OUTCOME[state.outcome], style=style), Text(state.name, style=style), f"{count:,}", share
        )
    return table


def _rate(checked: Checked) -> Text:
    judged = checked.judged_count
    if not judged:
        return Text(f"violation rate  {_NO_SHARE}  (no call was judged)")
    rate = checked.finding_count / judged
    text = Text("violation rate  ")
    text.append(f"{rate:.2%}", style="bold red" if checked.finding_count else "bold green")
    text.append(f"  ({checked.finding_count:,} of {judged:,} judged calls; cut and unjudged beside it)")
    return text


def _groups(checked: Checked, outcomes: str | tuple[str, ...], all_groups: bool) -> Table | None:
    wanted = {state.name: state.outcome for state in STATES if state.outcome in outcomes}
    groups = sorted(
        ((key, group) for key, group in checked.groups.items() if key.state in wanted),
        key=lambda item: (-item[1].count, item[0].state, item[0].tool_name, item[0].place, item[0].keyword),
    )
    if not groups:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    shown = groups if all_groups else groups[:_GROUPS_SHOWN]
    for key, group in shown:
        table.add_row(f"{group.count:,}{_TIMES}", _group(key, group, _STYLE_BY_OUTCOME[wanted[key.state]]))
    if len(shown) < len(groups):
        table.add_row("", Text(f"and {len(groups) - len(shown):,} more kinds (--show-all shows them)", style="dim"))
    return table


def _group(key: GroupKey, group: Group, style: str) -> Text:
    text = Text(printable(key.tool_name, 60) or "(no name)", style="bold")
    text.append(f"  {key.state}", style=style)
    for part in (key.place, key.keyword):
        if part:
            text.append(f"  {printable(part, 60)}", style="not bold")
    if group.message:
        text.append(f"\n{printable(group.message, 200)}", style="not bold")
    text.append(f"\n{printable(group.example)}", style="not bold dim")
    return text


def _repairs(checked: Checked) -> RenderableType | None:
    parts: list[RenderableType] = []
    for state in STATES:
        if checked.states[state.name] and state.repairs and state.outcome != USABLE:
            repairs = Table.grid(padding=(0, 1, 0, 0))
            for repair in state.repairs:
                repairs.add_row("-", repair)
            parts += [Text(state.name, style=_STYLE_BY_OUTCOME[state.outcome]), repairs]
    return rich_console.Group(*parts) if parts else None


def _rejects(rejects: list[Located], checked: Checked) -> Table | None:
    if not rejects:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    for located in rejects[:_LOCATED_SHOWN]:
        reject = located.what
        assert isinstance(reject, Reject)  # noqa: S101 -- the list holds rejects only
        text = Text(f"{printable(located.source_file)}:{reject.line}", style="bold")
        text.append(f"  offset {reject.offset:,}: {printable(reject.reason)}", style="not bold")
        if reject.excerpt:
            text.append(f"\n{printable(reject.excerpt, 70)}", style="not bold dim")
        table.add_row(text)
    more = checked.reject_count - min(len(rejects), _LOCATED_SHOWN)
    if more:
        table.add_row(Text(f"and {more:,} more (--format json lists them)", style="dim"))
    return table


def _kinds(kinds: Counter[str]) -> Table | None:
    if not kinds:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for kind, count in kinds.most_common(_GROUPS_SHOWN):
        table.add_row(f"{count:,}{_TIMES}", Text(printable(kind, 240)))
    more = len(kinds) - _GROUPS_SHOWN
    if more > 0:
        table.add_row("", Text(f"and {more:,} more kinds (--format json lists them)", style="dim"))
    return table


def _notes(checked: Checked) -> Table | None:
    notes = Counter(checked.warnings)
    notes.update({text: count for text, count in checked.notes.items() if count})
    if checked.parallel_turns:
        calls = f"turns with parallel calls ({checked.parallel_calls:,} calls): no fault in itself"
        notes[calls] = checked.parallel_turns
    return _kinds(Counter(dict(sorted(notes.items()))))
