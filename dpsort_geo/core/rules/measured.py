"""What a release measured, as a typed value: noisy integers, and public integers beside them.

Each mechanism has its own kind of it in `rules`; a file names the kind, arrays and settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Dict,
    List,
    Mapping,
    NoReturn,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import numpy as np

from ..errors import BadInputError, NotVerifiedError
from .budget import path_units

if TYPE_CHECKING:
    from ..release import Release

Array = np.ndarray
Self = TypeVar("Self", bound="Measured")


@dataclass(frozen=True, eq=False)
class Measured:
    """Base of what the mechanisms measure; `check` is the public rule, replayed on the numbers."""

    #: the mechanism's name in files and in the registry
    KIND: ClassVar[str]
    #: its name in ``method=``
    METHOD: ClassVar[str]
    #: what it publishes, in a sentence for those who keep records of releases
    WORDS: ClassVar[str]
    #: factor, power and spread of its earth mover's distance as a part of the domain's side,
    #: factor (n epsilon)^-power + spread / sqrt(n), fitted to six real data sets by
    #: benchmarks/plan.py
    ERROR_LAW: ClassVar[Tuple[float, float, float]]
    #: names of the arrays, in the order of a file
    ARRAYS: ClassVar[Tuple[str, ...]]
    #: names of the public integers
    SETTINGS: ClassVar[Tuple[str, ...]] = ()
    #: what a person counts for in the table that is measured, where a point counts for one
    PERSON: ClassVar[int]
    #: whether it has counts of places, which a public map can be weighed with
    COUNTS_PLACES: ClassVar[bool] = False
    #: whether it is measured of points with a category or a date
    HAS_AXES: ClassVar[bool] = False
    #: whether it sums groups of points, whose size can be chosen
    HAS_GROUPS: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in self.ARRAYS:
            object.__setattr__(self, name, _narrow(getattr(self, name)))

    def arrays(self) -> Dict[str, Array]:
        """The noisy integers by name."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    @property
    def answers(self) -> int:
        """How many noisy numbers it has."""
        return sum(len(values) for values in self.arrays().values())

    def settings(self) -> Dict[str, int]:
        """The public integers by name."""
        return {name: getattr(self, name) for name in self.SETTINGS}

    @classmethod
    def from_parts(
        cls: Type[Self], arrays: Mapping[str, Array], settings: Mapping[str, int]
    ) -> Self:
        """The value that a file describes."""
        if set(settings) != set(cls.SETTINGS):
            refuse(f"its settings are not those of a release of kind {cls.KIND}")
        parts: Dict[str, Any] = {**arrays, **settings}
        return cls(**parts)

    @classmethod
    def units_of(cls, unit: str, max_points: Optional[int] = None) -> int:
        """What one point, or one person, counts for in the table that is measured.

        With max_points a person has points like anybody else's, fewer of them.
        """
        return cls.PERSON if unit == "person" and max_points is None else 1

    @classmethod
    def check_group_size(cls, group_size: Union[int, str, None]) -> None:
        """Refuse a group size that the mechanism does not know; most have no groups."""
        if group_size is not None:
            raise BadInputError("group_size belongs to method='sort' and method='hybrid'.")

    @classmethod
    def group_words(cls, size: int) -> str:
        """How a sentence about a plan goes on to tell the size of groups, where there is one."""
        return ""

    @classmethod
    def relation_gain(cls, neighbours: str) -> float:
        """How many times the epsilon of a replacement release one of another relation is worth.

        Under replace a point leaves one path of the quadtree and joins another, each with half of
        epsilon; added or removed it is on one path, which has all but the part of the noisy n.
        """
        return path_units(neighbours) / path_units("replace")

    def check(self, release: Release) -> List[str]:
        """Sentences that say what was shown; `NotVerifiedError` at what does not hold first."""
        raise NotImplementedError


def refuse(reason: str) -> NoReturn:
    """Say in which way a release is not what its mechanism could have made."""
    raise NotVerifiedError(
        f"The release does not follow its own rule: {reason}. Do not rely on it."
    )


def _narrow(values: Array) -> Array:
    """As 64-bit integers wherever they fit, so that a number's form tells nothing more."""
    if values.dtype == object and all(-(1 << 63) <= value < 1 << 63 for value in values.tolist()):
        values = values.astype(np.int64)
    values = values.view()  # the array of the caller stays as it is
    values.setflags(write=False)
    return values
