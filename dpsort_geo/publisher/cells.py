"""The sufficient statistic of every mechanism: how many points lie in each cell.

Sorted and sparse, exact, and mergeable by addition, so that private points are read once, in
pieces, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Sequence

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInput

Array = np.ndarray

#: group sums stay below this, so that sum and noise fit into int64 together
_SUM_LIMIT = 1 << 62
#: points that a Tally gathers before it adds them to its table
_GATHERED = 1 << 24
#: cells worked on at a time, so that little memory is needed beside the tables
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of the non-empty cells, by increasing curve index."""

    grid: Grid
    index: Array
    count: Array

    @property
    def n(self) -> int:
        """The total of all counts."""
        return int(self.count.sum())

    def group_sums(self, sizes: Array) -> Array:
        """Sums of the sorted positions in consecutive groups (step A2), without sorting points.

        Exactly what one gets by writing every point's position down, sorting, and adding up
        groups of the given sizes; a group may begin and end inside a cell.

        >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 1), [0.5, 0.5, 1.5], [0.5, 0.5, 0.5])
        >>> cells.group_sums(np.array([1, 2]))
        array([0, 3])
        """
        sizes = np.asarray(sizes, np.int64)
        if int(sizes.sum()) != self.n:
            raise BadInput("The group sizes must add up to the number of points.")
        if int(sizes.max(initial=0)) * 4**self.grid.order >= _SUM_LIMIT:
            raise BadInput(
                "The group size times 4^order must stay below 2^62 for exact sums; "
                "use smaller groups or a grid of lower order."
            )
        if not sizes.size:
            return np.zeros(0, np.int64)
        position = self.grid.compress(self.index)
        # Totals may pass 2^63 and wrap around; differences of two of them are the group sums,
        # below 2^62, so they are exact all the same.
        points_before = self._before
        total_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.count * position)])
        rank = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        cell = np.searchsorted(points_before, rank, side="right") - 1
        within = np.minimum(cell, position.size - 1)
        total = total_before[cell] + (rank - points_before[cell]) * position[within]
        return np.diff(total)

    def counts_in(self, start: Array, stop: Array) -> Array:
        """How many points have a curve index in each interval [start, stop)."""
        first = self._rank(start)
        last = np.append(first[1:], -1)
        # brothers touch: where one ends the next begins, and need not be looked up again
        apart = np.flatnonzero(np.append(stop[:-1] != start[1:], True)[: first.size])
        last[apart] = self._rank(stop[apart])
        return self._before[last] - self._before[first]

    def _rank(self, index: Array) -> Array:
        """How many non-empty cells come before each curve index."""
        shift = 2 * (self.grid.order - self._node_level)
        node = index >> shift
        if (node << shift == index).all():
            return self._nodes[node]
        return np.searchsorted(self.index, index)

    @property
    def _node_level(self) -> int:
        """Level at which a quadtree node has a few non-empty cells on average."""
        return min(self.grid.order, max(0, self.index.size.bit_length() // 2 - 1))

    @cached_property
    def _nodes(self) -> Array:
        """How many non-empty cells come before each quadtree node of that level, and in all."""
        shift = 2 * (self.grid.order - self._node_level)
        filled = np.bincount(self.index >> shift, minlength=4**self._node_level)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(filled)])

    @cached_property
    def _before(self) -> Array:
        """Number of points before each cell, and in the end all of them."""
        before = np.zeros(self.count.size + 1, np.int64)
        np.cumsum(self.count, out=before[1:])
        return before


def count_cells(grid: Grid, x: Array, y: Array) -> Cells:
    """Count points by cell; points outside the domain count in the nearest allowed cell.

    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 1), [0.2, 9.0, 0.3], [0.5, 0.5, 0.1])
    >>> cells.index, cells.count
    (array([0, 3]), array([2, 1]))
    """
    return _counted(grid, grid.curve_index(x, y, out=np.empty(np.size(x), _word(grid))))


def from_index(grid: Grid, index: Array) -> Cells:
    """Count allowed curve indices, given in any order."""
    return _counted(grid, np.array(index, _word(grid)))


