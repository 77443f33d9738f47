"""The sufficient statistic of every mechanism: how many points lie in each cell.

Sorted and sparse, exact, and mergeable by addition, so that private points are read once, in
pieces, anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Sequence

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInput

Array = np.ndarray

#: group sums stay below this, so that sum and noise fit into int64 together
_SUM_LIMIT = 1 << 62


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
        first = np.searchsorted(self.index, start)
        last = np.append(first[1:], -1)
        # brothers touch: where one ends the next begins, and need not be looked up again
        apart = np.flatnonzero(np.append(stop[:-1] != start[1:], True)[: first.size])
        last[apart] = np.searchsorted(self.index, stop[apart])
        return self._before[last] - self._before[first]

    @cached_property
    def _before(self) -> Array:
        """Number of points before each cell, and in the end all of them."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.count)])


def count_cells(grid: Grid, x: Array, y: Array) -> Cells:
    """Count points by cell; points outside the domain count in the nearest allowed cell.

    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 1), [0.2, 9.0, 0.3], [0.5, 0.5, 0.1])
    >>> cells.index, cells.count
    (array([0, 3]), array([2, 1]))
    """
    return from_index(grid, grid.curve_index(np.asarray(x), np.asarray(y)))


def from_index(grid: Grid, index: Array) -> Cells:
    """Count allowed curve indices, given in any order."""
    index = np.sort(index)
    first = np.flatnonzero(np.r_[True, index[1:] != index[:-1]]) if index.size else index
    return Cells(grid, index[first], np.diff(np.append(first, index.size)).astype(np.int64))


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
    if len(tables) == 1:
        return tables[0]
    return from_counts(
        grid,
        np.concatenate([table.index for table in tables]),
        np.concatenate([table.count for table in tables]),
    )


def from_counts(grid: Grid, index: Array, count: Array) -> Cells:
    """Add up counts of allowed curve indices, given in any order and possibly repeated."""
    order = np.argsort(index, kind="stable")
    index, count = index[order], count[order]
    if not index.size:
        return Cells(grid, index, count)
    first = np.flatnonzero(np.r_[True, index[1:] != index[:-1]])
    return Cells(grid, index[first], np.add.reduceat(count, first))
