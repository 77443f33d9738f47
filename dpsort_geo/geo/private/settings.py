"""What a publisher is refused, and warned of, before anything is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import (
    Any,
    List,
    Tuple,
)

from ...core import accuracy
from ...core.errors import BadInputError
from ...core.rules import measured_by, mechanism_of
from ...core.rules.axes import Axis
from ...core.rules.budget import (
    HIGH_EPSILON,
    EpsilonLike,
    check_neighbours,
    epsilon_text,
    exact_epsilon,
)
from ..crs import crs_text
from ..domain import Domain
from .rows import Choice


def check_settings(
    epsilon: EpsilonLike, domain: Any, method: str, neighbours: str, group_size: Any
) -> None:
    """Refuse what cannot be published, before a point is read."""
    exact_epsilon(epsilon)
    check_neighbours(neighbours)
    measured_by(mechanism_of(method)).check_group_size(group_size)
    if domain.grid.n_cells < 2:
        raise BadInputError("A domain of one cell has nothing to hide or show; use a finer grid.")
    for crs in (domain.crs, domain.working_crs):
        crs_text(crs)  # refuses what no reader would read, before anything is spent


def find_doubts(
    n: int,
    epsilon: EpsilonLike,
    each: Fraction,
    domain: Domain,
    method: str,
    neighbours: str,
    axes: Tuple[Axis, ...],
    choice: Choice,
    zones: int = 0,
) -> List[str]:
    """What a publisher should hear of a release before it goes out."""
    found = []
    if choice.window is not None and neighbours == "replace":
        found.append(
            "The exact number of points of this window will be public, and whether a point lies in "
            "it is not protected; publish a series with neighbours='add-remove'."
        )
    if exact_epsilon(epsilon) > HIGH_EPSILON:
        found.append(
            f"Epsilon {epsilon_text(epsilon)} promises little: results may be "
            f"e^{epsilon_text(epsilon)} times as likely; 0.1 to 3 is usual."
        )
    if neighbours == "replace":
        # whether this is said depends on n, so it is said only where n is public
        rate = float(each) * accuracy.share_of_all(axes, n, each, zones)
        expected = accuracy.expected_error(n, rate, domain.side, method, domain.cell_size)
        if expected > domain.side / 10:
            found.append(
                "The published points will be off by more than a tenth of the domain: "
                "use a larger epsilon, a smaller domain or more points."
            )
    return found
