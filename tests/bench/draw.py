"""Whole columns of made-up values, drawn by pyarrow, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Columns = dict[str, Any]


class Draw:
    """Columns of random values; every draw has a seed of its own, so that the same lake comes out each time."""

    def __init__(self, seed: int) -> None:
        self._seed = seed * 1_000_000

    def uniform(self, rows: int) -> pa.Array:
        """Doubles from 0 up to, and without, 1."""
        self._seed += 1
        return pc.random(rows, initializer=self._seed)

    def below(self, rows: int, bound: int, skew: float = 1.0) -> pa.Array:
        """Whole numbers from 0 up to, and without, ``bound``; with a skew over 1 the low ones come more often."""
        return pc.cast(pc.floor(pc.multiply(pc.power(self.uniform(rows), skew), bound)), pa.int64())

    def one_of(self, rows: int, values: Sequence[Any], skew: float = 1.0) -> pa.Array:
        """Values out of a list."""
        return pc.take(pa.array(values), self.below(rows, len(values), skew))

    def hexadecimal(self, rows: int, groups: int) -> pa.Array:
        """Strings of four hexadecimal digits a group, as digests look."""
        return pc.binary_join_element_wise(*(self.one_of(rows, _HEX) for _ in range(groups)), "")


_HEX = pa.array([f"{value:04x}" for value in range(65536)])


def numbers(rows: int) -> pa.Array:
    """0, 1, 2 and so on."""
    return pc.subtract(pc.cumulative_sum(constant(1, rows, pa.int64())), 1)


def constant(value: Any, rows: int, kind: pa.DataType) -> pa.Array:
    """A column of one value, or of nulls."""
    return pa.repeat(pa.scalar(value, kind), rows) if value is not None else pa.nulls(rows, kind)
