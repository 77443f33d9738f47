"""What all mechanisms share when they draw a release: n first, then what they measure, with noise.

A mechanism is told `Terms` and answers with what it measured. Of the private table it may publish
nothing but that; everything else in a release follows from public settings and from n, which is
exact only where it is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Callable, Optional, Type, Union

import numpy as np

from ..release import Release
from ..rules.budget import UNITS, EpsilonLike, epsilon_text, point_epsilon
from ..rules.measured import Measured
from .cells import Cells
from .noise import Noise, discrete_laplace
from .noisy_n import publish_n
from .slices import SlicedCells

Array = np.ndarray


@dataclass(frozen=True)
class Terms:
    """What a mechanism measures by: all of it public, or noisy already."""

    #: number of points or persons, as noisy as ``neighbours`` says
    n: int
    #: of each thing that is counted
    epsilon: Fraction
    #: what one point, or one person, counts for in the table
    units: int
    neighbours: str
    noise: Noise


def draw(
    cells: Union[Cells, SlicedCells],
    epsilon: EpsilonLike,
    kind: Type[Measured],
    measure: Callable[[Terms], Measured],
    *,
    neighbours: str = "replace",
    unit: str = "point",
    max_points: Optional[int] = None,
    noise: Noise = discrete_laplace,
) -> Release:
    """The release that a mechanism makes of a table, under epsilon-DP.

    Parameters
    ----------
    cells
        Counts of points; for ``unit="person"`` each person has ``kind.PERSON`` in them.
    noise
        Anything but the default makes the release say that it is not private.
    """
    exact, units = point_epsilon(epsilon, max_points), kind.units_of(unit, max_points)
    n = publish_n(cells, units, exact, neighbours, noise)
    return Release(
        grid=cells.grid,
        epsilon=epsilon_text(epsilon),
        neighbours=neighbours,
        unit=unit,
        n=n,
        max_points=max_points,
        measured=measure(Terms(n, exact, units, neighbours, noise)),
        private=noise is discrete_laplace,
        axes=cells.axes,
    )


def add_noise(true: Array, rate: Array, terms: Terms) -> Array:
    """Counts of quadtree nodes with noise of scale 1 / rate; rates are in units of epsilon."""
    top = terms.epsilon.numerator
    # an epsilon of very many digits needs integers longer than 64 bits
    whole = rate if UNITS * top < 1 << 62 else rate.astype(object)
    scale = terms.units * UNITS * terms.epsilon.denominator, whole * top
    return true + terms.noise(*scale, true.size)
