"""When: the public axis of time of a release, its bins, and which of them a date falls into."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import BadInputError
from .category_axis import MOST_SLICES, OTHER, check_name, is_missing, number_values

Array = np.ndarray

_SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}


_MONTHS = {"month": 1, "year": 12}


_EVERY = re.compile(r"\s*(?:([1-9]\d{0,3})\s*)?(minute|hour|day|week|month|year)s?\s*")


#: a date, perhaps with a time of day; the clock counts as it is written, in whatever zone
_DATE = re.compile(
    r"\s*(\d{4}(?:[-/]\d\d(?:[-/]\d\d)?)?)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?)?"
    r"\s*(?:Z|UTC|[+-]\d\d(?::?\d\d)?)?\s*"
)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


#: 1970 began on a Thursday; weeks begin on Monday
_MONDAY = 4 * 86400


_CYCLES = {"day": 86400, "week": 7 * 86400}


_MISSING = np.datetime64("NaT", "s")


@dataclass(frozen=True)
class TimeAxis:
    """A column of dates, cut into bins from ``start`` to ``stop``, which itself is outside.

    Dates outside fall into the nearest bin, like points outside of the domain. ``cycle`` folds
    time: "week" with ``every="1 hour"`` is the hour of the week, and needs no range. Dates are
    taken as the clock shows them, whatever time zone they name. ``other`` adds a bin for dates
    that are missing or cannot be read, which are refused without it. What is neither text nor a
    date is refused with it, too.

    >>> axis = TimeAxis("when", "2026-01-01", "2027-01-01", every="1 month")
    >>> axis.size, axis.labels[2]
    (12, '2026-03')
    >>> axis.slices(["2026-03-31", "1999-01-01", "2026-12-24T18:00"])
    array([ 2,  0, 11])
    """

    column: str
    start: Optional[str] = None
    stop: Optional[str] = None
    every: str = "1 month"
    cycle: Optional[str] = None
    other: bool = False

    def __post_init__(self) -> None:
        check_name(self.column)
        found = _EVERY.fullmatch(self.every) if isinstance(self.every, str) else None
        if found is None:
            raise BadInputError(
                "A time axis has every='1 month', '1 week', '1 day', '1 hour' or so."
            )
        object.__setattr__(self, "every", f"{int(found[1] or 1)} {found[2]}")
        for name in ("start", "stop"):
            object.__setattr__(self, name, _end(getattr(self, name)))
        self._check_range()
        if not 2 <= self.size <= MOST_SLICES:
            raise BadInputError(
                f"A time axis needs 2 to {MOST_SLICES} bins: choose another range or every=."
            )

    def _check_range(self) -> None:
        count, unit = self._step
        if self.cycle is not None:
            if self.cycle not in _CYCLES or unit not in _SECONDS:
                raise BadInputError("A cycle is 'day' or 'week', of minutes, hours or days.")
            if _CYCLES[self.cycle] % (count * _SECONDS[unit]):
                raise BadInputError(f"A {self.cycle} is not a whole number of times {self.every}.")
        if (self.start is None) != (self.stop is None) or (
            self.start is None and self.cycle is None
        ):
            raise BadInputError(
                "A time axis needs start and stop, such as '2026-01-01', '2027-01-01'."
            )
        if self.start is None:
            return
        first, last = self._range
        if not first < last:
            raise BadInputError("A time axis must stop after it starts.")
        if unit in _MONTHS and first != first.astype("datetime64[M]"):
            raise BadInputError("Months and years start on the first of a month; so must the axis.")
        if self.cycle is None and (last - first).astype(np.int64) > (MOST_SLICES + 1) * (
            count * (_SECONDS.get(unit) or 31 * 86400 * _MONTHS[unit])
        ):
            raise BadInputError(
                f"A time axis can have up to {MOST_SLICES} bins; choose a longer every=."
            )

    @property
    def name(self) -> str:
        return self.column

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def _step(self) -> Tuple[int, str]:
        count, unit = self.every.split()
        return int(count), unit

    @property
    def _range(self) -> Tuple[Any, Any]:
        return np.datetime64(str(self.start), "s"), np.datetime64(str(self.stop), "s")

    @cached_property
    def starts(self) -> Array:
        """When each bin begins; of a cycle, how long after the cycle's begin."""
        count, unit = self._step
        if self.cycle is not None:
            step = count * _SECONDS[unit]
            return np.arange(0, _CYCLES[self.cycle], step).astype("timedelta64[s]")
        first, last = self._range
        if unit in _SECONDS:
            step = count * _SECONDS[unit]
            bins = math.ceil(int((last - first).astype(np.int64)) / step)
            return np.asarray(first + (np.arange(bins) * step).astype("timedelta64[s]"))
        months = np.arange(
            first.astype("datetime64[M]"), last + np.timedelta64(31, "D"), dtype="M8[M]"
        )
        begin = months[:: count * _MONTHS[unit]].astype("datetime64[s]")
        return np.asarray(begin[begin < last])

    @cached_property
    def labels(self) -> Tuple[str, ...]:
        """The bins by the time at which they begin."""
        _, unit = self._step
        if self.cycle is not None:
            found = [_cycle_words(int(at), self.cycle, unit) for at in self.starts.astype(np.int64)]
        else:
            written = {"year": "Y", "month": "M", "minute": "m", "hour": "m"}.get(unit, "D")
            if np.any(self.starts != self.starts.astype(f"datetime64[{written}]")):
                written = "s"
            found = [str(at) for at in self.starts.astype(f"datetime64[{written}]")]
        return (*found, *([OTHER] if self.other else []))

    def slices(self, values: Sequence[Any]) -> Array:
        """The number of the bin of every date."""
        when = moments(values)
        missing = np.isnat(when)
        if missing.any():
            self._check_missing(compress(values, missing))
        if self.start is not None:
            first, last = self._range
            when = np.clip(when, first, last - np.timedelta64(1, "s"))
        if self.cycle is None:
            found = np.searchsorted(self.starts, when, side="right") - 1
        else:
            since = when.astype(np.int64) - (_MONDAY if self.cycle == "week" else 0)
            count, unit = self._step
            found = since % _CYCLES[self.cycle] // (count * _SECONDS[unit])
        return np.where(missing, self.size - 1, found).astype(np.int64)

    def takes(self, value: Any) -> bool:
        """Whether a value is of a kind that a date has, or missing; not whether it can be read."""
        return isinstance(value, (str, datetime.date, np.datetime64)) or is_missing(value)

    def _check_missing(self, values: Iterable[Any]) -> None:
        """Refuse values that are no dates, and missing ones where there is no bin for them."""
        if not all(map(self.takes, values)):
            raise BadInputError(
                f"{self.column!r} has values that are no dates, such as numbers, true and false or "
                "times of day: write them as 2026-03-01 or 2026-03-01T14:30 first."
            )
        if not self.other:
            raise BadInputError(
                f"A date of {self.column!r} is missing or cannot be read: write dates as "
                "2026-03-01 or 2026-03-01T14:30, or declare the axis with other=True."
            )

    def choose(self, wanted: Any) -> List[int]:
        """The bins that are meant by a label, by the beginning of several, or by a list."""
        if not isinstance(wanted, str):
            return sorted({number for one in wanted for number in self.choose(one)})
        found = [i for i, label in enumerate(self.labels) if label == wanted]
        begins = tuple(wanted + sign for sign in ("-", "T", " ", ":"))
        found = found or [i for i, label in enumerate(self.labels) if label.startswith(begins)]
        if not found and self.cycle is None and _DATE.fullmatch(wanted):
            at = moments([wanted])[0]
            first, last = self._range
            if not np.isnat(at) and first <= at < last:
                found = [int(np.searchsorted(self.starts, at, side="right")) - 1]
        if not found:
            raise BadInputError(
                f"{wanted!r} is no time of this release; it has {self.labels[0]}, "
                f"{self.labels[1]} and so on."
            )
        return found

    def to_dict(self) -> Dict[str, Any]:
        return {
            "kind": "time", "name": self.column, "start": self.start, "stop": self.stop,
            "every": self.every, "cycle": self.cycle, "other": self.other,
        }  # fmt: skip


