"""Stored answers over the API, read-only: ids or the list of stored completions -> one JSON document a line on disk.

Nothing here imports the client library until a run begins, so that ``dispatchable fetch --help`` stays quick and the
library stays an extra.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pipeline.fetch.api import Api, Pace
from pipeline.fetch.ids import read_ids
from pipeline.fetch.outcome import Failure, Outcome, Tell
from pipeline.fetch.output import LineFile, LineStream, Sink, write_unreadable
from pipeline.fetch.retrieve import retrieve
from pipeline.fetch.secrets import Secrets
from pipeline.fetch.walk import Bookmark, Query, parse_metadata, parse_since, walk

__all__ = [
    "Failure",
    "LineFile",
    "LineStream",
    "Outcome",
    "Pace",
    "Query",
    "Secrets",
    "Sink",
    "Tell",
    "fetch_ids",
    "fetch_stored_completions",
    "parse_metadata",
    "parse_since",
    "read_ids",
    "write_unreadable",
]


def fetch_ids(ids: Sequence[str], sink: Sink, pace: Pace, secrets: Secrets, outcome: Outcome, tell: Tell) -> None:
    """Fetch every id that ``sink`` does not hold yet and append its body there; ``outcome`` is filled as it goes.

    Raises:
        PipelineError: The key is missing or refused, the package is missing, nothing answers, or ``sink`` fails.
    """
    _run(lambda api: retrieve(api, ids, sink, outcome, tell, secrets), pace, secrets)


def fetch_stored_completions(
    query: Query, sink: Sink, pace: Pace, secrets: Secrets, outcome: Outcome, tell: Tell
) -> None:
    """Walk the list of stored chat completions and append each that ``sink`` does not hold; fills ``outcome``.

    Raises:
        PipelineError: As :func:`fetch_ids`.
    """
    bookmark = Bookmark.beside(sink, query)
    _run(lambda api: walk(api, query, sink, bookmark, outcome, tell, secrets), pace, secrets)


def _run(work: Callable[[Api], Coroutine[Any, Any, None]], pace: Pace, secrets: Secrets) -> None:
    async def session() -> None:
        async with Api(pace, secrets) as api:
            await work(api)

    with secrets.guard():
        asyncio.run(session())
