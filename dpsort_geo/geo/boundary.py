"""A public boundary that a reader gives afterwards: the domain inside it, and who is inside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyproj
import shapely

from ..core.public.within import inside_of
from .domain import Domain, shape_of
from .host import HOST

Array = np.ndarray

#: a point that is moved into a polygon lies so far from its outline: in parts of a cell, and at
#: least, in metres and in degrees, what the way back from the map and a file's decimals take
_HAIR, _METRES, _DEGREES = 1e-3, 0.02, 2e-7
#: of a degree, in GeoJSON
_DECIMALS = 7


@dataclass(frozen=True, eq=False)
class Boundary:
    """Polygons in their own CRS, and the domain inside them."""

    polygon: Any
    crs: pyproj.CRS
    domain: Domain

    @classmethod
    def on(cls, domain: Domain, area: Any, crs: Any = None) -> Boundary:
        """The boundary on the grid of a domain, at its cells or finer ones.

        >>> square = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
        >>> Boundary.on(square, shapely.box(0, 0, 500, 1000), "EPSG:3857").domain.area > 0
        True
        """
        polygon, source = shape_of(area, crs)
        (rings,) = domain.zone_rings([polygon], source)
        shapely.prepare(polygon)
        inside = replace(domain, grid=inside_of(domain.grid, rings), made_from=None)
        return cls(polygon, source, inside)

    def move_inside(self, x: Array, y: Array) -> "tuple[Array, Array]":
        """Points in the working CRS, those outside of the polygon at the nearest place inside.

        The cells inside have their centres in the polygon; it may still have gaps narrower than a
        cell, and an edge that is straight in its own CRS is a little bent in another.
        """
        lost = np.flatnonzero(~self._holds(x, y))
        if lost.size:
            px, py = self.domain.unproject(x[lost], y[lost], self.crs)
            at = shapely.points(px, py)
            hair = max(_HAIR * float(np.median(self._cell_here(x[lost], y[lost]))), self._least)
            core = shapely.buffer(self.polygon, -hair)
            near = shapely.shortest_line(core if not core.is_empty else self.polygon, at)
            px, py = shapely.get_coordinates(shapely.get_point(near, 0)).T
            x, y = x.copy(), y.copy()
            x[lost], y[lost] = self.domain.project(px, py, self.crs)
        return x, y

    @property
    def _least(self) -> float:
        geographic = self.crs.is_geographic
        return _DEGREES if geographic else _METRES / HOST.metres_per_unit(self.crs)

    def _holds(self, x: Array, y: Array) -> Array:
        """Which points are inside, as they are and as degrees are written."""
        px, py = self.domain.unproject(x, y, self.crs)
        inside = self._contains(px, py)
        if self.crs.is_geographic:
            inside &= self._contains(np.round(px, _DECIMALS), np.round(py, _DECIMALS))
        return inside

    def _contains(self, px: Array, py: Array) -> Array:
        inside: Array = shapely.contains_xy(self.polygon, px, py)
        for turn in (-360, 360) if self.crs.is_geographic else ():
            if not inside.all():
                inside |= shapely.contains_xy(self.polygon, px + turn, py)
        return inside

    def _cell_here(self, x: Array, y: Array) -> Array:
        """Width of a cell around some places, in units of the boundary's CRS."""
        cell = self.domain.grid.cell
        left = self.domain.unproject(x, y, self.crs)
        right = self.domain.unproject(x, y + cell, self.crs)
        return np.hypot(left[0] - right[0], left[1] - right[1])
