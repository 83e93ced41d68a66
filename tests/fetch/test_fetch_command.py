from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from conftest import Run
from loopback_api import Reply, Seen, Server, error, one_line, response

from pipeline.errors import PipelineError

R = [f"resp_{number:048x}" for number in range(2000)]


def lines_of(path: str) -> list[bytes]:
    content = Path(path).read_bytes()
    assert not content or content.endswith(b"\n")
    return content.split(b"\n")[:-1]


def write_ids(ids: list[str]) -> None:
    Path("ids.txt").write_text("".join(f"{id_}\n" for id_ in ids))


def test_two_thousand_ids_through_every_kind_of_trouble(server: Server, run: Run) -> None:
    """404s, 429 with Retry-After, 500s, slow answers, dropped connections and malformed bodies, in one run of two."""
    server.put(*R)
    gone, throttled, broken, slow = R[100:160], R[200:210], R[300:310], R[400:405]
    dropped, cut, malformed, dead = R[500:505], R[600:605], R[700:702], R[800:802]
    for id_ in gone:
        server.put(id_, replies=[error(404, f"Response with id '{id_}' not found.")])
    for id_ in throttled:
        server.put(id_, replies=[error(429, "Slow down.", Retry_After="1"), Reply(body=response(id_))])
    for id_ in broken:
        server.put(id_, replies=[error(500, "Oops."), Reply(body=response(id_))])
    for id_ in slow:
        server.put(id_, replies=[Reply(body=response(id_), delay_s=0.3)])
    for id_ in dropped:
        server.put(id_, replies=[Reply(cut_at=0), Reply(body=response(id_))])
    for id_ in cut:
        server.put(id_, replies=[Reply(body=response(id_), cut_at=40), Reply(body=response(id_))])
    server.put(*malformed, replies=[Reply(body=b"<html>upstream</html>")])
    server.put(*dead, replies=[error(503, "Not today.")])
    write_ids(R)

    first = run("--ids", "ids.txt", "--out", "out.jsonl", "--unreadable", "gone.txt", "--retries", "2")

    missing = {*gone, *malformed, *dead}
    assert first.exit_code == 1
    assert sorted(lines_of("out.jsonl")) == sorted(one_line(response(id_)) for id_ in R if id_ not in missing)
    assert Path("gone.txt").read_text() == "".join(f"{id_}\n" for id_ in gone)
    assert first.stdout == ""
    assert first.stderr.splitlines() == [
        "2,000 asked for: 1,936 fetched, 0 held already, 60 unreadable, 4 failed",
        "unreadable (404: expired, or never stored):",
        *(f"  {id_}" for id_ in gone),
        "failed (run again to fetch what is missing):",
        *(f"  {id_}: malformed body: it is not JSON (character 0)" for id_ in malformed),
        *(f"  {id_}: HTTP 503: Not today." for id_ in dead),
    ]
    assert {seen.method for seen in server.seen} == {"GET"}
    for id_ in throttled:
        asked_s = [seen.at_s for seen in server.seen if seen.path.endswith(id_)]
        assert len(asked_s) == 2
        assert asked_s[1] - asked_s[0] >= 1.0

    server.put(*malformed, *dead)
    server.seen.clear()
    second = run("--ids", "ids.txt", "--out", "out.jsonl")

    assert second.exit_code == 0
    assert sorted(server.ids()) == sorted(missing)
    assert sorted(lines_of("out.jsonl")) == sorted(one_line(response(id_)) for id_ in R if id_ not in gone)


def test_each_id_goes_to_its_own_endpoint_and_is_asked_for_once(server: Server, run: Run) -> None:
    server.put(R[0], "chatcmpl-1")
    ids = f"{R[0]}\n# mine\n\nchatcmpl-1\n{R[0]}\n".encode()

    result = run("--ids", "-", "--out", "-", "--concurrency", "1", stdin=ids)

    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("GET", f"/v1/responses/{R[0]}"),
        ("GET", "/v1/chat/completions/chatcmpl-1"),
    ]
    assert result.stdout_bytes == one_line(response(R[0])) + b"\n" + one_line(response("chatcmpl-1")) + b"\n"
    assert result.stderr == "2 asked for: 2 fetched, 0 held already, 0 unreadable, 0 failed\n"
    assert result.exit_code == 0


