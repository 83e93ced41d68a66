"""Which keys a table of the lake already holds, exactly, in eight bytes a key.

Every key is mixed down to 48 bits and stored with the 16-bit number of its part, sorted, so that a look-up is a
binary search. A match is only a candidate: the part's own key column then says whether it is the key. Nothing is
stored for this. Whoever writes a part hands over what its keys mix down to; for parts of earlier runs it is read from
them when a run first needs it, a second or three for ten million turns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.parts import read_batches

#: The tables of which a key lands once, and the columns of their keys.
KEY_COLUMNS = {"turns": "turn_key", "tools": "tool_key"}

_WORD_BYTES = 8
_UINT64 = pa.uint64()
_PART_MASK = 0xFFFF
_VALUE_MASK = 0xFFFF_FFFF_FFFF_0000
# Sorting needs three times the memory of what it sorts, so keys are kept, and sorted, by the range of their value.
_RANGE_BITS = 4
_RANGE_SHIFT = 64 - _RANGE_BITS
#: How many times longer a run may be than what is looked up in it, for one pass over it to be quicker than searching.
_ONE_PASS = 8
# Odd, so that multiplying loses nothing; taken from the fractional digits of square roots of primes.
_ODD = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1)


#: Sorted keys, a range of values each; the ranges in order.
Run = list[pa.Array]


class KeyIndex:
    """The keys of one column over the parts of a table. Parts are added as they land and never taken out."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._paths: list[tuple[str, Path]] = []
        self._runs: list[Run] = []

    @property
    def names(self) -> set[str]:
        """Names of the parts that are in the index."""
        return {name for name, _ in self._paths}

    def read(self, parts: list[tuple[str, Path]]) -> None:
        """Add the keys of parts (name, path), holding no more than one batch of key text at a time.

        Raises:
            OSError, pyarrow.ArrowInvalid: a part cannot be read.

        """
        ranges = _no_values()
        for number, (_, path) in enumerate(parts, len(self._paths)):
            for batch in read_batches(path, [self._column]):
                _spread(_numbered(mix(batch.column(0)), number), ranges)
        self._paths += parts
        self._add(_sorted_run(ranges))

    def add(self, name: str, path: Path, run: Run) -> None:
        """Add the keys of one part, given as what :func:`sorted_run` makes of them."""
        run = [_numbered(values, len(self._paths)) for values in run]
        self._paths.append((name, path))
        self._add(run)

    def moved(self, paths: dict[str, Path]) -> None:
        """Note where parts lie now."""
        self._paths = [(name, paths.get(name, path)) for name, path in self._paths]

    def known(self, run: Run, path: Path) -> pa.Array:
        """Those keys of the part at ``path`` (``run`` is theirs) that the parts of the index hold, each once.

        Raises:
            OSError, pyarrow.ArrowInvalid: a part cannot be read.

        """
        candidates: dict[int, list[int]] = {}
        for held in self._runs:
            for asked, values in zip(run, held, strict=True):
                for value, number in _meetings(asked, values):
                    candidates.setdefault(number, []).append(value)
        found: list[str] = []
        for number, mixed in candidates.items():
            wanted = self._keys_of(path, pa.array(mixed, _UINT64))
            # All parts from the last number on share it.
            paths = self._paths[number:] if number == _PART_MASK else self._paths[number : number + 1]
            for _, held_path in paths:
                for batch in read_batches(held_path, [self._column]):
                    column = batch.column(0)
                    found += column.filter(pc.is_in(column, value_set=wanted)).to_pylist()
        return pa.array(sorted(set(found)), pa.string())

    def repeated(self, run: Run, path: Path) -> pa.Array:
        """Those keys that stand more than once in the part at ``path``, whose run this is, each once.

        Raises:
            OSError, pyarrow.ArrowInvalid: the part cannot be read.

        """
        mixed = pa.concat_arrays([_beside_their_like(values) for values in run])
        if not len(mixed):
            return pa.array([], pa.string())
        counts = pc.value_counts(self._keys_of(path, mixed))
        return counts.field("values").filter(pc.greater(counts.field("counts"), 1))

    def _keys_of(self, path: Path, mixed: pa.Array) -> pa.Array:
        """The keys of a part that mix down to one of these values, in row order."""
        columns = (batch.column(0) for batch in read_batches(path, [self._column]))
        keys = [column.filter(pc.is_in(mix(column), value_set=mixed)) for column in columns]
        return pa.concat_arrays(keys) if keys else pa.array([], pa.string())

    def _add(self, run: Run) -> None:
        """Add a run. Runs grow like the digits of a binary counter: few to search, each key sorted a few times."""
        self._runs.append(run)
        while len(self._runs) > 1 and _length(self._runs[-2]) <= 2 * _length(self._runs[-1]):
            last, before = self._runs.pop(), self._runs[-1]
            for position in range(len(before)):
                before[position] = _sorted([before[position], last[position]])


