"""Histograms on grids: equi-width, identity, uniform grid (UG) and adaptive grid (AG).

Qardaji, Yang, Li: Differentially private grids for geospatial data (ICDE 2013). Not private here:
see `raster`. A replaced point leaves one cell and joins another, so a histogram has sensitivity 2
and its noise is Lap(2/eps); the rules of the paper, written for adding or removing one point, are
used with eps/2 for that reason. With ``raw`` a method stops before making counts non-negative.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .raster import Array, Generator, checked, fitted, project


def equi_width(
    counts: Any, eps: float, rng: Generator, bins: Optional[int] = None, raw: bool = False
) -> Array:
    """Histogram of bins x bins cells with Lap(2/eps), then non-negative with total n.

    Without `bins`, Scott's rule for data spread over the whole domain: n^(1/4) bins a side, which
    knows nothing about the noise.

    >>> equi_width(np.ones((4, 4)), 1e9, np.random.default_rng(0), bins=2).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    if bins is None:
        bins = int(np.ceil(raster.sum() ** 0.25))
    return _histogram(raster, eps, rng, bins, raw)


def identity(counts: Any, eps: float, rng: Generator, raw: bool = False) -> Array:
    """Lap(2/eps) on every cell of the raster (Dwork et al. 2006), non-negative with total n.

    >>> identity(np.ones((2, 2)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1.])
    """
    raster = checked(counts, eps)
    return _histogram(raster, eps, rng, raster.shape[0], raw)


def uniform_grid(
    counts: Any, eps: float, rng: Generator, c: float = 10.0, raw: bool = False
) -> Array:
    """UG: m = sqrt(n eps' / c) cells a side with eps' = eps/2, Lap(1/eps').

    >>> uniform_grid(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    bins = int(np.ceil(np.sqrt(raster.sum() * eps / 2 / c)))
    return _histogram(raster, eps, rng, bins, raw)


def adaptive_grid(
    counts: Any,
    eps: float,
    rng: Generator,
    c: float = 10.0,
    c2: float = 5.0,
    alpha: float = 0.5,
    raw: bool = False,
) -> Array:
    """AG: a coarse grid with alpha of the budget, each cell cut again by its own noisy count.

    First level m1 = max(10, sqrt(n eps'/c) / 4) cells a side; a cell of noisy count N is cut into
    m2 x m2, m2 = sqrt(N (1-alpha) eps'/c2). Constrained inference as in the paper (section IV-C),
    here with n known as well: the weighted mean of a cell's count and the sum of its parts, the
    difference spread over the parts. Then from the top non-negative, with total n.

    >>> adaptive_grid(np.ones((16, 16)), 1e9, np.random.default_rng(0)).round(3)[0, :3]
    array([1., 1., 1.])
    """
    raster = checked(counts, eps)
    n, e = raster.sum(), eps / 2
    scale1, scale2 = 1 / (alpha * e), 1 / ((1 - alpha) * e)
    edges = _edges(raster.shape[0], max(10, int(np.ceil(np.sqrt(n * e / c) / 4))))
    first = _block_sums(raster, edges, edges)
    first += rng.laplace(0, scale1, first.shape)
    parts = np.ceil(np.sqrt(np.maximum(first, 0) * (1 - alpha) * e / c2)).astype(int)
    cells = [
        (slice(edges[a], edges[a + 1]), slice(edges[b], edges[b + 1]), int(max(parts[a, b], 1)))
        for a in range(edges.size - 1)
        for b in range(edges.size - 1)
    ]
    blocks = [_cut(raster[rows, columns], m, scale2, rng) for rows, columns, m in cells]
    many = np.array([noisy.size for noisy, _, _ in blocks])
    weight = scale2**2 * many / (scale2**2 * many + scale1**2)
    best = weight * first.ravel() + (1 - weight) * np.array([s.sum() for s, _, _ in blocks])
    spread = (1 - weight) * scale2**2 * many
    free = best + (n - best.sum()) * spread / spread.sum()
    mass = project(free, n)
    result = np.empty_like(raster)
    for (rows, columns, _), (noisy, ys, xs), v, m in zip(cells, blocks, free, mass):
        inferred = noisy + (v - noisy.sum()) / noisy.size
        parts_mass = fitted(inferred.ravel(), m, raw).reshape(noisy.shape)
        result[rows, columns] = _spread(parts_mass, ys, xs)
    return result


def _histogram(raster: Array, eps: float, rng: Generator, bins: int, raw: bool) -> Array:
    edges = _edges(raster.shape[0], bins)
    noisy = _block_sums(raster, edges, edges)
    noisy += rng.laplace(0, 2 / eps, noisy.shape)
    mass = fitted(noisy.ravel(), raster.sum(), raw).reshape(noisy.shape)
    return _spread(mass, edges, edges)


def _edges(side: int, bins: int) -> Any:
    """Edges of `bins` bins (at most one a cell), as equal as whole cells allow."""
    bins = min(max(bins, 1), side)
    return np.rint(np.linspace(0, side, bins + 1)).astype(int)


def _block_sums(raster: Array, ys: Any, xs: Any) -> Array:
    return np.add.reduceat(np.add.reduceat(raster, ys[:-1], axis=0), xs[:-1], axis=1)


def _cut(block: Array, m: int, scale: float, rng: Generator) -> tuple[Array, Any, Any]:
    ys, xs = _edges(block.shape[0], m), _edges(block.shape[1], m)
    noisy = _block_sums(block, ys, xs)
    noisy += rng.laplace(0, scale, noisy.shape)
    return noisy, ys, xs


def _spread(mass: Array, ys: Any, xs: Any) -> Array:
    height, width = np.diff(ys), np.diff(xs)
    density = mass / np.outer(height, width)
    return np.repeat(np.repeat(density, height, axis=0), width, axis=1)
