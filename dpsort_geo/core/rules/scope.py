"""What a release may say about whose points it holds, and which of them."""

from __future__ import annotations

from typing import Any, Tuple

from ..errors import BadInputError

#: what happens to points outside of the domain
OUTSIDE = ("nearest", "drop")
#: columns that name a person together
MOST_COLUMNS = 8


def check_person(columns: Any, unit: str = "person") -> Tuple[str, ...]:
    """Several columns that name a person together; none for a single column, or for points.

    >>> check_person(["rider", "date"])
    ('rider', 'date')
    """
    named = tuple(columns)
    if not named:
        return ()
    words = all(isinstance(name, str) and 0 < len(name) <= 200 for name in named)
    if not words or not 2 <= len(set(named)) == len(named) <= MOST_COLUMNS or unit != "person":
        raise BadInputError(
            f"The columns that name a person together are 2 to {MOST_COLUMNS} different names."
        )
    return named


def check_outside(outside: Any, neighbours: str) -> None:
    """Refuse to leave points out where that would be seen in an exact number of points."""
    if outside not in OUTSIDE:
        raise BadInputError("outside= is 'nearest' or 'drop'.")
    if outside == "drop" and neighbours != "add-remove":
        raise BadInputError(
            "With outside='drop' the number of points that are left would tell how many lie "
            "inside, so it must be noisy: publish with neighbours='add-remove'."
        )
