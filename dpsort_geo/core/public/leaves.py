"""The leaves of an adaptive release: disjoint quadtree cells, each with its mass.

The masses come from isotonic regression on the cumulative counts along the curve. A cumulative
count must not fall, and where noise makes it fall the regression pools what cannot be told
apart; weights 1/area let small leaves, which know where their mass is, win over large ones. The
order of the leaves is the curve's own and three mirror images of it; the four results are
averaged, which takes out most of what is owed to one curve's accidents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterator

import numpy as np

from ..curve import hilbert
from ..curve.grid import Grid
from .cumulative import Cumulative
from .isotonic import isotonic_l2

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Leaves:
    """Quadtree cells that tile the allowed area, by increasing curve index."""

    grid: Grid
    level: Array
    index: Array
    #: column and row at the leaf's own level
    column: Array
    row: Array
    #: allowed cells before the leaf, and in it
    start: Array
    area: Array
    mass: Array

    @property
    def is_whole(self) -> Array:
        """Which leaves have no cell outside the mask."""
        return self.area == np.int64(4) ** (self.grid.order - self.level)

    @property
    def size(self) -> Array:
        """Cells along the side of each leaf."""
        return np.int64(1) << (self.grid.order - self.level)

    def holding(self, start: Array) -> Array:
        """The leaf that holds each curve index."""
        first = self.index << 2 * (self.grid.order - self.level)
        return np.searchsorted(first, start, side="right") - 1

    def cumulative(self) -> Cumulative:
        """F along the curve."""
        place = np.append(self.start, self.start[-1] + self.area[-1]).astype(np.float64)
        mass = np.concatenate([[0.0], np.cumsum(self.mass)])
        mass[-1] = np.rint(mass[-1])  # n is a whole number; rounding may have left a hair
        return Cumulative(place, mass)


def make_leaves(grid: Grid, level: Array, index: Array, estimate: Array, total: float) -> Leaves:
    """Leaves with non-negative masses that sum to ``total``, from estimates of any sign."""
    leaves = place_leaves(grid, level, index, estimate)
    columns = leaves.level, leaves.column, leaves.row, leaves.area, leaves.mass
    return replace(leaves, mass=fit_masses(*columns, total, grid.order))


def place_leaves(grid: Grid, level: Array, index: Array, mass: Array) -> Leaves:
    """Leaves with given masses, put in the order of the curve."""
    span = np.int64(4) ** (grid.order - level)
    order = np.argsort(index * span)
    level, index, span = level[order], index[order], span[order]
    start = grid.allowed_before(index * span)
    area = grid.allowed_before((index + 1) * span) - start
    column, row = columns_and_rows(level, index)
    return Leaves(grid, level, index, column, row, start, area, mass[order])


def fit_masses(
    level: Array, column: Array, row: Array, area: Array, estimate: Array, total: float, order: int
) -> Array:
    """Masses from estimates, averaged over four symmetries of the curve."""
    mass = np.zeros(level.size)
    for places in _symmetric_orders(level, column, row, order):
        fitted = isotonic_l2(np.cumsum(estimate[places]), 1.0 / area[places])
        fitted = np.clip(fitted, 0.0, total)
        fitted[-1] = total
        mass[places] += np.diff(fitted, prepend=0.0)
    return mass / 4


def columns_and_rows(level: Array, index: Array) -> "tuple[Array, Array]":
    """Column and row of quadtree nodes at their own levels."""
    column, row = np.zeros(level.size, np.int64), np.zeros(level.size, np.int64)
    for depth in np.unique(level[level > 0]).tolist():
        here = level == depth
        column[here], row[here] = hilbert.decode(index[here], depth)
    return column, row


def _symmetric_orders(level: Array, column: Array, row: Array, order: int) -> Iterator[Array]:
    last = (np.int64(1) << level) - 1
    yield np.arange(level.size)
    for i, j in ((row, column), (last - column, row), (column, last - row)):
        place = np.zeros(level.size, np.int64)
        for depth in np.unique(level[level > 0]).tolist():
            here = level == depth
            place[here] = hilbert.encode(i[here], j[here], depth) << 2 * (order - depth)
        yield np.argsort(place)
