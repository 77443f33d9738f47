"""How many points or persons there are: exact where n is public, noisy where it is not.

One point (person) more or less changes n by one, so that noise of scale 1 / e on it is e-DP; under
``add-remove`` it has 1/50 of epsilon, and everything after follows the noisy n alone. Under
``replace`` all neighbouring data sets have the same n, which tells nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Union

from ..errors import BadInputError
from ..rules.budget import COUNT_UNITS, UNITS, check_neighbours
from .cells import Cells
from .noise import Noise
from .slices import SlicedCells


def refuse_nothing(n: int, neighbours: str) -> None:
    """Refuse a table of no points where n is public.

    Where it is not, that there are none is as private as any other number: a refusal would tell it.
    """
    if n == 0 and neighbours == "replace":
        raise BadInputError("There are no points to publish.")


def publish_n(
    cells: Union[Cells, SlicedCells], units: int, epsilon: Fraction, neighbours: str, noise: Noise
) -> int:
    """The n of a release, in which each point or person has ``units`` of the counts."""
    check_neighbours(neighbours)
    n, remainder = divmod(cells.n, units)
    if remainder:
        raise BadInputError("The counts are not those of whole points or persons.")
    refuse_nothing(n, neighbours)
    if cells.grid.n_cells < 2:
        raise BadInputError("A domain of one cell has nothing to hide or show; use a finer grid.")
    if neighbours == "add-remove":
        scale = Fraction(UNITS, COUNT_UNITS) / epsilon
        n = n + int(noise(scale.numerator, scale.denominator, 1)[0])
    return n
