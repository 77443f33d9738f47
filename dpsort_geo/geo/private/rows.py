"""Which private rows a release holds: those of its window, those in the domain, whose they are.

Every choice here is the publisher's and public; whether a row is kept follows from that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Optional

import numpy as np

from ...core.errors import BadInputError
from ...core.private.account import name_unit
from ...core.private.extent import Extents
from ...core.rules.axes import Axis
from ...core.rules.budget import check_max_points
from ...core.rules.scope import MOST_COLUMNS, check_outside, check_person
from ...core.rules.time_axis import TimeAxis, moments
from ...core.rules.windows import Window, check_range, check_window, lie_within
from ...core.statement import join_names
from ..domain import Domain
from .beside import Beside
from .extent import refuse_elsewhere, see_extents
from .files import PointStream
from .points import projected

Array = np.ndarray
Progress = Callable[[int, Optional[int]], None]

#: points projected at a time
_CHUNK = 1 << 20


@dataclass(frozen=True, repr=False)
class Choice:
    """What a publisher says about rows; checked before any row is read."""

    #: name of a column, several names, an array, or None
    person: Any = None
    max_points: Optional[int] = None
    outside: str = "nearest"
    window: Optional[Window] = None
    #: the column that enforces the window
    date: Optional[str] = None

    def __repr__(self) -> str:
        return "<Choice: which private rows a release holds>"

    @property
    def drops(self) -> bool:
        """Whether points outside of the domain are left out."""
        return self.outside == "drop"

    @property
    def keeps_all(self) -> bool:
        """Whether every row is counted, wherever and whenever it is."""
        return self.window is None and not self.drops

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name a person together, where there are several."""
        return self.person if isinstance(self.person, tuple) else ()

    @property
    def unit(self) -> str:
        """What is protected, in the words of the ledger."""
        if self.person is None:
            return "point"
        return name_unit(join_names(self.columns), self.is_dated) if self.columns else "person"

    @property
    def is_dated(self) -> bool:
        """Whether all rows of a unit have one date, so that it lies in one window or in none."""
        return self.date is not None and self.date in self.columns


def name_persons(person: Any, points: Any) -> Any:
    """One column as text, several as a tuple, anything else as it is.

    A list of names beside an array of points is one name for each point.
    """
    if not isinstance(person, (list, tuple)) or isinstance(points, (np.ndarray, list, tuple)):
        return person
    if not person:
        raise BadInputError("person=[] names no column: name one, or leave person= out.")
    named = [name for name in person if isinstance(name, str)]
    if len(named) != len(person) or len(named) > MOST_COLUMNS:
        return person
    known = getattr(points, "columns", None)
    rows = len(points) if known is not None and hasattr(points, "__len__") else None
    if rows == len(named) and not set(named) <= set(known if known is not None else ()):
        return person
    return named[0] if len(named) == 1 else check_person(named)


def choose_rows(
    person: Any,
    max_points: Optional[int],
    outside: str,
    window: Any,
    date: Optional[str],
    neighbours: str,
    axes: Sequence[Axis],
) -> Choice:
    """Check what was asked for; each refusal says what to do."""
    timed = next((axis for axis in axes if isinstance(axis, TimeAxis)), None)
    check_outside(outside, neighbours)
    check_max_points(max_points, "point" if person is None else "person", neighbours)
    ends = check_window(window)
    if ends is None and outside == "drop" and timed is not None and timed.start is not None:
        # dates outside of the range are left out as points outside of the domain are
        ends = check_window((timed.start, timed.stop))
    if date is not None and timed is not None and date != timed.column:
        raise BadInputError("With time= its column is the date column: leave date= out.")
    if ends is None and date is not None and timed is None:
        raise BadInputError("date= names the column that a window= is about: give the window, too.")
    if ends is not None:
        if timed is not None:
            if timed.other:
                raise BadInputError(
                    "A window holds points with a date only: declare the time axis without other."
                )
            check_range(ends, timed)
            date = timed.column
        if not isinstance(date, str) or not date:
            raise BadInputError(
                "A window needs the column with the date of each point: give date='column', so "
                "that rows outside of the window are left out."
            )
    return Choice(person, max_points, outside, ends, date if ends is not None else None)


