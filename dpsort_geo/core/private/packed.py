"""Sorted whole numbers, each with a count, in three to six bytes instead of sixteen.

A table of cells is cut into blocks of so many cells. A block stores how far each cell lies from
its first, and the counts, in the narrowest integers that hold them: in a city most cells are near
to each other and hold few points. Whatever is asked of the table is worked out a few blocks at a
time, so that little memory is needed beside it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Iterable, Iterator, List, Sequence, Tuple

import numpy as np

Array = np.ndarray
Pair = Tuple[Array, Array]

#: cells of a block: few enough for offsets of two bytes where cells lie close
_BLOCK = 1 << 14
#: blocks that are worked on at a time
_AT_ONCE = 4
#: up to so many cells are looked up in a table that is open beside the packed one, 32 MB at most:
#: a release asks a dozen times for what comes before its nodes
_FEW = 1 << 21
#: sums below this are exact in floating point
_EXACT = 1 << 53
_NARROW = (np.uint8, np.uint16, np.uint32, np.int64)
_BY_WIDTH = {np.dtype(kind).itemsize: kind for kind in _NARROW}


class Block:
    """Some neighbouring cells with their counts."""

    __slots__ = ("count", "first", "offset", "total")

    def __init__(self, key: Array, count: Array) -> None:
        self.first = int(key[0])
        self.offset = _narrow(key - key[0], int(key[-1]) - self.first)
        self.count = _narrow(count, int(count.max()))
        self.total = int(count.sum())

    @classmethod
    def restore(cls, first: int, size: int, offset: bytes, count: bytes) -> Block:
        """A block from its parts, as they were sent."""
        made = cls.__new__(cls)
        made.first = first
        made.offset, made.count = (
            np.frombuffer(part, _BY_WIDTH[len(part) // size]) for part in (offset, count)
        )
        made.total = int(made.count.sum(dtype=np.int64))
        return made

    def __repr__(self) -> str:
        return "<Block: private counts>"


class Packed:
    """Whole numbers in increasing order, and a count of each."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.blocks = list(blocks)
        self._first = np.array([block.first for block in self.blocks], np.int64)
        total = [0, *(block.total for block in self.blocks)]
        self._before = np.cumsum(np.array(total, np.int64))

    def __repr__(self) -> str:
        return "<Packed: private counts>"

    def __len__(self) -> int:
        return sum(block.offset.size for block in self.blocks)

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self._before[-1])

    def pairs(self) -> Pair:
        """All numbers and their counts, sixteen bytes each."""
        return unpack(self.blocks)

    def stretches(self) -> Iterator[Tuple[Array, Array, int]]:
        """The same, some blocks at a time, and the sum of the counts before them."""
        for start in range(0, len(self.blocks), _AT_ONCE):
            yield (
                *unpack(self.blocks[start : start + _AT_ONCE]),
                int(self._before[start]),
            )

    @cached_property
    def _open(self) -> Pair:
        """All numbers, and the sum of the counts before each and of all."""
        return _add_from_first(*self.pairs())

    def before(self, edge: Array) -> Array:
        """The sum of the counts of all numbers below each edge."""
        if len(self) <= _FEW:
            key, below = self._open
            return below[np.searchsorted(key, edge)]
        if not (edge[1:] >= edge[:-1]).all():
            order = np.argsort(edge, kind="stable")
            found = np.empty(edge.size, np.int64)
            found[order] = self.before(edge[order])
            return found
        found = np.full(edge.size, self._before[-1])
        begin = np.searchsorted(edge, self._first[::_AT_ONCE])
        found[: begin[0] if begin.size else 0] = 0
        end = np.append(begin[1:], edge.size)
        for number in np.flatnonzero(begin < end).tolist():
            start, here = number * _AT_ONCE, slice(begin[number], end[number])
            key, below = _add_from_first(*unpack(self.blocks[start : start + _AT_ONCE]))
            found[here] = below[np.searchsorted(key, edge[here])] + self._before[start]
        return found

    def before_each(self, shift: int, steps: int) -> Array:
        """The same for the edges 0, 1, ..., ``steps`` times 2^shift; the last is above all numbers.

        >>> Packed(pack(np.array([3, 5, 9]), np.array([1, 2, 1]))).before_each(2, 3)
        array([0, 1, 3, 4])
        """
        found = np.zeros(steps + 1, np.int64)
        for block in self.blocks:
            base = block.first >> shift
            step = block.offset.astype(np.int64)
            step += block.first - (base << shift)
            step >>= shift
            here = found[base + 1 : base + 2 + int(step[-1])]
            if block.total < _EXACT:
                here += np.bincount(step, block.count).astype(np.int64)
            else:
                np.add.at(here, step, block.count)
        return np.cumsum(found, out=found)


