"""Windows that follow each other: months, weeks, days. What a series of releases is made of."""

from __future__ import annotations

import re
from typing import Any, Tuple, cast

import numpy as np

from ..errors import BadInputError
from .time_axis import moments
from .windows import Window, check_window, ends_of

_EVERY = re.compile(r"(\d{0,3})\s*(year|month|week|day|hour)s?")
_UNITS = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "h"}
#: a label is written to the unit at which its window begins
_WRITTEN = (("year", "Y"), ("month", "M"), ("day", "D"))


def read_step(every: Any) -> Tuple[int, str]:
    """How many of which unit.

    >>> read_step("1 month"), read_step("2weeks")
    ((1, 'month'), (2, 'week'))
    """
    found = _EVERY.fullmatch(every.strip()) if isinstance(every, str) else None
    if found is None or found[1] == "0":
        raise BadInputError("A series has every='1 month', '1 week', '1 year' or so.")
    return int(found[1] or 1), found[2]


def window_at(when: Any, every: Any) -> Window:
    """The window that begins at a time, as long as a step.

    >>> window_at("2026-03", "1 month"), window_at("2026-12-28", "1 week")
    (('2026-03-01', '2026-04-01'), ('2026-12-28', '2027-01-04'))
    """
    count, unit = read_step(every)
    text = f"{when}-01" if re.fullmatch(r"\d{4}(-\d{2})?", str(when)) else when
    start = moments([f"{text}-01" if re.fullmatch(r"\d{4}-01", str(text)) else text])[0]
    if np.isnat(start):
        raise BadInputError("Say which window it is by its begin, such as '2026-03'.")
    begin = start.astype(f"datetime64[{_UNITS[unit]}]") if unit in ("year", "month") else start
    if begin != start:
        raise BadInputError(f"A window of {count} {unit} begins with a {unit}.")
    stop = begin + np.int64(count).astype(f"timedelta64[{_UNITS[unit]}]")
    return cast(Window, check_window((str(start), str(stop.astype("datetime64[s]")))))


def name_window(window: Window) -> str:
    """A window by the time at which it begins, in as few words as its length allows.

    >>> name_window(("2026-03-01", "2026-04-01")), name_window(("2026-03-02", "2026-03-09"))
    ('2026-03', '2026-03-02')
    """
    for _, unit in _WRITTEN:
        ends = [end.astype(f"datetime64[{unit}]") for end in ends_of(window)]
        if all(end == whole for end, whole in zip(ends_of(window), ends)):
            return str(ends[0])
    return str(ends_of(window)[0])


def unit_of(window: Window) -> str:
    """What a window is, if it is one month, day or year; otherwise it is a window.

    >>> unit_of(("2026-03-01", "2026-04-01")), unit_of(("2026-03-02", "2026-03-09"))
    ('month', 'window')
    """
    for unit, code in _WRITTEN:
        first, last = (end.astype(f"datetime64[{code}]") for end in ends_of(window))
        if (first, last) == ends_of(window) and (last - first).astype(np.int64) == 1:
            return unit
    return "window"


def share_time(a: Window, b: Window) -> bool:
    """Whether two windows have an instant in common.

    >>> share_time(("2026-03-01", "2026-04-01"), ("2026-04-01", "2026-05-01"))
    False
    """
    (first, last), (start, stop) = ends_of(a), ends_of(b)
    return bool(first < stop and start < last)
