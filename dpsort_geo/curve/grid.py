"""The square grid of cells that carries the curve, and which of its cells are allowed.

Two ways to number cells, both integers. The *curve index* runs over all 4^order cells, so that
a quadtree node is one interval of it. The *position* runs over the allowed cells only, 0 to N-1
in the same order: cells outside the mask take no room. Without a mask they are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional, Tuple

import numpy as np

from ..errors import BadInput
from . import hilbert

Array = np.ndarray

MAX_ORDER = 31
#: a mask has as many runs as its outline has cells; beyond this they no longer fit into memory
MAX_MASKED_ORDER = 20
#: points farther outside than this many cells are treated as if at this distance
_FAR = 1 << 29
#: points worked on at a time: the arrays between stay in the cache, and below the size (128 KB)
#: from which on the C library asks the system for fresh memory each time
_CHUNK = 15 << 10
#: level of the quadtree nodes whose share of allowed cells is kept in a table
_COARSE = 8
_NONE, _SOME, _ALL = 0, 1, 2


def default_order(side: float) -> int:
    """Order whose cell is a sensible place for a domain of this side, in metres.

    About 10 m for a city of 50 km, never below 1 m, never above order 16.

    >>> [default_order(side) for side in (500.0, 50_000.0, 5_000_000.0)]
    [8, 13, 16]
    """
    if not (np.isfinite(side) and side > 0):
        raise BadInput("The side of the domain must be a positive number of metres.")
    wanted = max(1.0, min(10.0, side / 256))
    order = int(np.ceil(np.log2(side / wanted) - 1e-9))
    while order > 1 and side / 2.0**order < 1.0:
        order -= 1
    return max(1, min(16, order))


@dataclass(frozen=True, eq=False)
class Grid:
    """2^order x 2^order square cells with the lower left corner at (x0, y0).

    ``runs`` is the mask: the allowed curve indices as sorted, disjoint, half-open intervals, an
    int64 array of shape (m, 2); None allows every cell.

    >>> grid = Grid(0.0, 0.0, 10.0, 2)
    >>> grid.n_cells
    16
    >>> grid.positions([5.0, 35.0], [5.0, 5.0])
    array([ 0, 15])
    """

    x0: float
    y0: float
    cell: float
    order: int
    runs: Optional[Array] = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for value in (self.x0, self.y0, self.cell):
            if not np.isfinite(value):
                raise BadInput("A grid needs a finite origin and cell size.")
        if self.cell <= 0:
            raise BadInput("The cell size of a grid must be positive.")
        top = MAX_ORDER if self.runs is None else MAX_MASKED_ORDER
        if isinstance(self.order, bool) or not isinstance(self.order, (int, np.integer)):
            raise BadInput("The order of a grid must be a whole number.")
        if not 1 <= self.order <= top:
            raise BadInput(f"The order of this grid must lie between 1 and {top}.")
        object.__setattr__(self, "order", int(self.order))
        if not max(abs(self.x0), abs(self.y0)) + self.side < self.cell * 2.0**51:
            raise BadInput("The cells of a grid must be large enough to be told apart.")
        if self.runs is not None:
            object.__setattr__(self, "runs", _checked_runs(self.runs, self.order))
            sizes = self.runs[:, 1] - self.runs[:, 0]
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
            before.setflags(write=False)
            object.__setattr__(self, "_before", before)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        if self is other:
            return True
        same = (self.x0, self.y0, self.cell, self.order) == (
            other.x0, other.y0, other.cell, other.order,
        )  # fmt: skip
        if not same or (self.runs is None) != (other.runs is None):
            return False
        return self.runs is None or np.array_equal(self.runs, other.runs)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash((self.x0, self.y0, self.cell, self.order))

    @property
    def side(self) -> float:
        """Length of the grid's side, in the units of its coordinates."""
        return self.cell * 2.0**self.order

    @property
    def n_cells(self) -> int:
        """How many cells are allowed: the N of the mechanisms."""
        return 4**self.order if self.runs is None else int(self._before[-1])  # type: ignore[attr-defined]

    def allowed_before(self, index: Array) -> Array:
        """Number of allowed cells whose curve index is smaller than ``index``."""
        index = np.asarray(index, np.int64)
        if self.runs is None:
            return index
        run = np.searchsorted(self.runs[:, 1], index, side="right")
        start = np.append(self.runs[:, 0], np.int64(4**self.order))[run]
        return self._before[run] + np.maximum(index - start, 0)  # type: ignore[attr-defined]

    def compress(self, index: Array) -> Array:
        """Positions of allowed curve indices."""
        return self.allowed_before(index)

    def expand(self, position: Array) -> Array:
        """Curve indices of positions."""
        position = np.asarray(position, np.int64)
        if position.size and (position.min() < 0 or position.max() >= self.n_cells):
            raise BadInput(f"Positions on this grid lie between 0 and {self.n_cells - 1}.")
        if self.runs is None:
            return position
        before = self._before  # type: ignore[attr-defined]
        run = np.searchsorted(before, position, side="right") - 1
        return self.runs[run, 0] + (position - before[run])

    def is_allowed(self, index: Array) -> Array:
        """Which curve indices are allowed cells."""
        index = np.asarray(index, np.int64)
        if self.runs is None:
            return np.ones(index.shape, bool)
        run = np.searchsorted(self.runs[:, 1], index, side="right")
        return index >= np.append(self.runs[:, 0], np.int64(4**self.order))[run]

    def columns_and_rows(self, x: Array, y: Array) -> Tuple[Array, Array]:
        """Cell column and row of each point, not yet confined to the grid."""
        x, y = _coordinates(x, y)
        far = float(_FAR) + 2.0**self.order
        place = []
        for at, origin in ((x, self.x0), (y, self.y0)):
            if not np.isfinite(at).all():
                raise BadInput(
                    "Every coordinate must be a finite number; remove empty points first."
                )
            cell = (at - origin) / self.cell
            np.floor(cell, out=cell)
            np.clip(cell, -far, far, out=cell)
            place.append(cell.astype(np.int64))
        return place[0], place[1]

    def curve_index(self, x: Array, y: Array, out: Optional[Array] = None) -> Array:
        """Curve index of the allowed cell of each point; points outside go to the nearest one.

        ``out`` is an array of integers, wide enough, that the result is written to.
        """
        x, y = _coordinates(x, y)
        index = np.empty(x.size, np.int64) if out is None else out
        lost = [np.empty(0, np.int64)]
        for start in range(0, x.size, _CHUNK):
            here = slice(start, start + _CHUNK)
            index[here], astray = self._index_or_astray(x[here], y[here])
            if astray is not None:
                lost.append(np.flatnonzero(astray) + start)
        who = np.concatenate(lost)
        if who.size:
            # many lost points share a cell: look for the nearest allowed one only once
            cell = np.stack(self.columns_and_rows(x[who], y[who]), axis=1)
            cell, which = np.unique(cell, axis=0, return_inverse=True)
            index[who] = self.nearest_allowed(cell[:, 0], cell[:, 1])[which.reshape(-1)]
        return index

    def _index_or_astray(self, x: Array, y: Array) -> Tuple[Array, Optional[Array]]:
        """Curve index of each point, and which points are not in an allowed cell (None: no mask).

        Points beyond the square get its nearest cell; with a mask they are astray, because the
        allowed cell nearest to them need not be the one nearest to that cell.
        """
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise BadInput("Every coordinate must be a finite number; remove empty points first.")
        column, row = (x - self.x0) / self.cell, (y - self.y0) / self.cell
        beyond = None if self.runs is None else self._beyond(column, row)
        # where nothing is negative, cutting off the fraction rounds down
        last = float(2**self.order - 1)
        word = np.uint32 if self.order <= 16 else np.int64
        column = np.clip(column, 0.0, last, out=column).astype(word)
        row = np.clip(row, 0.0, last, out=row).astype(word)
        index = hilbert.encode_chunk(column, row, self.order)
        if self.runs is None:
            return index, None
        astray = self._forbidden(index)
        return index, astray if beyond is None else astray | beyond

    def _beyond(self, column: Array, row: Array) -> Optional[Array]:
        """Which points lie beyond the square; None if none does."""
        side = 2.0**self.order
        if min(column.min(), row.min()) >= 0 and max(column.max(), row.max()) < side:
            return None
        return (column < 0) | (row < 0) | (column >= side) | (row >= side)

    def _forbidden(self, index: Array) -> Array:
        """Which cells the mask forbids; a coarse table settles all but those near its edge."""
        state = self._coarse[index >> np.int64(2 * max(0, self.order - _COARSE))]
        forbidden = state == _NONE
        unclear = np.flatnonzero(state == _SOME)
        forbidden[unclear] = ~self.is_allowed(index[unclear])
        return forbidden

    @cached_property
    def _coarse(self) -> Array:
        """For each quadtree node of level _COARSE: whether all, none or some of it is allowed."""
        level = min(self.order, _COARSE)
        span = np.int64(4 ** (self.order - level))
        area = np.diff(self.allowed_before(np.arange(4**level + 1, dtype=np.int64) * span))
        return np.where(area == 0, _NONE, np.where(area == span, _ALL, _SOME)).astype(np.uint8)

    def positions(self, x: Array, y: Array) -> Array:
        """Position, 0 to n_cells - 1, of each point's cell."""
        return self.compress(self.curve_index(x, y))

    def nearest_allowed(self, column: Array, row: Array) -> Array:
        """Curve index of the allowed cell nearest to each cell; the smallest index among equals."""
        found = [np.zeros(0, np.int64)]
        for first in range(0, column.size, _CHUNK):
            here = slice(first, first + _CHUNK)
            found.append(self._nearest(column[here], row[here]))
        return np.concatenate(found)

    def _nearest(self, column: Array, row: Array) -> Array:
        """A quadtree descent for all cells at once.

        A node is kept while its nearest corner is not farther than the surest cell seen so far;
        distances are squared integers, so exact. A first, greedy descent finds some near cell.
        """
        bound = self._near_enough(column, row)
        who = np.arange(column.size)
        node = np.zeros(column.size, np.int64)
        for level in range(1, self.order + 1):
            node = (node[:, None] * 4 + np.arange(4)).reshape(-1)
            who = np.repeat(who, 4)
            near, far = self._distances(level, node, column[who], row[who])
            kept = near <= bound[who]
            node, who, near, far = node[kept], who[kept], near[kept], far[kept]
            span = np.int64(4 ** (self.order - level))
            allowed = self.allowed_before((node + 1) * span) - self.allowed_before(node * span)
            sure = np.where(allowed == span, near, far)
            np.minimum.at(bound, who[allowed > 0], sure[allowed > 0])
            kept = (allowed > 0) & (near <= bound[who])
            node, who, near = node[kept], who[kept], near[kept]
        order = np.lexsort((node, near, who))
        first = np.r_[True, np.diff(who[order]) > 0]
        return node[order][first]

    def _near_enough(self, column: Array, row: Array) -> Array:
        """Squared distance to an allowed cell that a descent to the nearest corners finds."""
        node = np.zeros(column.size, np.int64)
        near = np.zeros(column.size, np.int64)
        for level in range(1, self.order + 1):
            child = (node[:, None] * 4 + np.arange(4)).reshape(-1)
            span = np.int64(4 ** (self.order - level))
            empty = self.allowed_before((child + 1) * span) == self.allowed_before(child * span)
            away, _ = self._distances(level, child, np.repeat(column, 4), np.repeat(row, 4))
            away = np.where(empty, np.iinfo(np.int64).max, away).reshape(-1, 4)
            best = np.argmin(away, axis=1)
            node, near = node * 4 + best, np.take_along_axis(away, best[:, None], axis=1)[:, 0]
        return near

    def _distances(self, level: int, node: Array, column: Array, row: Array) -> Tuple[Array, Array]:
        """Squared distance from cells to the nearest and the farthest cell of quadtree nodes."""
        size = np.int64(2 ** (self.order - level))
        i, j = hilbert.decode(node, level)
        near = np.zeros(node.size, np.int64)
        far = np.zeros(node.size, np.int64)
        for low, at in ((i * size, column), (j * size, row)):
            high = low + size - 1
            near += np.maximum(np.maximum(low - at, at - high), 0) ** 2
            far += np.maximum(np.abs(at - low), np.abs(at - high)) ** 2
        return near, far

    def centres(self, position: Array) -> Tuple[Array, Array]:
        """Coordinates of the centres of cells, by position."""
        i, j = hilbert.decode(self.expand(position), self.order)
        return self.x0 + (i + 0.5) * self.cell, self.y0 + (j + 0.5) * self.cell

    def cell_bounds(self, position: Array) -> Tuple[Array, Array, Array, Array]:
        """West, south, east and north edges of cells, by position."""
        i, j = hilbert.decode(self.expand(position), self.order)
        x, y = self.x0 + i * self.cell, self.y0 + j * self.cell
        return x, y, self.x0 + (i + 1) * self.cell, self.y0 + (j + 1) * self.cell


def _coordinates(x: Array, y: Array) -> Tuple[Array, Array]:
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise BadInput("Coordinates must be two one-dimensional arrays of the same length.")
    return x, y


def _checked_runs(runs: Array, order: int) -> Array:
    checked = np.array(runs, np.int64, copy=True)
    if checked.ndim != 2 or checked.shape[1] != 2 or checked.shape[0] == 0:
        raise BadInput("A mask is a list of runs [start, stop) with at least one run.")
    flat = checked.reshape(-1)
    if flat[0] < 0 or flat[-1] > 4**order or np.any(np.diff(flat) <= 0):
        raise BadInput(
            "The runs of a mask must be sorted, disjoint, not touching, and inside the grid."
        )
    checked.setflags(write=False)
    return checked
