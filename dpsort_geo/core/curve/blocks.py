"""Quadtree blocks: those that zones are made of, and all of one level that have an allowed cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple

import numpy as np

from . import hilbert
from .grid import Grid

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of zones; those of one zone are disjoint.

    A block may be smaller than a cell of the grid that it is used with.
    """

    #: number of the zone, level in the quadtree, index at that level
    zone: Array
    level: Array
    index: Array
    #: how much of the block lies in the zone, 0 to 1
    share: Array

    def __len__(self) -> int:
        return int(self.zone.size)

    def take(self, chosen: Array) -> Blocks:
        """Some of the blocks."""
        return Blocks(*(part[chosen] for part in self.parts))

    @property
    def parts(self) -> "tuple[Array, Array, Array, Array]":
        return self.zone, self.level, self.index, self.share

    def places(self, grid: Grid) -> "tuple[Array, Array]":
        """Where on the curve the blocks begin and end, see `place_of`; kept for who asks again."""
        if self.__dict__.get("_grid") is not grid:
            edges = self.index, self.index + 1
            places = tuple(place_of(grid, self.level, edge) for edge in edges)
            self.__dict__.update(_grid=grid, _places=places)
        start, stop = self.__dict__["_places"]
        return start, stop


@dataclass(frozen=True, eq=False)
class CoarseBlocks:
    """Quadtree blocks of one level that have an allowed cell, along the curve."""

    grid: Grid
    level: int
    index: Array
    #: allowed cells before each block, and in it
    start: Array
    width: Array

    @property
    def edges(self) -> Tuple[Array, Array]:
        """Curve indices where the blocks begin and end."""
        span = np.int64(4 ** (self.grid.order - self.level))
        return self.index * span, (self.index + 1) * span


def join_blocks(parts: Sequence[Blocks]) -> Blocks:
    """Blocks of several tables as one.

    >>> len(join_blocks([]))
    0
    """
    nothing = np.zeros(0, np.int64)
    parts = [Blocks(nothing, nothing, nothing, np.zeros(0)), *parts]
    return Blocks(*(np.concatenate(columns) for columns in zip(*(each.parts for each in parts))))


def place_of(grid: Grid, level: Array, index: Array) -> Array:
    """Where on the curve, in allowed cells, quadtree nodes begin; they may be parts of cells.

    >>> place_of(Grid(0.0, 0.0, 1.0, 1), np.array([1, 2]), np.array([1, 5])).tolist()
    [1.0, 1.25]
    """
    inside = np.maximum(level - grid.order, 0)
    cell = index << 2 * np.maximum(grid.order - level, 0) >> 2 * inside
    place = grid.allowed_before(cell).astype(np.float64)
    rest = index & ((np.int64(1) << 2 * inside) - 1)
    some = np.flatnonzero(rest)
    part = np.ldexp(rest[some].astype(np.float64), -2 * inside[some])
    place[some] += part * grid.is_allowed(cell[some])
    return place


def room(grid: Grid, level: Array, index: Array) -> Array:
    """How many allowed cells quadtree nodes, none smaller than a cell, hold.

    >>> room(Grid(0.0, 0.0, 1.0, 2), np.array([1, 2]), np.array([3, 0])).tolist()
    [4, 1]
    """
    span = np.int64(4) ** (grid.order - level)
    return grid.allowed_before((index + 1) * span) - grid.allowed_before(index * span)


def lay_out(values: Array, level: int) -> Array:
    """A picture of 2^level x 2^level values given along the curve; row 0 is the south.

    >>> lay_out(np.array([0, 1, 2, 3]), 1)
    array([[0, 3],
           [1, 2]])
    """
    picture = np.empty((2**level, 2**level), values.dtype)
    i, j = hilbert.decode(np.arange(4**level), level)
    picture[j, i] = values
    return picture


def pixel_area(grid: Grid, level: int) -> Array:
    """Share of allowed cells in each of 2^level x 2^level pixels, laid out like a picture."""
    index = np.arange(4**level, dtype=np.int64)
    edge = grid.allowed_before(np.append(index, 4**level) << 2 * (grid.order - level))
    return lay_out(np.diff(edge) / 4.0 ** (grid.order - level), level)
