"""The paper's two hybrids: counts and sorting, one inside the other.

**Width, then depth.** The blocks of a coarse quadtree level get noisy counts. In each block the
sorted positions, counted from the block's first cell, are padded with zeros or lose their
smallest, so that they are as many as the noisy count says, and the sort mechanism runs on them.

Why it is epsilon-DP. Fix the answers. A block then publishes its count at rate e1 and sums of the
m largest of its points and endless zeros, where m and the groups follow from the noisy count. One
point more or less in a block of w cells changes the count by one, and replaces one element of
that sequence by another, which moves it by w - 1 at most (see `sort`): with noise of scale
(w - 1) / e2 the likelihood changes by exp(e1 + e2) at most. A replaced point leaves one block and
joins another, both stages of both: hence e1 + e2 = epsilon / 2. If both are the same block, its
count stays and its sequence moves by w - 1 at most: exp(e2). Under ``add-remove`` one block is
touched, and e1 + e2 is what the noisy n leaves. A block of one cell has nothing to sort; its count
has rate e1 + e2. Zero is a public place: padding with a position that depends on the data would
break the bound.

**Depth, then width.** A sort release with part of epsilon cuts the curve into steps and these into
bins; then the points are counted in the bins, each count with rate e2.

Why it is epsilon-DP. The sort release is (e1)-DP by its own argument. The bins follow from its
noisy sums. Given them, a replaced point changes two counts by one: e1 + 2 e2 = epsilon. Under
``add-remove`` it changes one: e1 + e2 is what the noisy n leaves.

**Persons.** Each contributes exactly P points, so replacing (adding) a person is a chain of P
replacements (additions) of points. For fixed answers the losses along the chain add up; with all
scales P times as large they add up to epsilon. The noisy n counts persons and changes by one.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ..release import Release
from ..rules.budget import EpsilonLike
from ..rules.hybrid import (
    HybridCounts,
    Shares,
    bin_edges,
    block_groups,
    block_points,
    block_sizes,
    coarse_blocks,
    count_rates,
    curve_groups,
    points_a_bin,
    scales,
    shares,
    variant_number,
)
from ..rules.sort import balanced_sizes
from .cells import Cells, merge
from .draw import Terms, draw
from .sort import contribute

__all__ = ["contribute", "publish"]

Array = np.ndarray


def publish(
    cells: Cells,
    epsilon: EpsilonLike,
    *,
    variant: str = "width-depth",
    group_size: Optional[int] = None,
    **terms: Any,
) -> Release:
    """Publish a hybrid, "width-depth" or "depth-width"; ``terms`` are those of `draw`.

    A group has ``group_size`` points (or persons); None follows n and epsilon.

    >>> from dpsort_geo.core.curve.grid import Grid
    >>> from dpsort_geo.core.private.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> publish(cells, epsilon=1).measured.counts.size
    4
    """
    HybridCounts.check_group_size(group_size)
    number, size = variant_number(variant), int(group_size or 0)  # 0 follows n and epsilon

    def measure(known: Terms) -> HybridCounts:
        share = shares(number, known.neighbours)
        stages = _width_depth if variant == "width-depth" else _depth_width
        counts, sums = stages(cells, share, size, known)
        return HybridCounts(
            counts=counts,
            sums=sums,
            variant=number,
            group_size=size,
            points_per_person=known.units,
            count_units=share.counts,
            sum_units=share.sums,
        )

    return draw(cells, epsilon, HybridCounts, measure, **terms)


def _width_depth(cells: Cells, share: Shares, size: int, terms: Terms) -> Tuple[Array, Array]:
    n, epsilon, points_per_person = terms.n, terms.epsilon, terms.units
    blocks = coarse_blocks(cells.grid, n, epsilon, terms.neighbours)
    begin, end = blocks.edges
    scale = scales(np.ones_like(begin), count_rates(blocks, share), epsilon, points_per_person)
    counts = cells.counts_in(begin, end) + terms.noise(*scale, begin.size)
    points = block_points(counts, n, points_per_person)
    groups = block_groups(blocks, points, share, epsilon, size, points_per_person)
    sizes, block = block_sizes(points, groups)
    # a block without groups keeps no points, so that the groups of all blocks come in one row
    kept = _resize(cells, begin, end, np.where(groups > 0, points, 0))
    true = _group_sums(kept, sizes) - blocks.start[block] * sizes
    scale = scales(blocks.width[block] - 1, share.sums, epsilon, points_per_person)
    return counts, true + terms.noise(*scale, sizes.size)


def _depth_width(cells: Cells, share: Shares, size: int, terms: Terms) -> Tuple[Array, Array]:
    n, epsilon, points_per_person = terms.n, terms.epsilon, terms.units
    grid, points = cells.grid, max(n, 0) * points_per_person
    sizes = balanced_sizes(points, curve_groups(n, share, epsilon, size))
    whole = np.array([0]), np.array([4**grid.order])
    true = _group_sums(_resize(cells, *whole, np.array([points])), sizes)
    scale = scales(grid.n_cells - 1, share.sums, epsilon, points_per_person)
    sums = true + terms.noise(*scale, sizes.size)
    edges = bin_edges(sums, sizes, grid.n_cells, points_a_bin(n, share, epsilon, points_per_person))
    begin = grid.expand(edges[:-1])
    scale = scales(1, share.counts, epsilon, points_per_person)
    counted = cells.counts_in(begin, np.append(begin[1:], np.int64(4**grid.order)))
    return counted + terms.noise(*scale, begin.size), sums


def _resize(cells: Cells, begin: Array, end: Array, size: Array) -> Cells:
    """In each interval of the curve the ``size`` largest of its points and endless first cells."""
    first, last = np.searchsorted(cells.index, begin), np.searchsorted(cells.index, end)
    block = np.repeat(np.arange(begin.size), last - first)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(cells.count)])
    from_here = before[last][block] - before[:-1]
    most = size[block]
    count = np.minimum(from_here, most) - np.minimum(from_here - cells.count, most)
    left = Cells(cells.grid, cells.index[count > 0], count[count > 0])
    missing = np.maximum(size - (before[last] - before[first]), 0)
    padded = missing > 0
    start = cells.grid.expand(cells.grid.allowed_before(begin[padded]))
    return merge(left, Cells(cells.grid, start, missing[padded]))


def _group_sums(cells: Cells, sizes: Array) -> Array:
    return cells.group_sums(sizes) if sizes.size else np.zeros(0, np.int64)
