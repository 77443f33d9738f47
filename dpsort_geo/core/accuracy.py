"""How far off a release is, in metres: by a law fitted to real data, from public settings alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Sequence, Tuple

from .errors import BadInputError
from .release import Release
from .rules import measured_by
from .rules.axes import Axis
from .rules.budget import EpsilonLike, exact_epsilon, path_units
from .rules.group_size import check_terms
from .rules.views import all_shares

# Nearly all of eighteen data sets lay between these multiples of a mechanism's law; nine of ten
# releases of the six that it was fitted to lie between 0.58 and 1.49.
LOW = 0.46
HIGH = 1.84
#: part of a cell by which points are off that lie evenly in it: 0.05 to 0.21 on five data sets cut
#: into 4 x 4 to 32 x 32 cells, and 0.2 to 0.6 on 2 x 2
OF_A_CELL = 0.14
#: lengths from here on are said in kilometres
MANY_METRES = 2000
EPSILON_RANGE = (1e-6, 100.0)  # what `epsilon_for` looks through; more than 100 protects nobody


def expected_error(
    n: int, epsilon: float, side: float, method: str = "adaptive", cell: float = 0.0
) -> float:
    """Give the earth mover's distance to expect between the published points and the true ones.

    Parameters
    ----------
    n : int
        Number of points.
    epsilon : float
        Privacy parameter.
    side : float
        Side of the domain's square; the result has the same unit.
    method : {"adaptive", "sort", "hybrid"}
        Mechanism; sort and hybrid with their default group sizes.
    cell : float
        Side of a cell of the grid, where that is stated: nothing is known inside of one.

    Returns
    -------
    float
        How far a point has to move, on average, to turn one map into the other.

    Examples
    --------
    >>> round(expected_error(50_000, 1.0, side=50_000))
    99
    >>> round(expected_error(50_000, 1.0, side=50_000, method="sort"))
    1721
    >>> round(expected_error(50_000, 1.0, side=50_000, cell=5_000))
    707
    """
    check_terms(n, epsilon)
    if not (math.isfinite(side) and side > 0):
        raise BadInputError("The side of the domain must be a positive number.")
    factor, power, spread = measured_by(method).ERROR_LAW
    noise = side * (factor * (n * epsilon) ** -power + spread / math.sqrt(n))
    return math.hypot(noise, OF_A_CELL * cell)


def error_words(n: int, epsilon: float, side: float, method: str, cell: float = 0.0) -> str:
    """Say how wrong a release of a domain with this side in metres is, by the law of its method.

    >>> error_words(50_000, 1.0, 50_000, "adaptive")
    'A point is off by about 99 m on average (46 to 180 m for most data).'
    """
    error = expected_error(n, epsilon, side, method, cell)
    low, high = LOW * error, HIGH * error
    # all three in one unit
    scale, units = (1000.0, "km") if high >= MANY_METRES else (1.0, "m")
    off = length_words(error / scale, units=units)
    return (
        f"A point is off by about {off} on average "
        f"({length_words(low / scale, high / scale, units=units)} for most data)."
    )


def length_words(*lengths: float, units: str = "m") -> str:
    """Write lengths with two significant digits and one unit, like '140 to 570 m'."""
    scale = 1.0
    if units == "m" and max(lengths) >= MANY_METRES:
        scale, units = 1000.0, "km"
    return " to ".join(two_digits(x / scale) for x in lengths) + f" {units}"


def epsilon_for(
    n: int, target_error: float, side: float, method: str = "adaptive", cell: float = 0.0
) -> float:
    """Give the least epsilon, to three digits, whose expected error is within the target.

    Examples
    --------
    >>> epsilon_for(50_000, target_error=250, side=50_000)
    0.205
    >>> round(expected_error(50_000, 0.205, side=50_000))
    250
    """
    if not (math.isfinite(target_error) and target_error > 0):
        raise BadInputError("The target error must be a positive number.")
    low, high = (math.log(bound) for bound in EPSILON_RANGE)
    if expected_error(n, EPSILON_RANGE[1], side, method, cell) > target_error:
        raise BadInputError(
            f"No epsilon up to {EPSILON_RANGE[1]:g} makes the expected error of {n:,} points that "
            "small: allow a larger error, or take more points, a smaller domain or smaller cells."
        )
    while high - low > 1e-12:
        middle = (low + high) / 2
        if expected_error(n, math.exp(middle), side, method, cell) > target_error:
            low = middle
        else:
            high = middle
    return up_to_three_digits(math.exp(high))


def up_to_three_digits(value: float) -> float:
    """The least number of three digits that is not below a value."""
    digits = 2 - math.floor(math.log10(value))
    return math.ceil(value * 10.0**digits - 1e-9) / 10.0**digits


def share_of_all(
    axes: Sequence[Axis],
    n: int,
    epsilon: EpsilonLike,
    zones: int = 0,
    neighbours: str = "replace",
) -> float:
    """The part of epsilon that the map of all points has: all of it where there are no axes.

    ``zones`` is how many were declared for a table of their own.

    >>> share_of_all((), 1000, 1)
    1.0
    """
    if not axes:
        return 1.0
    budget = path_units(neighbours)
    exact = epsilon if isinstance(epsilon, Fraction) else exact_epsilon(epsilon)
    return all_shares(axes, n, exact, budget, zones)[0] / budget


def relation_gain(method: str, neighbours: str) -> float:
    """How many times the epsilon of a replacement release one of another relation is worth.

    >>> [round(relation_gain(method, "add-remove"), 3) for method in ("adaptive", "sort")]
    [1.96, 0.98]
    """
    return measured_by(method).relation_gain(neighbours)


def terms_of(release: Release, side: float) -> Tuple[float, float, str, float]:
    """Epsilon of a release's map of all points, with which axes share it; side, method and cell."""
    rate = float(release.exact_epsilon) * relation_gain(release.kind, release.neighbours)
    zones = 0 if release.zones is None else release.zones.size
    settings = release.size, release.exact_epsilon, zones, release.neighbours
    share = share_of_all(release.axes, *settings)
    return rate * share, side, release.kind, side / 2.0**release.grid.order


def accuracy_words(release: Release, side: float) -> str:
    """How far off the points of a release are, in words."""
    if not release.size:
        return "It stands for no points at all."
    return error_words(release.size, *terms_of(release, side))


def two_digits(x: float) -> str:
    """Write a positive number with two significant digits, without an exponent."""
    places = 1 - math.floor(math.log10(x))
    rounded = round(x, places)
    return f"{rounded:,.{max(places, 0)}f}"
