"""Rectangles cut where it suits the data, by the exponential mechanism.

What HTF, the kd-tree and HDPView stand on. Not private here: see `raster`. A choice among cuts with
odds exp(-rate cost) is (2 rate x sensitivity)-DP when to add or remove a point changes each cost by
no more than the sensitivity.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple, Tuple

import numpy as np

from .raster import Array, Generator


class Rectangle(NamedTuple):
    """Cells of rows y0 to y1 and columns x0 to x1, ends left out."""

    y0: int
    y1: int
    x0: int
    x1: int

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns."""
        return self.y1 - self.y0, self.x1 - self.x0

    @property
    def area(self) -> int:
        """Number of cells."""
        return (self.y1 - self.y0) * (self.x1 - self.x0)

    def of(self, raster: Array) -> Array:
        """The part of a raster in it."""
        return raster[self.y0 : self.y1, self.x0 : self.x1]

    def cut(self, axis: int, at: int) -> "Tuple[Rectangle, Rectangle]":
        """Two parts, the first with so many rows (axis 0) or columns (axis 1)."""
        y0, y1, x0, x1 = self
        if axis == 0:
            return Rectangle(y0, y0 + at, x0, x1), Rectangle(y0 + at, y1, x0, x1)
        return Rectangle(y0, y1, x0, x0 + at), Rectangle(y0, y1, x0 + at, x1)


def deviation(block: Array) -> float:
    """Sum of the distances of counts from their mean: 0 where the density is even.

    To add or remove one point changes it by at most 2 (1 - 1/cells).

    >>> deviation(np.array([[1.0, 3.0]]))
    2.0
    """
    return float(np.abs(block - block.mean()).sum())


def uneven_after(block: Array, axis: int) -> Array:
    """The deviations of both parts, added up, for each of the cuts across an axis.

    >>> uneven_after(np.array([[5.0, 5.0, 0.0]]), 1)
    array([5., 0.])
    """
    lines = np.ascontiguousarray(block if axis == 0 else block.T)
    return _before(lines) + _before(lines[::-1])[::-1]


def _before(lines: Array) -> Array:
    """The deviation of the first 1, 2, ... lines.

    Distances below the mean add up to those above it, and above it are full cells only.
    """
    length, width = lines.shape
    mean = np.cumsum(lines.sum(1))[:-1] / (width * np.arange(1, length))
    line, place = np.nonzero(lines)
    full = lines[line, place]
    upto = np.searchsorted(line, np.arange(1, length))
    above = [np.maximum(full[:end] - m, 0.0).sum() for end, m in zip(upto.tolist(), mean.tolist())]
    return 2 * np.array(above, float)


def choose(rng: Generator, cost: Array, rate: float) -> int:
    """One of the choices, with odds exp(-rate cost).

    >>> choose(np.random.default_rng(0), np.array([9.0, 0.0, 9.0]), 100.0)
    1
    """
    odds = np.exp(-rate * (cost - cost.min()))
    return int(rng.choice(cost.size, p=odds / odds.sum()))


def spread(blocks: List[Rectangle], mass: Any, side: int) -> Array:
    """A raster of rectangles that tile it, each with its mass spread evenly.

    >>> spread([Rectangle(0, 1, 0, 2), Rectangle(1, 2, 0, 2)], [4, 0], 2)
    array([[2., 2.],
           [0., 0.]])
    """
    raster = np.zeros((side, side))
    for block, own in zip(blocks, mass):
        if block.area:
            block.of(raster)[...] = own / block.area
    return raster
