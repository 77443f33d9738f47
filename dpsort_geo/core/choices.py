"""What to protect, and under which relation: each choice, its expected error, what n then counts.

All of it follows from public numbers (how many points, persons, days) and the law of `planning`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional, Sequence, Tuple

from .accuracy import (
    HIGH,
    LOW,
    expected_error,
    length_words,
    relation_gain,
    share_of_all,
    up_to_three_digits,
)
from .errors import BadInputError
from .planning import Plan, plan_side
from .rules.axes import Axis


@dataclass(frozen=True)
class UnitChoice:
    """One way to say whose points are protected; `str` says it in words."""

    protects: str
    #: what to write
    arguments: str
    #: how many things are counted, at most
    n: int
    expected_error: float
    #: what the numbers of such a release mean
    meaning: str
    units: str = "m"

    def __str__(self) -> str:
        off = length_words(self.expected_error, units=self.units)
        return f"one {self.protects} ({self.arguments}): off by about {off}; {self.meaning}"


def compare_units(
    n: int,
    side: float,
    epsilon: float,
    method: str = "adaptive",
    persons: Optional[int] = None,
    max_points: Optional[int] = None,
    person_days: Optional[int] = None,
    units: str = "m",
    cell: float = 0.0,
) -> Tuple[UnitChoice, ...]:
    """The choices that these public numbers allow, all with add-remove, so that they compare.

    >>> [choice.protects for choice in compare_units(50_000, 10_000, 1.0, persons=9_000)]
    ['point', 'person']
    """
    for name, many in (("persons", persons), ("person_days", person_days)):
        if many is not None and not 1 <= many <= n:
            raise BadInputError(f"{name} is a number from 1 to n, of which each has a point.")
    if max_points is not None and (persons is None or max_points < 1):
        raise BadInputError("max_points is at least 1, and needs persons: how many there are.")
    rate = epsilon * relation_gain(method, "add-remove")

    def choice(protects: str, words: str, many: int, each: float, meaning: str) -> UnitChoice:
        error = expected_error(many, rate / each, side, method, cell)
        return UnitChoice(protects, words, many, error, meaning, units)

    found = [
        choice("point", "no person=", n, 1, "numbers are points, and whoever has k of them is "
               "protected with k times epsilon only")
    ]  # fmt: skip
    if persons is not None:
        found.append(
            choice("person", "person='rider'", persons, 1, "numbers are persons: each counts once, "
                   "spread over all their points")
        )  # fmt: skip
    if persons is not None and max_points is not None:
        many = min(n, persons * max_points)
        found.append(
            choice("person", f"person='rider', max_points={max_points}", many, max_points,
                   f"numbers are points, {many:,} at most: of whoever has more than {max_points}, "
                   "the rest is missing")
        )  # fmt: skip
    if person_days is not None:
        found.append(
            choice("person-day", "person=['rider', 'date']", person_days, 1, "numbers are persons' "
                   "days, and whoever has d days is protected with d times epsilon only")
        )  # fmt: skip
    return tuple(found)


def plan_relation(
    n: int,
    side: float,
    epsilon: Optional[Any],
    target_error: Optional[float],
    method: str = "adaptive",
    protects: str = "point",
    axes: Sequence[Axis] = (),
    neighbours: str = "replace",
    zones: int = 0,
    cell: float = 0.0,
) -> Plan:
    """The plan of `plan_side` for either relation; under replace it tells what the other costs.

    >>> both = [plan_relation(10_000, 5_000, e, None, neighbours=r).expected_error
    ...         for e, r in ((1, "replace"), (0.5, "add-remove"))]
    >>> round(both[1] / both[0], 3)
    1.012
    """
    gain = relation_gain(method, neighbours)
    made = plan_side(
        n, side, epsilon=epsilon, target_error=target_error, method=method, protects=protects,
        axes=axes, zones=zones, cell=cell,
    )  # fmt: skip
    if neighbours == "replace":
        words = relation_words(n, side, made.epsilon * made.share, method, cell=cell)
        return replace(made, relation=words)
    if target_error is not None:
        made = replace(made, epsilon=up_to_three_digits(made.epsilon / gain))
    share = share_of_all(axes, n, made.epsilon, zones, neighbours)
    error = expected_error(n, made.epsilon * share * gain, side, method, cell)
    made = replace(made, share=share, neighbours=neighbours)
    return replace(made, expected_error=error, low=LOW * error, high=HIGH * error)


def relation_words(
    n: int, side: float, epsilon: float, method: str, units: str = "m", cell: float = 0.0
) -> str:
    """What it costs to hide the number of points too."""
    gain = relation_gain(method, "add-remove")
    same, half = (
        length_words(expected_error(n, part * gain, side, method, cell), units=units)
        for part in (epsilon, epsilon / 2)
    )
    return (
        "With neighbours='add-remove' the number of points is hidden too: 2 % of epsilon pays for "
        f"it. A point is then off by about {same}; at half the epsilon, which hides the place of a "
        f"point as well as this plan does, by about {half}."
    )
