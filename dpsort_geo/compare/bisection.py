"""HDPView in the plane: blocks cut in two until their counts look even, then their totals.

Kato, Takahashi, Takagi, Cao, Liew, Yoshikawa: HDPView, differentially private materialized view for
exploring high dimensional relational data (VLDB 2022). Not private here: see `raster`. With ``raw``
the method stops before making counts non-negative.

A path of decisions costs the same whatever its length, as in PrivTree: the deviation of a part is
never more than that of the whole, each level takes delta off it, and so but for a few levels the
score is far from its threshold on either side of a change of one point. The paper's lambda has
room for a score that moves by 2. Cuts have a budget a level, down to a depth beyond which they are
drawn blindly; the authors' program spends it on one level more than it has been divided by, which
is put right here.
"""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from .cuts import Rectangle, choose, deviation, spread, uneven_after
from .raster import Array, Generator, checked, fitted

#: the constants of the authors' program: bias, depth of chosen cuts, budget of deciding to stop
ALPHA, BETA, GAMMA = 1.6, 1.2, 0.9


def hdpview(
    counts: Any, eps: float, rng: Generator, ratio: float = 0.7, raw: bool = False
) -> Array:
    """Blocks with `ratio` of the budget, the rest for Laplace noise on their totals.

    The authors have 0.9 for blocks; 0.7 serves it better here. Written for adding or removing a
    point, so e = eps/2 here.

    >>> hdpview(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    e = eps / 2
    blocks = bisect(raster, ratio * e, 1 / ((1 - ratio) * e), rng)
    held = np.array([block.of(raster).sum() for block in blocks])
    noisy = rng.laplace(held, 1 / ((1 - ratio) * e), held.size)
    return spread(blocks, fitted(noisy, raster.sum(), raw), raster.shape[0])


def bisect(raster: Array, e: float, theta: float, rng: Generator) -> List[Rectangle]:
    """Blocks that tile the raster, with a budget of e for adding or removing a point."""
    side = raster.shape[0]
    deepest = int(np.ceil(BETA * np.log2(raster.size)))
    cut_rate = (1 - GAMMA) * e / deepest / 4  # costs move by 2 at most
    scale = ((2 * ALPHA - 1) / (ALPHA - 1) + 1) * 2 / (GAMMA * e)
    bias = scale * np.log(ALPHA)
    active, done, depth = [Rectangle(0, side, 0, side)], [], 0
    while active:
        rate = cut_rate if depth < deepest else 0.0
        parts = [part for block in active for part in _cut(block, raster, rate, rng)]
        depth += 1
        done += [part for part in parts if part.area == 1]
        parts = [part for part in parts if part.area > 1]
        score = np.array([deviation(part.of(raster)) for part in parts]) - bias * depth
        gap = np.maximum(score, theta + 2 - bias) - theta
        stops = rng.binomial(1, _below(-gap / scale)).astype(bool)
        done += [part for part, stop in zip(parts, stops) if stop]
        active = [part for part, stop in zip(parts, stops) if not stop]
    return done


def _below(x: Array) -> Array:
    """The chance that Laplace noise of scale 1 is x or less."""
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def _cut(
    block: Rectangle, raster: Array, rate: float, rng: Generator
) -> Tuple[Rectangle, Rectangle]:
    """Two parts, by any cut across either axis; with no rate all cuts are alike."""
    rows, columns = block.shape
    if rate:
        inside = block.of(raster)
        cost = np.concatenate([uneven_after(inside, axis) for axis in (0, 1)])
    else:
        cost = np.zeros(rows + columns - 2)
    at = choose(rng, cost, rate)
    return block.cut(0, at + 1) if at < rows - 1 else block.cut(1, at - rows + 2)
