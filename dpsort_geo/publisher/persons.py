"""Persons: one person may own many points, and all of them together are protected.

Each person counts once. What a person contributes depends on their own points only and has a
fixed size, so replacing everything that one person did moves no more than that:

- adaptive: a mass of W integer units, spread over the cells of the person's points. Old and new
  data of one person differ by at most W units on the old paths and W on the new ones, and a path
  charges its rate per unit, e/W: the loss is at most 2 W (e/W) = eps, whatever the rates were.
- sort: exactly m points. Replacing them moves the sorted sequence by at most m (N - 1).

The number of persons is the public n. A person must come with all their points at once: tables of
persons cannot be merged, because a person who is in two of them would count twice.
"""

from __future__ import annotations

from typing import Any, Dict, Sequence, Tuple

import numpy as np

from ..budget import PERSON_POINTS, PERSON_UNITS
from ..curve.grid import Grid
from ..errors import BadInput
from .cells import Cells, from_counts, from_index

Array = np.ndarray


def count_persons(
    grid: Grid, x: Array, y: Array, person: Array, units: int = PERSON_UNITS
) -> Cells:
    """Spread each person's mass of `units` over the cells of their points.

    A cell gets the person's share of points there, rounded to whole units so that they add up to
    `units` exactly (largest remainder; among equals the smaller curve index comes first).

    Parameters
    ----------
    grid : Grid
        The public grid.
    x, y : array
        Coordinates of the points.
    person : array
        Who each point belongs to: integers, text or anything hashable, no missing values.
    units : int
        Mass of one person.

    Examples
    --------
    >>> grid = Grid(0.0, 0.0, 1.0, 1)
    >>> cells = count_persons(grid, [0.5, 0.5, 1.5, 1.5], [0.5] * 4, ["ann", "ann", "ann", "bob"])
    >>> cells.index, cells.count / 2**20
    (array([0, 3]), array([0.66666698, 1.33333302]))
    """
    code, index = _by_person(grid, x, y, person)
    persons = int(code[-1]) + 1
    if not 1 <= units <= 2**30 or max(persons, code.size) * units >= 2**62:
        raise BadInput("The units per person must be at least 1 and fit the number of persons.")
    # One pair for every cell that a person has been to, with the number of their points there.
    first = np.flatnonzero(np.r_[True, (code[1:] != code[:-1]) | (index[1:] != index[:-1])])
    points = np.diff(np.append(first, code.size))
    code, index = code[first], index[first]
    total = np.bincount(code, minlength=persons)
    start = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    points_of = np.add.reduceat(points, start)
    mass, remainder = np.divmod(points * np.int64(units), points_of[code])
    missing = units - np.add.reduceat(mass, start)
    order = np.lexsort((index, -remainder, code))
    rank = np.arange(code.size) - np.repeat(start, total)
    mass[order] += rank < np.repeat(missing, total)
    return from_counts(grid, index, mass)


def count_person_points(
    grid: Grid, x: Array, y: Array, person: Array, points: int = PERSON_POINTS
) -> Cells:
    """Take exactly `points` points of each person, evenly through their own points on the curve.

    Point i of m is the one at rank floor((2i + 1) t / 2m) of the person's t sorted points, so
    that a person with fewer points has them repeated.

    Parameters
    ----------
    grid, x, y, person
        As in `count_persons`.
    points : int
        Points that each person contributes.

    Examples
    --------
    >>> grid = Grid(0.0, 0.0, 1.0, 1)
    >>> cells = count_person_points(grid, [0.5, 1.5, 1.5], [0.5] * 3, ["ann", "ann", "bob"])
    >>> cells.index, cells.count
    (array([0, 3]), array([10, 30]))
    """
    if not 1 <= points <= 1000:
        raise BadInput("The number of points per person must lie between 1 and 1000.")
    code, index = _by_person(grid, x, y, person)
    start = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    owned = np.diff(np.append(start, code.size))
    step = 2 * np.arange(points, dtype=np.int64) + 1
    rank = step * owned[:, None] // (2 * points)
    return from_index(grid, index[(start[:, None] + rank).reshape(-1)])


def _by_person(grid: Grid, x: Array, y: Array, person: Array) -> Tuple[Array, Array]:
    """Person number and curve index of every point, sorted by person, then along the curve."""
    index = grid.curve_index(np.asarray(x), np.asarray(y))
    code = _numbered(person)
    if code.shape != index.shape:
        raise BadInput("There must be exactly one person for each point.")
    if not code.size:
        raise BadInput("There are no points to publish.")
    order = np.lexsort((index, code))
    return code[order], index[order]


def _numbered(person: Any) -> Array:
    """Persons as 0, 1, 2, ...; the numbering itself never leaves the publisher."""
    named = person if isinstance(person, np.ndarray) else names_of(person)
    if named.ndim != 1:
        raise BadInput("The persons must be one column of names or numbers.")
    if named.dtype == object:
        return _numbered_objects(named)
    if np.any(np.ma.getmaskarray(named)) or np.any(named != named):  # NaN and NaT are not equal
        raise _missing()
    if named.dtype.kind == "f" and bool((np.abs(named) >= 2.0**53).any()):
        raise _too_long()
    return np.unique(np.asarray(named), return_inverse=True)[1].reshape(-1).astype(np.int64)


def joined_names(parts: Sequence[Array]) -> Array:
    """The names of several tables as one array, equal where they were equal."""
    kinds = {part.dtype.kind for part in parts}
    if len({part.dtype for part in parts}) == 1:
        return np.concatenate(parts)
    text = {kind for kind in kinds if kind in "OSU"}
    if text and kinds - text:
        raise _mixed()
    return np.concatenate([part.astype(object) for part in parts])


def names_of(person: Any) -> Array:
    """An array of the values themselves: numpy would turn [1, "a"] and [None] into text.

    Who is who must not depend on the names of others, as it would if one fraction among large
    whole numbers turned all of them into floats.
    """
    if hasattr(person, "__array__"):  # a pandas or Arrow column knows its own type
        return np.asarray(person)
    values = list(person)
    named = np.empty(len(values), object)
    named[:] = values
    return named


def _numbered_objects(person: Array) -> Array:
    numbers: Dict[Any, int] = {}
    code = np.empty(person.size, np.int64)
    try:
        for i, one in enumerate(person.tolist()):
            if one is None or one is np.ma.masked or bool(one != one):
                raise _missing()
            if isinstance(one, float) and abs(one) >= 2.0**53:
                raise _too_long()
            code[i] = numbers.setdefault(one, len(numbers))
    except BadInput:
        raise
    except TypeError:  # pandas.NA has no truth value; a list cannot be hashed
        raise _missing() from None
    if len({isinstance(one, (str, bytes)) for one in numbers}) > 1:
        raise _mixed()
    return code


def _mixed() -> BadInput:
    return BadInput(
        "Some persons are text and some are numbers, so that one person may have two names; "
        "write all of them in the same way."
    )


def _too_long() -> BadInput:
    return BadInput(
        "Some persons are whole numbers too long for a decimal column, where different ones "
        "become equal; write the persons as text or as whole numbers."
    )


def _missing() -> BadInput:
    return BadInput(
        "Every point needs a person, a name or a number; fill in or remove the points without one."
    )
