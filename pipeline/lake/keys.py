"""Which keys a table of the lake already holds, exactly, in eight bytes a key.

Every key is mixed down to 48 bits and stored with the 16-bit number of its part, sorted, so that a look-up is a
binary search. A match is only a candidate: the part's own key column then says whether it is the key. Nothing is
stored for this; it is read from the parts when a run first needs it, a second or three for ten million turns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.parts import read_batches

_WORD_BYTES = 8
_UINT64 = pa.uint64()
_PART_MASK = 0xFFFF
# Sorting needs three times the memory of what it sorts, so keys are kept, and sorted, by the range of their value.
_RANGE_BITS = 4
_RANGE_SHIFT = 64 - _RANGE_BITS
# Odd, so that multiplying loses nothing; taken from the fractional digits of square roots of primes.
_ODD = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1)


#: Sorted keys, a range of values each; the ranges in order.
Run = list[memoryview]


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

    def read(self, path: Path) -> tuple[pa.ChunkedArray, pa.Array]:
        """Keys of a part and what they mix down to, in row order. Raises: OSError, pyarrow.ArrowInvalid."""
        keys, mixed = [], []
        for batch in read_batches(path, [self._column]):
            keys.append(batch.column(0))
            mixed.append(mix(batch.column(0)))
        return pa.chunked_array(keys, pa.string()), pa.concat_arrays(mixed) if mixed else pa.array([], _UINT64)

    def add(self, parts: list[tuple[str, Path]]) -> None:
        """Add the keys of parts (name, path), holding no more than one batch of key text at a time."""
        ranges: list[list[pa.Array]] = [[] for _ in range(1 << _RANGE_BITS)]
        for number, (_, path) in enumerate(parts, len(self._paths)):
            for batch in read_batches(path, [self._column]):
                _spread(pc.bit_wise_or(mix(batch.column(0)), _uint64(min(number, _PART_MASK))), ranges)
        self._paths += parts
        self._runs.append([_sorted(ranges.pop(0)) for _ in range(1 << _RANGE_BITS)])
        # Runs grow like the digits of a binary counter: few to search, and each key is sorted a few times at most.
        while len(self._runs) > 1 and _length(self._runs[-2]) <= 2 * _length(self._runs[-1]):
            last, before = self._runs.pop(), self._runs[-1]
            for position in range(1 << _RANGE_BITS):
                before[position] = _sorted([before[position], last[position]])

    def moved(self, paths: dict[str, Path]) -> None:
        """Note where parts lie now."""
        self._paths = [(name, paths.get(name, path)) for name, path in self._paths]

    def known(self, keys: pa.ChunkedArray, mixed: pa.Array) -> pa.Array:
        """Those of ``keys`` (with ``mixed`` as :meth:`read` gives them) that the parts hold, each once.

        Raises:
            OSError, pyarrow.ArrowInvalid: a part cannot be read.

        """
        candidates: dict[int, list[int]] = {}
        for row, value in enumerate(mixed.to_pylist()):
            for number in self._parts_with(value):
                candidates.setdefault(number, []).append(row)
        found: list[str] = []
        for number, rows in candidates.items():
            wanted = keys.take(pa.array(rows, pa.int64()))
            # All parts from the last number on share it.
            paths = self._paths[number:] if number == _PART_MASK else self._paths[number : number + 1]
            for _, path in paths:
                for batch in read_batches(path, [self._column]):
                    column = batch.column(0)
                    found += column.filter(pc.is_in(column, value_set=wanted)).to_pylist()
        return pa.array(sorted(set(found)), pa.string())

    def _parts_with(self, value: int) -> set[int]:
        low = value & ~_PART_MASK
        numbers = set()
        for run in self._runs:
            values = run[value >> _RANGE_SHIFT]
            place = bisect_left(values, low)
            while place < len(values) and values[place] <= low | _PART_MASK:
                numbers.add(values[place] & _PART_MASK)
                place += 1
        return numbers


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
    return pc.bit_wise_and(total, _uint64(0xFFFF_FFFF_FFFF_0000))


def _spread(values: pa.Array, ranges: list[list[pa.Array]]) -> None:
    """Add each value to its range."""
    places = pc.shift_right(values, _uint64(_RANGE_SHIFT))
    for position, chunks in enumerate(ranges):
        chunks.append(values.filter(pc.equal(places, _uint64(position))))


def _sorted(chunks: Sequence[pa.Array | memoryview]) -> memoryview:
    """All values of a range in order, as unsigned 64-bit integers."""
    arrays = [
        pa.Array.from_buffers(_UINT64, len(chunk), [None, pa.py_buffer(chunk)])
        if isinstance(chunk, memoryview)
        else chunk
        for chunk in chunks
    ]
    values = pa.chunked_array(arrays, _UINT64).combine_chunks()
    ordered = values.take(pc.array_sort_indices(values))
    return memoryview(ordered.buffers()[1]).cast("B").cast("Q")[: len(ordered)]


def _length(run: Run) -> int:
    return sum(map(len, run))


def _uint64(number: int) -> pa.Scalar:
    return pa.scalar(number, _UINT64)
