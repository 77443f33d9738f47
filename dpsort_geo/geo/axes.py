"""What and when on the geopandas face: columns of points, slices, long tables and series."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence

import geopandas as gpd
import numpy as np
import pandas as pd

from ..core.errors import BadInputError
from ..core.public.points import ranks
from ..core.rules.axes import Axis
from ..core.rules.category_axis import OTHER
from ..core.rules.time_axis import TimeAxis

if TYPE_CHECKING:
    from .facts import Facts

Array = np.ndarray

#: so many chosen values are named
_SOME = 6


def axis_number(axes: Sequence[Axis], name: str) -> int:
    """The axis that a name means; "time" is the one with dates, whatever its column is called."""
    for number, axis in enumerate(axes):
        if name == axis.name or (name == "time" and isinstance(axis, TimeAxis)):
            return number
    have = ", ".join(axis.name for axis in axes) or "none"
    raise BadInputError(f"This release has no axis {name!r}; it has {have}.")


def label_values(axis: Axis, number: Array) -> Any:
    """Slices as values of a column: text, or the time at which a bin begins."""
    if isinstance(axis, TimeAxis) and axis.cycle is None:
        starts = axis.starts
        if axis.other:
            starts = np.append(starts, np.datetime64("NaT", "s"))
        return starts[number].astype("datetime64[s]")
    return pd.Categorical.from_codes(number, categories=list(axis.labels))


def label_columns(release: Facts) -> Dict[str, Any]:
    """The columns of the published points, by name."""
    axes = release.release.axes
    chosen = getattr(release, "chosen", None)
    if chosen is not None:
        one = {axes[axis]: own[0] for axis, own in chosen.items() if len(own) == 1}
        n = release.decoded.n
        return {axis.name: label_values(axis, np.full(n, own)) for axis, own in one.items()}
    if not axes:
        return {}
    labels = release.decoded.labels()
    order = ranks(release.decoded.n)
    return {axis.name: label_values(axis, label[order]) for axis, label in zip(axes, labels)}


def choose(axes: Sequence[Axis], chosen: Mapping[str, Any]) -> Dict[int, List[int]]:
    """Slices by the number of their axis, from names and values."""
    if not chosen:
        raise BadInputError("select() takes an axis and its value, such as type='theft'.")
    found = {axis_number(axes, name): value for name, value in chosen.items()}
    if len(found) < len(chosen):
        raise BadInputError("select() takes each axis once: give all of its values in one list.")
    return {
        number: axes[number].choose(_wanted(axes[number], value))
        for number, value in sorted(found.items())
    }


def _wanted(axis: Axis, value: Any) -> List[str]:
    """What is asked of an axis, as its labels are written: dates and numbers are taken, too."""
    values = [value] if isinstance(value, bytes) or pd.api.types.is_scalar(value) else None
    try:
        values = list(value) if values is None else values
    except TypeError:
        values = []
    if not values:
        raise BadInputError(f"select() takes a value of {axis.name!r}, or a list of some.")
    return [_label(one) for one in values]


def _label(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    return OTHER if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)


def slice_words(axes: Sequence[Axis], chosen: Mapping[int, Sequence[int]]) -> Dict[str, str]:
    """What is chosen of each axis: its values, or the first and the last where they follow."""
    found = {}
    for number, own in chosen.items():
        axis = axes[number]
        labels = [axis.labels[one] for one in own]
        words = ", ".join(labels[:_SOME])
        if len(own) > _SOME:
            words += f" and {len(own) - _SOME} more"
        follow = len(own) > 2 and own[-1] - own[0] == len(own) - 1
        if isinstance(axis, TimeAxis) and follow and labels[-1] != OTHER:
            words = f"{labels[0]} to {labels[-1]}"
        found[axis.name] = words
    return found


class SeriesFrame(gpd.GeoDataFrame):
    """Counts over time: a row for each zone and bin; in a notebook, a small plot a zone first."""

    @property
    def _constructor(self) -> Any:
        return SeriesFrame

    def _repr_html_(self) -> str:
        table = super()._repr_html_()
        if not {"estimate", "low", "high"} <= set(self.columns) or not len(self):
            return str(table)
        bins = int(self.attrs.get("bins", 0))
        if not bins or len(self) % bins:
            return str(table)
        plots = []
        for first in range(0, min(len(self), 12 * bins), bins):
            rows = self.iloc[first : first + bins]
            if rows["estimate"].notna().all():  # a zone outside of the domain has no counts
                plots.append(_plot(rows, str(self.index[first])))
        return "".join(plots) + str(table)


def _plot(rows: Any, title: str) -> str:
    """A zone's counts as a line in its band of uncertainty."""
    width, height = 220, 48
    top = max(float(rows["high"].max()), 1.0)
    x = np.linspace(2, width - 2, len(rows))
    low, high, middle = (
        height - 2 - (height - 4) * np.clip(rows[name].to_numpy() / top, 0, 1)
        for name in ("low", "high", "estimate")
    )
    band = " ".join(f"{a:.1f},{b:.1f}" for a, b in [*zip(x, high), *zip(x[::-1], low[::-1])])
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, middle))
    return (
        f'<figure style="display:inline-block;margin:4px"><figcaption>{escape(title)}, up to '
        f'{top:,.0f}</figcaption><svg width="{width}" height="{height}" role="img">'
        f'<polygon points="{band}" fill="#9db8d9" fill-opacity="0.5"/>'
        f'<polyline points="{line}" fill="none" stroke="#1d4e89" stroke-width="1.5"/></svg>'
        "</figure>"
    )
