"""A real HTTP server on loopback that plays the API."""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

#: Long enough that no ordinary text holds it, as a real key is.
KEY = "sk-proj-TESTONLY-0123456789abcdefghijklmnopqrstuvwxyz"


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the server does with one request: answer, or let the connection drop after ``cut_at`` bytes of it."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    cut_at: int | None = None


@dataclasses.dataclass(frozen=True)
class Seen:
    """One request as it arrived: ``at_s`` on the monotonic clock."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    at_s: float


def error(status: int, message: str, **headers: str) -> Reply:
    """The API's way of saying no."""
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None}}).encode()
    return Reply(status, body, tuple((name.replace("_", "-"), value) for name, value in headers.items()))


def response(id_: str) -> bytes:
    """A stored answer with its tools, in the shape its id asks for, printed over many lines as the API does."""
    find = {"name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}
    made = {"name": "find", "arguments": '{"q":"a\\nb \\u00e9 é"}'}
    document: dict[str, Any]
    if id_.startswith("chatcmpl-"):
        message = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": made}]}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        tools = [{"type": "function", "function": find}]
        document = {"id": id_, "object": "chat.completion", "created": 1790000000, "tools": tools, "choices": [choice]}
    else:
        call = {"type": "function_call", "call_id": "call_1", **made}
        tools = [{"type": "function", **find}]
        document = {"id": id_, "object": "response", "status": "completed", "tools": tools, "output": [call]}
    return json.dumps(document, indent=2, ensure_ascii=False).encode()


class Server(ThreadingHTTPServer):
    """Answers every known path in turn with its replies, the last one for ever; other paths with 404."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[Seen] = []
        self.replies: dict[str, list[Reply]] = {}
        self.delay_s = 0.0
        self.respond: Callable[[Seen], Reply | None] = lambda _: None
        self._guard = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def put(self, *ids: str, replies: list[Reply] | None = None) -> None:
        """Store answers under their ids: their own bodies, or given replies."""
        for id_ in ids:
            kind = "responses" if id_.startswith("resp_") else "chat/completions"
            self.replies[f"/v1/{kind}/{id_}"] = list(replies or [Reply(body=response(id_))])

    def reply_to(self, seen: Seen) -> Reply:
        with self._guard:
            self.seen.append(seen)
            planned = self.replies.get(seen.path, [])
            if planned:
                return planned.pop(0) if len(planned) > 1 else planned[0]
        return self.respond(seen) or error(404, "No such object.")

    def ids(self) -> list[str]:
        """Last segments of the paths asked for, in order."""
        with self._guard:
            return [seen.path.rsplit("/", 1)[1] for seen in self.seen]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, parts.path, parse_qs(parts.query), headers, time.monotonic())
        reply = self.server.reply_to(seen)
        time.sleep(reply.delay_s or self.server.delay_s)
        if reply.cut_at == 0:
            self.hang_up()
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body[: reply.cut_at])
        self.wfile.flush()
        if reply.cut_at is not None:
            self.hang_up()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def handle(self) -> None:
        # A client that was killed resets its connections.
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def one_line(body: bytes) -> bytes:
    """How a body is to lie in the file: without the line breaks between its tokens."""
    return body.replace(b"\r", b"").replace(b"\n", b"")
