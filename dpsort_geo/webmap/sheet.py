"""The sheet of paper that a map is drawn on: a plane on which nothing is stretched.

Without tiles that is the plane in which the release was measured, or, for areas that go around the
globe, a map of the whole or of a pole on which areas are right. Tiles have only one plane, Web
Mercator. Places on the sheet are u and v: shares of a square, from its upper left corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, List, Optional, Tuple

import numpy as np
import pyproj
import shapely

from ..core.errors import BadInputError
from ..core.frame.rings import unwrapped
from ..geo.domain import Domain
from ..geo.host import rings_of

Array = np.ndarray
Window = Tuple[float, float, float, float]

LONLAT = "EPSG:4326"
_MERCATOR = "EPSG:3857"
_WORLD = 2 * 20037508.342789244
#: the latitude at which Web Mercator is a square
_EDGE_OF_MERCATOR = 85.0511
#: a plane on which some areas are this much larger than others is not used
_STRETCHED = 1.2
#: an area around the globe that stays this far from the equator is seen from its pole
_POLAR = 15.0
#: so near to a pole, as a share of the way there from the equator, it is looked for in the area
_NEAR_POLE = 0.994
#: pieces of an outline along the side of the grid, and the level at which it is seen roughly
_PIECES = 128
_ROUGH = 6


@dataclass(frozen=True)
class Sheet:
    """A plane, and the square of it whose places are u and v."""

    domain: Domain
    crs: Any
    left: float
    top: float
    span: float
    tiled: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it is the plane of the release itself, where its cells are squares."""
        return bool(self.crs == self.domain.working_crs)

    def place(self, x: Array, y: Array) -> Tuple[Array, Array]:
        """From the working CRS."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if self.tiled:
            lon, lat = self.domain.unproject(x, y, crs=LONLAT)
            return self.place_lonlat(lon, lat)
        return self._shares(*self.domain.unproject(x, y, crs=self.crs))

    def place_lonlat(self, lon: Array, lat: Array) -> Tuple[Array, Array]:
        """From degrees; what the plane does not show is not finite."""
        lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        if self.tiled:
            lat = np.clip(lat, -_EDGE_OF_MERCATOR, _EDGE_OF_MERCATOR)
            lon = unwrapped(lon, self.middle)
            x = lon / 360 * _WORLD
            y = np.arctanh(np.sin(np.radians(lat))) / (2 * np.pi) * _WORLD
            return self._shares(x, y)
        return self._shares(*self._from_degrees.transform(lon, lat))

    @cached_property
    def _from_degrees(self) -> Any:
        return pyproj.Transformer.from_crs(LONLAT, self.crs, always_xy=True)

    def _shares(self, x: Array, y: Array) -> Tuple[Array, Array]:
        return (x - self.left) / self.span, (self.top - y) / self.span

    @cached_property
    def middle(self) -> float:
        """Longitude of the middle of the domain."""
        return float(self.domain.unproject(*self.domain.middle(), LONLAT)[0][0])

    @cached_property
    def outline(self) -> Any:
        """The area covered, as a shapely geometry of u and v."""
        area = shapely.segmentize(self.domain.outline(), self.domain.grid.side / _PIECES)
        rings = degree_rings(self.domain, area, self.middle) if self.tiled else []
        if any(np.ptp(ring[:, 0]) > 359 for ring in rings):
            shapes = [shapely.Polygon(np.column_stack(self.place_lonlat(*r.T))) for r in rings]
            shape = shapely.union_all([each.buffer(0) for each in shapes])
        else:
            shape = shapely.transform(area, lambda at: np.column_stack(self.place(*at.T))).buffer(0)
        # a ring around the globe meets itself along the antimeridian: that is no border
        hair = 2e-5 * max(float(np.ptp(shapely.bounds(shape).reshape(2, 2), axis=0).max()), 1e-12)
        shape = shapely.simplify(shape.buffer(hair, join_style="mitre").buffer(-hair), hair)
        return shape if self.tiled else self._with_poles(shape)

    def _with_poles(self, shape: Any) -> Any:
        """Without the hole that a cylinder's last pixels leave around a pole in the area."""
        around = np.arange(-165.0, 180.0, 30.0)
        for pole in (-90.0, 90.0):
            near = np.full(around.size, pole * _NEAR_POLE)
            u, v = self.place_lonlat(np.zeros(1), np.full(1, pole))
            if not np.isfinite([u, v]).all() or not self._covers(around, near):
                continue
            at = shapely.Point(u[0], v[0])
            rings = [ring for part in shapely.get_parts(shape) for ring in part.interiors]
            holes = [shapely.Polygon(ring) for ring in rings]
            shape = shapely.union_all([shape, *(hole for hole in holes if hole.contains(at))])
        return shape

    def _covers(self, lon: Array, lat: Array) -> bool:
        x, y = self.domain.project(lon, lat, LONLAT)
        known = np.isfinite(x) & np.isfinite(y)
        return bool(known.all() and self.domain.grid.contains(x, y).all())

    @cached_property
    def window(self) -> Window:
        """The least and greatest u and v of the area covered."""
        left, top, right, bottom = self.outline.bounds
        return float(left), float(top), float(right), float(bottom)

    def pixels(self, most: int) -> Tuple[Array, Array, Array]:
        """Middles of the pixels of the window in the working CRS, and whether they are covered."""
        left, top, right, bottom = self.window
        scale = most / max(right - left, bottom - top)
        columns = max(2, round((right - left) * scale))
        rows = max(2, round((bottom - top) * scale))
        u = left + (np.arange(columns) + 0.5) / columns * (right - left)
        v = top + (np.arange(rows) + 0.5) / rows * (bottom - top)
        u, v = np.tile(u, (rows, 1)), np.tile(v[:, None], (1, columns))
        inside = np.ones(u.shape, bool)
        if not self.is_own:  # beyond the edge of the globe a projection starts again
            shapely.prepare(self.outline)
            inside = shapely.contains_xy(self.outline, u, v)
        x, y = self.left + u * self.span, self.top - v * self.span
        place = np.full((2, *u.shape), np.nan)
        place[:, inside] = self._back(x[inside], y[inside])
        return place[0], place[1], inside

    def _back(self, x: Array, y: Array) -> Tuple[Array, Array]:
        if not self.tiled:
            return self.domain.project(x, y, self.crs)
        lat = np.degrees(np.arctan(np.sinh(y / _WORLD * 2 * np.pi)))
        return self.domain.project((x / _WORLD * 360 + 540) % 360 - 180, lat, LONLAT)

    @cached_property
    def metres(self) -> float:
        """Metres on the ground in one u, at the middle."""
        if not self.tiled:
            return self.span * (self.domain.metres if self.is_own else 1.0)
        _, top, _, bottom = self.window
        return self.span / float(np.cosh(np.pi * (1 - top - bottom)))


