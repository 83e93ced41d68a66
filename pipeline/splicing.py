"""The trick that makes reading a log cheaper than parsing it: a tool array seen before is known by its bytes.

In most logs the tool definitions are most of the bytes, and the same few lists come again and again. So before a record
is decoded, its known lists are cut out and a short token is put in their place; only a list never seen is parsed.

Why that changes no verdict:

- The bytes ``"tools":`` can stand inside a JSON string only with a backslash before the first quote, since a bare quote
  would end the string. That one byte is looked at.
- A list is cut only if all its bytes follow, and those bytes are one complete JSON array. No complete array is the
  beginning of another JSON value, so what is cut is exactly the value that stands there.
- Whatever is not cut is decoded like the rest and meets the same table, by its whole text.

The last point leaves us free where to look. In a log written by one program the same bytes follow the list in each
line, mostly not far from its end: looked for from there, a list is found in a third of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

_NAME = b'"tools":'
_NAME_BYTES = len(_NAME)
_BACKSLASH, _OPENING_BRACKET = 0x5C, 0x5B
#: How far the next list is looked for at first. In a longer stretch, the search would first prepare itself for a long
#: one, which takes as long as finding a list that is near.
_WINDOW_BYTES = 1 << 14
#: Bytes of a list, its first and its last, by which candidates are looked up before all of it is compared.
_HEAD_BYTES = 96
_TAIL_BYTES = 96
#: Lists with the same head, or tail, that are kept for comparison; later ones are decoded every time.
_CANDIDATES = 16
#: Bytes that follow a list, by which the end of the next line's is found, and how far from the end of a line.
_FOLLOWING_BYTES = 12
_FROM_END_BYTES = 4096

Known = tuple[bytes, bytes]  # a list, and the token for it


class Splicer:
    """Knows lists by their bytes, and puts tokens for them into text."""

    def __init__(self) -> None:
        self._by_head: dict[bytes, list[Known]] = {}
        self._by_tail: dict[bytes, list[Known]] = {}
        self._following = b""

    def clear(self) -> None:
        """Forget everything."""
        self._by_head.clear()
        self._by_tail.clear()
        self._following = b""

    def learn(self, text: bytes, token: bytes) -> bool:
        """Know a JSON value from now on, if it is a list worth it: whether that is so."""
        if len(text) <= _HEAD_BYTES or text[0] != _OPENING_BRACKET:
            return False
        same_head = self._by_head.setdefault(text[:_HEAD_BYTES], [])
        if len(same_head) >= _CANDIDATES:
            return False
        same_head.append((text, token))
        same_tail = self._by_tail.setdefault(text[-_TAIL_BYTES:], [])
        if len(same_tail) < _CANDIDATES:
            same_tail.append((text, token))
        return True

    def splice(self, text: bytes | bytearray) -> bytes:
        """The text with every known list replaced by its token."""
        pieces: list[bytes | bytearray] = []
        pieces.append(text[self._splice(text, 0, len(text), 0, pieces) :])
        return b"".join(pieces)

    def splice_lines(self, text: bytes | bytearray, begins: Sequence[int], end: int) -> bytes:
        """The same for lines, ``text[:end]``, each of which begins where ``begins`` says; some may keep a known list.

        The first line is searched through. If that finds one list in it, it says where to look in the others.
        """
        pieces: list[bytes | bytearray] = []
        second = begins[1] if len(begins) > 1 else end
        done = self._splice(text, 0, second, 0, pieces)
        if len(pieces) == 2 and second < end:
            self._following = bytes(text[done : done + _FOLLOWING_BYTES])
            done = self._splice_by_ends(text, (*begins[1:], end), done, pieces)
        else:
            done = self._splice(text, second, end, done, pieces)
        pieces.append(text[done:end])
        return b"".join(pieces)

    def _splice(self, text: bytes | bytearray, begin: int, end: int, done: int, pieces: list[bytes | bytearray]) -> int:
        """Search ``text[begin:end]`` for known lists. ``pieces`` hold the text up to ``done``; how far they do now."""
        find, starts_with, by_head = text.find, text.startswith, self._by_head.get
        position = find(_NAME, begin, min(begin + _WINDOW_BYTES, end))
        while position >= 0 or (position := find(_NAME, begin, end)) >= 0:
            begin = position + _NAME_BYTES
            candidates = by_head(bytes(text[begin : begin + _HEAD_BYTES]))
            if candidates is None and starts_with(b" ", begin):
                while starts_with(b" ", begin):
                    begin += 1
                candidates = by_head(bytes(text[begin : begin + _HEAD_BYTES]))
            if candidates is not None and text[position - 1] != _BACKSLASH:
                for known, token in candidates:
                    if starts_with(known, begin, end):
                        pieces += (text[done:begin], token)
                        done = begin = begin + len(known)
                        break
            position = find(_NAME, begin, min(begin + _WINDOW_BYTES, end))
        return done

    def _splice_by_ends(
        self, text: bytes | bytearray, ends: Sequence[int], done: int, pieces: list[bytes | bytearray]
    ) -> int:
        """The same for one list in each of some lines, looked for by what follows it.

        The lines lie between the ``ends`` given. A line in which it is not found so is searched through.
        """
        find_last, starts_with, by_tail = text.rfind, text.startswith, self._by_tail.get
        following, begin = self._following, ends[0]
        for end in ends[1:]:
            stop = find_last(following, max(begin, end - _FROM_END_BYTES), end)
            for known, token in by_tail(bytes(text[stop - _TAIL_BYTES : stop]), ()) if stop > begin else ():
                start = stop - len(known)
                name = start - _NAME_BYTES
                if (
                    name > begin
                    and starts_with(known, start)
                    and starts_with(_NAME, name)
                    and text[name - 1] != _BACKSLASH
                ):
                    pieces += (text[done:start], token)
                    done = stop
                    break
            else:
                done = self._splice(text, begin, end, done, pieces)
            begin = end
        return done
