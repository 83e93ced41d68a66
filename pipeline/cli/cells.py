"""One value of a result as text: for a person's eyes, for CSV, for JSON.

What a model or a log wrote is data. Characters that move a cursor, colour a screen or turn the reading order are
written as escapes wherever a person looks; JSON writes them as its own escapes, which say the same.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any

import orjson

from pipeline.printable import printable

#: Columns of a report that are fractions of one and read best as per cent.
FRACTION = re.compile(r"(.*_)?(rate|share)(_low|_high|_of_[a-z]+)?")
NOTHING = "-"
NEEDS_QUOTES = re.compile(r'[,"\n\r]')


def cell(value: Any, fraction: bool = False) -> str:
    """``value`` as it stands in a table: a dash for null, per cent for fractions, one line whatever it is."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return percent(value) if fraction else f"{value:.6g}"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ").removesuffix("+00:00")
    if isinstance(value, (int, Decimal, dt.date)):
        return str(value)
    return printable(value if isinstance(value, str) else json_bytes(value).decode())


def percent(value: float) -> str:
    """Per cent with one decimal. What is not quite nothing, or not quite all, never reads as if it were."""
    if not math.isfinite(value):
        return str(value)
    if 0 < value < 0.0005:
        return "<0.1%"
    if 0.9995 <= value < 1:
        return ">99.9%"
    return f"{value:.1%}"


def csv_cell(value: Any) -> str:
    """``value`` as a CSV field (RFC 4180): nothing for null, a quoted nothing for an empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value
    elif isinstance(value, float):
        text = repr(value)
    else:
        text = json_bytes(value).decode().strip('"')
    return '"' + text.replace('"', '""') + '"' if not text or NEEDS_QUOTES.search(text) else text


def json_bytes(value: Any) -> bytes:
    """``value`` as one line of JSON in UTF-8: NaN and infinity are null, moments ISO 8601, bytes hexadecimal."""
    line = orjson.dumps(value, default=_json_default, option=orjson.OPT_UTC_Z)
    text = line.decode()
    if printable(text) == text:
        return line
    return "".join(c if printable(c) == c else _json_escape(c) for c in text).encode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _json_default(value: Any) -> Any:
    if isinstance(value, Decimal):
        whole = int(value) if value.is_finite() and value == value.to_integral_value() else None
        if whole is not None and abs(whole) < 2**63:
            return whole
        # JSON has no other exact way to write what neither 64 bits nor a double can hold.
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


#: What Markdown would read as markup. An underscore inside a word is none, and tool names are full of them.
MARKUP = re.compile(r"[\\|`*\[\]<>~]|(?<!\w)_|_(?!\w)")


def markdown_cell(text: str) -> str:
    """``text``, printable already, as a cell of a Markdown table in which nothing is markup."""
    return MARKUP.sub(lambda match: "\\" + match[0], printable(text))
