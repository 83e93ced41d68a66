"""Keys by which a turn is known again, however often and from wherever it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b

import pyarrow as pa

from pipeline.rows import Rows

# A digest begins as a copy of an empty one: that is quicker than to begin anew.
_begin = blake2b(digest_size=16).copy


def turn_keys(rows: Rows, places: Mapping[str, str]) -> pa.Array:
    """A stable key of each turn, as 32 hexadecimal digits.

    A turn is known by its answer's id, creation time, choice and calls. One without an id is known by its place alone:
    the name that ``places`` has for its source file, its offset, and its position among the turns of the record.
    """
    turns = rows.turns
    known_by = [
        f"{response_id}\0{created_at_us}\0{choice_index}{calls}"
        for response_id, created_at_us, choice_index, calls in zip(
            turns.response_id, turns.created_at_us, turns.choice_index, _calls_in_words(rows), strict=True
        )
    ]
    if None in turns.response_id:
        place: tuple[str, int] = ("", -1)
        position = 0
        for row, here in enumerate(zip(turns.source_file, turns.offset, strict=True)):
            position = position + 1 if here == place else 0
            place = here
            if turns.response_id[row] is None:
                known_by[row] = f"place\0{places[here[0]]}\0{here[1]}\0{position}"
    return pa.array([_digest(words) for words in known_by], type=pa.string())


def _digest(words: str) -> str:
    digest = _begin()
    digest.update(words.encode(errors="surrogatepass"))
    return digest.hexdigest()


def _calls_in_words(rows: Rows) -> Iterator[str]:
    """The calls of each turn as one text."""
    calls = rows.calls
    words = [
        f"\0{call_id}\0{tool_name}\0{arguments}"
        for call_id, tool_name, arguments in zip(calls.call_id, calls.tool_name, calls.arguments, strict=True)
    ]
    first = 0
    for count in rows.turns.calls:
        yield words[first] if count == 1 else "".join(words[first : first + count])
        first += count
