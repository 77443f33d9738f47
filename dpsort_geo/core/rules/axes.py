"""What and when: the public axes of a release, their slices, and which slice a value falls into.

An axis is declared and never read from the data: a list of values, or a range of time cut into
bins. Each record falls into one slice of every axis, by its own value alone. Nothing here says
which value was at fault, or how many were.
"""

from __future__ import annotations

import math
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ..errors import BadInputError
from .category_axis import CategoryAxis
from .time_axis import TimeAxis

Array = np.ndarray

MOST_TOGETHER = 1 << 20
#: axes of a release: so many of categories, or one and time
MOST_CATEGORICAL = 3
#: columns of the points and of the counts in zones that readers get, and GeoPackage's own
TAKEN_NAMES = (
    "geometry", "fid", "estimate", "low", "high", "reliable", "covered", "rate", "low_rate",
    "high_rate",
)  # fmt: skip


Axis = Union[CategoryAxis, TimeAxis]


def make_axes(
    by: Optional[Mapping[str, Sequence[Any]]] = None, time: Optional[TimeAxis] = None
) -> Tuple[Axis, ...]:
    """The axes of a release: up to three of categories, or one and time.

    >>> week = TimeAxis("when", cycle="week", every="1 hour")
    >>> [axis.name for axis in make_axes({"type": ["a", "b"]}, week)]
    ['type', 'when']
    """
    if time is not None and not isinstance(time, TimeAxis):
        raise BadInputError("time= takes a TimeAxis('column', start, stop, every='1 month').")
    if by is not None and not isinstance(by, Mapping):
        raise BadInputError(
            "by= takes a column and its public values: {'type': ['a', 'b', 'other']}."
        )
    axes: List[Axis] = []
    for name, values in (by or {}).items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise BadInputError(f"The values of {name!r} must be a list that everybody may see.")
        axes.append(CategoryAxis(name, tuple(values)))
    declared = check_axes((*axes, *([time] if time is not None else [])))
    refuse_taken_names(declared)
    return declared


def refuse_taken_names(axes: Sequence[Axis]) -> None:
    """Refuse axes that readers could not tell from what a release answers with.

    A release that has such an axis already can be read, so that this is asked of new ones alone.
    """
    for axis in axes:
        if axis.name in TAKEN_NAMES:
            raise BadInputError(
                f"An axis cannot be called {axis.name!r}, because readers get a column of that "
                "name with every answer: rename the column first."
            )


def check_axes(axes: Sequence[Axis]) -> Tuple[Axis, ...]:
    """Refuse more axes than one release can pay for."""
    timed = sum(isinstance(axis, TimeAxis) for axis in axes)
    most = 1 if timed else MOST_CATEGORICAL
    if timed > 1 or len(axes) - timed > most:
        raise BadInputError(
            "A release has up to three axes of categories, or one and time: all axes share a third "
            "of epsilon, so that each further one makes the maps of the others worse."
        )
    if len({axis.name for axis in axes}) != len(axes):
        raise BadInputError("Each axis needs a column of its own.")
    if math.prod(axis.size for axis in axes) > MOST_TOGETHER:
        raise BadInputError(f"All axes together can have up to {MOST_TOGETHER:,} slices.")
    return tuple(axes)


def read_axis(given: Mapping[str, Any]) -> Axis:
    """The axis that a file describes."""
    kind, *rest = (given[key] for key in ("kind", "name"))
    if not isinstance(rest[0], str):
        raise TypeError
    if kind == "category" and set(given) == {"kind", "name", "values"}:
        if not all(isinstance(value, str) for value in given["values"]):
            raise TypeError
        return CategoryAxis(rest[0], tuple(given["values"]))
    fields = {"kind", "name", "start", "stop", "every", "cycle", "other"}
    if kind == "time" and set(given) == fields and isinstance(given["other"], bool):
        axis = TimeAxis(
            rest[0], *(given[key] for key in ("start", "stop", "every", "cycle", "other"))
        )
        if axis.to_dict() == dict(given):
            return axis
    raise BadInputError("The release has an axis that this version does not know.")
