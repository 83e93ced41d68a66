from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import Run
from loopback_api import Reply, Seen, Server, error

from pipeline.errors import PipelineError
from pipeline.fetch import parse_metadata, parse_since

LIST = "/v1/chat/completions"
NOON = 1_790_000_000


def completion(number: int) -> bytes:
    """The stored completion of this number, created as many minutes after noon, laid out over two lines."""
    return f'{{"id": "chatcmpl-{number}",\n "created": {NOON + 60 * number}, "tools": [], "x": "\\ud83d é"}}'.encode()


def lines(*numbers: int) -> bytes:
    return b"".join(completion(number).replace(b"\n", b"") + b"\n" for number in numbers)


def page(numbers: list[int], has_more: bool | None) -> Reply:
    more = b"" if has_more is None else b',\n "has_more": ' + json.dumps(has_more).encode()
    body = b'{"object": "list",\n "data": [\n' + b",\n".join(map(completion, numbers)) + b"]" + more + b"}\n"
    return Reply(body=body)


def store(count: int, size: int = 3) -> Callable[[Seen], Reply | None]:
    """A list of completions, in pages of its own size, as the API walks it."""

    def respond(seen: Seen) -> Reply | None:
        if seen.path != LIST:
            return None
        numbers = list(range(count))
        if seen.query.get("order") == ["desc"]:
            numbers.reverse()
        after = seen.query.get("after")
        start = 0 if after is None else numbers.index(int(after[0].removeprefix("chatcmpl-"))) + 1
        return page(numbers[start : start + size], start + size < count)

    return respond


def asked(server: Server) -> list[str | None]:
    return [seen.query.get("after", [None])[0] for seen in server.seen]


def test_the_list_is_walked_page_by_page(server: Server, run: Run) -> None:
    server.respond = store(8)

    result = run("--stored-completions", "--out", "out.jsonl", "--model", "gpt-x", "--metadata", "k=v=w")

    assert (result.exit_code, Path("out.jsonl").read_bytes()) == (0, lines(*range(8)))
    assert result.stderr == "8 asked for: 8 fetched, 0 held already, 0 unreadable, 0 failed\n"
    common = {"limit": ["100"], "order": ["asc"], "model": ["gpt-x"], "metadata[k]": ["v=w"]}
    assert [(seen.method, seen.path, seen.query) for seen in server.seen] == [
        ("GET", LIST, common),
        ("GET", LIST, {**common, "after": ["chatcmpl-2"]}),
        ("GET", LIST, {**common, "after": ["chatcmpl-5"]}),
    ]
    assert [path.name for path in Path().iterdir()] == ["out.jsonl"]


def test_since_walks_from_the_newest_back_and_stops_there(server: Server, run: Run) -> None:
    server.respond = store(12)
    since = datetime.fromtimestamp(NOON + 60 * 7, UTC).isoformat()

    result = run("--stored-completions", "--out", "-", "--since", since)

    assert (result.exit_code, result.stdout_bytes) == (0, lines(11, 10, 9, 8, 7))
    assert asked(server) == [None, "chatcmpl-9"]


def test_a_second_walk_adds_what_is_new_and_nothing_twice(server: Server, run: Run) -> None:
    server.respond = store(5)
    run("--stored-completions", "--out", "out.jsonl")
    server.respond = store(7)

    result = run("--stored-completions", "--out", "out.jsonl")

    assert Path("out.jsonl").read_bytes() == lines(*range(7))
    assert result.stderr == "7 asked for: 2 fetched, 5 held already, 0 unreadable, 0 failed\n"


