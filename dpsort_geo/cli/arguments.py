"""The options of a command as arguments of the library."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

import click

from ..core.errors import BadInputError

#: a colon is between the parts of --time and in a clock; a date says which of them it is
_DATE = r"\d{4}[-/\d]*(?:[T ]\d\d:\d\d(?::\d\d)?)?"
_RANGE = re.compile(rf"(.+?):({_DATE}):({_DATE}):([^:]+)")
_CYCLE = re.compile(r"(.+):(day|week):([^:]+)")
#: the end of --time that asks for a bin of missing dates
_OTHER = ":other"


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number, also as 5e4 or 50,000."""

    name = "count"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            number = float(str(value).replace(",", ""))
            if number == int(number):
                return int(number)
        except (ValueError, OverflowError):
            pass
        self.fail(f"{value!r} is not a whole number such as 50000 or 5e4.", param, ctx)


def make_axes(by: Tuple[str, ...], time: Tuple[str, ...]) -> Dict[str, Any]:
    """The axes that the options describe, as arguments of `publish`.

    >>> make_axes(("type=a,b",), ())
    {'by': {'type': ['a', 'b']}, 'time': None}
    """
    if len(time) > 1:
        raise BadInputError("Give --time once: a release has one axis of time.")
    lists = _split_lists("--by", by, "a column and its values, such as type=burglary,theft,other")
    return {"by": lists or None, "time": _make_time(time[0]) if time else None}


def make_choice(select: Tuple[str, ...]) -> Dict[str, List[str]]:
    """The slices that the options describe, as arguments of `Release.select`.

    >>> make_choice(("type=theft,other", "time=2026-03"))
    {'type': ['theft', 'other'], 'time': ['2026-03']}
    """
    return _split_lists("--select", select, "an axis and its values, such as type=theft,other")


def _split_lists(option: str, given: Tuple[str, ...], takes: str) -> Dict[str, List[str]]:
    """Names, each with its values: name=a,b."""
    found: Dict[str, List[str]] = {}
    for text in given:
        name, sign, values = text.partition("=")
        if not sign or not name:
            raise BadInputError(f"{option} takes {takes}.")
        if name in found:
            raise BadInputError(f"{option} names {name!r} twice: give all of its values at once.")
        found[name] = [value.strip() for value in values.split(",")]
    return found


def _make_time(text: str) -> Any:
    """The axis of time that --time describes.

    >>> _make_time("when:2026-01-01T06:00:2026-01-02T06:00:1hour:other").size
    25
    """
    from ..core.rules.time_axis import TimeAxis

    bare = text.removesuffix(_OTHER)
    other = bare != text
    if found := _RANGE.fullmatch(bare):
        column, start, stop, every = found.groups()
        return TimeAxis(column, start, stop, every=every, other=other)
    if found := _CYCLE.fullmatch(bare):
        column, cycle, every = found.groups()
        return TimeAxis(column, every=every, cycle=cycle, other=other)
    raise BadInputError(
        "--time takes COLUMN:START:STOP:EVERY, such as when:2026-01-01:2027-01-01:1month, or "
        "COLUMN:week:EVERY or COLUMN:day:EVERY, such as when:week:1hour; with :other behind it, "
        "missing dates have a bin of their own."
    )


def make_rows(person: Tuple[str, ...], window: Any, **others: Any) -> Dict[str, Any]:
    """These options as arguments of `publish`.

    >>> make_rows(("rider,date",), ())["person"]
    ['rider', 'date']
    """
    columns = [name.strip() for text in person for name in text.split(",") if name.strip()]
    who = None if not columns else columns[0] if len(columns) == 1 else columns
    return {"person": who, "window": tuple(window) if window else None, **others}


def make_domain(
    bounds: Any,
    polygon: Optional[str],
    crs: Optional[str],
    order: Any,
    resolution: Optional[float] = None,
    polygon_layer: Optional[str] = None,
) -> Any:
    """The domain that the options describe."""
    from ..geo.domain import Domain

    if resolution is not None:
        if order is not None:
            raise BadInputError("Give either --order or --resolution.")
        made = make_domain(bounds, polygon, crs, None, None, polygon_layer)
        return made.at_resolution(resolution)
    if bool(bounds) == bool(polygon):
        raise BadInputError(
            "Say where points may lie: either --bounds W S E N --crs CRS or --polygon."
        )
    if bounds:
        return Domain.from_bounds(bounds, crs=crs, order=order)
    from ..geo.polygons import read_polygons

    return Domain.from_polygon(read_polygons(str(polygon), polygon_layer), crs=crs, order=order)


def read_size(text: str) -> int:
    """A size of a file in bytes.

    >>> read_size("5MB"), read_size("1.5 kB"), read_size("2000")
    (5000000, 1500, 2000)
    """
    found = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*(k|M|G)?B?\s*", text, re.IGNORECASE)
    if not found:
        raise BadInputError("A size is a number with a unit, such as 5MB or 500kB.")
    return int(
        float(found[1]) * {"k": 10**3, "m": 10**6, "g": 10**9}.get((found[2] or "").lower(), 1)
    )
