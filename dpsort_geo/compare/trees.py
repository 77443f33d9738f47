"""Trees of counts: quadtree, PrivTree, and the private measure mechanism (PMM).

Not private here: see `raster`. All trees stand on the Hilbert curve, whose dyadic intervals are the
cells of the quadtree and, at odd depth, halves of them. A replaced point leaves one root-to-leaf
path and joins another; each path gets e = eps/2, and n, the root, is known.
With ``raw`` a method stops before making counts non-negative.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .raster import Array, Generator, checked, consistent_tree, fitted, from_curve, to_curve


def quadtree(
    counts: Any, eps: float, rng: Generator, height: Optional[int] = None, raw: bool = False
) -> Array:
    """Complete quadtree, budgets growing by 2^(1/3) a level (Cormode et al. 2012), consistent.

    Without `height`, the level whose cells are those of a uniform grid, sqrt(n e / 10) a side, and
    one more: deeper levels cost budget and bring noise only.

    >>> quadtree(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    order, e, flat = raster.shape[0].bit_length() - 1, eps / 2, to_curve(raster)
    if height is None:
        height = int(np.ceil(np.log(max(raster.sum() * e / 10, 1)) / np.log(4))) + 1
    height = min(max(height, 1), order)
    share = 2.0 ** (np.arange(height) / 3)
    return _complete_tree(flat, e * share / share.sum(), 4, rng, raw)


def pmm(
    counts: Any, eps: float, rng: Generator, depth: Optional[int] = None, raw: bool = False
) -> Array:
    """Private measure mechanism (He, Vershynin, Zhu 2023): a binary tree tuned for earth movers.

    The budget of level j is proportional to the square root of the sum of the diameters of the
    cells one level up, 2^((j-1)/4) in the plane, which makes the bound on the distance least;
    depth log2(n e) as in the paper. The consistency step is the paper's, non-negative from the top,
    after least squares on the tree, which the paper leaves out and which helps.

    >>> pmm(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    e, flat = eps / 2, to_curve(raster)
    if depth is None:
        depth = int(np.ceil(np.log2(max(raster.sum() * e, 2))))
    depth = min(max(depth, 1), flat.size.bit_length() - 1)
    share = 2.0 ** (np.arange(depth) / 4)
    return _complete_tree(flat, e * share / share.sum(), 2, rng, raw)


def privtree(
    counts: Any, eps: float, rng: Generator, theta: float = 0.0, raw: bool = False
) -> Array:
    """PrivTree (Zhang, Xiao, Xie 2016): a quadtree cut where a biased noisy count stays positive.

    With b = 4 children, lambda = (2b-1)/(b-1)/e1 and delta = lambda ln b make the decisions of a
    path cost e1 whatever its length. Half of e goes there, half into the leaves' counts, which are
    then made non-negative with total n.

    >>> privtree(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    flat, e1, e2 = to_curve(raster), eps / 4, eps / 4
    before = np.concatenate([[0.0], np.cumsum(flat)])
    scale = 7 / 3 / e1
    decay = scale * np.log(4)
    start, width, depth = np.array([0]), flat.size, 0
    leaf_start, leaf_width = [], []
    while start.size:
        if width > 1:
            score = before[start + width] - before[start] - depth * decay
            score = np.maximum(score, theta - decay) + rng.laplace(0, scale, start.size)
            cut = score > theta
        else:
            cut = np.zeros(start.size, bool)
        leaf_start.append(start[~cut])
        leaf_width.append(np.full(leaf_start[-1].size, width))
        width, depth = width // 4, depth + 1
        start = (start[cut][:, None] + width * np.arange(4)).ravel()
    starts, widths = np.concatenate(leaf_start), np.concatenate(leaf_width)
    along = np.argsort(starts)
    starts, widths = starts[along], widths[along]
    noisy = np.add.reduceat(flat, starts) + rng.laplace(0, 1 / e2, starts.size)
    return from_curve(np.repeat(fitted(noisy, flat.sum(), raw) / widths, widths))


def _complete_tree(flat: Array, rates: Array, branching: int, rng: Generator, raw: bool) -> Array:
    """Measure every level with its rate, make consistent, spread the leaves evenly."""
    noisy = []
    for level, rate in enumerate(rates, start=1):
        exact = flat.reshape(branching**level, -1).sum(1)
        noisy.append(exact + rng.laplace(0, 1 / rate, exact.size))
    leaves = consistent_tree(noisy, list(2 / rates**2), flat.sum(), raw)
    width = flat.size // leaves.size
    return from_curve(np.repeat(leaves / width, width))