def test_a_walk_that_was_stopped_goes_on_behind_its_last_page(server: Server, run: Run) -> None:
    whole = store(8)
    server.respond = lambda seen: whole(seen) if "after" not in seen.query else error(500, "Oops.")
    first = run("--stored-completions", "--out", "out.jsonl", "--retries", "0")
    server.seen.clear()
    server.respond = whole

    second = run("--stored-completions", "--out", "out.jsonl")

    assert first.exit_code == 1
    assert first.stderr.splitlines() == [
        "3 asked for: 3 fetched, 0 held already, 0 unreadable, 1 failed",
        "failed (run again to fetch what is missing):",
        "  the page after chatcmpl-2: HTTP 500: Oops.",
    ]
    assert (second.exit_code, asked(server)) == (0, ["chatcmpl-2", "chatcmpl-5"])
    assert Path("out.jsonl").read_bytes() == lines(*range(8))
    assert [path.name for path in Path().iterdir()] == ["out.jsonl"]


STALE = {
    "other filters": ("out.jsonl", ["--model", "gpt-y"]),
    "another output": ("fresh.jsonl", []),
    "a span of time": ("out.jsonl", ["--since", "2020-01-01"]),
}


@pytest.mark.parametrize(("out", "arguments"), STALE.values(), ids=STALE.keys())
def test_a_bookmark_of_another_walk_is_not_followed(server: Server, run: Run, out: str, arguments: list[str]) -> None:
    whole = store(8)
    server.respond = lambda seen: whole(seen) if "after" not in seen.query else error(500, "Oops.")
    run("--stored-completions", "--out", "out.jsonl", "--retries", "0")
    server.seen.clear()
    server.respond = whole

    result = run("--stored-completions", "--out", out, *arguments)

    assert (result.exit_code, asked(server)[0]) == (0, None)
    assert sorted(Path(out).read_bytes().splitlines()) == sorted(lines(*range(8)).splitlines())


@pytest.mark.parametrize("damage", [b"", b"{", b'{"filters": {}, "after": 7}', b"\xff"])
def test_a_damaged_bookmark_or_one_without_its_output_begins_anew(server: Server, run: Run, damage: bytes) -> None:
    server.respond = store(4)
    Path("out.jsonl").write_bytes(lines(0, 1))
    Path("out.jsonl.cursor").write_bytes(damage or b'{"filters": {}, "after": "chatcmpl-2"}')

    result = run("--stored-completions", "--out", "out.jsonl")

    assert (result.exit_code, asked(server)) == (0, [None, "chatcmpl-2"])
    assert Path("out.jsonl").read_bytes() == lines(*range(4))


def test_a_bookmark_whose_completion_was_deleted_begins_anew(server: Server, run: Run) -> None:
    whole = store(4)
    server.respond = lambda seen: (
        error(404, "No such cursor.") if seen.query.get("after") == ["chatcmpl-9"] else whole(seen)
    )
    Path("out.jsonl").write_bytes(lines(9))
    Path("out.jsonl.cursor").write_bytes(b'{"filters": {}, "after": "chatcmpl-9"}')

    result = run("--stored-completions", "--out", "out.jsonl")

    assert (result.exit_code, asked(server)) == (0, ["chatcmpl-9", None, "chatcmpl-2"])
    assert Path("out.jsonl").read_bytes() == lines(9, *range(4))


def test_a_page_that_repeats_once_costs_a_request_and_nothing_else(server: Server, run: Run) -> None:
    whole = store(8)
    server.respond = lambda seen: page([0, 1, 2], True) if len(server.seen) == 2 else whole(seen)

    result = run("--stored-completions", "--out", "-")

    assert (result.exit_code, result.stdout_bytes) == (0, lines(*range(8)))
    assert asked(server) == [None, "chatcmpl-2", "chatcmpl-2", "chatcmpl-5"]


