"""The sufficient statistic of every mechanism: how many points lie in each cell.

Sorted and sparse, exact, and mergeable by addition, so that private points are read once, in
pieces, anywhere.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Iterable, List, Sequence, Tuple

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInputError
from ..rules.axes import Axis
from .packed import Block, Packed, add_pairs, add_up, pack, pack_sorted

Array = np.ndarray

#: group sums stay below this, so that sum and noise fit into int64 together
_SUM_LIMIT = 1 << 62
#: points that a Tally gathers before it adds them to its table
_GATHERED = 1 << 24
#: quadtree nodes of this level, at most, have what lies before each of them written down
_DEEPEST = 11


class Cells:
    """Counts of the non-empty cells, by increasing curve index.

    ``index`` and ``count`` are made when asked for, sixteen bytes a cell; the table itself takes
    three to six.
    """

    #: a table of cells alone has none; `SlicedCells` has
    axes: Tuple[Axis, ...] = ()

    def __init__(self, grid: Grid, index: Array, count: Array) -> None:
        self._hold(grid, Packed(pack(np.asarray(index), np.asarray(count))))

    @classmethod
    def of(cls, grid: Grid, packed: Packed) -> Cells:
        """The cells of a packed table."""
        made = cls.__new__(cls)
        made._hold(grid, packed)
        return made

    def _hold(self, grid: Grid, packed: Packed) -> None:
        self.grid, self.packed = grid, packed

    def __repr__(self) -> str:
        # shown in notebooks and logs, so nothing that comes from the points
        side = f"2^{self.grid.order}"
        return f"<Cells: private counts on a grid of {side} x {side} cells>"

    @property
    def n(self) -> int:
        """The total of all counts."""
        return self.packed.total

    @property
    def index(self) -> Array:
        """Curve index of each non-empty cell."""
        return self.packed.pairs()[0]

    @property
    def count(self) -> Array:
        """How many points each of them has."""
        return self.packed.pairs()[1]

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
            raise BadInputError("The group sizes must add up to the number of points.")
        if int(sizes.max(initial=0)) * 4**self.grid.order >= _SUM_LIMIT:
            raise BadInputError(
                "The group size times 4^order must stay below 2^62 for exact sums; "
                "use smaller groups or a grid of lower order."
            )
        if not sizes.size:
            return np.zeros(0, np.int64)
        rank = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        total = np.zeros(rank.size, np.int64)
        # Totals may pass 2^63 and wrap around; differences of two of them are the group sums,
        # below 2^62, so they are exact all the same.
        so_far = np.int64(0)
        for index, count, before in self.packed.stretches():
            position = self.grid.compress(index)
            points_before = np.append(np.int64(0), np.cumsum(count)) + before
            total_before = so_far + np.append(np.int64(0), np.cumsum(count * position))
            here = slice(*np.searchsorted(rank, points_before[[0, -1]]))
            cell = np.searchsorted(points_before, rank[here], side="right") - 1
            within = rank[here] - points_before[cell]
            total[here] = total_before[cell] + within * position[cell]
            so_far = total_before[-1]
        total[rank == self.n] = so_far
        return np.diff(total)

    def counts_in(self, start: Array, stop: Array) -> Array:
        """How many points have a curve index in each interval [start, stop)."""
        first = self._points_before(start)
        last = np.append(first[1:], -1)
        # brothers touch: where one ends the next begins, and need not be looked up again
        apart = np.flatnonzero(np.append(stop[:-1] != start[1:], True)[: first.size])
        last[apart] = self._points_before(stop[apart])
        return last - first

    def _points_before(self, index: Array) -> Array:
        """How many points come before each curve index."""
        shift = 2 * (self.grid.order - self._node_level)
        node = index >> shift
        if (node << shift == index).all():
            return self._nodes[node]
        return self.packed.before(index)

    @cached_property
    def _node_level(self) -> int:
        """Level at which a quadtree node has a few non-empty cells on average."""
        return min(self.grid.order, _DEEPEST, max(0, len(self.packed).bit_length() // 2 - 1))

    @cached_property
    def _nodes(self) -> Array:
        """How many points come before each quadtree node of that level, and in all."""
        shift = 2 * (self.grid.order - self._node_level)
        return self.packed.before_each(shift, 4**self._node_level)


def count_cells(grid: Grid, x: Array, y: Array) -> Cells:
    """Count points by cell; points outside the domain count in the nearest allowed cell.

    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 1), [0.2, 9.0, 0.3], [0.5, 0.5, 0.1])
    >>> cells.index, cells.count
    (array([0, 3]), array([2, 1]))
    """
    return _count_indices(grid, grid.curve_index(x, y, out=np.empty(np.size(x), word(grid))))


def from_index(grid: Grid, index: Array) -> Cells:
    """Count allowed curve indices, given in any order."""
    return _count_indices(grid, np.array(index, word(grid)))


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
        self._gathered = np.empty(0, word(grid))
        self._used = 0
        self._table = Packed([])

    def __repr__(self) -> str:
        return "<Tally: private points being counted>"

    def add(self, x: Array, y: Array) -> None:
        """Count these points, too."""
        size = np.size(x)
        if self._used + size > self._gathered.size:
            self.cells()
            # memory that is asked for and not written to costs nothing
            self._gathered = np.empty(max(size, _GATHERED), word(self._grid))
        here = slice(self._used, self._used + size)
        self._grid.curve_index(x, y, out=self._gathered[here])
        self._used += size

    def cells(self) -> Cells:
        """All points so far, by cell."""
        latest = self._gathered[: self._used]
        latest.sort()
        tables = [self._table.blocks[:], list(pack_sorted(latest))]
        # the table is let go of before it is added up, so that there are never two of them
        self._gathered, self._used = np.empty(0, word(self._grid)), 0
        del latest
        self._table = Packed([])
        self._table = Packed(_together(tables))
        return Cells.of(self._grid, self._table)


def word(grid: Grid) -> "np.dtype[Any]":
    """32 bits, which sort twice as fast, where they hold every index."""
    return np.dtype(np.uint32 if grid.order <= 16 else np.int64)


def _count_indices(grid: Grid, index: Array) -> Cells:
    """Count indices, sorting them in place."""
    index.sort()
    return Cells.of(grid, Packed(pack_sorted(index)))


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
        raise BadInputError("There is no table of cell counts to merge.")
    grid = tables[0].grid
    if any(table.grid != grid for table in tables):
        raise BadInputError("Only counts on the same grid can be merged.")
    return Cells.of(grid, Packed(_together([table.packed.blocks[:] for table in tables])))


def _together(tables: Sequence[List[Block]]) -> Iterable[Block]:
    filled = [blocks for blocks in tables if blocks]
    return add_up(filled) if len(filled) > 1 else [block for blocks in filled for block in blocks]


def from_counts(grid: Grid, index: Array, count: Array) -> Cells:
    """Add up counts of allowed curve indices, given in any order and possibly repeated."""
    return Cells(grid, *add_pairs(index, count))
