"""What a dry run has seen of a stream of points, added up batch by batch: private, all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

import numpy as np

from ...core.errors import BadInputError
from ...core.private.extent import Extents
from ...core.private.persons import joined_names, names_of, number_persons
from ...core.rules.axes import Axis
from ...core.rules.category_axis import OTHER
from ...core.rules.time_axis import TimeAxis, moments
from ..domain import Domain
from .beside import Beside
from .extent import see_extents
from .files import PointStream
from .report import SIDES, AxisFound

Array = np.ndarray

#: points that are looked at to find out in which other way they could have been meant
SAMPLE = 20_000


#: squares of the picture, a side
PICTURE = 64


class Seen:
    """What has been seen of a stream, added up batch by batch."""

    def __init__(
        self, stream: PointStream, domain: Domain, axes: Sequence[Axis], persons: bool
    ) -> None:
        self.stream, self.domain, self._axes, self._persons = stream, domain, axes, persons
        self.rows = self.missing = self.nowhere = self.nobody = self.persons = 0
        self.most_points, self.typical_points = 0, 0.0
        self.sides = dict.fromkeys(SIDES, 0)
        self.picture = np.zeros((PICTURE, PICTURE), np.int64)
        self.sample: list[tuple[Array, Array]] = []
        self.extents: Optional[Extents] = None
        self._names: list[Array] = []
        self._values: list[Counter[Any]] = [Counter() for _ in axes]
        self._dates: list[list[Array]] = [[] for _ in axes]
        self._box = domain.outline().bounds

    def look(self, progress: Optional[Callable[[int, Optional[int]], None]]) -> None:
        """Read all of it."""
        for x, y, beside in self.stream:
            who, values = (
                (beside.person, beside.values) if isinstance(beside, Beside) else (beside, ())
            )
            self.rows += x.size
            placed = np.isfinite(x) & np.isfinite(y)
            self.missing += int((~placed).sum())
            self._place(x[placed], y[placed])
            if self._persons:
                self._name(np.asarray(who)[placed])
            for number, (axis, column) in enumerate(zip(self._axes, values)):
                self._value(number, axis, column)
            if progress is not None:
                progress(self.rows, self.stream.expect(self.rows))
        if not self.rows:
            raise BadInputError("There are no points to look at.")
        if self._names:
            points = np.bincount(number_persons(joined_names(self._names)))
            self.persons, self.most_points = points.size, int(points.max())
            self.typical_points = float(np.median(points))

    def _place(self, x: Array, y: Array) -> None:
        if sum(part[0].size for part in self.sample) < SAMPLE:
            self.sample.append((x[:SAMPLE], y[:SAMPLE]))
        with np.errstate(all="ignore"):
            moved = self.domain.project(x, y, self.stream.crs)
        there = np.isfinite(moved[0]) & np.isfinite(moved[1])
        self.nowhere += int((~there).sum())
        px, py = moved[0][there], moved[1][there]
        if not px.size:
            return
        reach = see_extents(x[there], y[there], self.stream.crs, self.domain, (px, py))
        self.extents = reach | self.extents
        west, south, east, north = self._box
        left = ~self.domain.grid.contains(px, py)
        for side, beyond in (
            ("west", px < west), ("east", px > east), ("south", py < south), ("north", py > north),
            ("beside", np.ones(px.size, bool)),
        ):  # fmt: skip
            self.sides[side] += int((left & beyond).sum())
            left = left & ~beyond
        grid = self.domain.grid
        across, up = ((v - v0) / grid.side * PICTURE for v, v0 in ((px, grid.x0), (py, grid.y0)))
        here = (across >= 0) & (across < PICTURE) & (up >= 0) & (up < PICTURE)
        np.add.at(self.picture, (up[here].astype(int), across[here].astype(int)), 1)

    def _name(self, who: Array) -> None:
        missing = np.array([one is None or one != one for one in who.tolist()], bool)
        self.nobody += int(missing.sum())
        if not missing.all():
            named = who[~missing]
            # a column with gaps comes as Python's values, and one without as its own type
            self._names.append(names_of(named.tolist()) if self.nobody else named)

    def _value(self, number: int, axis: Axis, column: Any) -> None:
        if isinstance(axis, TimeAxis):
            self._dates[number].append(moments(column))
            return
        values = column.tolist() if isinstance(column, np.ndarray) else column
        self._values[number].update(None if one != one else one for one in values)

    def axes(self) -> Iterator[AxisFound]:
        """What was found of each axis beside what is declared."""
        for axis, values, dates in zip(self._axes, self._values, self._dates):
            if isinstance(axis, TimeAxis):
                yield _dates_found(axis, np.concatenate(dates))
            else:
                yield _values_found(axis, values)


def _values_found(axis: Any, values: Counter[Any]) -> AxisFound:
    """Each value by itself is asked for its slice: the axis knows what it takes it for."""
    declared, strange, missing = dict.fromkeys(axis.values, 0), Counter[str](), 0
    takes_rest = OTHER in declared
    for value, count in values.items():
        if value is None:
            missing += count
            continue
        try:
            slice_ = axis.values[int(axis.slices([value])[0])]
        except BadInputError:
            slice_ = None
        if slice_ is None or (slice_ == OTHER and value != OTHER):
            strange[str(value)] += count
        if slice_ is not None:
            declared[slice_] += count
    return AxisFound(
        axis.column, declared, dict(strange.most_common()), missing, takes_rest=takes_rest
    )


def _dates_found(axis: TimeAxis, when: Array) -> AxisFound:
    known = when[~np.isnat(when)]
    declared = dict.fromkeys(axis.labels, 0)
    early = late = 0
    if known.size:
        for label, count in zip(
            axis.labels, np.bincount(axis.slices(known), minlength=axis.size).tolist()
        ):
            declared[label] += count
    if axis.start is not None and known.size:
        first, last = (np.datetime64(end, "s") for end in (axis.start, str(axis.stop)))
        early, late = int((known < first).sum()), int((known >= last).sum())
    first_last = (str(known.min()), str(known.max())) if known.size else None
    return AxisFound(
        axis.column, declared, {}, when.size - known.size, early, late, first_last, axis.other
    )