def mix(keys: pa.Array) -> pa.Array:
    """Mix each key down to 64 bits, the lowest 16 of them zero; the same key to the same number in every process.

    A sum over the key's words of eight bytes, each multiplied, folded and multiplied again. A word of zeros adds
    nothing, so padding to the longest key of a batch does not matter.
    """
    if not len(keys):
        return pa.array([], _UINT64)
    widest = pc.max(pc.binary_length(keys)).as_py()
    width = -(-max(widest, 1) // _WORD_BYTES) * _WORD_BYTES
    if pc.min(pc.binary_length(keys)).as_py() < width:
        keys = pc.ascii_rpad(keys, width, padding="\0")
    raw = keys.cast(pa.binary())
    total: pa.Array | None = None
    for word in range(width // _WORD_BYTES):
        part = pc.binary_slice(raw, word * _WORD_BYTES, (word + 1) * _WORD_BYTES)
        value = pa.Array.from_buffers(_UINT64, len(part), [None, part.buffers()[2]])
        odd = _uint64(_ODD[word % len(_ODD)] + 2 * word)
        value = pc.multiply(value, odd)
        value = pc.bit_wise_xor(value, pc.shift_right(value, _uint64(32)))
        value = pc.multiply(value, odd)
        total = value if total is None else pc.add(total, value)
    return pc.bit_wise_and(total, _uint64(_VALUE_MASK))


def sorted_run(mixed: Sequence[pa.Array]) -> Run:
    """The run of a part's keys, from what they mix down to."""
    ranges = _no_values()
    for values in mixed:
        _spread(values, ranges)
    return _sorted_run(ranges)


def _beside_their_like(values: pa.Array) -> pa.Array:
    """Those of sorted values that equal the one before them."""
    later = values.slice(1)
    return later.filter(pc.equal(later, values.slice(0, len(later))))


def _meetings(asked: pa.Array, held: pa.Array) -> Iterator[tuple[int, int]]:
    """Values of a range that the same range of an index holds, each with the number of a part that holds it."""
    if not len(held):
        return
    if len(held) <= _ONE_PASS * len(asked):
        asked = asked.filter(pc.is_in(asked, value_set=pc.bit_wise_and(held, _uint64(_VALUE_MASK))))
    values = memoryview(held.buffers()[1]).cast("B").cast("Q")[: len(held)]
    for value in asked.to_pylist():
        place = bisect_left(values, value)
        while place < len(values) and values[place] <= value | _PART_MASK:
            yield value, values[place] & _PART_MASK
            place += 1


def _numbered(mixed: pa.Array, number: int) -> pa.Array:
    """The values with the number of their part in the bits that are free for it."""
    return pc.bit_wise_or(mixed, _uint64(min(number, _PART_MASK)))


def _no_values() -> list[list[pa.Array]]:
    return [[] for _ in range(1 << _RANGE_BITS)]


def _spread(values: pa.Array, ranges: list[list[pa.Array]]) -> None:
    """Add each value to its range."""
    places = pc.shift_right(values, _uint64(_RANGE_SHIFT))
    for position, chunks in enumerate(ranges):
        chunks.append(values.filter(pc.equal(places, _uint64(position))))


def _sorted_run(ranges: list[list[pa.Array]]) -> Run:
    """The ranges sorted, each let go of as soon as it is."""
    return [_sorted(ranges.pop(0)) for _ in range(len(ranges))]


def _sorted(chunks: Sequence[pa.Array]) -> pa.Array:
    """All values of a range in order."""
    values = pa.chunked_array(chunks, _UINT64).combine_chunks()
    return values.take(pc.array_sort_indices(values))


def _length(run: Run) -> int:
    return sum(map(len, run))


def _uint64(number: int) -> pa.Scalar:
    return pa.scalar(number, _UINT64)