def test_ids_stand_in_a_table_of_the_users_own(server: Server, run: Run) -> None:
    server.put(R[0], R[1])
    Path("mine.csv").write_text(f"when,response\n1,{R[0]}\n2,{R[1]}\n")

    result = run("--ids", "mine.csv", "--ids-field", "response", "--out", "out.jsonl", "--quiet")

    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(lines_of("out.jsonl")) == sorted(one_line(response(id_)) for id_ in R[:2])


def test_the_clients_variables_are_heeded(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    server.put(R[0])
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj_1")

    run("--ids", "-", "--out", "-", stdin=R[0].encode())

    (seen,) = server.seen
    assert seen.headers["openai-organization"] == "org-1"
    assert seen.headers["openai-project"] == "proj_1"


def test_404_alone_is_a_run_that_went_well(server: Server, run: Run) -> None:
    write_ids(R[:2])

    result = run("--ids", "ids.txt", "--out", "out.jsonl")

    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "2 asked for: 0 fetched, 0 held already, 2 unreadable, 0 failed",
        "unreadable (404: expired, or never stored):",
        f"  {R[0]}",
        f"  {R[1]}",
        "  None was found: are the key's project and OPENAI_BASE_URL the right ones?",
    ]
    assert [seen.path for seen in server.seen] == [f"/v1/responses/{id_}" for id_ in server.ids()]
    assert sorted(server.ids()) == sorted(R[:2])


KEY_HINT = (
    "OPENAI_API_KEY must be a key of the project that made the answers. A restricted key needs read permission for"
    " Responses (ids resp_…) and for Chat completions (ids chatcmpl-… and --stored-completions)."
)


@pytest.mark.parametrize(
    ("status", "said", "message"),
    [
        (401, "Incorrect API key.", "HTTP 401: the API does not know the key (Incorrect API key.)."),
        (403, "Missing scopes.", "HTTP 403: the API does not let this key read them (Missing scopes.)."),
    ],
)
def test_a_refused_key_ends_the_run_and_keeps_what_came_before(
    server: Server, run: Run, status: int, said: str, message: str
) -> None:
    server.put(*R[:40])
    server.put(R[20], replies=[error(status, said)])
    write_ids(R[:40])

    result = run("--ids", "ids.txt", "--out", "out.jsonl", "--concurrency", "1", "--unreadable", "gone.txt")

    assert result.exception == PipelineError("key-refused", message, KEY_HINT)
    assert lines_of("out.jsonl") == [one_line(response(id_)) for id_ in R[:20]]
    assert result.stderr == "20 fetched before this, and kept in out.jsonl\n"
    assert Path("gone.txt").read_text() == ""
    assert server.ids() == R[:21]


FAILURES = {
    "another 4xx": (error(400, "Bad\x1b[2J  \n request."), "HTTP 400: Bad\\x1b[2J request."),
    "a redirect": (
        Reply(302, headers=(("Location", "http://127.0.0.1:9/v1/elsewhere"),)),
        "HTTP 302: a redirect, and none is followed, since it would take the key along",
    ),
    "a longer wait than is waited": (
        error(429, "Later.", Retry_After="86400"),
        "HTTP 429: Later. (asks to wait: 86400)",
    ),
    "a body of another id": (Reply(body=response(R[1])), "the body is that of another id, or of none"),
    "a body of no id": (Reply(body=b"{}"), "the body is that of another id, or of none"),
    "no time left": (Reply(body=response(R[0]), delay_s=0.6), "no answer within 0.3 s, tried once"),
    "words beyond measure": (Reply(418, b"x" * 10_000), "HTTP 418: " + "x" * 199 + "…"),
}


