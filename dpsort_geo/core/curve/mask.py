"""Which cells of a grid are allowed, as intervals of the curve, and how they are counted.

A mask with its outline in view: most questions about a cell are settled by a coarse table of
quadtree nodes that lie wholly inside or wholly outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional

import numpy as np

from ..errors import BadInputError
from . import hilbert

Array = np.ndarray

#: level of the quadtree nodes whose share of allowed cells is kept in a table
_COARSE = 8
_NONE, _SOME, _ALL = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Mask:
    """The allowed cells of a grid of 2^order x 2^order cells; ``runs`` as in `Grid`, None for all.

    >>> Mask(np.array([[2, 4], [8, 9]]), 2).allowed_before(np.array([3, 8, 16]))
    array([1, 2, 3])
    """

    runs: Optional[Array]
    order: int

    @property
    def n_cells(self) -> int:
        """How many cells are allowed."""
        return 4**self.order if self.runs is None else int(self._before[-1])

    @cached_property
    def _before(self) -> Array:
        """Allowed cells before each run, and in all of them."""
        runs = np.array([[0, 4**self.order]]) if self.runs is None else self.runs
        sizes = runs[:, 1] - runs[:, 0]
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])

    @cached_property
    def _starts(self) -> Array:
        """Where the runs begin, and the end of the curve; columns are slow to search."""
        starts: Array = np.zeros(0, np.int64) if self.runs is None else self.runs[:, 0]
        return np.append(starts, np.int64(4**self.order))

    @cached_property
    def _stops(self) -> Array:
        """Where the runs end."""
        return np.zeros(0, np.int64) if self.runs is None else self.runs[:, 1].copy()

    def allowed_before(self, index: Array) -> Array:
        """Number of allowed cells whose curve index is smaller than ``index``."""
        index = np.asarray(index, np.int64)
        if self.runs is None:
            return index
        run = np.searchsorted(self._stops, index, side="right")
        return self._before[run] + np.maximum(index - self._starts[run], 0)

    def expand(self, position: Array) -> Array:
        """Curve indices of positions."""
        position = np.asarray(position, np.int64)
        if position.size and (position.min() < 0 or position.max() >= self.n_cells):
            raise BadInputError(f"Positions on this grid lie between 0 and {self.n_cells - 1}.")
        if self.runs is None:
            return position
        run = np.searchsorted(self._before, position, side="right") - 1
        return self.runs[run, 0] + (position - self._before[run])

    def is_allowed(self, index: Array) -> Array:
        """Which curve indices are allowed cells."""
        index = np.asarray(index, np.int64)
        if self.runs is None:
            return np.ones(index.shape, bool)
        run = np.searchsorted(self._stops, index, side="right")
        return index >= self._starts[run]

    def is_forbidden(self, index: Array) -> Array:
        """Which cells are not; a coarse table settles all but those near the mask's edge."""
        state = self._states(index)
        forbidden = state == _NONE
        unclear = np.flatnonzero(state == _SOME)
        forbidden[unclear] = ~self.is_allowed(index[unclear])
        return forbidden

    def _states(self, index: Array) -> Array:
        return self._coarse[index >> np.int64(2 * max(0, self.order - _COARSE))]

    @cached_property
    def _coarse(self) -> Array:
        """For each quadtree node of level _COARSE: whether all, none or some of it is allowed."""
        level = min(self.order, _COARSE)
        span = np.int64(4 ** (self.order - level))
        area = np.diff(self.allowed_before(np.arange(4**level + 1, dtype=np.int64) * span))
        return np.where(area == 0, _NONE, np.where(area == span, _ALL, _SOME)).astype(np.uint8)

    @cached_property
    def _deep(self) -> Array:
        """Whether a coarse node and all around it are wholly allowed, by row and column."""
        level = min(self.order, _COARSE)
        i, j = hilbert.decode(np.arange(4**level, dtype=np.int64), level)
        whole = np.zeros((2**level + 2, 2**level + 2), bool)
        whole[j + 1, i + 1] = self._coarse == _ALL
        for _ in range(2):  # along rows, then along columns
            whole = (whole[:-2] & whole[1:-1] & whole[2:]).T
        return whole

    def at_edge(self, column: Array, row: Array) -> Array:
        """Which allowed cells have a neighbour, across a side or a corner, that is not allowed."""
        up = np.int64(max(0, self.order - _COARSE))
        last = np.int64(2**self.order - 1)
        edge = np.zeros(column.size, bool)
        look = np.flatnonzero(~self._deep[row >> up, column >> up])
        # away from the sides of a coarse node that is wholly allowed, so are all neighbours
        node = hilbert.encode(column[look] >> up, row[look] >> up, min(self.order, _COARSE))
        inner, within = self._coarse[node] == _ALL, (np.int64(1) << up) - np.int64(1)
        for at in (column[look] & within, row[look] & within):
            inner &= (at > 0) & (at < within)
        look = look[~inner]
        for di, dj in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
            i, j = column[look] + di, row[look] + dj
            beyond = (i < 0) | (j < 0) | (i > last) | (j > last)
            near = hilbert.encode(np.clip(i, 0, last), np.clip(j, 0, last), self.order)
            edge[look] |= beyond | self.is_forbidden(near)
        return edge

    def show_crossed(self, crossed: Array) -> Mask:
        """The same mask with each of the cells that a polygon cuts at its edge, or not in it.

        Who reads a mask takes a cell with all cells around it allowed for one that lies wholly
        inside. A creek narrower than a cell can pass between centres; such a cell is left out,
        which puts those around it at the edge, and no two side by side: a polygon full of small
        holes keeps most of its cells.

        >>> mask = Mask(np.array([[0, 16]]), 2)
        >>> mask.show_crossed(np.array([0, 2, 8])).runs
        array([[ 0,  8],
               [ 9, 16]])
        """
        mask, crossed = self, np.sort(crossed)  # what is sought in order is found sooner
        column, row = hilbert.decode(crossed, self.order)
        for odd in range(4):  # no two of these are neighbours
            here = ((column & 1) == odd >> 1) & ((row & 1) == odd & 1)
            some = np.flatnonzero(here & mask.is_allowed(crossed))
            mask = mask.without(crossed[some[~mask.at_edge(column[some], row[some])]])
        return mask

    def without(self, index: Array) -> Mask:
        """The same mask with some more cells that are not allowed, each named once.

        >>> Mask(np.array([[2, 6]]), 2).without(np.array([3, 9])).runs.tolist()
        [[2, 3], [4, 6]]
        """
        index = index[self.is_allowed(index)]
        if not index.size:
            return self
        start = np.sort(np.concatenate([self._starts[:-1], index + 1]))
        stop = np.sort(np.concatenate([self._stops, index]))
        return Mask(np.stack([start, stop], axis=1)[start < stop], self.order)

    def blocks_with_cells(self, level: int) -> Array:
        """Quadtree nodes of a level that hold an allowed cell, in order.

        A small mask in a deep grid has few of them out of very many: only its runs are looked at.
        """
        if self.runs is None:
            return np.arange(4**level, dtype=np.int64)
        span = np.int64(4) ** (self.order - level)
        first, last = self.runs[:, 0] // span, (self.runs[:, 1] - 1) // span
        many = last - first + 1
        step = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        return np.unique(np.repeat(first, many) + step)

    def runs_at(self, order: int) -> Optional[Array]:
        """The runs of the same mask in cells of another size.

        A larger cell is allowed when the four cells around its centre are.
        """
        if self.runs is None or order == self.order:
            return self.runs
        if order > self.order:
            return self.runs << 2 * (order - self.order)
        half = np.int64(1) << (self.order - order - 1)
        node = self.blocks_with_cells(order)
        i, j = hilbert.decode(node, order)
        i, j = (2 * i + 1) * half, (2 * j + 1) * half
        allowed = np.ones(node.size, bool)
        for di, dj in ((0, 0), (0, 1), (1, 0), (1, 1)):
            allowed &= self.is_allowed(hilbert.encode(i - di, j - dj, self.order))
        node = node[allowed]
        if not node.size:
            raise BadInputError("No cell of this size lies in the domain: give a finer resolution.")
        first = np.flatnonzero(np.r_[True, np.diff(node) > 1])
        last = np.append(first[1:], node.size) - 1
        return np.stack([node[first], node[last] + 1], axis=1)


def check_runs(runs: Array, order: int) -> Array:
    """The runs of a mask, refused unless they are sorted, disjoint and inside the grid."""
    checked = np.array(runs, np.int64, copy=True)
    if checked.ndim != 2 or checked.shape[1] != 2 or checked.shape[0] == 0:
        raise BadInputError("A mask is a list of runs [start, stop) with at least one run.")
    flat = checked.reshape(-1)
    if flat[0] < 0 or flat[-1] > 4**order or np.any(np.diff(flat) <= 0):
        raise BadInputError(
            "The runs of a mask must be sorted, disjoint, not touching, and inside the grid."
        )
    checked.setflags(write=False)
    return checked
