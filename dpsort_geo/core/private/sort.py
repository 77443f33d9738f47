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

from typing import Any, Tuple, Union

import numpy as np

from ..release import Release
from ..rules.budget import EpsilonLike
from ..rules.sort import SortSums, balanced_sizes, group_count, sum_scale
from .cells import Cells, merge
from .draw import Terms, draw
from .persons import choose_places

Array = np.ndarray


def contribute(place: Array, person: Any) -> Tuple[Array, Array]:
    """What persons count for: each the same number of points, evenly through their own."""
    chosen = choose_places(place, person, SortSums.PERSON)
    return chosen, np.ones(chosen.size, np.int64)


def publish(
    cells: Cells, epsilon: EpsilonLike, *, group_size: Union[int, str, None] = None, **terms: Any
) -> Release:
    """Publish noisy group sums of the sorted positions; ``terms`` are those of `draw`.

    A group has ``group_size`` points (or persons): None for 1.1 sqrt(n / epsilon), a number, or
    "paper".

    >>> from dpsort_geo.core.curve.grid import Grid
    >>> from dpsort_geo.core.private.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> publish(cells, epsilon=1, group_size=4).measured.groups
    2
    """
    SortSums.check_group_size(group_size)
    return draw(cells, epsilon, SortSums, lambda known: _measure(cells, group_size, known), **terms)


def _measure(cells: Cells, group_size: Union[int, str, None], terms: Terms) -> SortSums:
    n, exact, per_person = max(terms.n, 0), terms.epsilon, terms.units
    if terms.neighbours == "add-remove":
        cells = _resize(cells, n * per_person)
    groups = group_count(n, exact, group_size)
    scale = sum_scale(cells.grid.n_cells, exact, terms.neighbours, per_person)
    true = cells.group_sums(balanced_sizes(n * per_person, groups))
    return SortSums(
        sums=true + terms.noise(scale.numerator, scale.denominator, groups),
        groups=groups,
        points_per_person=per_person,
        scale_numerator=scale.numerator,
        scale_denominator=scale.denominator,
    )


def _resize(cells: Cells, size: int) -> Cells:
    """The ``size`` largest of the points and endless zeros."""
    missing = size - cells.n
    if missing > 0:
        zero = cells.grid.expand(np.zeros(1, np.int64))
        return merge(cells, Cells(cells.grid, zero, np.array([missing], np.int64)))
    kept = np.minimum(np.cumsum(cells.count[::-1]), size)[::-1]
    count = kept - np.append(kept[1:], 0)
    return Cells(cells.grid, cells.index[count > 0], count[count > 0])
