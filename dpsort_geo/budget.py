"""Epsilon as an exact number, and the integer units in which a path of the quadtree spends it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Union

from .errors import BadInput

EpsilonLike = Union[str, int, float, Fraction, Decimal]

#: a whole epsilon is this many units; shares are whole numbers of units, rounded down
UNITS = 1 << 30
#: under add-remove, this part of epsilon pays for the noisy n
COUNT_UNITS = UNITS // 50

#: units of mass that one person spreads over the cells of their points (adaptive release)
PERSON_UNITS = 1 << 20
#: points that each person contributes to a sort release
PERSON_POINTS = 20

#: characters of a written epsilon; reading a decimal of a million digits takes a minute
_LONGEST = 60

NEIGHBOURS = ("replace", "add-remove")
PROTECTED = ("point", "person")


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
        raise BadInput("Epsilon must be a positive number such as 1 or 0.5.") from None
    if not 0 < value <= 1000:
        raise BadInput("Epsilon must be above 0 and at most 1000; 0.1 to 3 is usual.")
    if value < Fraction(1, 10**6) or 10**18 % value.denominator:
        raise BadInput("Epsilon must be at least 0.000001, a decimal of up to 18 places.")
    return value


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
        raise BadInput("The neighbour relation must be 'replace' or 'add-remove'.")
