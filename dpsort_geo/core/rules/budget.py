"""Epsilon as an exact number, and the integer units in which a path of the quadtree spends it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Optional, Union

from ..errors import BadInputError

EpsilonLike = Union[str, int, float, Fraction, Decimal]

#: a whole epsilon is this many units; shares are whole numbers of units, rounded down
UNITS = 1 << 30
#: under add-remove, this part of epsilon pays for the noisy n
COUNT_UNITS = UNITS // 50
#: above this an epsilon, or all of them together, promise little
HIGH_EPSILON = 3

#: units of mass that one person spreads over the cells of their points (adaptive release)
PERSON_UNITS = 1 << 20
#: points that each person contributes to a sort release
PERSON_POINTS = 20

#: a person never has more points in a release with max_points
MOST_POINTS_EACH = 1000

#: no release holds more points
MOST_POINTS = 1 << 37

#: characters of a written epsilon; reading a decimal of a million digits takes a minute
_LONGEST = 60

NEIGHBOURS = ("replace", "add-remove")
PROTECTED = ("point", "person")

#: smaller ones say nothing
LEAST_EPSILON = Fraction(1, 10**6)


def exact_epsilon(epsilon: EpsilonLike) -> Fraction:
    """Epsilon as the exact decimal that was written; a float means its shortest decimal text.

    >>> exact_epsilon(0.1) == exact_epsilon("0.1") == Fraction(1, 10)
    True
    """
    try:
        if type(epsilon).__module__ == "numpy":
            epsilon = epsilon.item()  # type: ignore[union-attr]
        if isinstance(epsilon, bool):
            raise ValueError
        if isinstance(epsilon, Fraction):
            value = epsilon
        else:
            text = str(epsilon).strip()
            if len(text) > _LONGEST or "_" in text:
                raise ValueError
            written = Decimal(text)
            # a huge exponent would take for ever to write out as a fraction
            value = Fraction(written) if -30 < written.adjusted() < 30 else Fraction(0)
    except (InvalidOperation, ValueError, TypeError, OverflowError):
        raise BadInputError("Epsilon must be a positive number such as 1 or 0.5.") from None
    if not 0 < value <= 1000:
        raise BadInputError("Epsilon must be above 0 and at most 1000; 0.1 to 3 is usual.")
    if value < LEAST_EPSILON or 10**18 % value.denominator:
        raise BadInputError("Epsilon must be at least 0.000001, a decimal of up to 18 places.")
    return value


def point_epsilon(epsilon: EpsilonLike, max_points: Optional[int] = None) -> Fraction:
    """The epsilon of each thing that is counted: an m-th where a person has up to m points.

    >>> point_epsilon("1", 3)
    Fraction(1, 3)
    """
    return exact_epsilon(epsilon) / (max_points or 1)


def check_max_points(max_points: Optional[int], unit: str, neighbours: str) -> None:
    """Refuse a bound on the points of a person where it makes no sense."""
    if max_points is None:
        return
    whole = isinstance(max_points, int) and not isinstance(max_points, bool)
    if not whole or not 1 <= max_points <= MOST_POINTS_EACH:
        raise BadInputError(
            f"max_points is a whole number of points a person, from 1 to {MOST_POINTS_EACH}."
        )
    if unit != "person":
        raise BadInputError("max_points is about the points of a person: give person=, too.")
    if neighbours != "add-remove":
        raise BadInputError(
            "With max_points another person may have another number of points, so that the number "
            "of points is not public: publish with neighbours='add-remove'."
        )


def epsilon_text(epsilon: EpsilonLike) -> str:
    """Epsilon as decimal text without an exponent, as a release stores it.

    >>> epsilon_text(0.50), epsilon_text("1e-3")
    ('0.5', '0.001')
    """
    value = exact_epsilon(epsilon)
    whole, part = divmod(value.numerator * (10**18 // value.denominator), 10**18)
    return f"{whole}.{part:018d}".rstrip("0").rstrip(".")


def path_units(neighbours: str) -> int:
    """What one root-to-leaf path of the quadtree may spend.

    Replacing a point changes the counts on two paths, so each may spend half of epsilon. Adding
    or removing one changes a single path, which gets what the noisy n leaves.
    """
    check_neighbours(neighbours)
    return UNITS // 2 if neighbours == "replace" else UNITS - COUNT_UNITS


def check_neighbours(neighbours: str) -> None:
    if neighbours not in NEIGHBOURS:
        raise BadInputError("The neighbour relation must be 'replace' or 'add-remove'.")
