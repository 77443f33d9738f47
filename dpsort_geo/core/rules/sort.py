"""The public rule of a sort release: how many groups, how large, how much noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, List, Tuple, Union

import numpy as np

from ..errors import BadInputError
from .budget import COUNT_UNITS, PERSON_POINTS, UNITS
from .group_size import default_group_size, paper_group_size
from .measured import Measured, refuse

if TYPE_CHECKING:
    from ..release import Release

Array = np.ndarray

#: a release never has more groups: they are made larger instead
MOST_GROUPS = 1 << 20


@dataclass(frozen=True, eq=False)
class SortSums(Measured):
    """Noisy sums of groups of the sorted positions (step A3), and the scale of their noise."""

    KIND: ClassVar[str] = "sort"
    METHOD: ClassVar[str] = "sort"
    WORDS: ClassVar[str] = "Noisy sums of groups of sorted places along a Hilbert curve (sort)."
    ERROR_LAW: ClassVar[Tuple[float, float, float]] = (0.884, 0.300, 0.0)
    HAS_GROUPS: ClassVar[bool] = True
    PERSON: ClassVar[int] = PERSON_POINTS
    ARRAYS: ClassVar[Tuple[str, ...]] = ("sums",)
    SETTINGS: ClassVar[Tuple[str, ...]] = (
        "groups",
        "points_per_person",
        "scale_numerator",
        "scale_denominator",
    )

    sums: Array
    groups: int
    points_per_person: int
    scale_numerator: int
    scale_denominator: int

    @property
    def scale(self) -> float:
        """Scale of the noise on each sum."""
        return self.scale_numerator / self.scale_denominator

    def sizes(self, n: int) -> Array:
        """How many points each group has."""
        return balanced_sizes(n * self.points_per_person, self.groups)

    @classmethod
    def group_words(cls, size: int) -> str:
        return f" in groups of {size:,}"

    @classmethod
    def check_group_size(cls, group_size: Union[int, str, None]) -> None:
        """A whole number of points or persons, "paper", or None for the default."""
        if group_size not in (None, "paper"):
            whole_group(group_size)

    @classmethod
    def relation_gain(cls, neighbours: str) -> float:
        """The sorted sequence has no halves: only the noisy n takes its part."""
        return 1.0 if neighbours == "replace" else 1 - COUNT_UNITS / UNITS

    def check(self, release: Release) -> List[str]:
        """Compare groups and scale with what n, epsilon and the grid ask for."""
        n, groups = release.size, self.groups
        if self.sums.size != groups or not 0 <= groups <= n or (groups == 0) != (n == 0):
            refuse("the number of sums does not fit the number of groups and of points")
        if self.points_per_person != self.units_of(release.unit, release.max_points):
            refuse("the points per person do not fit what the release protects")
        scale = sum_scale(
            release.grid.n_cells, release.exact_epsilon, release.neighbours, self.points_per_person
        )
        if (scale.numerator, scale.denominator) != (self.scale_numerator, self.scale_denominator):
            refuse("its noise scale is not sensitivity over epsilon")
        return [
            f"{groups} groups of balanced size add up to n = {n}.",
            f"The noise scale {scale} is the sensitivity over epsilon, exactly.",
        ]


MEASURED = SortSums


def whole_group(group_size: Union[int, str]) -> int:
    """A group size as a number, refused if it is none."""
    if isinstance(group_size, bool) or not isinstance(group_size, (int, np.integer)):
        raise BadInputError("The group size must be a whole number, 'paper', or left out.")
    if group_size < 1:
        raise BadInputError("The group size must be at least 1.")
    return int(group_size)


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
    else:
        size = whole_group(group_size)
    return min(-(-n // size), MOST_GROUPS)


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
