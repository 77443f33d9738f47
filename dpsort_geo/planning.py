"""What to expect of a release before any data is touched: from n, epsilon and the domain alone.

Two things are planned. The group size of the sort mechanism, by the paper's model: error of the
noise, which falls with the group size, plus error of speaking for a whole group, which rises with
it. And the error of a map in metres, by a law fitted to real data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .budget import exact_epsilon
from .errors import BadInput

# The law of the earth mover's distance, as a part of the domain's side, fitted to six real data
# sets by benchmarks/plan.py: factor (n epsilon)^-power + spread / sqrt(n)
LAWS = {
    "adaptive": (1.38, 0.612, 0.033),
    "sort": (0.884, 0.300, 0.0),
    "hybrid": (2.26, 0.567, 0.0),
}
# Nearly all of eighteen data sets lay between these multiples of such a law; nine of ten releases
# of the six lie between 0.58 and 1.49.
LOW = 0.46
HIGH = 1.84

DEFAULT_GROUP_FACTOR = 1.1  # of sqrt(n / epsilon): the least error of equally spaced points
EPSILON_RANGE = (1e-6, 100.0)  # what `epsilon_for` looks through; more than 100 protects nobody

# The paper's choice of group size. Its own table was not at hand: these entries are recomputed by
# its recipe, as `best_group_size` does it, and rounded to whole points.
PAPER_N = (2_000, 5_000, 10_000, 20_000, 100_000)
PAPER_EPSILON = (0.5, 1.0, 2.0, 3.0)
PAPER_GROUP_SIZE = (
    (54, 34, 22, 17),
    (74, 47, 29, 22),
    (93, 59, 37, 28),
    (118, 74, 47, 36),
    (201, 127, 80, 61),
)


def noise_error(n: float, epsilon: float) -> float:
    """Give the paper's Err(1, n): the mean error of n noisy points after isotonic regression.

    For points of one and the same value on the unit interval, noise Lap(1/epsilon) on each, least
    squares, nothing cut. The paper simulates it; here it is exact.

    Parameters
    ----------
    n : float
        Number of values, at least 1; need not be whole.
    epsilon : float
        Privacy parameter.

    Returns
    -------
    float
        Expected mean absolute error, as a part of the unit interval.

    Notes
    -----
    The blocks of the fit are the faces of the convex minorant of the random walk of the noise.
    Their lengths are distributed like the cycles of a random permutation, 1/l of length l on
    average, and given the lengths their sums are those of l independent draws (Abramson and
    Pitman 2011). The sum S_l of l draws of Lap(1) has E|S_l| = 2 l C(2l, l) / 4^l, so the error is
    the sum over l of E|S_l| / l, divided by n: (2/n) ((2n+1) C(2n, n) / 4^n - 1) / epsilon,
    about 4 / sqrt(pi n) / epsilon.

    Examples
    --------
    >>> round(noise_error(2_000, 1.0), 4), round(noise_error(10_000, 1.0), 4)
    (0.0495, 0.0224)
    """
    central = math.exp(math.lgamma(n + 0.5) - math.lgamma(n + 1)) / math.sqrt(math.pi)
    return 2 / n * ((2 * n + 1) * central - 1) / epsilon


def generalisation_error(k: float, n: float) -> float:
    """Give the paper's Gen(k, n): the error of putting k points at their mean, k/4n.

    Exact for equally spaced points (k even); no data has more than twice that, k/2n.

    Examples
    --------
    >>> generalisation_error(40, 10_000)
    0.001
    """
    return k / (4 * n)


def group_error(k: float, n: int, epsilon: float) -> float:
    """Give the paper's error of n points in groups of k, noise and generalisation together.

    A group of k divides the noise of its mean by k, and leaves n/k groups.

    Examples
    --------
    >>> round(group_error(59, 10_000, 1.0), 4)
    0.0042
    """
    return noise_error(n / k, k * epsilon) + generalisation_error(k, n)


def best_group_size(n: int, epsilon: float) -> int:
    """Give the whole k that minimises `group_error`: about 4 (n/pi)^(1/3) epsilon^(-2/3).

    This is smaller than what is best for spread-out points: see `default_group_size`.

    Examples
    --------
    >>> best_group_size(10_000, 1.0), best_group_size(10_000, 0.5)
    (59, 93)
    """
    _check(n, epsilon)
    low, high = 1, int(n)
    while low < high:  # the error falls, then rises
        middle = (low + high) // 2
        if group_error(middle, n, epsilon) <= group_error(middle + 1, n, epsilon):
            high = middle
        else:
            low = middle + 1
    return low


def paper_group_size(n: int, epsilon: float) -> int:
    """Give the group size of the paper's table, interpolated in log n and log epsilon.

    The 20 entries (`PAPER_GROUP_SIZE`) were recomputed by the paper's recipe, not copied from it.
    Outside of the table the nearest entry is scaled by the powers of `best_group_size`.

    Examples
    --------
    >>> paper_group_size(10_000, 1.0), paper_group_size(50_000, 0.7)
    (59, 128)
    """
    _check(n, epsilon)
    inner_n = min(max(n, PAPER_N[0]), PAPER_N[-1])
    inner_epsilon = min(max(epsilon, PAPER_EPSILON[0]), PAPER_EPSILON[-1])
    row = [
        np.interp(math.log(inner_epsilon), np.log(PAPER_EPSILON), np.log(sizes))
        for sizes in PAPER_GROUP_SIZE
    ]
    size = math.exp(np.interp(math.log(inner_n), np.log(PAPER_N), row))
    size *= (n / inner_n) ** (1 / 3) * (epsilon / inner_epsilon) ** (-2 / 3)
    return max(1, min(int(n), round(size)))


def default_group_size(n: int, epsilon: float) -> int:
    """Give the group size that serves spread-out points best: 1.1 sqrt(n / epsilon).

    Isotonic regression of equally spaced points errs by about 0.9 n^(-1/3) epsilon^(-2/3), of n/k
    groups with noise 1/k by 0.9 n^(-1/3) (epsilon^2 k)^(-1/3); with k/4n this is least near
    1.15 sqrt(n / epsilon), and flat there.

    Examples
    --------
    >>> default_group_size(10_000, 1.0), default_group_size(3, 100.0)
    (110, 1)
    """
    _check(n, epsilon)
    return max(1, min(int(n), round(DEFAULT_GROUP_FACTOR * math.sqrt(n / epsilon))))


def expected_error(n: int, epsilon: float, side: float, method: str = "adaptive") -> float:
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
    """
    _check(n, epsilon)
    if not (math.isfinite(side) and side > 0):
        raise BadInput("The side of the domain must be a positive number.")
    if method not in LAWS:
        raise BadInput(f"The method is 'adaptive', 'sort' or 'hybrid', not {method!r}.")
    factor, power, spread = LAWS[method]
    return side * (factor * (n * epsilon) ** -power + spread / math.sqrt(n))


