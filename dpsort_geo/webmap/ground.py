"""What lies around the data, all of it public and in the page: area, land, grid lines, names."""

from __future__ import annotations

import csv
import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, Dict, List, Tuple

import numpy as np
import shapely

from ..geo.host import rings_of
from .pack import pack_rings
from .sheet import Sheet, Window

Array = np.ndarray

#: the coarse outlines of continents help from this width on, in metres
_WIDE = 1.5e6
#: steps of grid lines in degrees, and about how many of them cross the window
_STEPS = (30.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
_LINES = 6
#: finer steps for those who come nearer
_FINER = 3
#: names that a page takes along
_MOST_NAMES = 400
#: more sea than this in an area is not what a coarse coastline misses
_SEA = 0.25
#: how much around the window is drawn too
_AROUND = 0.6
#: land is looked for so many degrees around the window
_FAR = 40.0
#: names may lie so far outside of the area, because its outline is coarse
_SHORE = 0.01


@lru_cache(maxsize=2)
def read_cities(table: str) -> Tuple[List[str], Array]:
    """Names, and longitude, latitude and population of the cities in a table of the package.

    >>> names, numbers = read_cities("cities.csv")
    >>> names[0], numbers.shape[1]
    ('New York City', 3)
    """
    text = (files("dpsort_geo") / "data" / table).read_text("utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    numbers = [[float(row[name]) for name in ("lon", "lat", "population")] for row in rows]
    return [row["name"] for row in rows], np.array(numbers)


def _cities() -> Tuple[List[str], Array]:
    """All cities of the package, the largest first."""
    tables = [read_cities(table) for table in ("cities.csv", "world_cities.csv")]
    names = [name for each, _ in tables for name in each]
    numbers = np.concatenate([numbers for _, numbers in tables])
    order = np.argsort(-numbers[:, 2], kind="stable")
    return [names[i] for i in order], numbers[order]


@lru_cache(maxsize=1)
def _continents() -> Any:
    text = (files("dpsort_geo") / "data" / "world_land.geojson").read_text("utf-8")
    return shapely.geometry.shape(json.loads(text)["geometry"])


def names_on(sheet: Sheet) -> List[List[Any]]:
    """Names of cities in the area, and around it where there is land: name, u and v."""
    names, table = _cities()
    u, v = sheet.place_lonlat(table[:, 0], table[:, 1])
    left, top, right, bottom = _wider(sheet.window, 0.1)
    here = np.flatnonzero((u > left) & (u < right) & (v > top) & (v < bottom))
    if not sheet.tiled and not _is_wide(sheet):  # around the area there is nothing to be named
        shore = sheet.outline.buffer(_SHORE * (right - left))
        shapely.prepare(shore)
        here = here[shapely.contains_xy(shore, u[here], v[here])]
    return [[names[i], float(u[i]), float(v[i])] for i in here[:_MOST_NAMES]]


def pack_ground(sheet: Sheet) -> Dict[str, Any]:
    """The area covered, land, grid lines and names, for the page."""
    around = _wider(sheet.window, _AROUND)
    outline = [np.asarray(ring) for ring in rings_of(sheet.outline)]
    return {
        "outline": pack_rings(outline, _wider(sheet.window, 0.01)),
        "land": pack_rings(_land(sheet, around), around) if _is_wide(sheet) else None,
        "lines": [_grid_lines(sheet, around, step) for step in _steps(sheet)],
        "names": names_on(sheet),
    }


def shows_sea(sheet: Sheet) -> bool:
    """Whether the area is drawn so thin that continents show through: it has much sea in it."""
    if not _is_wide(sheet):
        return False
    around = _wider(sheet.window, _AROUND)
    land = shapely.union_all([shapely.Polygon(ring).buffer(0) for ring in _land(sheet, around)])
    sea = shapely.difference(sheet.outline, land).area
    return bool(sea > _SEA * sheet.outline.area)


def is_world(sheet: Sheet) -> bool:
    """Whether the area goes over more than a part of the globe, where grid lines help."""
    return _is_wide(sheet) and sheet.domain.grid.runs is None or _width(sheet) > 1e7


def _is_wide(sheet: Sheet) -> bool:
    return _width(sheet) > _WIDE


def _width(sheet: Sheet) -> float:
    left, top, right, bottom = sheet.window
    return max(right - left, bottom - top) * sheet.metres


def _wider(window: Window, share: float) -> Window:
    left, top, right, bottom = window
    x, y = share * (right - left), share * (bottom - top)
    return left - x, top - y, right + x, bottom + y


def _land(sheet: Sheet, around: Window) -> List[Array]:
    """Continents on the sheet, cut to what is around the window.

    They are first cut in degrees: on the far side of the globe a projection would tear them.
    """
    west, east, south, north = _degrees_around(sheet, 10.0)
    if east - west < 360:
        middle = (west + east) / 2
        west, east = max(west - _FAR, middle - 180), min(east + _FAR, middle + 180)
    near = shapely.box(west, max(south - _FAR, -90), east, min(north + _FAR, 90))
    box, hair = shapely.box(*around), 3e-4 * (around[2] - around[0])
    found: List[Array] = []
    for turn in (-360, 0, 360):
        moved = shapely.transform(_continents(), lambda at, by=turn: at + [by, 0])
        if not shapely.intersects(shapely.box(*moved.bounds), near):
            continue
        for part in shapely.get_parts(shapely.intersection(moved, near)):
            if part.geom_type == "Polygon" and part.area:
                found += _land_rings(sheet, part, box, hair)
    return found


def _land_rings(sheet: Sheet, part: Any, box: Any, hair: float) -> List[Array]:
    ring = shapely.get_coordinates(shapely.segmentize(part, 1.0).exterior)
    at = np.column_stack(sheet.place_lonlat(*ring.T))
    if not np.isfinite(at).all():
        return []
    shape = shapely.intersection(shapely.Polygon(at).buffer(0), box)
    return [np.asarray(each) for each in rings_of(shapely.simplify(shape, hair)) if len(each) > 3]


def _steps(sheet: Sheet) -> List[float]:
    left, top, right, bottom = sheet.window
    degrees = max(right - left, bottom - top) * sheet.metres / 111_000
    first = next((i for i, step in enumerate(_STEPS) if degrees / step >= _LINES), len(_STEPS) - 1)
    return list(_STEPS[first : first + _FINER])


def _grid_lines(sheet: Sheet, around: Window, step: float) -> Dict[str, Any]:
    """Meridians and parallels of a step, with their degrees."""
    west, east, south, north = _degrees_around(sheet, step)
    found: List[Tuple[str, Array]] = []
    lat = np.linspace(max(south, -90 + step * 0.01), min(north, 90 - step * 0.01), 61)
    lon = np.linspace(west, east, 91)
    for at in np.arange(west, east + step / 2, step).tolist():
        found += _lines(sheet, around, _degree(at, "E", "W"), np.full(lat.size, at), lat)
    for at in np.arange(south, north + step / 2, step).tolist():
        if abs(at) < 90:
            found += _lines(sheet, around, _degree(at, "N", "S"), lon, np.full(lon.size, at))
    labels = [label for label, _ in found]
    return {"step": step, "labels": labels, **pack_rings([line for _, line in found], around)}


def _degrees_around(sheet: Sheet, step: float) -> Tuple[float, float, float, float]:
    """The degrees of the window, and a step more."""
    x, y, inside = sheet.pixels(24)
    lon, lat = sheet.domain.unproject(x[inside], y[inside], crs="EPSG:4326")
    known = np.isfinite(lon) & np.isfinite(lat)
    lon = (lon[known] - sheet.middle + 540) % 360 - 180 + sheet.middle
    lat = lat[known]
    west, east = np.floor(lon.min() / step) * step, np.ceil(lon.max() / step) * step
    south, north = np.floor(lat.min() / step) * step, np.ceil(lat.max() / step) * step
    if east - west >= 300:
        west, east = -180.0, 180.0
    return west, east, max(south, -90.0), min(north, 90.0)


def _lines(
    sheet: Sheet, around: Window, label: str, lon: Array, lat: Array
) -> List[Tuple[str, Array]]:
    """What of a line of degrees is around the window, in pieces with its label."""
    u, v = sheet.place_lonlat(lon, lat)
    good = np.isfinite(u) & np.isfinite(v)
    if good.sum() < 2:
        return []
    shape = shapely.LineString(np.column_stack([u, v])[good])
    kept = shapely.intersection(shape, shapely.box(*around))
    pieces = shapely.get_parts(shapely.simplify(kept, 2e-4 * (around[2] - around[0])))
    return [
        (label, shapely.get_coordinates(piece))
        for piece in pieces
        if piece.geom_type == "LineString" and len(piece.coords) > 1
    ]


def _degree(value: float, plus: str, minus: str) -> str:
    """Degrees as they stand on a map.

    >>> _degree(-73.5, "E", "W"), _degree(181.0, "E", "W")
    ('73.5°W', '179°W')
    """
    value = value if plus == "N" else (value + 540) % 360 - 180
    digits = f"{abs(value):.2f}".rstrip("0").rstrip(".")
    return digits + "°" + ("" if digits == "0" else plus if value > 0 else minus)