@dataclass(repr=False)
class Rows:
    """Coordinates in the working CRS, whose they are, and the values of the axes, row by row.

    ``extents`` are those of the rows that were read.
    """

    stream: PointStream
    domain: Domain
    choice: Choice
    labels: tuple[str, ...] = ()
    progress: Optional[Progress] = None
    extents: Optional[Extents] = None

    def __iter__(self) -> Iterator[tuple[Array, Array, Any, tuple[Any, ...]]]:
        refuse_elsewhere(self.stream.crs, self.domain)
        done = 0
        for x, y, beside in self.stream:
            who, values = (
                (beside.person, beside.values) if isinstance(beside, Beside) else (beside, ())
            )
            for start in range(0, x.size, _CHUNK):
                here = slice(start, start + _CHUNK)
                part = None if who is None else np.asarray(who)[here]
                rows = x[here], y[here], part, tuple(column[here] for column in values)
                kept = self._kept(*rows)
                if kept[0].size:
                    yield kept
            done += x.size
            if self.progress is not None:
                self.progress(done, self.stream.expect(done))

    @np.errstate(all="ignore")  # a warning of numpy would tell that a point is far away
    def _kept(
        self, x: Array, y: Array, who: Any, values: tuple[Any, ...]
    ) -> tuple[Array, Array, Any, tuple[Any, ...]]:
        if self.choice.window is not None:
            date = str(self.choice.date)
            when = values[wanted_columns(self.labels, self.choice).index(date)]
            if self.choice.is_dated:
                who = _name_by_date(who, self.choice.columns.index(date), when)
            inside = lie_within(self.choice.window, when, date)
            x, y, who, values = _taken(inside, x, y, who, values)
        values = values[: len(self.labels)]
        if not x.size:
            return x, y, who, values
        if not self.choice.drops:
            moved = projected(self.domain, self.stream, x, y)
            self._see(x, y, moved)
            return (*moved, who, values)
        mx, my = self.domain.project(x, y, self.stream.crs)
        placed = np.isfinite(mx) & np.isfinite(my)
        x, y = x[placed], y[placed]
        mx, my, who, values = _taken(placed, mx, my, who, values)
        if x.size:
            self._see(x, y, (mx, my))
        return _taken(self.domain.grid.contains(mx, my), mx, my, who, values)

    def _see(self, x: Array, y: Array, moved: tuple[Array, Array]) -> None:
        reach = see_extents(x, y, self.stream.crs, self.domain, moved)
        self.extents = reach | self.extents


def _name_by_date(who: Array, place: int, when: Any) -> Array:
    """Persons with the date in their name read as a date, as the clock shows it.

    So that all rows of one unit have one instant, and lie in the window together or not at all.
    """
    read = ((*one[:place], at, *one[place + 1 :]) for one, at in zip(who, moments(when).tolist()))
    return np.fromiter(read, object, who.size)


def wanted_columns(labels: tuple[str, ...], choice: Choice) -> tuple[str, ...]:
    """The columns to read beside coordinates and persons: those of axes, then the date's."""
    return tuple(dict.fromkeys((*labels, *((choice.date,) if choice.date else ()))))


def _taken(
    kept: Array, x: Array, y: Array, who: Any, values: tuple[Any, ...]
) -> tuple[Array, Array, Any, tuple[Any, ...]]:
    if kept.all():
        return x, y, who, values
    columns = tuple(
        column[kept] if isinstance(column, np.ndarray) else list(compress(column, kept))
        for column in values
    )
    return x[kept], y[kept], None if who is None else who[kept], columns
