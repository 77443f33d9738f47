"""Patches: disjoint quadtree nodes that tile the area, as fine as the finest of several trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from ..curve.grid import Grid
from .cumulative import Cumulative

Array = np.ndarray

#: part of all mass that a prior spreads evenly: no place is impossible
EVEN = 1e-6


@dataclass(frozen=True, eq=False)
class Patches:
    """Disjoint quadtree nodes that tile the allowed area, by increasing curve index."""

    level: Array
    index: Array
    #: first curve index, at the grid's own level
    start: Array

    def holding(self, start: Array) -> Array:
        """The patch that holds each curve index."""
        return np.searchsorted(self.start, start, side="right") - 1


def refine(grid: Grid, *nodes: Tuple[Array, Array]) -> Patches:
    """The finest of nodes (level, index) everywhere: they are leaves of trees of the whole grid."""
    level, index = map(np.concatenate, zip(*nodes))
    start = index << 2 * (grid.order - level)
    order = np.lexsort((level, start))
    level, index, start = level[order], index[order], start[order]
    last = np.append(start[1:] != start[:-1], True)  # of those that begin together, the finest
    level, index, start = level[last], index[last], start[last]
    stop = (index + 1) << 2 * (grid.order - level)
    # one that holds the next is all covered by finer ones, but for what no point may lie in
    kept = np.append(start[1:] >= stop[:-1], True)
    return Patches(level[kept], index[kept], start[kept])


def mass_of(grid: Grid, total: Cumulative, level: Array, index: Array) -> Array:
    """Mass of all points in quadtree nodes."""
    span = np.int64(4) ** (grid.order - level)
    first, last = (grid.allowed_before(edge * span) for edge in (index, index + 1))
    mass = total.upto(last.astype(np.float64)) - total.upto(first.astype(np.float64))
    return np.maximum(mass, 0.0)  # rounding may leave a hair below nothing
