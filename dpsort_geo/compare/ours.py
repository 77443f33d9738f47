"""Our own mechanisms in the form of the others: rasters in and out, seeded. NOT PRIVATE."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from ..core.curve.grid import Grid
from ..core.curve.hilbert import encode
from ..core.private.cells import Cells
from ..core.private.publish import publisher
from ..core.public.decode import decode
from ..core.public.density import raster
from .raster import Array, Generator, checked


def ours(
    counts: Any,
    eps: float,
    rng: Generator,
    method: str = "adaptive",
    level: Optional[int] = None,
) -> Array:
    """A release of these counts by one of our methods, decoded to a raster.

    The raster has the size of the counts, or 2^level pixels a side.

    >>> float(ours(np.eye(4) * 100, 1.0, np.random.default_rng(0)).sum().round(6))
    400.0
    """
    truth = checked(counts, eps)
    order = truth.shape[0].bit_length() - 1
    row, column = np.nonzero(truth)
    index = encode(column, row, order)
    along = np.argsort(index)
    grid = Grid(0.0, 0.0, 1.0, order)
    cells = Cells(grid, index[along], truth[row, column].astype(np.int64)[along])
    release = publisher(method).publish(cells, eps, noise=seeded_noise(rng))
    return raster(decode(release), order if level is None else level)


def seeded_noise(rng: Generator) -> Callable[..., Any]:
    """Discrete Laplace from a seeded generator; a release drawn with it says it is not private."""

    def draw(numerator: Any, denominator: Any, size: Any = None) -> Any:
        rate = np.asarray(denominator, float) / np.asarray(numerator, float)
        stop = np.broadcast_to(-np.expm1(-rate), np.shape(rate) if size is None else size)
        return rng.geometric(stop) - rng.geometric(stop)

    return draw
