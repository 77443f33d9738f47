"""The adaptive release: noisy counts of quadtree cells, split where there is much to see.

The rule of what to ask lives in `rules.adaptive` and sees answers only. Here is where they
come from: each is the true count of a node plus discrete Laplace noise of scale 1 / rate.

Why it is epsilon-DP. Fix the answers. Under ``replace``, moving one point from x to y changes
the counts on the path of x by one and those on the path of y by one. An answer with rate s
changes its likelihood by a factor of at most exp(s), and the rates of one path add up to at most
epsilon / 2: together exp(epsilon). Under ``add-remove`` only one path changes; it may spend
epsilon (1 - 1/50), and the noisy n, which changes by one as well, has the remaining 1/50. A
person's mass of W units is spread over cells; each unit is a point as above with noise rate
s / W, and W units move.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ..release import Release
from ..rules.adaptive import AdaptiveCounts, walk
from ..rules.budget import EpsilonLike, path_units
from .cells import Cells
from .draw import Terms, add_noise, draw
from .persons import spread_units

Array = np.ndarray


def contribute(place: Array, person: Any) -> Tuple[Array, Array]:
    """What persons count for: each a mass of units, spread over the places of their points."""
    return spread_units(place, person, AdaptiveCounts.PERSON)


def publish(
    cells: Cells, epsilon: EpsilonLike, *, group_size: Optional[int] = None, **terms: Any
) -> Release:
    """Measure the cells under epsilon-DP and return the release; ``terms`` are those of `draw`.

    There are no groups in an adaptive release.

    >>> from dpsort_geo.core.curve.grid import Grid
    >>> from dpsort_geo.core.private.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> release = publish(cells, epsilon=1)
    >>> release.n, release.kind
    (8, 'adaptive')
    """
    AdaptiveCounts.check_group_size(group_size)
    return draw(cells, epsilon, AdaptiveCounts, lambda known: _measure(cells, known), **terms)


def _measure(cells: Cells, terms: Terms) -> AdaptiveCounts:
    grid, budget = cells.grid, path_units(terms.neighbours)

    def answer(level: int, index: Array, rate: Array) -> Array:
        span = np.int64(4 ** (grid.order - level))
        return add_noise(cells.counts_in(index * span, (index + 1) * span), rate, terms)

    return walk(grid, terms.n, terms.epsilon, budget, answer, terms.units)