def choose_sheet(domain: Domain, tiled: bool = False) -> Sheet:
    """The plane for a domain's map."""
    try:
        lon = float(domain.unproject(*domain.middle(), LONLAT)[0][0])
    except BadInputError:
        raise BadInputError(
            "This domain's CRS has no longitudes, so there is no map of it."
        ) from None
    if tiled:
        return Sheet(domain, pyproj.CRS(_MERCATOR), -_WORLD / 2, _WORLD / 2, _WORLD, True)
    crs = _plane(domain, lon)
    if crs is None:
        grid = domain.grid
        return Sheet(domain, domain.working_crs, grid.x0, grid.y0 + grid.side, grid.side)
    rough = Sheet(domain, crs, 0.0, 0.0, 1.0)
    left, top, right, bottom = rough.window
    return Sheet(domain, crs, left, -top, max(right - left, bottom - top))


def _plane(domain: Domain, lon: float) -> Optional[pyproj.CRS]:
    """Another plane than the domain's own, where that would stretch the area."""
    rough = shapely.segmentize(domain.outline(_ROUGH), domain.grid.side / 64)
    every = np.concatenate(degree_rings(domain, rough, lon))
    width, south, north = np.ptp(every[:, 0]), every[:, 1].min(), every[:, 1].max()
    if width > 180:
        lon = 0.0 if width > 359 else lon
        if south > _POLAR or north < -_POLAR:
            pole = 90 if south > 0 else -90
            return pyproj.CRS.from_proj4(f"+proj=laea +lat_0={pole} +lon_0={lon:.4f} +datum=WGS84")
        return pyproj.CRS.from_proj4(f"+proj=eqearth +lon_0={lon:.4f} +datum=WGS84")
    at = np.linspace(0, domain.grid.side, 5)
    square = domain.square_metres(domain.grid.x0 + at, domain.grid.y0 + at)
    if square.max() <= _STRETCHED * square.min():
        return None
    centre = f"+lat_0={(south + north) / 2:.4f} +lon_0={lon:.4f}"
    return pyproj.CRS.from_proj4(f"+proj=laea {centre} +datum=WGS84")


def lonlat_outline(domain: Domain) -> List[Array]:
    """The domain's outline in degrees, as far as Web Mercator reaches."""
    lon = float(domain.unproject(*domain.middle(), LONLAT)[0][0])
    rings = degree_rings(domain, shapely.segmentize(domain.outline(), domain.grid.side / 64), lon)
    for ring in rings:
        ring[:, 1] = np.clip(ring[:, 1], -_EDGE_OF_MERCATOR, _EDGE_OF_MERCATOR)
    return [np.round(ring, 5) for ring in rings]


def lonlat_bounds(domain: Domain) -> Tuple[float, float, float, float]:
    """West, south, east and north of that outline."""
    corners = np.concatenate(lonlat_outline(domain))
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    return float(west), float(south), float(east), float(north)


def degree_rings(domain: Domain, area: Any, middle: float) -> List[Array]:
    """Rings of the working CRS as rings of degrees, unbroken at the antimeridian."""
    found = []
    for ring in rings_of(area):
        lon, lat = _unbroken(*domain.unproject(ring[:, 0], ring[:, 1], LONLAT), middle)
        found.append(np.column_stack([lon, lat]))
    return found


def _unbroken(lon: Array, lat: Array, middle: float) -> Tuple[Array, Array]:
    """A closed ring near a longitude; one that goes around a pole is closed along that pole."""
    straight = np.degrees(np.unwrap(np.radians(lon)))
    if abs(straight[-1] - straight[0]) < 180:
        return unwrapped(lon, middle), lat
    straight -= 360 * np.rint((straight.mean() - middle) / 360)
    pole = np.copysign(90.0, lat.mean())
    lon = np.concatenate([straight, straight[[-1, 0, 0]]])
    return lon, np.concatenate([lat, [pole, pole, lat[0]]])
