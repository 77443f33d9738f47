"""Binary trees whose cuts follow the data: the kd-tree with private medians, and HTF.

Not private here: see `raster`. Cormode, Procopiuc, Srivastava, Shen, Yu: Differentially private
spatial decompositions (ICDE 2012). Shaham, Ghinita, Ahuja, Krumm, Shahabi: HTF, homogeneous tree
framework for differentially-private release of location data (SIGSPATIAL 2021).

Both spend one part of the budget on where to cut and the other on counts of all nodes. A point lies
in one node of a level, so on a path the rates of a level add up, and a replaced point leaves one
path and joins another: each path gets e = eps/2. n, the root, is known. With ``raw`` a method stops
before making counts non-negative.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from .cuts import Rectangle, choose, spread, uneven_after
from .raster import Array, Generator, checked, consistent_tree

#: where to cut a rectangle across an axis: (block, axis, rate) to the size of the first part
Cut = Callable[[Array, int, float], int]


def kd_tree(
    counts: Any, eps: float, rng: Generator, medians: float = 0.15, raw: bool = False
) -> Array:
    """The hybrid of Cormode et al.: private medians in the upper half, halves below; consistent.

    Medians are drawn by the exponential mechanism, which the paper found best, with 0.15 of the
    budget, the same for every level (the paper has 0.3; half of that serves it better here). Counts
    have rates that grow by 2^(1/6) a level, the paper's 2^(1/3) for two. The height is that of our
    quadtree, in halves.

    >>> kd_tree(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    e = eps / 2
    height = 2 * (int(np.ceil(np.log(max(raster.sum() * e / 10, 1)) / np.log(4))) + 1)
    height = min(height, _deepest(raster))
    private = (height + 1) // 2

    def cut(block: Array, axis: int, rate: float) -> int:
        """To add a point moves |points before - points behind| / 2 by 1/2."""
        before = np.cumsum(block.sum(1 - axis))
        return 1 + choose(rng, np.abs(before[:-1] - before[-1] / 2), rate)

    rates = np.where(np.arange(height) < private, medians * e / private, 0.0)
    return _tree(raster, (1 - medians) * e, rates, cut, rng, raw)


def htf(counts: Any, eps: float, rng: Generator, share: float = 0.3, raw: bool = False) -> Array:
    """HTF: cuts, axes in turn, that leave both parts as even as may be; consistent.

    The cost of a cut is the sum of the parts' deviations from their mean counts, of sensitivity 2.
    The paper adds noise to that of a few cuts, which shares the budget among them; the exponential
    mechanism chooses among all of them for the same budget. Height log2(n e / 10) as in the paper;
    budgets of cuts are the same for every level, those of counts grow by 2^(1/6).

    >>> htf(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    e = eps / 2
    height = int(np.ceil(np.log2(max(raster.sum() * e / 10, 2))))
    height = min(height, _deepest(raster))

    def cut(block: Array, axis: int, rate: float) -> int:
        return 1 + choose(rng, uneven_after(block, axis), rate / 4)

    rates = np.full(height, share * e / height)
    return _tree(raster, (1 - share) * e, rates, cut, rng, raw)


def _deepest(raster: Array) -> int:
    """Levels after which halves of halves are single cells."""
    return 2 * (raster.shape[0].bit_length() - 1)


def _tree(raster: Array, e: float, cut_rates: Array, cut: Cut, rng: Generator, raw: bool) -> Array:
    """Cut level by level, count every node, make consistent, spread the leaves evenly.

    A single cell cannot be cut: its first part is the cell, the other one has no cells, and its
    count is known to be 0. Where no budget is left for cuts, a rectangle is cut in halves.
    """
    growth = 2.0 ** (np.arange(cut_rates.size) / 6)
    count_rates = e * growth / growth.sum()
    side = raster.shape[0]
    nodes, noisy, variance = [Rectangle(0, side, 0, side)], [], []
    for level, (cut_rate, rate) in enumerate(zip(cut_rates, count_rates)):
        nodes = [
            part
            for node in nodes
            for part in _parts(node, level % 2, raster, cut if cut_rate else None, float(cut_rate))
        ]
        held = np.array([node.of(raster).sum() for node in nodes])
        some = np.array([node.area > 0 for node in nodes])
        answer = np.zeros(held.size)
        answer[some] = rng.laplace(held[some], 1 / rate, int(some.sum()))
        noisy.append(answer)
        variance.append(np.where(some, 2 / rate**2, 0.0))
    leaves = consistent_tree(noisy, variance, raster.sum(), raw)
    return spread(nodes, leaves, side)


def _parts(
    node: Rectangle, axis: int, raster: Array, cut: Optional[Cut], rate: float
) -> List[Rectangle]:
    if max(node.shape) < 2:
        return [node, Rectangle(node.y0, node.y0, node.x0, node.x0)]
    if node.shape[axis] < 2:
        axis = 1 - axis
    at = node.shape[axis] // 2 if cut is None else cut(node.of(raster), axis, rate)
    return list(node.cut(axis, at))
