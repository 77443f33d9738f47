"""A release of invented points, to see beforehand how wide the intervals of a real one will be.

Nothing private is seen and nothing is spent. The points are clumped as real ones usually are: each
quadtree node shares its points among its parts by a Dirichlet law whose shares vary as those of
real data do (see `public.intervals`, rho = 0.15). The noise is left out, because the width of an
interval comes from the scale of the noise and not from what was drawn; so the same question has
the same answer, and the release says that it is not private.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ...core.curve.blocks import room
from ...core.curve.grid import Grid
from ...core.private.cells import Cells
from ...core.private.publish import publisher
from ...core.release import Release
from ...core.rules.budget import EpsilonLike

Array = np.ndarray

#: variance of a part's share, over f (1 - f)
_UNEVENNESS = 0.15


def rehearse(
    grid: Grid,
    n: int,
    epsilon: EpsilonLike,
    method: str = "adaptive",
    seed: int = 0,
    inside: Optional[Grid] = None,
) -> Release:
    """The release of n invented points on a grid, or all of them ``inside`` of it.

    >>> release = rehearse(Grid(0.0, 0.0, 1.0, 6), 1000, 1)
    >>> release.n, release.private
    (1000, False)
    """
    cells = invent_cells(inside or grid, n, np.random.default_rng(seed))
    if inside is not None:
        index, cell = np.unique(cells.index >> 2 * (inside.order - grid.order), return_inverse=True)
        count = np.bincount(cell.reshape(-1), cells.count, index.size).astype(np.int64)
        cells = Cells(grid, index, count)
    return publisher(method).publish(cells, epsilon, noise=_no_noise)


def invent_cells(grid: Grid, n: int, rng: np.random.Generator) -> Cells:
    """Counts of n clumped points, made from the top of the quadtree downwards."""
    index, count = np.zeros(1, np.int64), np.array([n], np.int64)
    for level in range(1, grid.order + 1):
        child = (index[:, None] * 4 + np.arange(4)).reshape(-1)
        area = room(grid, np.full(child.size, level), child).reshape(-1, 4).astype(np.float64)
        share = area / area.sum(axis=1, keepdims=True)
        # a tiny weight instead of none keeps the quotients below defined
        weight = rng.gamma(np.maximum(share * (1 / _UNEVENNESS - 1), 1e-12)) + 1e-300
        weight[area == 0] = 0.0
        part, left = np.zeros((index.size, 4), np.int64), count.copy()
        for k in range(4):
            rest = weight[:, k:].sum(axis=1)
            chance = np.divide(weight[:, k], rest, out=np.zeros(rest.size), where=rest > 0)
            part[:, k] = rng.binomial(left, np.minimum(chance, 1.0))
            left -= part[:, k]
        filled = part.reshape(-1) > 0
        index, count = child[filled], part.reshape(-1)[filled]
    return Cells(grid, index, count)


def _no_noise(numerator: Any, denominator: Any, size: Any = None) -> Any:
    return np.zeros(() if size is None else size, np.int64)