def epsilon_for(n: int, target_error: float, side: float, method: str = "adaptive") -> float:
    """Give the least epsilon, to three digits, whose expected error is within the target.

    Examples
    --------
    >>> epsilon_for(50_000, target_error=250, side=50_000)
    0.205
    >>> round(expected_error(50_000, 0.205, side=50_000))
    250
    """
    if not (math.isfinite(target_error) and target_error > 0):
        raise BadInput("The target error must be a positive number.")
    low, high = (math.log(bound) for bound in EPSILON_RANGE)
    if expected_error(n, EPSILON_RANGE[1], side, method) > target_error:
        raise BadInput(
            f"No epsilon up to {EPSILON_RANGE[1]:g} makes the expected error of {n:,} points that "
            "small: allow a larger error, or take more points or a smaller domain."
        )
    while high - low > 1e-12:
        middle = (low + high) / 2
        if expected_error(n, math.exp(middle), side, method) > target_error:
            low = middle
        else:
            high = middle
    digits = 2 - math.floor(high / math.log(10))
    return math.ceil(math.exp(high) * 10.0**digits - 1e-9) / 10.0**digits


@dataclass(frozen=True)
class Plan:
    """What to expect of a release; `str` says it in words.

    `expected_error`, `low` and `high` are in the unit of `side`; `group_size` is what the sort
    mechanism would use.
    """

    n: int
    epsilon: float
    side: float
    method: str
    unit: str
    expected_error: float
    low: float
    high: float
    group_size: int
    units: str = "m"

    def __str__(self) -> str:
        """Say it to a user of maps."""
        owner = "point" if self.unit == "point" else "person, with all of their points,"
        method = f"{self.method} method"
        if self.method == "sort":
            method += f" in groups of {self.group_size:,}"
        return (
            f"{self.n:,} points, epsilon = {self.epsilon:g}, {method}: on average a point has to "
            f"move about {self._length(self.expected_error)} to turn the published map into the "
            f"true one (expect {self._length(self.low, self.high)}; half of the points move "
            f"less). Had any one {owner} been elsewhere, no published map would have been more "
            f"than {_times(self.epsilon)} times more or less likely."
        )

    def _length(self, *lengths: float) -> str:
        """Write lengths with two significant digits and one unit, like '140 to 570 m'."""
        scale, units = 1.0, self.units
        if units == "m" and max(lengths) >= 2000:
            scale, units = 1000.0, "km"
        return " to ".join(_two_digits(x / scale) for x in lengths) + f" {units}"


