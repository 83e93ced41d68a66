"""Which keys a table of the lake already holds, exactly, in eight bytes a key.

Every key is mixed down to 48 bits and stored with the 16-bit number of its part, sorted, so that a look-up is a
binary search. A match is only a candidate: the part's own key column then says whether it is the key. Nothing is
stored for this; it is read from the parts when a run first needs it, a second or three for ten million turns.
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.parts import read_batches

_WORD_BYTES = 8
_UINT64 = pa.uint64()
_PART_MASK = 0xFFFF
# Sorting needs three times the memory of what it sorts, so what is sorted at once is bounded by range of value.
_SORT_RANGES = 8
_SORT_AT_ONCE = 1 << 20
# Odd, so that multiplying loses nothing; taken from the fractional digits of square roots of primes.
_ODD = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1)


class KeyIndex:
    """The keys of one column over the parts of a table. Parts are added as they land and never taken out."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._paths: list[tuple[str, Path]] = []
        self._runs: list[pa.Array] = []

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
        chunks = [
            self._numbered(mix(batch.column(0)), len(self._paths) + position)
            for position, (_, path) in enumerate(parts)
            for batch in read_batches(path, [self._column])
        ]
        self._paths += parts
        if chunks:
            self._runs.append(_sorted(chunks))
        # Runs grow like the digits of a binary counter: few to search, and each key is sorted a few times at most.
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = _sorted([self._runs[-1], last])

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
            values = memoryview(run.buffers()[1]).cast("B").cast("Q")
            place = bisect_left(values, low, 0, len(run))
            while place < len(run) and values[place] <= low | _PART_MASK:
                numbers.add(values[place] & _PART_MASK)
                place += 1
        return numbers

    def _numbered(self, mixed: pa.Array, number: int) -> pa.Array:
        return pc.bit_wise_or(mixed, pa.scalar(min(number, _PART_MASK), _UINT64))


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
        odd = pa.scalar(_ODD[word % len(_ODD)] + 2 * word, _UINT64)
        value = pc.multiply(value, odd)
        value = pc.bit_wise_xor(value, pc.shift_right(value, pa.scalar(32, _UINT64)))
        value = pc.multiply(value, odd)
        total = value if total is None else pc.add(total, value)
    return pc.bit_wise_and(total, pa.scalar(0xFFFF_FFFF_FFFF_0000, _UINT64))


def _sorted(chunks: list[pa.Array]) -> pa.Array:
    """All values in order, in one new array."""
    values = pa.chunked_array(chunks, _UINT64)
    if len(values) < _SORT_AT_ONCE:
        whole = values.combine_chunks()
        return whole.take(pc.array_sort_indices(whole))
    step = (1 << 64) // _SORT_RANGES
    ordered = []
    for low in range(0, 1 << 64, step):
        within = pc.equal(
            pc.shift_right(values, pa.scalar(64 - _SORT_RANGES.bit_length() + 1, _UINT64)),
            pa.scalar(low // step, _UINT64),
        )
        some = values.filter(within).combine_chunks()
        ordered.append(some.take(pc.array_sort_indices(some)))
    return pa.concat_arrays(ordered)