@pytest.mark.parametrize(("reply", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_what_fails_is_listed_with_its_reason(server: Server, run: Run, reply: Reply, reason: str) -> None:
    server.put(R[0], replies=[reply])
    server.put(R[2])
    write_ids([R[0], R[2]])

    result = run("--ids", "ids.txt", "--out", "out.jsonl", "--retries", "0", "--timeout", "0.3", "--quiet")

    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "2 asked for: 1 fetched, 0 held already, 0 unreadable, 1 failed",
        "failed (run again to fetch what is missing):",
        f"  {R[0]}: {reason}",
    ]
    assert lines_of("out.jsonl") == [one_line(response(R[2]))]
    assert len(server.seen) == 2


def test_a_redirect_takes_the_key_nowhere(server: Server, run: Run) -> None:
    with Server() as other:
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        server.put(R[0], replies=[Reply(307, headers=(("Location", f"{other.url}/responses/{R[0]}"),))])
        other.put(R[0])

        result = run("--ids", "-", "--out", "-", stdin=R[0].encode())

        other.shutdown()
        thread.join()
    assert (result.exit_code, result.stdout, other.seen) == (1, "", [])


def test_a_date_to_wait_for_is_waited_for(server: Server, run: Run) -> None:
    # Whole seconds: two ahead, so that one at least is left when the client reads it.
    until_s = int(time.time()) + 2
    throttled = error(429, "Later.", Retry_After=formatdate(until_s, usegmt=True))
    server.put(R[0], replies=[throttled, Reply(body=response(R[0]))])

    result = run("--ids", "-", "--out", "-", stdin=R[0].encode())

    assert result.exit_code == 0
    assert time.time() >= until_s
    assert [seen.headers["x-stainless-retry-count"] for seen in server.seen] == ["0", "1"]


def test_a_wait_of_a_day_is_left_to_another_run(server: Server, run: Run) -> None:
    server.put(R[0], replies=[error(503, "Later.", Retry_After="86400")])

    result = run("--ids", "-", "--out", "-", stdin=R[0].encode())

    assert (result.exit_code, server.ids()) == (1, [R[0]])
    assert f"{R[0]}: HTTP 503: Later. (asks to wait: 86400)" in result.stderr


def test_the_rate_counts_retries_too(server: Server, run: Run) -> None:
    server.put(*R[:15])
    server.put(R[0], replies=[error(429, "Wait.", retry_after_ms="1"), Reply(body=response(R[0]))])
    write_ids(R[:15])

    result = run("--ids", "ids.txt", "--out", "out.jsonl", "--rate", "40")

    assert result.exit_code == 0
    arrivals_s = sorted(seen.at_s for seen in server.seen)
    assert len(arrivals_s) == 16
    assert arrivals_s[-1] - arrivals_s[0] >= 15 / 40 - 0.02


@pytest.mark.parametrize("concurrency", [1, 8, 16])
def test_no_more_requests_are_under_way_than_allowed(server: Server, run: Run, concurrency: int) -> None:
    guard = threading.Lock()
    together = threading.Barrier(concurrency)  # nobody is answered before so many are waiting
    under_way = most = 0

    def respond(seen: Seen) -> Reply:
        nonlocal under_way, most
        with guard:
            under_way += 1
            most = max(most, under_way)
        together.wait(timeout=10)
        with guard:
            under_way -= 1
        return Reply(body=response(seen.path.rsplit("/", 1)[1]))

    server.respond = respond
    write_ids(R[:48])

    result = run("--ids", "ids.txt", "--out", "out.jsonl", "--concurrency", str(concurrency))

    assert (result.exit_code, most) == (0, concurrency)


def test_without_an_answer_of_any_kind_the_run_ends_soon(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:  # bound and not listening: whoever connects is refused
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        write_ids(R)

        result = run("--ids", "ids.txt", "--out", "out.jsonl", "--retries", "0")

    assert result.exception == PipelineError(
        "api-unreachable",
        "Nothing answered the first 20 requests: the connection failed, tried once (ConnectError: All connection"
        " attempts failed).",
        "Look at the network, and at OPENAI_BASE_URL if it is set.",
    )
    assert server.seen == []


def refused(code: str, message: str, hint: str = "") -> PipelineError:
    return PipelineError(code, message, hint)


BEFORE_SENDING = {
    "a bad id": (
        ["--ids", "-", "--out", "out.jsonl"],
        refused(
            "bad-id",
            "1 id is bad: <stdin>:2 'resp_../models'.",
            "An id is resp_… or chatcmpl-…, of letters, digits, _ and -, at most 512 characters. Nothing was sent.",
        ),
    ),
    "no file of ids": (
        ["--ids", "nowhere.txt", "--out", "out.jsonl"],
        refused("ids-unreadable", "Cannot read nowhere.txt: No such file or directory."),
    ),
    "the ids as output": (
        ["--ids", "ids.txt", "--out", "./ids.txt"],
        refused("out-unwritable", "--out ./ids.txt is the file of ids itself.", "Give another --out."),
    ),
    "the ids as list of the unreadable": (
        ["--ids", "ids.txt", "--out", "out.jsonl", "--unreadable", "ids.txt"],
        refused("out-unwritable", "--unreadable ids.txt is another file of this run."),
    ),
    "a list of the unreadable nowhere": (
        ["--ids", "ids.txt", "--out", "out.jsonl", "--unreadable", "nowhere/gone.txt"],
        refused("out-unwritable", "Cannot write nowhere/gone.txt: No such file or directory."),
    ),
    "an output that says it is compressed": (
        ["--ids", "ids.txt", "--out", "out.jsonl.gz"],
        refused("out-unwritable", "out.jsonl.gz: fetch writes plain JSONL, which its name must not deny."),
    ),
    "an output of another kind": (
        ["--ids", "ids.txt", "--out", "notes.txt", "--unreadable", "gone.txt"],
        refused(
            "out-not-ours",
            "notes.txt:1 is not a record that fetch wrote: it is not JSON (character 0). The file was left as it is.",
            "Give a new file as --out, or one that an earlier fetch wrote.",
        ),
    ),
}


@pytest.mark.parametrize(("arguments", "expected"), BEFORE_SENDING.values(), ids=BEFORE_SENDING.keys())
def test_what_cannot_work_is_refused_before_anything_is_sent(
    server: Server, run: Run, arguments: list[str], expected: PipelineError
) -> None:
    write_ids(R[:1])
    Path("notes.txt").write_text("my notes\n")
    Path("gone.txt").write_text(R[1])

    result = run(*arguments, stdin=f"{R[0]}\nresp_../models\n".encode())

    assert result.exception == expected
    assert server.seen == []
    assert [Path(name).read_text() for name in ("ids.txt", "notes.txt", "gone.txt")] == [
        f"{R[0]}\n",
        "my notes\n",
        R[1],
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "-"],
        ["--out", "-", "--ids", "ids.txt", "--stored-completions"],
        ["--out", "-", "--ids", "ids.txt", "--model", "m"],
        ["--out", "-", "--stored-completions", "--ids-field", "id"],
        ["--ids", "ids.txt"],
        ["--out", "-", "--ids", "ids.txt", "--rate", "0"],
        ["--out", "-", "--ids", "ids.txt", "--concurrency", "0"],
    ],
    ids=" ".join,
)
def test_flags_that_do_not_go_together_are_a_usage_error(server: Server, run: Run, arguments: list[str]) -> None:
    write_ids(R[:1])

    assert run(*arguments).exit_code == 2
    assert server.seen == []


