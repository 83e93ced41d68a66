"""What ``check`` prints for a program, whole documents; its options and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import RAW, run
from sample_calls import FINDING, SCHEMA, TOOLS, USABLE, call, response, write

from pipeline.errors import PipelineError
from pipeline.verdicts import STATE_BY_NAME, STATES

CUT = response(3, call('{"port":"Hu'), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
STATE_NAMES = [state.name for state in STATES]


def finding(source_file: str, line: int, number: int, state: str, **more: Any) -> dict[str, Any]:
    """One call of the document, its members in the order of the contract."""
    return {
        "source_file": source_file,
        "source_line": line,
        "response_id": f"resp_{number}",
        "model": "gpt-5",
        "call_index": 0,
        "call_id": "call_1",
        "tool_name": "get_tide",
        "tool_namespace": None,
        "state": state,
        "outcome": STATE_BY_NAME[state].outcome,
        "fault": None,
        "detail": None,
        "strict": True,
        "arguments": '{"port":"Husum"}',
        "truncation": None,
        "violations": [],
        "repairs": list(STATE_BY_NAME[state].repairs),
        **more,
    }


def expected_calls(log: str) -> list[dict[str, Any]]:
    message = "arguments.port: expected string; got 7"
    broken = [{"path": "arguments.port", "keyword": "type", "expected": "string", "got": "7", "message": message}]
    return [
        finding(log, 2, 2, "arguments-violate-schema", detail=message, arguments='{"port":7}', violations=broken),
        finding(
            log,
            4,
            3,
            "arguments-truncated",
            fault="cut-off",
            detail="the text ends inside a string, 1 level deep (line 1, column 12)",
            arguments='{"port":"Hu',
            truncation="max_output_tokens",
        ),
    ]


@pytest.fixture
def log(tmp_path: Path) -> str:
    return write(tmp_path / "log.jsonl", USABLE, FINDING, '{"id":3,}', CUT, {"level": "info"})


def test_json_is_one_document_as_in_the_contract(log: str) -> None:
    shown = run("check", log, "--format", "json")
    document = json.loads(shown.stdout)
    counts = {"dispatchable": 1, "arguments-violate-schema": 1, "arguments-truncated": 1}
    expected = {
        "schema_version": 1,
        "summary": {
            "files": 1,
            "records": 5,
            "turns": 3,
            "calls": 3,
            "findings": 1,
            "rejects": 1,
            "states": {name: counts.get(name, 0) for name in STATE_NAMES},
            "violation_rate": 0.5,
            "parallel_turns": 0,
            "unrecognised": 1,
            "unrecognised_kinds": {"no answer of a format known here; keys: level": 1},
        },
        "calls": expected_calls(log),
        "rejects": [
            {
                "source_file": log,
                "source_line": 3,
                "source_offset": len(json.dumps(USABLE)) + len(json.dumps(FINDING)) + 2,
                "reason": "not JSON (byte 8 of the record)",
                "excerpt": '{"id":3,}',
            }
        ],
    }
    assert document == expected
    assert json.dumps(document) == json.dumps(expected), "the order of the members"
    assert (shown.exit_code, shown.stderr) == (1, "")


def test_jsonl_prints_the_same_calls_one_a_line(log: str) -> None:
    shown = run("check", log, "--format", "jsonl")
    lines = shown.stdout.splitlines()
    assert [json.loads(line) for line in lines] == expected_calls(log)
    assert [list(json.loads(line)) for line in lines] == [list(one) for one in expected_calls(log)]
    assert shown.stderr == "1 files, 5 records, 3 calls, 1 findings, 1 rejects, 1 unrecognised\n"
    assert run("check", log, "--format", "jsonl", "--quiet").stderr == ""


def test_show_all_prints_every_call(log: str) -> None:
    usable = finding(log, 1, 1, "dispatchable")
    for output_format in ("json", "jsonl"):
        shown = run("check", log, "--show-all", "--format", output_format).stdout
        calls = json.loads(shown)["calls"] if output_format == "json" else list(map(json.loads, shown.splitlines()))
        assert calls == [usable, *expected_calls(log)]


def test_a_log_without_a_call_to_show_is_an_empty_list(tmp_path: Path) -> None:
    document = json.loads(run("check", write(tmp_path / "log.jsonl", USABLE), "--format", "json").stdout)
    assert (document["calls"], document["rejects"], document["summary"]["findings"]) == ([], [], 0)


def test_every_reject_is_in_the_document_and_a_few_are_in_the_picture(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", USABLE, *['{"a":}'] * 200)
    document = json.loads(run("check", log, "--format", "json").stdout)
    assert [reject["source_line"] for reject in document["rejects"]] == list(range(2, 202))
    assert "and 195 more (--format json lists them)" in run("check", log).stdout


TOOL_FILES: dict[str, Any] = {
    "a list of the Responses shape": TOOLS,
    "a list of the Chat shape": [{"type": "function", "function": {"name": "get_tide", "parameters": SCHEMA}}],
    "tools": {"tools": TOOLS},
    "an MCP tools/list result": {"tools": [{"name": "get_tide", "inputSchema": SCHEMA}], "nextCursor": "x"},
    "an MCP answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "get_tide", "inputSchema": SCHEMA}]}},
}


@pytest.mark.parametrize("name", TOOL_FILES)
def test_supplied_definitions_judge_a_log_that_has_none(tmp_path: Path, name: str) -> None:
    bare = {key: value for key, value in FINDING.items() if key != "tools"}
    own = response(9, call("{}", "other"), tools=[{"type": "function", "name": "other"}])
    log = write(tmp_path / "log.jsonl", bare, own)
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOL_FILES[name]))
    without = json.loads(run("check", log, "--format", "json").stdout)["summary"]["states"]
    supplied = json.loads(run("check", log, "--tools", str(tools), "--format", "json").stdout)["summary"]["states"]
    assert {state: count for state, count in without.items() if count} == {
        "tools-not-recorded": 1,
        "dispatchable-unconstrained": 1,
    }
    assert {state: count for state, count in supplied.items() if count} == {
        "arguments-violate-schema": 1,
        "dispatchable-unconstrained": 1,
    }


BAD_TOOL_FILES = {
    "missing": (None, "tools-unreadable"),
    "empty": (b"", "no-definitions"),
    "no JSON": (b"tools: []", "no-definitions"),
    "an empty list": (b"[]", "no-definitions"),
    "no definitions": (b'{"a":1}', "no-definitions"),
    "too deep": (b"[" * 100_000, "no-definitions"),
    "UTF-16": ("[]".encode("utf-16"), "no-definitions"),
}


@pytest.mark.parametrize("name", BAD_TOOL_FILES)
def test_a_bad_file_of_definitions_is_an_error_before_anything_is_read(tmp_path: Path, name: str) -> None:
    content, code = BAD_TOOL_FILES[name]
    tools = tmp_path / "tools.json"
    if content is not None:
        tools.write_bytes(content)
    shown = run("check", write(tmp_path / "log.jsonl", USABLE), "--tools", str(tools))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"error[{code}]: ")
    assert "\nhint: " in shown.stderr


#: ``--fail-over``, and the exit code over one finding and one usable call: a rate of 50 %.
RATES = [("0%", 1), ("49.9%", 1), ("50%", 0), ("50.0%", 0), ("100%", 0), ("1e1%", 1), ("0.5%", 1)]
BAD_RATES = ["", "%", "50", "0.5", "-1%", "101%", "nan%", "inf%", "x%", "50%%", "5,0%"]


@pytest.mark.parametrize(("rate", "code"), RATES)
def test_fail_over_compares_the_violation_rate(tmp_path: Path, rate: str, code: int) -> None:
    assert run("check", write(tmp_path / "log.jsonl", USABLE, FINDING), "--fail-over", rate).exit_code == code


@pytest.mark.parametrize("rate", BAD_RATES)
def test_a_rate_that_is_no_percentage_is_an_error(tmp_path: Path, rate: str) -> None:
    shown = run("check", write(tmp_path / "log.jsonl", USABLE), "--fail-over", rate)
    expected = PipelineError("bad-rate", f"--fail-over {rate!r} is not a percentage", "write it as in --fail-over 0.5%")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (2, "", f"{expected}\n")


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([USABLE], 0),
        ([FINDING], 1),
        ([USABLE, FINDING], 1),
        ([CUT], 0),
        ([response(1, call("{}"), tools=None)], 0),
        ([response(1)], 0),
        ([USABLE, "{broken"], 0),
        (["{broken"], 2),
        ([{"a": 1}], 2),
    ],
)
def test_the_exit_code_says_clean_findings_or_failed(tmp_path: Path, records: list[Any], code: int) -> None:
    assert run("check", write(tmp_path / "log.jsonl", *records)).exit_code == code


def test_standard_input_is_read_for_a_dash(tmp_path: Path) -> None:
    text = Path(write(tmp_path / "log.jsonl", USABLE, FINDING)).read_bytes()
    shown = run("check", "-", "--format", "jsonl", stdin=text)
    assert [json.loads(line)["source_file"] for line in shown.stdout.splitlines()] == ["-"]
    assert shown.exit_code == 1


def test_files_directories_and_globs_are_read_each_once(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a.jsonl", "deep/b.jsonl", "deep/er/c.jsonl"):
        write(tmp_path / name, FINDING)
    shown = run("check", str(tmp_path / "*.jsonl"), str(tmp_path), str(tmp_path / "a.jsonl"), "--format", "json")
    document = json.loads(shown.stdout)
    assert [Path(one["source_file"]).name for one in document["calls"]] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert document["summary"]["files"] == 3


@pytest.mark.parametrize("output_format", ["json", "jsonl", "table"])
def test_what_a_log_wrote_never_reaches_the_output_raw(output_format: str) -> None:
    hostile = Path(__file__).parent / "golden" / "long-and-hostile" / "log.jsonl"
    shown = run("check", str(hostile), "--format", output_format, "--show-all")
    assert RAW.search(shown.stdout + shown.stderr) is None
    if output_format == "json":
        names = {one["tool_name"] for one in json.loads(shown.stdout)["calls"]}
        assert "get\x1b]0;owned\x07\x1b[31m\u202etide\r\n" in names
