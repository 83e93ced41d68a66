"""Ids of stored answers, out of a plain list or out of a table of the user's own. Bad ones are refused, all at once."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from pipeline.errors import PipelineError

RESPONSE_PREFIX = "resp_"
COMPLETION_PREFIX = "chatcmpl-"
ID_LENGTH_MAX = 512
#: Letters, digits, `_` and `-`, so that an id is one segment of a URL and nothing in it needs escaping. Gateways
#: that wrap an id in Base64 may end it with padding.
_GOOD_ID = re.compile(rf"(?:{RESPONSE_PREFIX}|{COMPLETION_PREFIX})[A-Za-z0-9_-]+={{0,2}}", re.ASCII)
_BAD_IDS_SHOWN = 10
_EXCERPT_LENGTH = 60
_COMMENT = re.compile(r"(?:^|\s)#.*")


def is_good_id(text: object) -> bool:
    """Whether this can be the id of a stored response or chat completion: prefix, characters and length."""
    return isinstance(text, str) and len(text) <= ID_LENGTH_MAX and _GOOD_ID.fullmatch(text) is not None


def read_ids(content: bytes, name: str, field: str | None = None) -> list[str]:
    """Ids in the order in which they are first met, each once.

    ``name`` stands for the file in messages. Without ``field``, one id a line; blank lines and ``#`` comments are
    ignored. With it, ``content`` is JSONL or CSV with a header, and rows without a value there are ignored.

    Raises:
        PipelineError: ``bad-id`` names file and line of every bad id (the first ten in full), ``ids-unreadable`` or
            ``ids-field-missing`` a file that cannot be read so.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PipelineError("ids-unreadable", f"{name}:{line} is not UTF-8 text.") from None
    found = list(_plain(text) if field is None else _from_table(text, name, field))
    bad = [(line, value) for line, value in found if not is_good_id(value)]
    if bad:
        raise _bad_ids(bad, name, field is None)
    return list(dict.fromkeys(value for _, value in found))


def _plain(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        value = _COMMENT.sub("", line).strip()
        if value:
            yield number, value


def _from_table(text: str, name: str, field: str) -> Iterator[tuple[int, Any]]:
    if not text.strip():
        return
    rows = _jsonl(text, name, field) if text.lstrip().startswith("{") else _csv(text, name, field)
    present = False
    for number, value in rows:
        present = True
        stripped = value.strip() if isinstance(value, str) else value
        if stripped is not None and stripped != "":
            yield number, stripped
    if not present:
        raise _no_field(name, field)


def _jsonl(text: str, name: str, field: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise PipelineError(
                "ids-unreadable", f"{name}:{number} is not a JSON document.", "--ids-field takes JSONL or CSV."
            ) from None
        value = _member(row, field)
        if value is not _ABSENT:
            yield number, value


_ABSENT = object()


def _member(row: object, field: str) -> Any:
    """The member called ``field``, or else the one that ``a.b`` leads to."""
    if isinstance(row, dict) and field in row:
        return row[field]
    for part in field.split("."):
        if not isinstance(row, dict) or part not in row:
            return _ABSENT
        row = row[part]
    return row


def _csv(text: str, name: str, field: str) -> Iterator[tuple[int, Any]]:
    # Whole answers stand in some exports: the csv module's own limit of 128 KiB a field is too low for them.
    csv.field_size_limit(2**31 - 1)
    header = text.lstrip("\r\n").split("\n", 1)[0]
    separator = next((mark for mark in ",;\t" if field in _cells(header, mark)), None)
    if separator is None:
        raise _no_field(name, field)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    column: int | None = None
    try:
        for row in reader:
            if column is None and row:
                column = [cell.strip() for cell in row].index(field)
            elif column is not None:
                yield reader.line_num, row[column] if column < len(row) else None
        if column is not None:
            yield reader.line_num, None  # a header without rows still has the field
    except (csv.Error, ValueError) as error:
        raise PipelineError("ids-unreadable", f"{name}:{reader.line_num} is not CSV: {error}.") from None


def _cells(header: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([header.rstrip("\r")], delimiter=separator), [])]


def _no_field(name: str, field: str) -> PipelineError:
    return PipelineError(
        "ids-field-missing",
        f"{name} has no field {field!a} in any row.",
        "--ids-field names a column of a CSV with a header, or a member of the objects of a JSONL (a.b for nested).",
    )


def _bad_ids(bad: list[tuple[int, Any]], name: str, plain: bool) -> PipelineError:
    shown = "; ".join(f"{name}:{line} {_excerpt(value)}" for line, value in bad[:_BAD_IDS_SHOWN])
    more = f"; and {len(bad) - _BAD_IDS_SHOWN:,} more" if len(bad) > _BAD_IDS_SHOWN else ""
    hint = (
        f"An id is {RESPONSE_PREFIX}… or {COMPLETION_PREFIX}…, of letters, digits, _ and -, at most {ID_LENGTH_MAX}"
        " characters. Nothing was sent."
    )
    if plain and any(isinstance(value, str) and value[:1] in ("{", "[") for _, value in bad):
        hint += " For a JSONL file, name its field with --ids-field."
    count = "1 id is" if len(bad) == 1 else f"{len(bad):,} ids are"
    return PipelineError("bad-id", f"{count} bad: {shown}{more}.", hint)


def _excerpt(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    if "sk-" in text:
        return "(not shown: it looks like a key)"
    return ascii(text if len(text) <= _EXCERPT_LENGTH else text[:_EXCERPT_LENGTH] + "...")
