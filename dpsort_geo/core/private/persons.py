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

import datetime
import numbers
import uuid
from typing import Any, Callable, Dict, Sequence, Set, Tuple

import numpy as np

from ..errors import BadInputError
from .entropy import draw_below

Array = np.ndarray
Draw = Callable[[Array], Array]

_TEXT = (str, bytes)
_PLAIN = (str, int)
#: kinds of values that can name a person
_NAMES = (*_TEXT, numbers.Number, datetime.date, datetime.time, uuid.UUID)


def spread_units(index: Array, person: Any, units: int) -> Tuple[Array, Array]:
    """Where each person's mass of ``units`` lies, from the places of their points.

    A place gets the person's share of points there, rounded to whole units so that they add up to
    ``units`` exactly (largest remainder; among equals the smaller place comes first). A place may
    be a cell or a cell of a slice; it is a whole number.

    >>> place, mass = spread_units(np.array([0, 0, 3, 3]), ["ann", "ann", "ann", "bob"], 2**20)
    >>> place, mass / 2**20
    (array([0, 3, 3]), array([0.66666698, 0.33333302, 1.        ]))
    """
    code, index = _sort_by_person(index, person)
    if not code.size:
        return index, np.zeros(0, np.int64)
    persons = int(code[-1]) + 1
    if not 1 <= units <= 2**30 or max(persons, code.size) * units >= 2**62:
        raise BadInputError(
            "The units per person must be at least 1 and fit the number of persons."
        )
    # One pair for every place that a person has been to, with the number of their points there.
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
    return index, mass


def choose_places(index: Array, person: Any, points: int) -> Array:
    """So many places of each person, evenly through the places of all their points, sorted.

    Place i of m is the one at rank floor((2i + 1) t / 2m) of the person's t, so that whoever has
    fewer has them repeated.

    >>> choose_places(np.array([0, 3, 3]), ["ann", "ann", "bob"], 4)
    array([0, 0, 3, 3, 3, 3, 3, 3])
    """
    if not 1 <= points <= 1000:
        raise BadInputError("The number of points per person must lie between 1 and 1000.")
    code, index = _sort_by_person(index, person)
    start = np.flatnonzero(np.r_[True, code[1:] != code[:-1]][: code.size])
    owned = np.diff(np.append(start, code.size))
    step = 2 * np.arange(points, dtype=np.int64) + 1
    rank = step * owned[:, None] // (2 * points)
    return np.asarray(index[(start[:, None] + rank).reshape(-1)])


def take_points(person: Any, most: int, below: Draw = draw_below) -> Array:
    """Which points are counted: up to ``most`` of each person, every choice of them as likely.

    The rows of each person are shuffled as far as is needed, from the operating system's entropy:
    the i-th place gets any of those that are left. Neither their order nor their values play a
    part. ``below(bounds)`` draws whole numbers, each uniform on 0..bound-1.

    >>> take_points(["ann", "bob", "bob"], 2)
    array([0, 1, 2])
    """
    code = number_persons(person)
    row = np.argsort(code, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(code[row]) > 0][: code.size])
    owned = np.diff(np.append(start, code.size))
    for i in range(most):
        some = owned > i + 1  # of a single one that is left there is no choice
        if not some.any():
            break
        here = start[some] + i
        there = here + below(owned[some] - i)
        row[here], row[there] = row[there], row[here]
    rank = np.arange(code.size) - np.repeat(start, owned)
    return np.sort(row[rank < most])


def pair_names(columns: Sequence[Any]) -> Array:
    """Several columns as one of tuples, equal where all of them are; nothing may be missing.

    A tuple is no text: ("a", "b c") and ("a b", "c") are two persons, whatever the signs in them.

    >>> pair_names([["ann", "bob"], [1, 2]]).tolist()
    [('ann', 1), ('bob', 2)]
    """
    parts = [names_of(column) for column in columns]
    if any(part.ndim != 1 or part.size != parts[0].size for part in parts):
        raise BadInputError("There must be exactly one person for each point.")
    for part in parts:
        number_persons(part)  # refuses what is missing, or no name
    return np.fromiter(zip(*(part.tolist() for part in parts)), object, parts[0].size)


