"""The paper's model of the sort mechanism's error, computed exactly: noise and generalisation.

The package itself uses two group sizes that follow from it (`dpsort_geo.core.rules.group_size`).
"""

from __future__ import annotations

import math

from dpsort_geo.core.rules.group_size import check_terms


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
    check_terms(n, epsilon)
    low, high = 1, int(n)
    while low < high:  # the error falls, then rises
        middle = (low + high) // 2
        if group_error(middle, n, epsilon) <= group_error(middle + 1, n, epsilon):
            high = middle
        else:
            low = middle + 1
    return low
