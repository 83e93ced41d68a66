"""What a model or a log wrote, made safe to print: control characters never reach a terminal raw."""

from __future__ import annotations

import re

#: C0 and C1 controls, delete, line separators, and the marks that reorder or hide text.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def printable(text: str, limit: int | None = None) -> str:
    r"""The text on one line, unprintable characters as escapes (``\x1b``, ``\u202e``), cut to ``limit`` characters."""
    if limit is None:
        return _UNPRINTABLE.sub(_escape, text)
    escaped = _UNPRINTABLE.sub(_escape, text[: limit + 1])
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    named = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}.get(code)
    if named:
        return named
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
