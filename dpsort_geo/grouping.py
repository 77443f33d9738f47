"""The public arithmetic of a sort release: how many groups, how large, how much noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Union

import numpy as np

from .budget import COUNT_UNITS, UNITS
from .errors import BadInput
from .planning import default_group_size, paper_group_size

Array = np.ndarray


def group_count(n: int, epsilon: Fraction, group_size: Union[int, str, None] = None) -> int:
    """Number of groups for n points: None for the default size, "paper", or a size.

    >>> group_count(10_000, Fraction(1)), group_count(10, Fraction(1), 4)
    (91, 3)
    """
    if n <= 0:
        return 0
    if group_size is None:
        size = default_group_size(n, float(epsilon))
    elif group_size == "paper":
        size = paper_group_size(n, float(epsilon))
    elif isinstance(group_size, (int, np.integer)) and not isinstance(group_size, bool):
        size = int(group_size)
    else:
        raise BadInput("The group size must be a whole number, 'paper', or left out.")
    if size < 1:
        raise BadInput("The group size must be at least 1.")
    return -(-n // size)


def balanced_sizes(points: int, groups: int) -> Array:
    """Sizes of groups that differ by at most one, the larger ones first.

    >>> balanced_sizes(10, 3)
    array([4, 3, 3])
    """
    if groups == 0:
        return np.zeros(0, np.int64)
    small, more = divmod(points, groups)
    sizes = np.full(groups, small, np.int64)
    sizes[:more] += 1
    return sizes


def sum_scale(n_cells: int, epsilon: Fraction, neighbours: str, points_per_person: int) -> Fraction:
    """Scale of the noise on each sum: its sensitivity over the epsilon that is left for sums.

    >>> sum_scale(16, Fraction(1, 2), "replace", 1)
    Fraction(30, 1)
    """
    share = Fraction(1) if neighbours == "replace" else Fraction(UNITS - COUNT_UNITS, UNITS)
    return Fraction(points_per_person * (n_cells - 1)) / (epsilon * share)
