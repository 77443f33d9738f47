"""What every mechanism of `compare` stands on: rasters, their curve order, and consistent counts.

A raster is a dense array of counts with 2^order rows (y) and columns (x). NOTHING HERE IS PRIVATE:
noise is floating-point, drawn from a seeded generator, so that experiments can be repeated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.curve.hilbert import decode
from ..core.errors import BadInputError

Array = NDArray[np.float64]
Generator = np.random.Generator


def checked(counts: Any, eps: float) -> Array:
    """The raster as floats, or a sentence that says what is wrong with it.

    >>> float(checked([[1, 0], [0, 2]], 1.0).sum())
    3.0
    """
    raster = np.asarray(counts, float)
    side = raster.shape[0] if raster.ndim else 0
    if raster.ndim != 2 or raster.shape != (side, side) or side < 2 or side & (side - 1):
        raise BadInputError(
            "The counts must be a square raster whose side is a power of two, 2 or more."
        )
    if not eps > 0:
        raise BadInputError("Epsilon must be positive.")
    return raster


@lru_cache(maxsize=8)
def _curve_cells(side: int) -> NDArray[np.int64]:
    i, j = decode(np.arange(side * side), side.bit_length() - 1)
    return j * side + i


def to_curve(raster: Array) -> Array:
    """The raster's cells in the order of the Hilbert curve.

    >>> to_curve(np.array([[1.0, 4.0], [2.0, 3.0]]))
    array([1., 2., 3., 4.])
    """
    return raster.ravel()[_curve_cells(raster.shape[0])]


def from_curve(values: Array) -> Array:
    """The raster whose cells, in the order of the Hilbert curve, are `values`.

    >>> from_curve(np.array([1.0, 2.0, 3.0, 4.0]))
    array([[1., 4.],
           [2., 3.]])
    """
    side = 1 << ((values.size.bit_length() - 1) // 2)
    raster = np.empty(values.size)
    raster[_curve_cells(side)] = values
    return raster.reshape(side, side)


def project(values: Array, total: Any) -> Array:
    """The nearest non-negative rows that add up to `total` (Euclidean projection on a simplex).

    What practitioners call norm-sub: one amount is taken from every entry of a row, what would be
    negative becomes zero. A row of zeros comes out where the total is not positive.

    >>> project(np.array([3.0, -1.0, 1.0]), 3.0)
    array([2.5, 0. , 0.5])
    """
    rows = np.atleast_2d(np.asarray(values, float))
    wanted = np.maximum(np.broadcast_to(np.asarray(total, float), rows.shape[:1]), 0.0)[:, None]
    falling = -np.sort(-rows, axis=1)
    excess = (np.cumsum(falling, axis=1) - wanted) / np.arange(1, rows.shape[1] + 1)
    kept = np.count_nonzero(falling > excess, axis=1)
    level = np.take_along_axis(excess, np.maximum(kept - 1, 0)[:, None], axis=1)
    result = np.maximum(rows - level, 0.0)
    result[wanted[:, 0] == 0] = 0.0
    return result.reshape(np.shape(values))


def fitted(values: Array, total: float, raw: bool) -> Array:
    """Disjoint noisy counts made non-negative with the known total, or as they are.

    >>> fitted(np.array([3.0, -1.0, 1.0]), 3.0, raw=True)
    array([ 3., -1.,  1.])
    """
    return values if raw else project(values, total)


def consistent_tree(noisy: list[Array], variance: list[Any], n: float, raw: bool = False) -> Array:
    """Non-negative leaves of a complete tree, from a noisy count of every node below the root.

    Least squares up and down the tree, the root being known to hold n (Hay et al. 2010), then, from
    the top, each family projected onto the non-negative counts that add up to its parent's.

    Parameters
    ----------
    noisy : list of arrays
        Noisy counts of levels 1, 2, ...; the children of a node are consecutive.
    variance : list of float or arrays
        Of the noise, for each level or each node; zero for a count that is known.
    raw : bool
        Stop after least squares: unbiased leaves, some of them negative.

    >>> leaves = consistent_tree([np.array([4.0, 1.0]), np.array([5.0, 0.0, 1.0, -1.0])], [1, 1], 5)
    >>> leaves.round(2)
    array([4.33, 0.  , 0.67, 0.  ])
    """
    estimates = [noisy[-1]]
    spreads = [np.broadcast_to(np.asarray(variance[-1], float), noisy[-1].shape)]
    for own, v in zip(noisy[-2::-1], variance[-2::-1]):
        below = estimates[0].reshape(own.size, -1).sum(1)
        spread = spreads[0].reshape(own.size, -1).sum(1)
        weight = spread / np.maximum(spread + v, 1e-300)
        estimates.insert(0, weight * own + (1 - weight) * below)
        spreads.insert(0, (1 - weight) * spread)
    free = kept = np.array([float(n)])
    for level, spread in zip(estimates, spreads):
        family, uneven = level.reshape(kept.size, -1), spread.reshape(kept.size, -1)
        share = uneven / np.maximum(uneven.sum(1), 1e-300)[:, None]
        fitted = family + (free - family.sum(1))[:, None] * share
        kept = project(fitted, kept).ravel()
        free = fitted.ravel()
    return free if raw else kept
