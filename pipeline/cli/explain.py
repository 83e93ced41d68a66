"""``dispatchable explain``: what a state means, and what repairs it."""

from __future__ import annotations

import textwrap

import click

from pipeline.verdicts import ARGUMENTS_UNPARSEABLE, FAULTS, STATE_BY_NAME, STATES, State


@click.command("explain", short_help="Say what a state means and what repairs it.")
@click.argument("state", required=False, type=click.Choice([state.name for state in STATES]), metavar="[STATE]")
def command(state: str | None) -> None:
    r"""Say what STATE means, what it counts towards and what repairs it; without STATE, all nine in order.

    \b
    Examples:
      dispatchable explain
      dispatchable explain arguments-violate-schema
    """
    chosen = STATES if state is None else (STATE_BY_NAME[state],)
    click.echo("\n\n".join(_words(one, whole=state is not None) for one in chosen))


def _words(state: State, *, whole: bool) -> str:
    lines = [click.style(state.name, bold=True) + f"  ({state.outcome})", _wrapped(state.meaning)]
    lines += [_wrapped(repair, "- ") for repair in state.repairs]
    if whole and state is ARGUMENTS_UNPARSEABLE:
        lines += ["", "  The fault column says what is wrong with the text:"]
        lines += [_wrapped(f"{name}: {meaning}", "- ") for name, meaning in FAULTS.items()]
    return "\n".join(lines)


def _wrapped(text: str, mark: str = "") -> str:
    indent = "  " + " " * len(mark)
    return textwrap.fill(mark + text, 78, initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False)