def pack(key: Array, count: Array) -> Iterator[Block]:
    """Blocks of numbers that are sorted, each once, with their counts.

    >>> Packed(pack(np.array([3, 5, 9]), np.array([1, 2, 1]))).before(np.array([0, 5, 6, 100]))
    array([0, 1, 3, 4])
    """
    for start in range(0, key.size, _BLOCK):
        yield Block(key[start : start + _BLOCK], count[start : start + _BLOCK])


def pack_sorted(index: Array) -> Iterator[Block]:
    """Blocks of sorted numbers that may repeat, counted.

    >>> Packed(pack_sorted(np.array([3, 3, 9]))).pairs()
    (array([3, 9]), array([2, 1]))
    """
    start = 0
    while start < index.size:
        stop = min(start + _BLOCK * _AT_ONCE, index.size)
        # all of one number go together
        stop = int(np.searchsorted(index, index[stop - 1], "right"))
        here = index[start:stop]
        begins = np.ones(here.size, bool)
        np.not_equal(here[1:], here[:-1], out=begins[1:])
        first = np.flatnonzero(begins)
        yield from pack(here[first], np.diff(np.append(first, here.size)))
        start = stop


def add_up(tables: Sequence[List[Block]]) -> Iterator[Block]:
    """The blocks of all tables together, counts of the same number added.

    The lists of blocks are used up, so that what nobody else holds makes room as it goes.
    """
    firsts = np.sort(np.array([block.first for blocks in tables for block in blocks], np.int64))
    readers = [_Reader(blocks) for blocks in tables]
    for edge in [*firsts[_AT_ONCE::_AT_ONCE].tolist(), None]:
        parts = [reader.below(edge) for reader in readers]
        yield from pack(*add_pairs(*(np.concatenate(part) for part in zip(*parts))))


def add_pairs(key: Array, count: Array) -> Pair:
    """Numbers in any order, possibly repeated, as sorted numbers with the sums of their counts.

    >>> add_pairs(np.array([5, 3, 5]), np.array([1, 2, 4]))
    (array([3, 5]), array([2, 5]))
    """
    order = np.argsort(key, kind="stable")
    key, count = key[order], count[order]
    if not key.size:
        return key, count
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    return key[first], np.add.reduceat(count, first)


class _Reader:
    """Reads a list of blocks from its beginning, and lets go of what was read."""

    def __init__(self, blocks: List[Block]) -> None:
        self._blocks = blocks
        self._blocks.reverse()
        self._rest: Pair = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def below(self, edge: Any) -> Pair:
        """All that was not read yet and lies below the edge; None has everything below it."""
        taken = []
        while self._blocks and (edge is None or self._blocks[-1].first < edge):
            taken.append(self._blocks.pop())
        found = unpack(taken)
        key, count = (np.concatenate(pair) for pair in zip(self._rest, found))
        stop = key.size if edge is None else int(np.searchsorted(key, edge))
        self._rest = key[stop:].copy(), count[stop:].copy()
        return key[:stop], count[:stop]


def unpack(blocks: Sequence[Block]) -> Pair:
    """The numbers of blocks and their counts, sixteen bytes each."""
    size = sum(block.offset.size for block in blocks)
    key, count = np.empty(size, np.int64), np.empty(size, np.int64)
    done = 0
    for block in blocks:
        here = slice(done, done + block.offset.size)
        # numpy before 2 would add in the narrow type of the offsets, and wrap around
        np.add(block.offset, block.first, out=key[here], dtype=np.int64)
        count[here] = block.count
        done = here.stop
    return key, count


def _add_from_first(key: Array, count: Array) -> Pair:
    below = np.zeros(count.size + 1, np.int64)
    np.cumsum(count, out=below[1:])
    return key, below


def _narrow(values: Array, largest: int) -> Array:
    kind = next(kind for kind in _NARROW if largest <= np.iinfo(kind).max)
    return values.astype(kind)
