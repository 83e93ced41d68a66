"""The API through its official client: GET and nothing else, paced, retried as the server asks, no redirects.

The client brings the conventions for key, organisation, project and base URL, the retries with ``Retry-After``, and
timeouts. This file is the only one that knows it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.errors import PipelineError
from pipeline.fetch.ids import RESPONSE_PREFIX
from pipeline.fetch.secrets import KEY_VARIABLE, Secrets

if TYPE_CHECKING:
    import openai

PAGE_ITEMS = 100  # the most that the API gives


@dataclass(frozen=True, slots=True)
class Pace:
    """How hard to press: requests at once, requests a second (None: no limit), retries a request, seconds to wait."""

    concurrency: int = 8
    rate_per_s: float | None = None
    retries: int = 4
    timeout_s: float = 60.0


class RequestError(Exception):
    """One request failed for good. ``status`` is None where no answer came; ``reason`` is fit to be shown."""

    def __init__(self, reason: str, status: int | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Api:
    """The API for the length of a run: an async context manager. ``answered`` tells whether it ever answered.

    Raises:
        PipelineError: ``fetch-extra-missing``, ``api-misconfigured``, ``key-missing`` or ``key-malformed``.
    """

    def __init__(self, pace: Pace, secrets: Secrets) -> None:
        try:
            import openai
        except ModuleNotFoundError as error:
            if error.name != "openai":
                raise
            raise PipelineError(
                "fetch-extra-missing",
                "fetch needs the package openai, which is not installed.",
                "Install it with: pip install 'dispatchable[fetch]'",
            ) from None
        _check_base_url()
        self._openai = openai
        self._secrets = secrets
        self._pace = pace
        self._interval_s = 1 / pace.rate_per_s if pace.rate_per_s else 0.0
        self._next_slot_s = 0.0
        self.concurrency = pace.concurrency
        self.answered = False
        self._client = self._open()

    async def __aenter__(self) -> Api:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def body_of(self, id_: str) -> bytes:
        """Body of the stored answer ``id_``, as it came.

        Raises:
            RequestError: It failed for good; ``status`` 404 means that there is no such answer.
            PipelineError: ``key-refused``.
        """
        if id_.startswith(RESPONSE_PREFIX):
            return await self._ask(self._client.responses.with_raw_response.retrieve, id_)
        return await self._ask(self._client.chat.completions.with_raw_response.retrieve, id_)

    async def page(self, after: str | None, newest_first: bool, filters: dict[str, Any]) -> bytes:
        """Body of one page of the stored chat completions behind the id ``after``, as it came.

        Raises:
            RequestError, PipelineError: As :meth:`body_of`.
        """
        position = {} if after is None else {"after": after}
        order = "desc" if newest_first else "asc"
        listing: Any = self._client.chat.completions.with_raw_response.list
        return await self._ask(listing, limit=PAGE_ITEMS, order=order, **position, **filters)

    def _open(self) -> openai.AsyncOpenAI:
        # A redirect could take the key to another host. Hooks see every request, retries too.
        # The client and its transport log addresses and headers when asked (OPENAI_LOG), and a server can echo a key.
        for name in ("openai", "httpx", "httpx2", "httpcore", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        hooks: dict[str, list[Any]] = {"request": [self._before], "response": [self._after]}
        transport = self._openai.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks=hooks)
        try:
            return self._openai.AsyncOpenAI(
                api_key=self._secrets.require_key(),
                max_retries=self._pace.retries,
                timeout=self._pace.timeout_s,
                http_client=transport,
            )
        except self._openai.OpenAIError as error:
            raise PipelineError("api-misconfigured", f"{error}") from None

    async def _before(self, request: Any) -> None:
        if request.method != "GET":
            raise AssertionError(f"fetch only reads, and this is a {request.method}")
        now_s = asyncio.get_running_loop().time()
        slot_s = max(now_s, self._next_slot_s)
        self._next_slot_s = slot_s + self._interval_s
        if slot_s > now_s:
            await asyncio.sleep(slot_s - now_s)

    async def _after(self, _: Any) -> None:
        self.answered = True

    async def _ask(self, endpoint: Any, *arguments: str, **options: Any) -> bytes:
        try:
            answer = await endpoint(*arguments, **options)
        except self._openai.APIStatusError as error:
            raise self._refusal(error) from None
        except self._openai.APITimeoutError:
            raise RequestError(f"no answer within {self._pace.timeout_s:g} s, {self._tries()}", None) from None
        except self._openai.APIConnectionError as error:
            cause = error.__cause__
            words = f"{type(cause).__name__}: {cause}" if cause is not None and str(cause) else type(cause).__name__
            reason = f"the connection failed, {self._tries()} ({self._secrets.phrase(words)})"
            raise RequestError(reason, None) from None
        body: bytes = answer.http_response.content
        return body

    def _tries(self) -> str:
        return f"tried {self._pace.retries + 1} times" if self._pace.retries else "tried once"

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        said = self._secrets.phrase(_server_words(error.body))
        if status in (401, 403):
            return _key_refused(status, said)
        reason = f"HTTP {status}" + (f": {said}" if said else "")
        if 300 <= status < 400:
            reason = f"HTTP {status}: a redirect, and none is followed, since it would take the key along"
        wait = self._secrets.phrase(error.response.headers.get("retry-after", ""), 40)
        if wait and (status == 429 or status >= 500):
            reason += f" (asks to wait: {wait})"
        return RequestError(reason, status)


def _server_words(body: object) -> str:
    if isinstance(body, dict):
        message = body.get("message")
        return message if isinstance(message, str) else ""
    return body if isinstance(body, str) else ""


def _key_refused(status: int, said: str) -> PipelineError:
    what = "does not know the key" if status == 401 else "does not let this key read them"
    return PipelineError(
        "key-refused",
        f"HTTP {status}: the API {what}" + (f" ({said})." if said else "."),
        f"{KEY_VARIABLE} must be a key of the project that made the answers. A restricted key needs read permission for"
        " Responses (ids resp_…) and for Chat completions (ids chatcmpl-… and --stored-completions).",
    )


def _check_base_url() -> None:
    url = os.environ.get("OPENAI_BASE_URL")
    if url is None:
        return
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise PipelineError(
            "api-misconfigured",
            "OPENAI_BASE_URL is not an http or https address.",
            "Set it to one such as https://api.openai.com/v1, or unset it.",
        )