class Tally:
    """Counts points as they come, in memory that grows with the non-empty cells alone.

    >>> tally = Tally(Grid(0.0, 0.0, 1.0, 1))
    >>> tally.add([0.2, 9.0], [0.5, 0.5])
    >>> tally.add([0.3], [0.1])
    >>> tally.cells().count
    array([2, 1])
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._gathered = np.empty(0, _word(grid))
        self._used = 0
        self._table = _counted(grid, self._gathered)

    def add(self, x: Array, y: Array) -> None:
        """Count these points, too."""
        size = np.size(x)
        if self._used + size > self._gathered.size:
            self.cells()
            # memory that is asked for and not written to costs nothing
            self._gathered = np.empty(max(size, _GATHERED), _word(self._grid))
        here = slice(self._used, self._used + size)
        self._grid.curve_index(x, y, out=self._gathered[here])
        self._used += size

    def cells(self) -> Cells:
        """All points so far, by cell."""
        latest = _counted(self._grid, self._gathered[: self._used])
        self._gathered, self._used = np.empty(0, _word(self._grid)), 0
        self._table = merge(self._table, latest)
        return self._table


def _word(grid: Grid) -> "np.dtype[Any]":
    """32 bits, which sort twice as fast, where they hold every index."""
    return np.dtype(np.uint32 if grid.order <= 16 else np.int64)


def _counted(grid: Grid, index: Array) -> Cells:
    """Count indices, sorting them in place."""
    index.sort()
    begins = np.ones(index.size, bool)
    np.not_equal(index[1:], index[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    cell = np.empty(first.size, np.int64)
    for start in range(0, first.size, _BLOCK):
        here = slice(start, start + _BLOCK)
        cell[here] = index[first[here]]
        following = np.append(first[start + 1 : start + _BLOCK + 1], index.size)
        # the starts of this block are not needed again: their place takes the counts
        first[here] = following[: first[here].size] - first[here]
    return Cells(grid, cell, first)


def merge(a: Cells, b: Cells) -> Cells:
    """The counts of two sets of points together.

    >>> half = count_cells(Grid(0.0, 0.0, 1.0, 1), [0.2], [0.5])
    >>> merge(half, half).count
    array([2])
    """
    return merge_all([a, b])


def merge_all(tables: Sequence[Cells]) -> Cells:
    """The counts of several sets of points together."""
    if not tables:
        raise BadInput("There is no table of cell counts to merge.")
    grid = tables[0].grid
    if any(table.grid != grid for table in tables):
        raise BadInput("Only counts on the same grid can be merged.")
    tables = [table for table in tables if table.index.size] or tables[:1]
    return tables[0] if len(tables) == 1 else _added_up(grid, tables)


def _added_up(grid: Grid, tables: Sequence[Cells]) -> Cells:
    """Add tables up, block by block along the curve."""
    size = sum(table.index.size for table in tables)
    index, count = np.empty(size, np.int64), np.empty(size, np.int64)
    largest = max(tables, key=lambda table: table.index.size)
    begin, done = [0] * len(tables), 0
    for edge in np.append(largest.index[_BLOCK::_BLOCK], np.int64(4**grid.order)):
        end = [int(np.searchsorted(table.index, edge)) for table in tables]
        parts = [(table, slice(a, b)) for table, a, b in zip(tables, begin, end)]
        block = from_counts(
            grid,
            np.concatenate([table.index[part] for table, part in parts]),
            np.concatenate([table.count[part] for table, part in parts]),
        )
        here = slice(done, done + block.index.size)
        index[here], count[here] = block.index, block.count
        begin, done = end, here.stop
    # pages of these arrays that were not written to take no memory
    return Cells(grid, index[:done], count[:done])


def from_counts(grid: Grid, index: Array, count: Array) -> Cells:
    """Add up counts of allowed curve indices, given in any order and possibly repeated."""
    order = np.argsort(index, kind="stable")
    index, count = index[order], count[order]
    if not index.size:
        return Cells(grid, index, count)
    first = np.flatnonzero(np.r_[True, index[1:] != index[:-1]])
    return Cells(grid, index[first], np.add.reduceat(count, first))