def plan_side(
    n: int,
    side: float,
    epsilon: Optional[Any] = None,
    target_error: Optional[float] = None,
    method: str = "adaptive",
    unit: str = "point",
    units: str = "m",
) -> Plan:
    """Plan a release for a square domain: its error for an epsilon, or the epsilon for an error.

    Parameters
    ----------
    n : int
        Number of points (of people, when each person counts once).
    side : float
        Side of the domain's square.
    epsilon : float or str, optional
        Privacy parameter; give this or `target_error`.
    target_error : float, optional
        Expected error to reach, in the unit of `side`.
    method : {"adaptive", "sort", "hybrid"}
        Mechanism.
    unit : {"point", "person"}
        Whose privacy epsilon is for.
    units : str
        Unit of `side` in words.

    Examples
    --------
    >>> print(plan_side(10_000, side=50_000, epsilon=1.0))  # doctest: +NORMALIZE_WHITESPACE
    10,000 points, epsilon = 1, adaptive method: on average a point has to move about 260 m to turn
    the published map into the true one (expect 120 to 480 m; half of the points move less). Had
    any one point been elsewhere, no published map would have been more than 2.7 times more or
    less likely.
    >>> plan_side(50_000, side=50_000, target_error=250).epsilon
    0.205
    """
    if (epsilon is None) == (target_error is None):
        raise BadInput("Give either epsilon or target_error: the other one follows from it.")
    if unit not in ("point", "person"):
        raise BadInput(f"The unit of privacy is 'point' or 'person', not {unit!r}.")
    if target_error is not None:
        epsilon = epsilon_for(n, target_error, side, method)
    rate = float(exact_epsilon(epsilon))  # type: ignore[arg-type]
    error = expected_error(n, rate, side, method)
    size = default_group_size(n, rate)
    return Plan(n, rate, side, method, unit, error, LOW * error, HIGH * error, size, units)


def _times(epsilon: float) -> str:
    return _two_digits(math.exp(epsilon)) if epsilon <= 20 else f"e^{epsilon:g}"


def _two_digits(x: float) -> str:
    """Write a positive number with two significant digits, without an exponent."""
    places = 1 - math.floor(math.log10(x))
    rounded = round(x, places)
    return f"{rounded:,.{max(places, 0)}f}"


def _check(n: float, epsilon: float) -> None:
    """Refuse a number of points below one and an epsilon that is not positive."""
    if not (math.isfinite(n) and n >= 1):
        raise BadInput("The number of points must be 1 or more.")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise BadInput("Epsilon must be a positive number, like 1 or 0.5.")
