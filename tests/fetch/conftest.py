"""A server for every test, and the command run against it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loopback_api import KEY, Server

from pipeline.cli.fetch import command


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment variables of a run against the server; already set in this process."""
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    ours = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    return ours


Run = Callable[..., Result]


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process, in an empty directory; only an error of ours may come out of it."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, stdin: bytes = b"") -> Result:
        return CliRunner().invoke(command, list(arguments), input=stdin)

    return invoke
