"""The end of an object that parses, at the speed of a parser; all other ends are for ``documents.Scan`` to find.

Looking at every bracket of an array file is far slower than a parser that skips. So the parser is given all the text
from the brace on. It reads one object, complains of what follows it, and says at which byte. That number is only taken
for a hint, wherever it comes from: the slice up to there must itself be exactly one object.

And then it is the document. JSON objects are prefix-free: no object begins with another, shorter one, since the brace
that closes it is the one that balances the first. Counting brackets would have ended at the same byte. A hint that
fails, or a library that words its complaint otherwise, costs time only.
"""

from __future__ import annotations

import re

import msgspec

from pipeline.sources.documents import trim

_BYTE = re.compile(r"\(byte (\d+)\)")


class _Skipped(msgspec.Struct):
    """No field at all: decoding into it checks the grammar of an object and keeps nothing."""


_checker = msgspec.json.Decoder(_Skipped)


def object_end(data: bytes, start: int) -> int:
    """Index behind the object that begins at ``data[start]``; -1 where it does not parse, or ends beyond the data."""
    try:
        _checker.decode(memoryview(data)[start:])
        return trim(data, start, len(data))
    except msgspec.MsgspecError as error:
        hint = _BYTE.search(str(error))
        if hint is None:
            return -1
        end = trim(data, start, start + int(hint[1]) - 1)  # it counts from 1
    except RecursionError:
        return -1
    return end if _is_object(data[start:end]) else -1


def _is_object(text: bytes) -> bool:
    try:
        _checker.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
