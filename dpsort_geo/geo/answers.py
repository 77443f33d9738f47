"""Answers that a reader can act on: counts in zones, rates, comparisons, each with its limits.

Everything here is read from a release and from public polygons.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from ..core.errors import BadInputError
from ..core.public.compare import compare_counts, compare_zones
from ..core.public.counts import (
    RELIABLE,
    check_confidence,
    count_slices,
    count_table,
    covered_share,
    room_in,
)
from ..core.rules.time_axis import TimeAxis
from .axes import SeriesFrame, axis_number, choose, label_values
from .zones import Zones, zone_frame

if TYPE_CHECKING:
    from .release import Release

Array = np.ndarray
#: places to which the covered share is told
_PLACES = 3
#: share of the smaller zone that outlines drawn twice may have in common
_SLIVER = 1e-3


def count_zones(
    release: Release,
    zones: Zones,
    confidence: float,
    per: Optional[str] = None,
    reliable: float = RELIABLE,
) -> gpd.GeoDataFrame:
    """Zones with estimate, low, high, reliable and covered, and with rates where ``per`` says."""
    check_reliable(reliable)
    frame, shapes = zone_frame(zones)
    people = None if per is None else people_of(frame, per)
    rings = release.domain.zone_rings(shapes, frame.crs)
    table = count_table(release.decoded, rings, confidence)
    share = covered(release, shapes, rings, frame.crs, table.room)
    limits = (table.estimate, table.low, table.high)
    return frame.assign(**answer_columns(*limits, reliable, share, people))


def count_by(
    release: Release,
    zones: Zones,
    by: Sequence[str],
    confidence: float,
    per: Optional[str] = None,
    reliable: float = RELIABLE,
) -> gpd.GeoDataFrame:
    """The same with a row for each zone and each joint slice of some axes."""
    if hasattr(release, "chosen"):
        raise BadInputError("Count by axes on the release itself, not on a slice of it.")
    check_reliable(reliable)
    axes = release.release.axes
    if isinstance(by, Mapping):
        raise BadInputError("by= names axes, such as ['type']; choose their values by select().")
    names = [by] if isinstance(by, str) else list(by)
    numbers = sorted({axis_number(axes, name) for name in names})
    check_confidence(confidence)
    frame, shapes = zone_frame(zones)
    taken = {axes[number].name for number in numbers} | {"estimate", "low", "high"}
    if taken & set(frame.columns):
        clash = ", ".join(sorted(taken & set(frame.columns)))
        raise BadInputError(
            f"The zones have columns of the same name as the counts: rename {clash}."
        )
    people = None if per is None else people_of(frame, per)
    rings = release.domain.zone_rings(shapes, frame.crs)
    limits = count_slices(release.decoded, rings, numbers, confidence)
    share = covered(release, shapes, rings, frame.crs, room_in(release.decoded, rings))
    sizes = [axes[number].size for number in numbers]
    slices = int(np.prod(sizes))
    row = np.repeat(np.arange(len(frame)), slices)
    joint = np.unravel_index(np.tile(np.arange(slices), len(frame)), sizes)
    columns = {axes[n].name: label_values(axes[n], own) for n, own in zip(numbers, joint)}
    people = None if people is None else people[row]
    return frame.iloc[row].assign(
        **columns, **answer_columns(*limits, reliable, share[row], people)
    )


def series(release: Release, zones: Zones, confidence: float) -> SeriesFrame:
    """Counts over time for each zone."""
    axes = release.release.axes
    when = next((axis for axis in axes if isinstance(axis, TimeAxis)), None)
    if when is None:
        raise BadInputError("This release has no dates: publish with time=TimeAxis(...).")
    found = SeriesFrame(count_by(release, zones, [when.name], confidence))
    found.attrs["bins"] = when.size
    return found


def answer_columns(
    estimate: Array, low: Array, high: Array, reliable: float, share: Array, people: Optional[Array]
) -> Dict[str, Array]:
    """What is said of each zone; an estimate is reliable if half its interval is such a share."""
    columns = {
        "estimate": estimate,
        "low": low,
        "high": high,
        "reliable": (high - low) / 2 <= reliable * estimate,
        "covered": share,
    }
    if people is not None:
        rates = {"rate": estimate, "low_rate": low, "high_rate": high}
        columns.update({name: value / people for name, value in rates.items()})
    return columns


def check_reliable(reliable: float) -> None:
    """Refuse what is no share of an estimate."""
    if not (isinstance(reliable, Real) and 0 < reliable < np.inf):
        raise BadInputError("A reliable estimate is told by a share of it, such as 0.2.")


def covered(
    release: Release, shapes: List[Any], rings: List[List[Array]], crs: Any, room: Array
) -> Array:
    """Which share of each zone's area lies in the domain; ``room`` is its share of all cells."""
    share = covered_share(release.domain.grid, rings, room)
    return np.round(share * release.domain.share_near(shapes, crs), _PLACES)


