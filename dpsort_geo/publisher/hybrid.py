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

from fractions import Fraction
from typing import Optional, Tuple

import numpy as np

from ..budget import EpsilonLike, epsilon_text, exact_epsilon
from ..errors import BadInput
from ..grouping import balanced_sizes
from ..hybrid import (
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
from ..release import Release
from .cells import Cells, merge
from .noise import Noise, discrete_laplace
from .size import published_n

Array = np.ndarray


def publish_hybrid(
    cells: Cells,
    epsilon: EpsilonLike,
    variant: str = "width-depth",
    group_size: Optional[int] = None,
    neighbours: str = "replace",
    points_per_person: int = 1,
    noise: Noise = discrete_laplace,
) -> Release:
    """Publish a hybrid: "width-depth" or "depth-width".

    Parameters
    ----------
    cells
        Counts of points; with ``points_per_person`` each person has exactly that many in them.
    group_size
        Points (or persons) a group: None follows n and epsilon.
    noise
        Anything but the default makes the release say that it is not private.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> publish_hybrid(cells, epsilon=1).measurements["counts"].size
    4
    """
    number = variant_number(variant)
    exact = exact_epsilon(epsilon)
    size = _checked_size(group_size)
    n = published_n(cells, points_per_person, exact, neighbours, noise)
    share = shares(number, neighbours)
    measured = (_width_depth, _depth_width)[number]
    counts, sums = measured(cells, n, exact, share, size, neighbours, points_per_person, noise)
    return Release(
        kind="hybrid",
        grid=cells.grid,
        epsilon=epsilon_text(epsilon),
        neighbours=neighbours,
        unit="point" if points_per_person == 1 else "person",
        n=n,
        measurements={"counts": counts, "sums": sums},
        settings={
            "variant": number,
            "group_size": size,
            "points_per_person": points_per_person,
            "count_units": share.counts,
            "sum_units": share.sums,
        },
        private=noise is discrete_laplace,
    )


def publish_width_depth(
    cells: Cells,
    epsilon: EpsilonLike,
    group_size: Optional[int] = None,
    neighbours: str = "replace",
    points_per_person: int = 1,
    noise: Noise = discrete_laplace,
) -> Release:
    """Fixed width, then fixed depth: counts of blocks, and the sort mechanism in each of them.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> publish_width_depth(cells, epsilon=1).settings["variant"]
    0
    """
    return publish_hybrid(
        cells, epsilon, "width-depth", group_size, neighbours, points_per_person, noise
    )


def publish_depth_width(
    cells: Cells,
    epsilon: EpsilonLike,
    group_size: Optional[int] = None,
    neighbours: str = "replace",
    points_per_person: int = 1,
    noise: Noise = discrete_laplace,
) -> Release:
    """Fixed depth, then fixed width: a sort release, and counts in bins inside its steps.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> publish_depth_width(cells, epsilon=1).settings["variant"]
    1
    """
    return publish_hybrid(
        cells, epsilon, "depth-width", group_size, neighbours, points_per_person, noise
    )


def _width_depth(
    cells: Cells, n: int, epsilon: Fraction, share: Shares, size: int, neighbours: str,
    points_per_person: int, noise: Noise,
) -> Tuple[Array, Array]:  # fmt: skip
    blocks = coarse_blocks(cells.grid, n, epsilon, neighbours)
    begin, end = blocks.edges
    scale = scales(np.ones_like(begin), count_rates(blocks, share), epsilon, points_per_person)
    counts = cells.counts_in(begin, end) + noise(*scale, begin.size)
    points = block_points(counts, n, points_per_person)
    groups = block_groups(blocks, points, share, epsilon, size, points_per_person)
    sizes, block = block_sizes(points, groups)
    # a block without groups keeps no points, so that the groups of all blocks come in one row
    kept = _resized(cells, begin, end, np.where(groups > 0, points, 0))
    true = _group_sums(kept, sizes) - blocks.start[block] * sizes
    scale = scales(blocks.width[block] - 1, share.sums, epsilon, points_per_person)
    return counts, true + noise(*scale, sizes.size)


def _depth_width(
    cells: Cells, n: int, epsilon: Fraction, share: Shares, size: int, neighbours: str,
    points_per_person: int, noise: Noise,
) -> Tuple[Array, Array]:  # fmt: skip
    grid, points = cells.grid, max(n, 0) * points_per_person
    sizes = balanced_sizes(points, curve_groups(n, share, epsilon, size))
    whole = np.array([0]), np.array([4**grid.order])
    true = _group_sums(_resized(cells, *whole, np.array([points])), sizes)
    scale = scales(grid.n_cells - 1, share.sums, epsilon, points_per_person)
    sums = true + noise(*scale, sizes.size)
    edges = bin_edges(sums, sizes, grid.n_cells, points_a_bin(n, share, epsilon, points_per_person))
    begin = grid.expand(edges[:-1])
    scale = scales(1, share.counts, epsilon, points_per_person)
    counted = cells.counts_in(begin, np.append(begin[1:], np.int64(4**grid.order)))
    return counted + noise(*scale, begin.size), sums


def _resized(cells: Cells, begin: Array, end: Array, size: Array) -> Cells:
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


def _checked_size(group_size: Optional[int]) -> int:
    """The group size as a release stores it: 0 follows n and epsilon."""
    if group_size is None:
        return 0
    if isinstance(group_size, bool) or not isinstance(group_size, (int, np.integer)):
        raise BadInput("The group size of a hybrid must be a whole number, or left out.")
    if group_size < 1:
        raise BadInput("The group size must be at least 1.")
    return int(group_size)
