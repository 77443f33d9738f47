"""The adaptive release: noisy counts of quadtree cells, split where there is much to see.

The rule of what to ask lives in `dpsort_geo.schedule` and sees answers only. Here is where they
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

import numpy as np

from ..budget import (
    PERSON_UNITS,
    UNITS,
    EpsilonLike,
    epsilon_text,
    exact_epsilon,
    path_units,
)
from ..release import Release
from ..schedule import walk
from .cells import Cells
from .noise import Noise, discrete_laplace
from .size import published_n

Array = np.ndarray


def publish_adaptive(
    cells: Cells,
    epsilon: EpsilonLike,
    neighbours: str = "replace",
    unit: str = "point",
    noise: Noise = discrete_laplace,
) -> Release:
    """Measure the cells under epsilon-DP and return the release.

    Parameters
    ----------
    cells
        Counts of points; for ``unit="person"`` mass in units of 1 / PERSON_UNITS of a person.
    noise
        Anything but the default makes the release say that it is not private.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> release = publish_adaptive(cells, epsilon=1)
    >>> release.n, release.kind
    (8, 'adaptive')
    """
    exact = exact_epsilon(epsilon)
    units = PERSON_UNITS if unit == "person" else 1
    n = published_n(cells, units, exact, neighbours, noise)
    budget = path_units(neighbours)

    def answer(level: int, index: Array, rate: Array) -> Array:
        span = np.int64(4 ** (cells.grid.order - level))
        true = cells.counts_in(index * span, (index + 1) * span)
        # an epsilon of very many digits needs integers longer than 64 bits
        whole = rate if UNITS * exact.numerator < 1 << 62 else rate.astype(object)
        scale = units * UNITS * exact.denominator, whole * exact.numerator
        return true + noise(*scale, index.size)

    nodes = walk(cells.grid, n, exact, budget, answer, units)
    return Release(
        kind="adaptive",
        grid=cells.grid,
        epsilon=epsilon_text(epsilon),
        neighbours=neighbours,
        unit=unit,
        n=n,
        measurements=dict(vars(nodes)),
        private=noise is discrete_laplace,
    )