def _sort_by_person(index: Array, person: Any) -> Tuple[Array, Array]:
    """Person number and place of every point, sorted by person, then by place."""
    code = number_persons(person)
    if code.shape != index.shape:
        raise BadInputError("There must be exactly one person for each point.")
    order = np.lexsort((index, code))
    return code[order], index[order]


def number_persons(person: Any) -> Array:
    """Persons as 0, 1, 2, ...; the numbering itself never leaves the publisher."""
    named = person if isinstance(person, np.ndarray) else names_of(person)
    if named.ndim != 1:
        raise BadInputError("The persons must be one column of names or numbers.")
    if named.dtype == object:
        return _number_objects(named)
    if np.any(np.ma.getmaskarray(named)) or np.any(named != named):  # NaN and NaT are not equal
        raise _missing_error()
    if named.dtype.kind == "b":
        raise _name_error()
    if named.dtype.kind == "f" and bool((np.abs(named) >= _exact_below(named.dtype)).any()):
        raise _length_error()
    return np.unique(np.asarray(named), return_inverse=True)[1].reshape(-1).astype(np.int64)


def joined_names(parts: Sequence[Array]) -> Array:
    """The names of several tables as one array, equal where they were equal.

    Whole numbers of any width go together, and so does text; of any other kind all tables must
    have the same type, or a name would mean one thing here and another there.
    """
    if len({part.dtype for part in parts}) == 1:
        return np.concatenate(parts)
    kinds = {part.dtype.kind for part in parts}
    if not any(kinds <= set(alike) for alike in ("iu", "OU", "S")):
        raise _mixed_error()
    return np.concatenate([part.astype(object) for part in parts])


def names_of(person: Any) -> Array:
    """An array of the values themselves: numpy would turn [1, "a"] and [None] into text.

    Who is who must not depend on the names of others, as it would if one fraction among large
    whole numbers turned all of them into floats.
    """
    if hasattr(person, "__array__"):  # a pandas or Arrow column knows its own type
        return np.asarray(person)
    values = list(person)
    return np.fromiter(values, object, len(values))


def _number_objects(person: Array) -> Array:
    """Numbers for values of Python, one for all that are equal: 1 and 1.0 are the same name.

    Only kinds of values of which it is known that equality is a matter of the two alone.
    """
    known: Dict[Any, int] = {}
    code = np.empty(person.size, np.int64)
    for i, one in enumerate(person.tolist()):
        if type(one) not in _PLAIN:
            _check_name(one)
        code[i] = known.setdefault(one, len(known))
    kinds: Dict[Any, Set[Any]] = {}
    for one in known:
        parts = enumerate(one) if isinstance(one, tuple) else [(-1, one)]
        for place, part in parts:
            text = next((kind for kind in _TEXT if isinstance(part, kind)), None)
            kinds.setdefault(place, set()).add(text)
    if any(len(found) > 1 for found in kinds.values()):
        raise _mixed_error()
    return code


def _check_name(one: Any) -> None:
    if one is None or one is np.ma.masked or isinstance(one, (list, dict, set, np.ndarray)):
        raise _missing_error()
    if isinstance(one, tuple):
        for part in one:
            _check_name(part)
        return
    if isinstance(one, (bool, np.bool_)):
        raise _name_error()
    if not isinstance(one, _NAMES):
        # pandas.NA and its kin are values of no kind
        raise _missing_error() if type(one).__name__ in ("NAType", "NaTType") else _name_error()
    if one != one:
        raise _missing_error()
    if isinstance(one, (float, np.floating)) and abs(one) >= _exact_below(np.dtype(type(one))):
        raise _length_error()


def _exact_below(kind: Any) -> float:
    """From here on different whole numbers are the same number of this type."""
    return 2.0 ** (np.finfo(kind).nmant + 1)


def _mixed_error() -> BadInputError:
    return BadInputError(
        "Some persons are text and some are numbers, or of another type, so that one person may "
        "have two names; write all of them in the same way."
    )


def _name_error() -> BadInputError:
    return BadInputError(
        "Persons are told apart by text or by numbers; write them as one or the other."
    )


def _length_error() -> BadInputError:
    return BadInputError(
        "Some persons are whole numbers too long for a decimal column, where different ones "
        "become equal; write the persons as text or as whole numbers."
    )


def _missing_error() -> BadInputError:
    return BadInputError(
        "Every point needs a person, a name or a number; fill in or remove the points without one."
    )
