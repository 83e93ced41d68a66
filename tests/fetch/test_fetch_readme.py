from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback_api import Reply, Seen, Server

README = Path(__file__).parents[2] / "README.md"
CHAPTER = README.read_text(encoding="utf-8").partition("## Fetch stored responses\n")[2].partition("\n## ")[0]
#: A command of the chapter, and what it says where the chapter shows it.
EXAMPLES = re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", CHAPTER, re.DOTALL)

FOUND = ["resp_1a", "resp_2b", "chatcmpl-3c"]
GONE = "resp_68a3f2c19b7c8191a0b4d5e6f7a8b9c0"


def stored_completions(seen: Seen) -> Reply | None:
    if seen.path != "/v1/chat/completions":
        return None
    listed = {"id": "chatcmpl-9", "created": int(time.time()), "object": "chat.completion", "choices": []}
    return Reply(body=json.dumps({"object": "list", "data": [listed], "has_more": False}).encode())


def test_the_chapter_has_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(("command", "says"), EXAMPLES)
def test_an_example_of_the_readme_runs(
    server: Server, environment: dict[str, str], tmp_path: Path, command: str, says: str
) -> None:
    server.put(*FOUND)
    server.respond = stored_completions
    (tmp_path / "ids.txt").write_text("\n".join([*FOUND, GONE]))
    (tmp_path / "calls.csv").write_text("when,response_id\n" + "".join(f"1,{id_}\n" for id_ in FOUND))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, **environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    assert server.seen != []
    if says:
        assert done.stderr == says