ENVIRONMENTS = {
    "no key": (
        {"OPENAI_API_KEY": ""},
        refused(
            "key-missing",
            "OPENAI_API_KEY is not set, and without a key the API answers nothing.",
            "Set OPENAI_API_KEY to a key of the project that made the answers; read permission is enough.",
        ),
    ),
    "a key that was copied badly": (
        {"OPENAI_API_KEY": "sk-“one” two"},
        refused(
            "key-malformed",
            "OPENAI_API_KEY holds blanks or characters beyond ASCII, which no key has.",
            "Copy the key again; quotes or a line break may have come along.",
        ),
    ),
    "an address without a scheme": (
        {"OPENAI_BASE_URL": "localhost:8000/v1"},
        refused(
            "api-misconfigured",
            "OPENAI_BASE_URL is not an http or https address.",
            "Set it to one such as https://api.openai.com/v1, or unset it.",
        ),
    ),
}


@pytest.mark.parametrize(("variables", "expected"), ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_an_environment_that_cannot_work_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: PipelineError
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    write_ids(R[:1])

    assert run("--ids", "ids.txt", "--out", "out.jsonl").exception == expected


def test_without_the_package_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    write_ids(R[:1])

    assert run("--ids", "ids.txt", "--out", "out.jsonl").exception == PipelineError(
        "fetch-extra-missing",
        "fetch needs the package openai, which is not installed.",
        "Install it with: pip install 'dispatchable[fetch]'",
    )


def test_help_does_not_load_the_client() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pipeline", "fetch", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )

    assert "--stored-completions" in done.stdout
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert loaded & {"openai", "httpx", "httpx2", "rich", "pyarrow", "duckdb", "jsonschema_rs"} == set()
