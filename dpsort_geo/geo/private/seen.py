"""What a dry run has seen of a stream of points, added up batch by batch: private, all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, Callable, Optional

import numpy as np

from ...core.errors import BadInputError
from ...core.private.extent import Extents
from ...core.private.persons import joined_names, names_of, number_persons
from ...core.rules.axes import Axis
from ...core.rules.category_axis import OTHER, CategoryAxis, is_missing, number_values
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
        self._columns = [
            _Dates(axis) if isinstance(axis, TimeAxis) else _Values(axis) for axis in axes
        ]
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
            for known, column in zip(self._columns, values):
                known.add(column)
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

    def axes(self) -> Iterator[AxisFound]:
        """What was found of each axis beside what is declared."""
        return (known.found() for known in self._columns)


class _Values:
    """How often each value of a column of categories has been seen."""

    def __init__(self, axis: CategoryAxis) -> None:
        self._axis = axis
        #: by type too: to a counter, 1 and True are one
        self._seen: Counter[tuple[Any, Any]] = Counter()

    def add(self, column: Any) -> None:
        """Look at a batch of them."""
        each, place = number_values(column)
        for value, count in zip(each, np.bincount(place, minlength=len(each)).tolist()):
            self._seen[(None, None) if is_missing(value) else (type(value), value)] += count

    def found(self) -> AxisFound:
        """Each value by itself is asked for its slice: the axis knows what it takes it for."""
        axis, strange, unfit = self._axis, Counter[str](), 0
        declared = dict.fromkeys(axis.values, 0)
        missing = self._seen[None, None]
        for (kind, value), count in self._seen.items():
            if kind is None:
                continue
            if not axis.takes(value):
                unfit += count
                continue
            slice_ = self._slice_of(value)
            if slice_ is None or (slice_ == OTHER and value != OTHER):
                strange[str(value)] += count
            if slice_ is not None:
                declared[slice_] += count
        return AxisFound(
            axis.column, declared, dict(strange.most_common()), missing,
            takes_rest=OTHER in declared, unfit=unfit,
        )  # fmt: skip

    def _slice_of(self, value: Any) -> Optional[str]:
        try:
            return self._axis.values[int(self._axis.slices([value])[0])]
        except BadInputError:
            return None


class _Dates:
    """The dates of a column that have been seen."""

    def __init__(self, axis: TimeAxis) -> None:
        self._axis = axis
        self._seen: list[Array] = []
        self._unfit = 0

    def add(self, column: Any) -> None:
        """Look at a batch of them."""
        when = moments(column)
        self._seen.append(when)
        self._unfit += sum(not self._axis.takes(one) for one in compress(column, np.isnat(when)))

    def found(self) -> AxisFound:
        """In which bins they fall, and which are beyond the range."""
        axis, when = self._axis, np.concatenate(self._seen)
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
        missing = when.size - known.size - self._unfit
        return AxisFound(
            axis.column, declared, {}, missing, early, late, first_last, axis.other, self._unfit
        )
