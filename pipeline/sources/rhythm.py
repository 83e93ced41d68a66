r"""How the documents of a file follow one another, so that the end of the next can be guessed and then checked.

Looking at every bracket of an array file is some twenty times slower than a parser that skips. But exporters are
regular: between two documents stand the same few bytes, as in ``},\n  {\n    "id": "resp_``. Those are searched for
with ``bytes.find``, and the slice up to there is checked to be exactly one object.

That is never wrong, for JSON objects are prefix-free: no object begins with another, shorter one, since the brace that
closes it is the one that balances the first. So when a slice that starts where the document starts is a whole object,
it is the document, and the bracket count would have ended at the same byte. A guess that fails costs time only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.sources.documents import BLANKS, is_object

#: How far behind and ahead of a document's beginning the rhythm looks.
REACH_BYTES = 128
_GUESSES = 4
_PATIENCE = 16
# The beginning of an object up to its first value, and of that the likely constant part: "resp_", "chatcmpl-".
_HEAD = re.compile(rb'\{[ \t\r\n]{0,40}+(?:"[^"\\\n]{1,40}+"[ \t]{0,4}+:[ \t]{0,4}+(?:"(?:[a-z]{2,12}+[_-])?)?)?')


class Rhythm:
    """The bytes from the end of one document to the beginning of the next, as they were the last time."""

    def __init__(self) -> None:
        self._tail = self._gap = self._head = b""
        self._hits = self._misses = 0

    @property
    def gap(self) -> bytes:
        """What stood between the last two documents; empty where nothing is known."""
        return self._gap

    @property
    def opening(self) -> bytes:
        """The same with the beginning of the document that followed."""
        return self._gap + self._head if self._gap else b""

    def forget(self) -> None:
        """Know nothing."""
        self._tail = self._gap = self._head = b""

    def learn(self, before: bytes, gap: bytes, data: bytes, at: int) -> None:
        """Take note of a document that ended in ``before``, and of the next one, which begins at ``data[at]``.

        What is learned depends on these bytes alone, never on how they were found or cut into chunks.
        """
        head = _HEAD.match(data, at)
        if head is None or not gap or len(gap) > REACH_BYTES:
            self.forget()
            return
        inner = before[-REACH_BYTES // 2 : -1]
        self._tail = inner[len(inner.rstrip(BLANKS)) :] + b"}"
        self._gap, self._head = gap, head[0]

    def follow(self, data: bytes, start: int, longest: int) -> Iterator[tuple[int, bytes]]:
        """The objects from ``data[start]`` on that are whole and keep the rhythm, each with its index.

        ``longest``: bytes beyond which an object is left to others. Stops at the first that cannot be told.
        """
        if not self._gap or self._misses > _PATIENCE + self._hits:
            return
        pattern = self._tail + self._gap + self._head
        back, step = len(self._tail), len(self._tail) + len(self._gap)
        while True:
            found = start
            for _ in range(_GUESSES):
                found = data.find(pattern, found)
                if found < 0 or found + back - start > longest:
                    return
                text = data[start : found + back]
                if is_object(text):
                    break
                found += 1
                self._misses += 1
            else:
                return
            self._hits += 1
            yield start, text
            start = found + step
