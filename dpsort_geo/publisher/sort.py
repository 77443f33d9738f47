"""The paper's mechanism: sums of groups of the sorted positions, with noise (steps A2 and A3).

Why it is epsilon-DP (theorem 1 and its corollary). Sort the positions 0..N-1 of n points. Replace
one point by another: the sorted sequence moves by at most N - 1 in total, since every element
between the two places moves to its neighbour's place, and these moves add up to the distance of
the old from the new point. Adding up consecutive groups cannot increase that L1 distance. So
noise of scale (N - 1) / epsilon on each sum is enough, however the groups are cut.

When n itself is private (``add-remove``, the paper's remark 2), a noisy n' is published first;
then the sequence is padded with zeros, or the smallest are dropped, to n' points. The result is
the n' largest of the points and endless zeros: one point more or less replaces one element, so
the argument above holds for it. Sizes of groups follow n', never n.
"""

from __future__ import annotations

from typing import Union

import numpy as np

from ..budget import EpsilonLike, epsilon_text, exact_epsilon
from ..grouping import balanced_sizes, group_count, sum_scale
from ..release import Release
from .cells import Cells, merge
from .noise import Noise, discrete_laplace
from .size import published_n


def publish_sorted(
    cells: Cells,
    epsilon: EpsilonLike,
    group_size: Union[int, str, None] = None,
    neighbours: str = "replace",
    points_per_person: int = 1,
    noise: Noise = discrete_laplace,
) -> Release:
    """Publish noisy group sums of the sorted positions.

    Parameters
    ----------
    cells
        Counts of points; with ``points_per_person`` each person has exactly that many in them.
    group_size
        Points (or persons) a group: None for 1.1 sqrt(n / epsilon), a number, or "paper".
    noise
        Anything but the default makes the release say that it is not private.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> release = publish_sorted(cells, epsilon=1, group_size=4)
    >>> release.measurements["sums"].size
    2
    """
    exact = exact_epsilon(epsilon)
    n = published_n(cells, points_per_person, exact, neighbours, noise)
    if neighbours == "add-remove":
        cells = _resized(cells, max(n, 0) * points_per_person)
    groups = group_count(max(n, 0), exact, group_size)
    sizes = balanced_sizes(max(n, 0) * points_per_person, groups)
    scale = sum_scale(cells.grid.n_cells, exact, neighbours, points_per_person)
    true = cells.group_sums(sizes)
    return Release(
        kind="sort",
        grid=cells.grid,
        epsilon=epsilon_text(epsilon),
        neighbours=neighbours,
        unit="point" if points_per_person == 1 else "person",
        n=n,
        measurements={"sums": true + noise(scale.numerator, scale.denominator, groups)},
        settings={
            "groups": groups,
            "points_per_person": points_per_person,
            "scale_numerator": scale.numerator,
            "scale_denominator": scale.denominator,
        },
        private=noise is discrete_laplace,
    )


def _resized(cells: Cells, size: int) -> Cells:
    """The ``size`` largest of the points and endless zeros."""
    missing = size - cells.n
    if missing > 0:
        zero = cells.grid.expand(np.zeros(1, np.int64))
        return merge(cells, Cells(cells.grid, zero, np.array([missing], np.int64)))
    kept = np.minimum(np.cumsum(cells.count[::-1]), size)[::-1]
    count = kept - np.append(kept[1:], 0)
    return Cells(cells.grid, cells.index[count > 0], count[count > 0])
