"""``explain``, the help texts, and what is said to a command line that cannot be understood."""

from __future__ import annotations

import re

import pytest
from command_line import RAW, on_terminal, run

from pipeline.cli import COMMANDS, SUMMARIES
from pipeline.verdicts import FAULTS, STATES

STATE_NAMES = [state.name for state in STATES]


def words(text: str) -> str:
    return " ".join(text.split())


def test_explain_tells_all_states_in_the_order_in_which_they_are_decided() -> None:
    shown = run("explain")
    heads = [line.split()[0] for line in shown.stdout.split("\n") if line and line[0] != " "]
    assert (shown.exit_code, heads) == (0, STATE_NAMES)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_explain_tells_the_outcome_the_meaning_and_the_repairs_of_a_state(state: object) -> None:
    from pipeline.verdicts import State

    assert isinstance(state, State)
    shown = run("explain", state.name)
    told = words(shown.stdout)
    assert shown.exit_code == 0
    assert told.startswith(f"{state.name} ({state.outcome}) {words(state.meaning)}")
    assert [repair for repair in state.repairs if f"- {repair}" not in told] == []
    assert max(map(len, shown.stdout.split("\n"))) <= 80
    named = {fault for fault in FAULTS if f"- {fault}:" in told}
    assert named == (set(FAULTS) if state.name == "arguments-unparseable" else set())


def test_explain_of_an_unknown_state_lists_the_known_ones() -> None:
    shown = run("explain", "fine")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert [name for name in STATE_NAMES if name not in shown.stderr] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text_with_an_example(command: str) -> None:
    shown = run(command, "--help")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert re.search(rf"Examples?:\n.*dispatchable {command}", shown.stdout, re.DOTALL)
    assert max(map(len, shown.stdout.split("\n"))) <= 100


def test_the_help_lists_every_command_with_its_summary() -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    assert list(SUMMARIES) == list(COMMANDS)
    told = words(shown.stdout)
    assert [name for name, summary in SUMMARIES.items() if f"{name} {summary}" not in told] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chekc"], "No such command 'chekc'"),
        (["check"], "Missing argument 'PATH...'"),
        (["check", "x", "--no-such"], "No such option"),
        (["check", "x", "--format", "yaml"], "'yaml' is not one of"),
        (["check", "x", "--jobs", "0"], "0 is not in the range"),
        (["check", "x", "--jobs", "many"], "'many' is not a valid integer"),
        (["check", "x", "--tools"], "Option '--tools' requires an argument"),
        (["--no-such"], "No such option"),
        (["\x1b[31m\u202e"], "No such command"),
        (["check", "--\x1b[31m\u202e"], "No such option"),
    ],
)
def test_a_wrong_command_line_is_told_without_a_traceback(arguments: list[str], said: str) -> None:
    shown = run(*arguments)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert said in shown.stderr
    assert RAW.search(shown.stderr) is None


def test_no_command_shows_the_help() -> None:
    shown = run()
    assert "Commands:" in shown.stdout + shown.stderr


def test_the_version_is_told() -> None:
    from pipeline import __version__

    assert run("--version").stdout == f"dispatchable, version {__version__}\n"


def test_an_error_is_coloured_on_a_terminal_only() -> None:
    coloured, code = on_terminal("check", "/no/such/file")
    assert (code, "\x1b[31m\x1b[1merror[path-not-found]:\x1b[0m" in coloured) == (2, True)
    assert "\x1b" not in run("check", "/no/such/file").stderr


def test_an_error_of_our_own_is_one_line_and_a_traceback_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("\x1b[31mthe log said")

    monkeypatch.setattr("pipeline.cli.check.find_files", broken)
    shown = run("check", "x")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr == (
        "error[internal]: ZeroDivisionError: \\x1b[31mthe log said\n"
        "hint: this is a fault of dispatchable; -vv shows where\n"
    )
    assert isinstance(run("-vv", "check", "x").exception, ZeroDivisionError)