ENDLESS: dict[str, Callable[[Seen], Reply]] = {
    "the same page for ever": lambda _: page([0, 1, 2], True),
    "the same page for ever, saying nothing of more": lambda _: page([0, 1, 2], None),
    "two pages in turn": lambda seen: (
        page([3, 4], True) if seen.query.get("after") == ["chatcmpl-1"] else page([0, 1], True)
    ),
    "more, and nothing of it": lambda _: page([], True),
}
ENDED = {
    "the same page for ever": ((0, 1, 2), "the page after chatcmpl-2", 4),
    "the same page for ever, saying nothing of more": ((0, 1, 2), "the page after chatcmpl-2", 4),
    "two pages in turn": ((0, 1, 3, 4), "the page after chatcmpl-4", 5),
    "more, and nothing of it": ((), "the first page of the list", 3),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_list_that_repeats_itself_is_given_up(server: Server, run: Run, kind: str) -> None:
    numbers, place, requests = ENDED[kind]
    server.respond = ENDLESS[kind]

    result = run("--stored-completions", "--out", "-", "--quiet")

    assert (result.exit_code, result.stdout_bytes, len(server.seen)) == (1, lines(*numbers), requests)
    assert result.stderr.splitlines()[1:] == [
        "failed (run again to fetch what is missing):",
        f"  {place}: the list says that there is more and repeats itself",
    ]


def test_a_list_that_says_nothing_of_more_ends_with_an_empty_page(server: Server, run: Run) -> None:
    server.respond = lambda seen: page([] if "after" in seen.query else [0, 1], None)

    result = run("--stored-completions", "--out", "-")

    assert (result.exit_code, result.stdout_bytes) == (0, lines(0, 1))


BROKEN = {
    "no JSON": (
        Reply(body=b"<html>"),
        b"",
        "the first page of the list: malformed body: it is not a JSON object",
    ),
    "an item without an id": (
        Reply(body=b'{"data": [{"id": "x"}, {"id": "chatcmpl-0"}], "has_more": false}'),
        b'{"id": "chatcmpl-0"}\n',
        "a listed completion: it has no id that begins with chatcmpl-",
    ),
    "no such list": (error(404, "Unknown path."), b"", "the first page of the list: HTTP 404: Unknown path."),
}


@pytest.mark.parametrize(("reply", "kept", "failure"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_wrong_with_a_list_is_listed(server: Server, run: Run, reply: Reply, kept: bytes, failure: str) -> None:
    server.respond = lambda _: reply

    result = run("--stored-completions", "--out", "-", "--retries", "0")

    assert (result.exit_code, result.stdout_bytes, result.stderr.splitlines()[-1]) == (1, kept, f"  {failure}")


def test_a_refused_key_ends_the_walk(server: Server, run: Run) -> None:
    server.respond = lambda _: error(403, "")

    result = run("--stored-completions", "--out", "-")

    assert isinstance(result.exception, PipelineError)
    assert (result.exception.code, result.exception.exit_status) == ("key-refused", 2)


NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
SINCE = {
    "7d": datetime(2026, 10, 27, 12, 0, tzinfo=UTC),
    "12h": datetime(2026, 11, 3, 0, 0, tzinfo=UTC),
    "30m": datetime(2026, 11, 3, 11, 30, tzinfo=UTC),
    "2026-11-01": datetime(2026, 11, 1, tzinfo=UTC),
    "2026-11-01T08:00:00": datetime(2026, 11, 1, 8, tzinfo=UTC),
    "2026-11-01T08:00:00Z": datetime(2026, 11, 1, 8, tzinfo=UTC),
    "2026-11-01T08:00:00+02:00": datetime(2026, 11, 1, 6, tzinfo=UTC),
}


@pytest.mark.parametrize(("text", "moment"), SINCE.items())
def test_since_is_a_moment_or_a_span(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment.timestamp()


@pytest.mark.parametrize("text", ["", "yesterday", "7", "7w", "-7d", "2026-13-01", "99999999999d", "\x1b[2J"])
def test_any_other_since_is_refused(text: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_since(text, NOW)

    assert caught.value == PipelineError(
        "bad-since",
        f"--since {text!a} is neither a date nor a span of time.",
        "Give a date (2026-11-03), a time (2026-11-03T08:00:00Z), or how long ago (7d, 12h, 30m).",
    )


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (["k"], "--metadata 'k' is not of the form key=value."),
        (["=v"], "--metadata '=v' is not of the form key=value."),
        (["k=v", "k=w"], "--metadata 'k=w' is given twice."),
    ],
)
def test_metadata_that_says_nothing_is_refused(pairs: list[str], reason: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_metadata(pairs)

    assert caught.value == PipelineError("bad-metadata", reason)
