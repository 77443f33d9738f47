"""Zones on a page: a map of counts or rates, and a table of them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from ..core.errors import BadInputError
from ..core.public.counts import RELIABLE, zone_blocks
from ..geo.answers import count_zones, people_of
from ..geo.host import rings_of
from ..geo.zones import zone_frame
from .pack import pack_rings
from .regions import CONFIDENCE, Answers, choices, pack_answers, slice_answers
from .sheet import Sheet

Array = np.ndarray

MOST_ZONES = 5000
#: numbers about zones and slices that a page holds
_MOST_ANSWERS = 2_000_000
#: of the window: what is left out of an outline cannot be seen
_HAIR = 2e-4
#: rates are told for so many
_EACH = (1, 100, 1000, 10_000, 100_000, 1_000_000)


def pack_zones(
    release: Any, sheet: Sheet, zones: Any, label: Optional[str], per: Optional[str]
) -> "Tuple[Dict[str, Any], List[Sequence[str]]]":
    """Shapes, names and answers for the page, and rows for those who see no map."""
    frame, shapes = zone_frame(zones)
    if not 1 <= len(frame) <= MOST_ZONES:
        raise BadInputError(f"A map shows 1 to {MOST_ZONES:,} zones; these are {len(frame):,}.")
    names = zone_names(frame, label)
    counted = count_zones(release, frame, CONFIDENCE, per)
    rings = release.domain.zone_rings(shapes, frame.crs)
    outlines, places = _outlines(sheet, rings)
    every = np.concatenate([np.asarray(part) for zone in outlines for part in zone] or [_NOTHING])
    window = (*np.minimum(every.min(axis=0), 1e9), *every.max(axis=0))
    people = None if per is None else people_of(frame, per)
    packed = {
        "names": names,
        "places": places,
        "rings": [len(zone) for zone in outlines],
        "shapes": pack_rings([part for zone in outlines for part in zone], window),
        "known": [bool(row == row) for row in counted["estimate"]],
        "covered": counted["covered"].tolist(),
        "reliable": RELIABLE,
        "per": None if people is None else _rate(str(per), people, counted),
        **pack_answers(_answers(release, rings, counted), exact=True),
    }
    return packed, _rows(names, counted, per)


def _rows(names: List[str], counted: gpd.GeoDataFrame, per: Optional[str]) -> List[Sequence[str]]:
    columns = ("rate", "low_rate", "high_rate") if per else ("estimate", "low", "high")
    digits = ".4g" if per else ",.0f"
    rows: List[Sequence[str]] = []
    for name, values, reliable in zip(
        names, counted[list(columns)].to_numpy(np.float64), counted["reliable"]
    ):
        if np.isnan(values).any():
            rows.append((name, "not in the area covered", "", ""))
            continue
        estimate, low, high = (format(value, digits) for value in values)
        rows.append((name, estimate, f"{low} and {high}", "yes" if reliable else "no"))
    return rows


_NOTHING = np.zeros((1, 2))


def zone_names(frame: gpd.GeoDataFrame, label: Optional[str]) -> List[str]:
    """Names of the zones: of a column, of the first one with text, or their numbers."""
    if label is not None:
        if label not in frame.columns or label == frame.geometry.name:
            raise BadInputError(f"label= names a column of the zones; {label!r} is none.")
        return [_text(value) for value in frame[label]]
    for column in frame.columns:
        if column != frame.geometry.name and pd.api.types.is_string_dtype(frame[column]):
            return [_text(value) for value in frame[column]]
    return [str(value) for value in frame.index]


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def _answers(release: Any, rings: Any, counted: gpd.GeoDataFrame) -> List[Answers]:
    """What is known about each zone: about all points, then about each choice of slices."""
    whole = tuple(counted[name].to_numpy(np.float64) for name in ("estimate", "low", "high"))
    axes = () if hasattr(release, "chosen") else release.axes
    if not axes:
        return [(whole[0], whole[1], whole[2])]
    sizes = [axis.size for axis in axes]
    if choices(sizes) * len(rings) > _MOST_ANSWERS:
        raise BadInputError(
            f"{len(rings):,} zones with {choices(sizes):,} choices of slices are too many for a "
            "page: give fewer zones, or a slice from select()."
        )
    found = slice_answers(release.decoded, zone_blocks(release.decoded, rings), len(rings))
    unknown = np.isnan(whole[0])
    rows = [tuple(np.where(unknown, np.nan, part) for part in row) for row in found]
    return [(whole[0], whole[1], whole[2]), *[(row[0], row[1], row[2]) for row in rows[1:]]]


def _outlines(sheet: Sheet, rings: List[List[Array]]) -> Tuple[List[List[Array]], List[Any]]:
    """Rings on the sheet as coarse as the eye allows, and a place for each zone's name."""
    shapes = []
    for zone in rings:
        shape = shapely.Polygon()
        for ring in zone:
            at = np.column_stack(sheet.place(*ring.T))
            at = at[np.isfinite(at).all(axis=1)]
            if len(at) > 2:
                shape = shapely.symmetric_difference(shape, shapely.Polygon(at).buffer(0))
        shapes.append(shape)
    left, top, right, bottom = sheet.window
    hair = _HAIR * max(right - left, bottom - top)
    found: List[List[Array]] = []
    places: List[Any] = []
    for shape in _simple(shapes, hair):
        parts = [] if shape.is_empty else [np.asarray(ring) for ring in rings_of(shape)]
        found.append(parts)
        middle = shape.representative_point() if parts else None
        places.append(None if middle is None else [middle.x, middle.y, float(shape.area)])
    return found, places


def _simple(shapes: List[Any], hair: float) -> List[Any]:
    """Simpler shapes; neighbours keep their common border where the library can see to that."""
    if hasattr(shapely, "coverage_simplify"):
        try:
            return list(shapely.coverage_simplify(np.array(shapes, object), hair))
        except shapely.errors.ShapelyError:  # zones that overlap are simplified one by one
            pass
    return [shapely.simplify(shape, hair / 2) for shape in shapes]


def _rate(name: str, people: Array, counted: gpd.GeoDataFrame) -> Dict[str, Any]:
    """For how many of a column rates are told: so many that usual ones are above 1."""
    rate = counted["rate"].to_numpy(np.float64)
    usual = rate[np.isfinite(rate) & (rate > 0)]
    middle = float(np.median(usual)) if usual.size else 1.0
    each = next((number for number in _EACH if middle * number >= 1), _EACH[-1])
    return {
        "name": name,
        "each": each,
        "values": [None if value != value else float(value) for value in people],
    }
