"""Ids -> documents: a few workers draw from one list, and each answer is written as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from pipeline.errors import PipelineError
from pipeline.fetch.api import Api, RequestError
from pipeline.fetch.documents import MalformedError, read_document
from pipeline.fetch.outcome import Failure, Outcome, Tell
from pipeline.fetch.output import Sink
from pipeline.fetch.secrets import Secrets

#: So many ids in a row without any answer since the start, each retried, mean a wrong address or no network.
SILENCE_MAX = 20
HELD_BACK = "its body holds the key itself, and is not written"


async def retrieve(api: Api, ids: Sequence[str], sink: Sink, outcome: Outcome, tell: Tell, secrets: Secrets) -> None:
    """Fetch the ids that ``sink`` does not hold and append their bodies to it; fills ``outcome``.

    Raises:
        PipelineError: ``key-refused``, ``api-unreachable``, or what ``sink`` raises. What was fetched is kept.
    """
    wanted = [id_ for id_ in ids if id_ not in sink.ids]
    outcome.asked = len(ids)
    outcome.already = len(ids) - len(wanted)
    queue = iter(wanted)
    workers = [
        asyncio.create_task(_work(api, queue, len(wanted), sink, outcome, tell, secrets))
        for _ in range(min(api.concurrency, len(wanted)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        rank = {id_: position for position, id_ in enumerate(wanted)}
        outcome.unreadable.sort(key=rank.__getitem__)
        outcome.failed.sort(key=lambda failure: rank[failure.what])
        sink.sync()


async def _work(
    api: Api, queue: Iterator[str], total: int, sink: Sink, outcome: Outcome, tell: Tell, secrets: Secrets
) -> None:
    for id_ in queue:
        try:
            await _one(api, id_, sink, outcome, secrets)
        except RequestError as error:
            if error.status == 404:
                outcome.unreadable.append(id_)
            else:
                outcome.failed.append(Failure(id_, error.reason))
            if not api.answered and len(outcome.failed) >= SILENCE_MAX:
                raise PipelineError(
                    "api-unreachable",
                    f"Nothing answered the first {SILENCE_MAX} requests: {error.reason}.",
                    "Look at the network, and at OPENAI_BASE_URL if it is set.",
                ) from None
        tell(outcome.kept + len(outcome.unreadable) + len(outcome.failed), total)


async def _one(api: Api, id_: str, sink: Sink, outcome: Outcome, secrets: Secrets) -> None:
    body = await api.body_of(id_)
    try:
        document = read_document(body)
    except MalformedError as error:
        outcome.failed.append(Failure(id_, f"malformed body: {error}"))
        return
    if document.id != id_:
        # Written down it would pass for another answer, and this one would be fetched again on every run.
        outcome.failed.append(Failure(id_, "the body is that of another id, or of none"))
    elif secrets.occur_in(body):
        outcome.failed.append(Failure(id_, HELD_BACK))
    else:
        sink.append(id_, document.line)
        outcome.kept += 1
