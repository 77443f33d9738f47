"""Windows of time: a release holds the points from a start to a stop, and no others.

A window is public and declared, like the domain. Whether a record lies in it follows from the
record's own date alone. The stop itself is outside, so that months follow each other and share no
instant. Dates are taken as the clock shows them, as those of a time axis are.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ..errors import BadInputError
from .time_axis import TimeAxis, moments

Array = np.ndarray
#: start and stop as text, in one spelling
Window = Tuple[str, str]

MISSING = (
    "A date of {!r} is missing or cannot be read, so that nobody can tell whether its point lies "
    "in the window: write dates as 2026-03-01 or 2026-03-01T14:30, or remove such points first."
)


def check_window(window: Any) -> Optional[Window]:
    """A window in one spelling; None stays None.

    >>> check_window(("2026-03", "2026-04-01T00:00"))
    ('2026-03-01', '2026-04-01')
    """
    if window is None:
        return None
    ends = None if isinstance(window, str) or not isinstance(window, Sequence) else list(window)
    when = None if ends is None or len(ends) != 2 else moments(ends)
    if when is None or np.isnat(when).any() or not when[0] < when[1]:
        raise BadInputError(
            "A window is a start and a later stop, such as ('2026-03-01', '2026-04-01'); "
            "the stop itself is outside."
        )
    day = when.astype("datetime64[D]")
    first, last = (str(d if d == at else at) for d, at in zip(day, when))
    return first, last


def ends_of(window: Window) -> Tuple[Any, Any]:
    """Start and stop as moments."""
    return np.datetime64(window[0], "s"), np.datetime64(window[1], "s")


def lie_within(window: Window, values: Sequence[Any], column: str) -> Array:
    """Which dates lie in a window; one that cannot be read is refused.

    >>> lie_within(("2026-03-01", "2026-04-01"), ["2026-03-31T23:59", "2026-04-01"], "when")
    array([ True, False])
    """
    when = moments(values)
    if np.isnat(when).any():
        raise BadInputError(MISSING.format(column))
    start, stop = ends_of(window)
    return np.asarray((start <= when) & (when < stop))


def check_range(window: Window, axis: TimeAxis) -> None:
    """Refuse a window beyond the range of a time axis, which has no bin for such dates."""
    if axis.start is None or axis.stop is None:
        return
    start, stop = ends_of(window)
    first, last = ends_of((axis.start, axis.stop))
    if start < first or stop > last:
        raise BadInputError(
            f"The window reaches beyond the time axis, {axis.start} to {axis.stop}: "
            "widen the axis, or narrow the window."
        )
