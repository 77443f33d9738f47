"""What and when: the public axes that a user declares in QGIS, and how their values are shown."""

import datetime
import re

from qgis.PyQt.QtCore import QDate, QDateTime, QTime

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.rules.axes import check_axes, refuse_taken_names
from ._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from ._vendor.dpsort_geo.rules.time_axis import TimeAxis
from .i18n import count_text, tr

#: every and cycle of each choice of ``step_words``
STEPS = (
    ("1 month", None),
    ("1 week", None),
    ("1 day", None),
    ("1 hour", None),
    ("1 year", None),
    ("1 hour", "week"),
    ("1 day", "week"),
    ("1 hour", "day"),
)


def step_words():
    """A few words for each way to cut time."""
    return [
        tr("Months"),
        tr("Weeks"),
        tr("Days"),
        tr("Hours"),
        tr("Years"),
        tr("Hours of the week"),
        tr("Days of the week"),
        tr("Hours of the day"),
    ]


def listed(text):
    """The values of a list that the user typed, separated by commas, semicolons or lines."""
    return [value.strip() for value in re.split(r"[,;\n]", text or "") if value.strip()]


def declared_axes(categories=(), time="", start=None, stop=None, step=0, undated=False):
    """The axes that a user declared: categories (each its name and typed values), and a time.

    Values and range are typed in, never read from the layer: a value that only one person has
    would tell of that person. ``undated`` gives missing dates a stretch of their own.
    """
    axes = []
    for category, values in categories:
        if len(listed(values)) < 2:
            raise BadInputError(
                tr(
                    "Type the values of the category that everybody may see, such as burglary, "
                    "theft, other; 'other' takes all that is not in the list."
                )
            )
        axes.append(CategoryAxis(category, tuple(listed(values))))
    if time:
        every, cycle = STEPS[step]
        if cycle is None and not (_is_date(start) and _is_date(stop)):
            raise BadInputError(
                tr("Say when the time begins and when it ends, such as 2026-01-01 and 2027-01-01.")
            )
        ends = [_text(start), _text(stop)] if cycle is None else [None, None]
        axes.append(TimeAxis(time, *ends, every=every, cycle=cycle, other=undated))
    refuse_taken_names(axes)
    return check_axes(axes)


def _is_date(value):
    return value is not None and value.isValid()


def _text(value):
    return value.toString("yyyy-MM-dd" if isinstance(value, QDate) else "yyyy-MM-ddTHH:mm:ss")


def is_dated(axis):
    """Whether the slices of an axis are stretches of time, which a clock can play."""
    return isinstance(axis, TimeAxis) and axis.cycle is None


def field_kind(axis):
    """The kind of field that holds the slices of an axis."""
    return "moment" if is_dated(axis) else "text"


def slice_values(axis):
    """The value of a field for each slice of an axis; a bin by its beginning."""
    if not is_dated(axis):
        return list(axis.labels)
    starts = [_moment(one) for one in axis.starts.tolist()]
    return starts + [None] * (axis.size - len(starts))


def end_of(axis):
    """When the last stretch of time ends."""
    return _moment(datetime.datetime.fromisoformat(axis.stop))


def _moment(one):
    return QDateTime(QDate(one.year, one.month, one.day), QTime(one.hour, one.minute, one.second))


def slice_words(axis):
    """The slices of an axis in a line."""
    shown = ", ".join(axis.labels[:12])
    return f"{shown}, ... ({count_text(axis.size)})" if axis.size > 12 else shown
