"""The list of stored chat completions, page by page: each completion is a line, each page asked for once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError
from pipeline.fetch.api import Api, RequestError
from pipeline.fetch.documents import MalformedError, Page, read_page
from pipeline.fetch.ids import COMPLETION_PREFIX, is_good_id
from pipeline.fetch.outcome import Failure, Outcome, Tell
from pipeline.fetch.output import Sink
from pipeline.fetch.retrieve import HELD_BACK
from pipeline.fetch.secrets import Secrets

#: A page may come twice by mistake; a list that stands still after so many further tries is given up.
REPEATS_MAX = 2
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True, slots=True)
class Query:
    """Which stored completions: of a model, with these metadata, created at ``since_s`` (seconds since 1970) or later.

    The API has no filter for time. With ``since_s`` the walk goes from the newest back and stops when it is there;
    without, from the oldest on, so that what is stored meanwhile comes at the end.
    """

    model: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    since_s: float | None = None

    def filters(self) -> dict[str, Any]:
        """What the server filters by, as arguments of the client."""
        chosen: dict[str, Any] = {}
        if self.model is not None:
            chosen["model"] = self.model
        if self.metadata:
            chosen["metadata"] = self.metadata
        return chosen


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Where an unfinished walk stopped, in a file beside its output; without a path it forgets.

    Only a walk from the oldest on can be continued: in one from the newest back, what came since would be missed.
    """

    path: Path | None
    filters: dict[str, Any]

    @classmethod
    def beside(cls, sink: Sink, query: Query) -> Bookmark:
        """The bookmark of this query for this output."""
        if sink.path is None or query.since_s is not None:
            return cls(None, {})
        return cls(sink.path.with_name(sink.path.name + ".cursor"), query.filters())

    def load(self, held: set[str]) -> str | None:
        """Id of the last completion of the last finished page, or None where there is nothing to trust."""
        if self.path is None:
            return None
        try:
            saved = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(saved, dict) or saved.get("filters") != self.filters:
            return None
        after = saved.get("after")
        # An output that was moved away, or lost its end, does not hold it, and then the walk begins anew.
        return after if isinstance(after, str) and after in held else None

    def save(self, after: str) -> None:
        """Replace the bookmark in one step."""
        if self.path is not None:
            fresh = self.path.with_name(self.path.name + ".new")
            fresh.write_text(json.dumps({"filters": self.filters, "after": after}), encoding="utf-8")
            fresh.replace(self.path)

    def clear(self) -> None:
        """The walk came to its end."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


async def walk(
    api: Api, query: Query, sink: Sink, bookmark: Bookmark, outcome: Outcome, tell: Tell, secrets: Secrets
) -> None:
    """Append every completion of the list that ``sink`` does not hold; fills ``outcome``.

    A list that repeats itself, a page that is malformed or fails for good ends the walk and is a failure.

    Raises:
        PipelineError: ``key-refused``, or what ``sink`` raises. What was fetched is kept.
    """
    after = resumed_after = bookmark.load(sink.ids)
    seen: set[str] = set()
    turned: set[str | None] = {after}
    repeats = 0
    while True:
        try:
            page = read_page(await api.page(after, query.since_s is not None, query.filters()))
        except RequestError as error:
            if after is not None and after == resumed_after and error.status in (400, 404):
                after = resumed_after = None  # the bookmarked completion has been deleted: begin anew
                turned = {None}
                continue
            outcome.failed.append(Failure(_place(after), error.reason))
            return
        except MalformedError as error:
            outcome.failed.append(Failure(_place(after), f"malformed body: {error}"))
            return
        _keep(page, query, seen, sink, outcome, secrets)
        tell(outcome.asked, None)
        if _is_last(page, query):
            bookmark.clear()
            sink.sync()
            return
        cursor = page.items[-1].id if page.items else None
        if isinstance(cursor, str) and cursor not in turned:
            turned.add(cursor)
            after = cursor
            repeats = 0
            sink.sync()
            bookmark.save(cursor)
            continue
        repeats += 1
        if repeats > REPEATS_MAX:
            outcome.failed.append(Failure(_place(after), "the list says that there is more and repeats itself"))
            return


def _is_last(page: Page, query: Query) -> bool:
    if page.has_more is False or (page.has_more is None and not page.items):
        return True
    oldest_s = page.items[-1].created_s if page.items else None
    return query.since_s is not None and oldest_s is not None and oldest_s < query.since_s


def _keep(page: Page, query: Query, seen: set[str], sink: Sink, outcome: Outcome, secrets: Secrets) -> None:
    for item in page.items:
        if not isinstance(item.id, str) or not is_good_id(item.id):
            outcome.failed.append(Failure("a listed completion", f"it has no id that begins with {COMPLETION_PREFIX}"))
            continue
        early = query.since_s is not None and item.created_s is not None and item.created_s < query.since_s
        if early or item.id in seen:
            continue
        seen.add(item.id)
        outcome.asked += 1
        if item.id in sink.ids:
            outcome.already += 1
        elif secrets.occur_in(item.line):
            outcome.failed.append(Failure(item.id, HELD_BACK))
        else:
            sink.append(item.id, item.line)
            outcome.kept += 1


def _place(after: str | None) -> str:
    return "the first page of the list" if after is None else f"the page after {ascii(after)[1:-1]}"


def parse_metadata(pairs: Iterable[str]) -> dict[str, str]:
    """``key=value`` each; the value may hold further equals signs.

    Raises:
        PipelineError: ``bad-metadata``.
    """
    parsed: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or key in parsed:
            reason = "is given twice" if key in parsed else "is not of the form key=value"
            raise PipelineError("bad-metadata", f"--metadata {pair!a} {reason}.")
        parsed[key] = value
    return parsed


def parse_since(text: str, now: datetime) -> float:
    """Seconds since 1970 of an ISO 8601 date or time (UTC where it names no zone), or of ``7d``, ``12h``, ``30m`` ago.

    Raises:
        PipelineError: ``bad-since``.
    """
    try:
        ago = re.fullmatch(r"([0-9]+)([dhm])", text)
        if ago:
            return (now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise PipelineError(
            "bad-since",
            f"--since {text!a} is neither a date nor a span of time.",
            "Give a date (2026-11-03), a time (2026-11-03T08:00:00Z), or how long ago (7d, 12h, 30m).",
        ) from None
