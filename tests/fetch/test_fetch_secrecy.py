from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import Run
from loopback_api import KEY, Reply, Server, error, one_line, response

from pipeline.errors import PipelineError

R = [f"resp_{number:040x}" for number in range(8)]
#: A server that says the key back in every way in which it can say anything.
ECHOES = {
    "in the message of a 401": error(401, f"Incorrect API key provided: {KEY}."),
    "in the message of a 403": error(403, f"{KEY} may not."),
    "in the message of a 400": error(400, f"{'x' * 180} {KEY}"),
    "in the message of a 404": error(404, f"Nothing for {KEY}."),
    "in a body that is no JSON": Reply(500, f"<p>{KEY}</p>".encode()),
    "in a header": error(429, "Later.", Retry_After=f"{KEY}"),
    "in the address of a redirect": Reply(302, headers=(("Location", f"/{KEY}"),)),
    "in a body that would be kept": Reply(body=response(R[0]).replace(b"completed", KEY.encode())),
    "in a malformed body": Reply(body=f"{{{KEY}".encode()),
    "in the id of a body": Reply(body=response(KEY)),
}


@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES.keys())
def test_the_key_is_in_no_output_whatever_the_server_says(
    server: Server, run: Run, reply: Reply, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    server.put(R[0], replies=[reply])
    server.put(R[1])
    caplog.set_level(logging.DEBUG)

    result = run(
        *("--ids", "-", "--out", "out.jsonl", "--unreadable", "gone.txt", "--retries", "1"),
        stdin="\n".join(R[:2]).encode(),
    )

    raised = "".join(traceback.format_exception(result.exception)) if result.exception else ""
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert KEY not in result.output + raised + repr(result.exception) + written + caplog.text
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_clients_own_logging_stays_still(server: Server, environment: dict[str, str]) -> None:
    server.put(R[0], replies=[error(500, KEY, x_request_id=KEY), Reply(body=response(R[0]))])

    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "-vv", "fetch", "--ids", "-", "--out", "-"],
        input=R[0].encode(),
        capture_output=True,
        check=True,
        env={**os.environ, **environment, "OPENAI_LOG": "debug"},
    )

    assert done.stdout == one_line(response(R[0])) + b"\n"
    assert done.stderr == b"1 asked for: 1 fetched, 0 held already, 0 unreadable, 0 failed\n"


def test_a_body_that_holds_the_key_is_held_back_and_said_to_be(server: Server, run: Run) -> None:
    server.put(R[0], replies=[Reply(body=response(R[0]).replace(b"completed", KEY.encode()))])

    result = run("--ids", "-", "--out", "-", "--quiet", stdin=R[0].encode())

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == f"  {R[0]}: its body holds the key itself, and is not written"


def test_a_placeholder_of_a_key_holds_no_body_back(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "completed")
    server.put(R[0])

    assert run("--ids", "-", "--out", "-", stdin=R[0].encode()).exit_code == 0


@pytest.mark.parametrize("field", [None, "id"])
def test_a_key_among_the_ids_is_not_shown(run: Run, field: str | None) -> None:
    content = KEY if field is None else f"id\n{KEY}"
    result = run(
        *("--ids", "-", "--out", "-", *(() if field is None else ("--ids-field", field))), stdin=content.encode()
    )

    assert isinstance(result.exception, PipelineError)
    assert result.exception.code == "bad-id"
    assert KEY[:12] not in str(result.exception) + result.output


def test_a_password_in_the_base_url_is_not_shown(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    place = urlsplit(server.url).netloc
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:open-sesame@{place}/v1")
    server.put(R[0], replies=[error(400, "open-sesame is no password")])

    result = run("--ids", "-", "--out", "-", stdin=R[0].encode())

    assert (result.exit_code, "HTTP 400: [key] is no password" in result.stderr) == (1, True)