def compare(release: Release, zones: Zones, a: Any, b: Any, confidence: float) -> pd.DataFrame:
    """How much more there is in one zone or slice than in another, and how many times as much."""
    frame, shapes = zone_frame(zones)
    (name, own), (other_name, other) = _sliced(a), _sliced(b)
    rows = _row(frame, name), _row(frame, other_name)
    chosen = [shapes[row] for row in rows]
    shared = shapely.intersection(*chosen).area
    overlap = shared > _SLIVER * min(shape.area for shape in chosen)
    rings = release.domain.zone_rings(shapes, frame.crs)
    if own == other:
        if overlap:
            raise BadInputError(
                "Zones that overlap cannot be compared: cut what they share off one of them."
            )
        read = release.select(**own) if own else release
        found = compare_zones(read.decoded, rings, rows, confidence)
    else:
        r = _slices_apart(release, own, other) if overlap else 0.0
        counts = [
            _one_count(release.select(**some) if some else release, rings, row, confidence)
            for some, row in zip((own, other), rows)
        ]
        estimate, low, high = np.array(counts).T
        found = compare_counts(estimate, low, high, r)
    return pd.DataFrame(
        [found.difference, found.ratio],
        index=["difference", "ratio"],
        columns=["estimate", "low", "high"],
    )


def _sliced(asked: Any) -> "tuple[Any, Dict[str, Any]]":
    """A zone, and the slices of it that are meant, if any."""
    if isinstance(asked, tuple) and len(asked) == 2 and isinstance(asked[1], dict):
        return asked
    if isinstance(asked, dict):
        raise BadInputError(
            'A slice is compared in a zone: give a pair such as ("west", {"type": "theft"}).'
        )
    return asked, {}


def _one_count(release: Release, rings: List[Any], row: int, confidence: float) -> List[float]:
    table = count_table(release.decoded, rings, confidence)
    return [float(column[row]) for column in (table.estimate, table.low, table.high)]


def _slices_apart(release: Release, own: Dict[str, Any], other: Dict[str, Any]) -> float:
    """The correlation of two slices of one place that have no point in common."""
    axes = release.release.axes
    one, two = (choose(axes, some) if some else {} for some in (own, other))
    for axis in sorted(set(one) & set(two)):
        if not set(one[axis]) & set(two[axis]):
            decoded: Any = release.decoded
            return float(decoded.slice_correlation(axis, one[axis], two[axis]))
    raise BadInputError(
        "In zones that overlap only slices without a common point can be compared, such as two "
        "categories or two months."
    )


def people_of(frame: gpd.GeoDataFrame, per: str) -> Array:
    if per not in frame.columns or not pd.api.types.is_numeric_dtype(frame[per]):
        raise BadInputError(f"per= names a column of numbers of the zones; {per!r} is none.")
    people = frame[per].to_numpy(np.float64)
    return np.where(people > 0, people, np.nan)


def _row(frame: gpd.GeoDataFrame, name: Any) -> int:
    """The row that a label of the index, or a value that stands in one row only, names."""
    at = np.flatnonzero(np.asarray(frame.index == name))
    columns = [column for column in frame.columns if column != frame.geometry.name]
    while at.size != 1 and columns:
        at = np.flatnonzero(np.asarray(frame[columns.pop(0)] == name))
    if at.size != 1:
        raise BadInputError(
            f"{name!r} names no zone, or more than one: give a label of the index, or a value that "
            "stands in one row only."
        )
    return int(at[0])
