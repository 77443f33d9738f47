"""The group size of the sort mechanism: noise errs less with larger groups, speaking for them more.

The paper's table, and what serves spread-out points better.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import BadInputError

DEFAULT_GROUP_FACTOR = 1.1  # of sqrt(n / epsilon): the least error of equally spaced points


# The paper's Table 1, as printed. Its recipe, computed exactly (benchmarks/paper_model.py), gives
# other numbers, 0.77 to 1.42 times these: docs/paper.md puts both side by side.
PAPER_N = (2_000, 5_000, 10_000, 20_000, 100_000)


PAPER_EPSILON = (0.5, 1.0, 2.0, 3.0)


PAPER_GROUP_SIZE = (
    (44, 29, 20, 12),
    (59, 37, 27, 18),
    (79, 51, 36, 27),
    (121, 83, 61, 41),
    (234, 150, 98, 73),
)


def paper_group_size(n: int, epsilon: float) -> int:
    """Give the group size of the paper's Table 1, interpolated in log n and log epsilon.

    Outside of the table the nearest entry is scaled by the powers of the paper's model: n^(1/3) and
    epsilon^(-2/3).

    Examples
    --------
    >>> paper_group_size(10_000, 1.0), paper_group_size(50_000, 0.7)
    (51, 144)
    """
    check_terms(n, epsilon)
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
    check_terms(n, epsilon)
    return max(1, min(int(n), round(DEFAULT_GROUP_FACTOR * math.sqrt(n / epsilon))))


def check_terms(n: float, epsilon: float) -> None:
    """Refuse a number of points below one and an epsilon that is not positive."""
    if not (math.isfinite(n) and n >= 1):
        raise BadInputError("The number of points must be 1 or more.")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise BadInputError("Epsilon must be a positive number, like 1 or 0.5.")
