"""How far an estimate is from the truth. Lengths are in sides of the domain, counts in shares of n.

Rasters are those of `raster`; both must hold the same total for the earth mover's distances.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from .raster import Array, Generator, to_curve


def emd_1d(truth: Any, estimate: Any) -> float:
    """The paper's error: mean distance between sorted numbers in [0, 1], k-th to k-th.

    >>> emd_1d([0.1, 0.2], [0.4, 0.1]).__round__(3)
    0.1
    """
    a, b = np.sort(np.asarray(truth, float)), np.sort(np.asarray(estimate, float))
    if a.shape != b.shape:
        raise BadInputError("Both sides must hold the same number of points.")
    return float(np.abs(a - b).mean())


def emd_curve(truth: Array, estimate: Array) -> float:
    """Earth mover's distance along the Hilbert curve, whose length is 1.

    >>> emd_curve(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    0.75
    """
    ahead = np.cumsum(to_curve(np.asarray(estimate - truth, float)))
    return float(np.abs(ahead).mean() / truth.sum())


def emd_exact(truth: Array, estimate: Array, bins: int = 32) -> float:
    """Earth mover's distance in the plane, exact (POT) between the centres of bins x bins bins.

    What both rasters share stays where it is, which changes nothing and saves most of the work.

    >>> emd_exact(np.array([[4.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 2.0], [0.0, 0.0]]), bins=2)
    0.25
    """
    import ot

    side = truth.shape[0]
    bins = min(bins, side)
    width = side // bins
    gap = np.asarray(estimate - truth, float).reshape(bins, width, bins, width).sum((1, 3)).ravel()
    more, less = np.flatnonzero(gap > 0), np.flatnonzero(gap < 0)
    moved = gap[more].sum()
    if not moved > 1e-9 * truth.sum():
        return 0.0
    at = np.column_stack(np.divmod(np.arange(gap.size), bins)) / bins
    cost = ot.dist(at[more], at[less], metric="euclidean")
    here, there = gap[more] / moved, gap[less] / gap[less].sum()
    return float(ot.emd2(here, there, cost, numItermax=1_000_000) * moved / truth.sum())


def emd_sliced(truth: Array, estimate: Array, directions: int = 64) -> float:
    """Mean earth mover's distance of projections on evenly spaced directions, times pi/2.

    The factor makes a mere shift cost exactly its length. In general the result is not more than
    the exact distance: a projection can only shorten the way of each point, on average to 2/pi.

    >>> a, b = np.zeros((64, 64)), np.zeros((64, 64))
    >>> a[10, 10] = b[10, 42] = 1
    >>> round(emd_sliced(a, b), 3)
    0.5
    """
    gap = np.asarray(estimate - truth, float).ravel()
    total = 0.0
    for along, step in _slices(truth.shape[0], directions):
        total += float(np.abs(np.cumsum(gap[along])[:-1]) @ step)
    return total / directions * np.pi / 2 / float(truth.sum())


@lru_cache(maxsize=4)
def _slices(side: int, directions: int) -> list[tuple[NDArray[np.int32], Array]]:
    """For each direction the order of the cells along it, and the steps between them."""
    y, x = (np.indices((side, side)).reshape(2, -1) + 0.5) / side
    slices = []
    for angle in (np.arange(directions) + 0.5) * np.pi / directions:
        at = np.cos(angle) * x + np.sin(angle) * y
        along = np.argsort(at, kind="stable").astype(np.int32)
        slices.append((along, np.diff(at[along])))
    return slices


def random_squares(side: int, many: int, rng: Generator) -> NDArray[np.int64]:
    """Squares as rows (y0, y1, x0, x1) of cells: width log-uniform from 1/64 of the side to all of
    it, then the place uniform among those inside the domain.

    >>> int(random_squares(256, 1000, np.random.default_rng(0)).max())
    256
    """
    width = np.clip(np.rint(side * np.exp(rng.uniform(-np.log(64), 0, many))), 1, side)
    y0, x0 = (np.floor(rng.random(many) * (side - width + 1)) for _ in range(2))
    return np.column_stack([y0, y0 + width, x0, x0 + width]).astype(np.int64)


def data_rectangles(truth: Array, many: int, rng: Generator) -> NDArray[np.int64]:
    """Rectangles around data: width and height each log-uniform from 1/64 of the side to all of it,
    the centre in the cell of a point drawn from the data, cut to the domain.

    >>> data_rectangles(np.eye(4), 2, np.random.default_rng(0)).shape
    (2, 4)
    """
    side = truth.shape[0]
    cell = rng.choice(truth.size, many, p=(truth / truth.sum()).ravel())
    columns = []
    for centre in np.divmod(cell, side):
        size = np.rint(side * np.exp(rng.uniform(-np.log(64), 0, many)))
        first = np.rint(centre + 0.5 - size / 2)
        columns += [np.clip(first, 0, side - 1), np.clip(first + np.maximum(size, 1), 1, side)]
    return np.column_stack(columns).astype(np.int64)


def range_error(truth: Array, estimate: Array, ranges: NDArray[np.int64]) -> float:
    """Mean absolute error of the counts in the ranges, as a share of n.

    >>> range_error(np.eye(2), np.ones((2, 2)) / 2, np.array([[0, 1, 0, 1]]))
    0.25
    """
    corner = np.zeros((truth.shape[0] + 1, truth.shape[1] + 1))
    corner[1:, 1:] = np.asarray(estimate - truth, float).cumsum(0).cumsum(1)
    y0, y1, x0, x1 = ranges.T
    wrong = corner[y1, x1] - corner[y0, x1] - corner[y1, x0] + corner[y0, x0]
    return float(np.abs(wrong).mean() / truth.sum())


def density_l1(truth: Array, estimate: Array) -> float:
    """Sum of absolute errors of the cells as a share of n: 0 is perfect, 2 is all wrong.

    >>> density_l1(np.array([[2.0, 0.0]]), np.array([[1.0, 1.0]]))
    1.0
    """
    return float(np.abs(estimate - truth).sum() / truth.sum())


def density_l2(truth: Array, estimate: Array) -> float:
    """Root of the sum of squared errors of the cells, as a share of n.

    >>> density_l2(np.array([[5.0, 0.0]]), np.array([[2.0, 4.0]]))
    1.0
    """
    return float(np.sqrt(np.square(estimate - truth).sum()) / truth.sum())


def median_error(truth: Any, estimate: float) -> float:
    """Distance of an estimate from the median of the numbers.

    >>> median_error([0.1, 0.2, 0.9], 0.5).__round__(3)
    0.3
    """
    x = np.sort(np.asarray(truth, float))
    return float(abs(estimate - x[(x.size + 1) // 2 - 1]))
