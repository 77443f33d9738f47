"""The square grid of cells that carries the curve, and which of its cells are allowed.

Two ways to number cells, both integers. The *curve index* runs over all 4^order cells, so that
a quadtree node is one interval of it. The *position* runs over the allowed cells only, 0 to N-1
in the same order: cells outside the mask take no room. Without a mask they are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Tuple

import numpy as np

from ..errors import BadInputError
from . import hilbert
from .mask import Mask, check_runs
from .nearest import find_nearest

Array = np.ndarray

MAX_ORDER = 31
#: a mask has as many runs as its outline has cells; beyond this they no longer fit into memory
MAX_MASKED_ORDER = 20
#: points farther outside than this many cells are treated as if at this distance
_FAR = 1 << 29
#: points worked on at a time: the arrays between stay in the cache, and below the size (128 KB)
#: from which on the C library asks the system for fresh memory each time
_CHUNK = 15 << 10


def default_order(side: float) -> int:
    """Order whose cell is a sensible place for a domain of this side, in metres.

    About 10 m for a city of 50 km, never below 1 m, never above order 16.

    >>> [default_order(side) for side in (500.0, 50_000.0, 5_000_000.0)]
    [8, 13, 16]
    """
    if not (np.isfinite(side) and side > 0):
        raise BadInputError("The side of the domain must be a positive number of metres.")
    wanted = max(1.0, min(10.0, side / 256))
    order = int(np.ceil(np.log2(side / wanted) - 1e-9))
    while order > 1 and side / 2.0**order < 1.0:
        order -= 1
    return max(1, min(16, order))


def order_for(side: float, resolution: float) -> int:
    """Order whose cells are about as wide as the smallest detail that readers will ask for.

    >>> order_for(51_200.0, 200.0), order_for(51_200.0, 150.0), order_for(51_200.0, 30_000)
    (8, 8, 1)
    """
    if not (np.isfinite(resolution) and resolution > 0):
        raise BadInputError("The resolution must be a positive number of metres.")
    order = int(np.rint(np.log2(side / resolution)))
    if order > MAX_MASKED_ORDER:
        least = side / 2.0**MAX_MASKED_ORDER
        raise BadInputError(
            f"So fine a resolution has too many cells: give at least {least:.2g} m."
        )
    if order < 1:
        raise BadInputError(
            "The resolution is as coarse as the whole domain: give at most half of its side, "
            f"{side / 2:.2g} m."
        )
    return order


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
    #: the same as something that answers
    mask: Mask = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for value in (self.x0, self.y0, self.cell):
            if not np.isfinite(value):
                raise BadInputError("A grid needs a finite origin and cell size.")
        if self.cell <= 0:
            raise BadInputError("The cell size of a grid must be positive.")
        top = MAX_ORDER if self.runs is None else MAX_MASKED_ORDER
        if isinstance(self.order, bool) or not isinstance(self.order, (int, np.integer)):
            raise BadInputError("The order of a grid must be a whole number.")
        if not 1 <= self.order <= top:
            raise BadInputError(f"The order of this grid must lie between 1 and {top}.")
        object.__setattr__(self, "order", int(self.order))
        if not max(abs(self.x0), abs(self.y0)) + self.side < self.cell * 2.0**51:
            raise BadInputError("The cells of a grid must be large enough to be told apart.")
        if self.runs is not None:
            object.__setattr__(self, "runs", check_runs(self.runs, self.order))
        object.__setattr__(self, "mask", Mask(self.runs, self.order))

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
        return self.mask.n_cells

    def at_order(self, order: int) -> Grid:
        """The same square cut into 2^order x 2^order cells.

        A larger cell is allowed when the four cells around its centre are.

        >>> Grid(0.0, 0.0, 1.0, 6, np.array([[0, 2048]])).at_order(3).runs.tolist()
        [[0, 32]]
        """
        return Grid(self.x0, self.y0, self.side / 2.0**order, order, self.mask.runs_at(order))

    def allowed_before(self, index: Array) -> Array:
        """Number of allowed cells whose curve index is smaller than ``index``."""
        return self.mask.allowed_before(index)

    def compress(self, index: Array) -> Array:
        """Positions of allowed curve indices."""
        return self.mask.allowed_before(index)

    def expand(self, position: Array) -> Array:
        """Curve indices of positions."""
        return self.mask.expand(position)

    def is_allowed(self, index: Array) -> Array:
        """Which curve indices are allowed cells."""
        return self.mask.is_allowed(index)

    def contains(self, x: Array, y: Array) -> Array:
        """Which points lie in an allowed cell; a cell ends before its upper edges.

        >>> Grid(0.0, 0.0, 1.0, 1).contains([0.5, 1.9, 2.0, -0.1], [0.5, 1.9, 0.5, 0.5])
        array([ True,  True, False, False])
        """
        x, y = _coordinates(x, y)
        if not x.size:
            return np.zeros(0, bool)
        if self.runs is None:
            astray = self._find_outside((x - self.x0) / self.cell, (y - self.y0) / self.cell)
        else:
            astray = self._index_or_astray(x, y)[1]
        return np.ones(x.size, bool) if astray is None else ~astray

    def columns_and_rows(self, x: Array, y: Array) -> Tuple[Array, Array]:
        """Cell column and row of each point, not yet confined to the grid."""
        x, y = _coordinates(x, y)
        far = float(_FAR) + 2.0**self.order
        place = []
        for at, origin in ((x, self.x0), (y, self.y0)):
            if not np.isfinite(at).all():
                raise BadInputError(
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
            index[who] = find_nearest(self.mask, cell[:, 0], cell[:, 1])[which.reshape(-1)]
        return index

    def _index_or_astray(self, x: Array, y: Array) -> Tuple[Array, Optional[Array]]:
        """Curve index of each point, and which points are not in an allowed cell (None: no mask).

        Points beyond the square get its nearest cell; with a mask they are astray, because the
        allowed cell nearest to them need not be the one nearest to that cell.
        """
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise BadInputError(
                "Every coordinate must be a finite number; remove empty points first."
            )
        column, row = (x - self.x0) / self.cell, (y - self.y0) / self.cell
        beyond = None if self.runs is None else self._find_outside(column, row)
        # where nothing is negative, cutting off the fraction rounds down
        last = float(2**self.order - 1)
        word = np.uint32 if self.order <= 16 else np.int64
        column = np.clip(column, 0.0, last, out=column).astype(word)
        row = np.clip(row, 0.0, last, out=row).astype(word)
        index = hilbert.encode_chunk(column, row, self.order)
        if self.runs is None:
            return index, None
        astray = self.mask.is_forbidden(index)
        return index, astray if beyond is None else astray | beyond

    def _find_outside(self, column: Array, row: Array) -> Optional[Array]:
        """Which points lie beyond the square; None if none does."""
        side = 2.0**self.order
        if min(column.min(), row.min()) >= 0 and max(column.max(), row.max()) < side:
            return None
        return (column < 0) | (row < 0) | (column >= side) | (row >= side)

    def positions(self, x: Array, y: Array) -> Array:
        """Position, 0 to n_cells - 1, of each point's cell."""
        return self.compress(self.curve_index(x, y))

    def at_edge(self, column: Array, row: Array) -> Array:
        """Which allowed cells have a neighbour, across a side or a corner, that is not allowed."""
        return self.mask.at_edge(column, row)

    def centres(self, position: Array) -> Tuple[Array, Array]:
        """Coordinates of the centres of cells, by position."""
        i, j = hilbert.decode(self.expand(position), self.order)
        return self.x0 + (i + 0.5) * self.cell, self.y0 + (j + 0.5) * self.cell


def _coordinates(x: Array, y: Array) -> Tuple[Array, Array]:
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise BadInputError("Coordinates must be two one-dimensional arrays of the same length.")
    return x, y