def moments(values: Sequence[Any]) -> Array:
    """Dates and times in seconds as the clock shows them, each by itself; NaT if it is none.

    >>> moments(["2026-03-01 14:30+02:00", None]).tolist()[0]
    datetime.datetime(2026, 3, 1, 14, 30)
    """
    # a list of dates is not made an array: numpy would give all of them the finest unit of any,
    # in which a far date of somebody else wraps around
    if getattr(getattr(values, "dtype", None), "kind", "O") == "M":
        given = np.asarray(values)
        if given.dtype.kind == "M":  # with a time zone pandas gives objects
            return given.astype("datetime64[s]")
    each, place = number_values(values)
    found = np.array([_moment(value) for value in each], "datetime64[s]").reshape(-1)
    return found[place]


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        value = None if value != value else value.replace(tzinfo=None, microsecond=0).isoformat()
    elif isinstance(value, datetime.date):
        value = value.isoformat()
    if isinstance(value, np.datetime64):
        try:
            return value.astype("datetime64[s]")
        except OverflowError:
            return _MISSING
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return _MISSING
    try:
        day, clock = found.groups()
        return np.datetime64(day.replace("/", "-") + (f"T{clock}" if clock else ""), "s")
    except ValueError:
        return _MISSING


def _end(value: Any) -> Optional[str]:
    """A start or a stop as text."""
    if value is None:
        return None
    moment = _moment(value)
    if np.isnat(moment):
        raise BadInputError("Start and stop are dates such as '2026-01-01' or '2026-01-01T06:00'.")
    day = moment.astype("datetime64[D]")
    return str(day if day == moment else moment)


def _cycle_words(seconds: int, cycle: str, unit: str) -> str:
    day, rest = divmod(seconds, 86400)
    clock = "" if unit == "day" else f"{rest // 3600:02d}:{rest // 60 % 60:02d}"
    return f"{_DAYS[day]} {clock}".strip() if cycle == "week" else clock
