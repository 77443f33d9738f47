"""A grid on the ground: coordinates to and from it, and what its units are in metres there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional, Tuple

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInputError
from .host import LONLAT, Array, Bounds, Crs, Host

#: areas on the ground are known at so many places along each side
_LATTICE = 65
#: of an area: what a map in metres may be off without being told apart from the ground
_MUCH = 0.01


@dataclass(frozen=True)
class Frame:
    """A grid, the CRS in which its area was given, and the one in which its cells are square."""

    grid: Grid
    crs: Crs
    working_crs: Crs
    host: Host = field(compare=False, repr=False)

    @property
    def side(self) -> float:
        """Length of the grid's side in metres."""
        return self.grid.side * self.metres

    @property
    def cell_size(self) -> float:
        """Side of a cell in metres."""
        return self.grid.cell * self.metres

    @cached_property
    def metres(self) -> float:
        """Metres on the ground in one unit of the working CRS, at the middle of the grid."""
        x, y = self.middle()
        return metres_at(self.host, self.working_crs, float(x[0]), float(y[0]))

    def middle(self) -> Tuple[Array, Array]:
        """The centre of the grid, in the working CRS."""
        half = self.grid.side / 2
        return np.array([self.grid.x0 + half]), np.array([self.grid.y0 + half])

    def square_metres(self, x: Array, y: Array) -> Array:
        """Square metres on the ground in one square unit of the working CRS, a row a y.

        The same everywhere on a map that keeps areas. Web Mercator does not: it shows Oslo four
        times as large as it is, and Athens less than twice.
        """
        grid, unit = self.grid, self.host.metres_per_unit(self.working_crs)
        at = np.linspace(0, grid.side, _LATTICE)
        place = np.tile(grid.x0 + at, at.size), np.repeat(grid.y0 + at, at.size)
        try:
            lon, lat = self.unproject(*place, self.host.crs_of(LONLAT))
        except BadInputError:  # a local map that says nothing of where it lies
            return np.full((y.size, x.size), unit**2)
        scale = _areal_scale(self.host, self.working_crs, lon, lat)
        square = unit**2 / scale.reshape(at.size, at.size)
        return between(square, (y - grid.y0) / grid.side, (x - grid.x0) / grid.side)

    def project(self, x: Array, y: Array, crs: Crs = None) -> Tuple[Array, Array]:
        """Coordinates in ``crs`` (the area's own, when None) to the working CRS."""
        return self._transform(x, y, self.crs if crs is None else crs, self.working_crs)

    def unproject(self, x: Array, y: Array, crs: Crs = None) -> Tuple[Array, Array]:
        """Coordinates in the working CRS to ``crs`` (the area's own, when None).

        On a map of the whole globe the outermost cells reach beyond its edge: there the edge is
        meant.
        """
        target = self.crs if crs is None else crs
        edge = None if target == self.working_crs else self._edge(target)
        if edge is not None:
            west, south, east, north = edge
            x, y = np.clip(x, west, east), np.clip(y, south, north)
        return self._transform(x, y, self.working_crs, target)

    def _transform(self, x: Array, y: Array, source: Crs, target: Crs) -> Tuple[Array, Array]:
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        return (x, y) if source == target else self.host.transform(x, y, source, target)

    def _edge(self, target: Crs) -> Optional[Bounds]:
        """How far an equal-area map of the globe on a cylinder goes; None for other maps."""
        shape = self.host.parameters(self.working_crs)
        if shape.get("proj") != "cea" or "pm" in shape:
            return None
        degrees = target if self.host.is_geographic(target) else self.host.crs_of(LONLAT)
        lon, half = float(shape.get("lon_0", 0)), 180 - 1e-10
        x, y = self.host.transform(
            np.array([lon - half, lon + half]), np.array([-90.0, 90.0]), degrees, self.working_crs
        )
        hair = 1e-12 * float(y[1] - y[0])
        return float(x[0]), float(y[0]) + hair, float(x[1]), float(y[1]) - hair


def metres_at(host: Host, crs: Crs, x: float, y: float) -> float:
    """Metres on the ground in one unit of a projected CRS, at a place.

    Web Mercator, at the latitude of New York, makes things a third longer than they are.
    """
    unit = host.metres_per_unit(crs)
    try:
        lon, lat = host.transform(np.array([x]), np.array([y]), crs, host.crs_of(LONLAT))
    except BadInputError:  # a local map that says nothing of where it lies
        return unit
    return unit / float(np.sqrt(_areal_scale(host, crs, lon, lat)[0]))


def _areal_scale(host: Host, crs: Crs, lon: Array, lat: Array) -> Array:
    """How much larger than on the ground areas are on the map; 1 if that is about so everywhere."""
    scale = np.ones(lon.shape)
    known = np.isfinite(lon) & np.isfinite(lat)
    if known.any():
        scale[known] = host.areal_scale(crs, lon[known], lat[known])
    scale[~(np.isfinite(scale) & (scale > 0))] = 1.0
    return scale if (np.abs(scale - 1) > _MUCH).any() else np.ones(lon.shape)


def between(lattice: Array, row: Array, column: Array) -> Array:
    """Values between those of a square lattice over the unit square, linear along both axes.

    >>> between(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0.5]), np.array([0.0, 0.5]))
    array([[1. , 1.5]])
    """
    weights = []
    for at in (row, column):
        gap = np.abs(at[:, None] * (len(lattice) - 1) - np.arange(len(lattice)))
        weights.append(np.maximum(1 - gap, 0.0))
    return weights[0] @ lattice @ weights[1].T
