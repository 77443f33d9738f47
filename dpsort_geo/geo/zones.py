"""Zones that people ask about, as rings in the domain's working CRS.

A zone may be far larger than the domain, and a projection holds near its centre only: the far side
of the globe would be turned inside out. So a zone is first cut to the surroundings of the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import pyproj
import shapely

from ..errors import BadInput
from .area import EDGE_PIECES, box_ring, project_ring, rings_of, unwrapped
from .crs import Bounds, read_crs
from .domain import Domain
from .projection import ByProj, Cylindrical, transformer

Array = np.ndarray

DEGREES = pyproj.CRS("OGC:CRS84")
#: how much more than the domain is kept on each side
_MARGIN = 0.05
#: an edge longer than this share of the domain is cut again, this many times at most
_LONG, _CUTS = 1 / 32, 5
#: the far meridian runs through the point that an azimuthal projection tears into a circle
_HALF_TURN = 180 * (1 - 1e-4)


def zone_rings(domain: Domain, shapes: Sequence[Any], crs: Any) -> list[list[Array]]:
    """Rings of polygons in ``crs``, bent as the projection bends them; none for a zone elsewhere.

    >>> domain = Domain.from_bounds((-4, 40, -3, 41), crs="EPSG:4326")
    >>> world, antipode = shapely.box(-180, -90, 180, 90), shapely.box(176, -41, 177, -40)
    >>> [len(rings) for rings in zone_rings(domain, [world, antipode], "EPSG:4326")]
    [1, 0]
    """
    source = read_crs(crs)
    whole = [_polygonal(shape) for shape in shapes]
    if source == domain.working_crs:
        return [rings_of(shape) for shape in whole]
    if _is_cylinder(source):
        # such a map breaks at the far meridian and has no poles; degrees can be put together
        whole, source = [_in_degrees(shape, source) for shape in whole], DEGREES
    box = surroundings(domain, source)
    return [_bent(domain, shape, source, box) for shape in whole]


def _bent(domain: Domain, shape: Any, source: pyproj.CRS, box: Optional[Bounds]) -> list[Array]:
    if box is not None:
        shape = _cut(shape, box, turns=source.is_geographic)
    if shape.is_empty:
        return []
    left, bottom, right, top = shape.bounds
    pieces = shapely.segmentize(shape, max(right - left, top - bottom) / EDGE_PIECES)
    middle = (box[0] + box[2]) / 2 if box is not None and source.is_geographic else None
    return [_bent_ring(domain, ring, source, middle) for ring in rings_of(pieces)]


def _bent_ring(domain: Domain, ring: Array, source: pyproj.CRS, middle: Optional[float]) -> Array:
    """A projected ring; where the projection pulls an edge apart, it is followed more closely."""
    for _ in range(_CUTS):
        if middle is None:
            bent = np.column_stack(domain.project(ring[:, 0], ring[:, 1], source))
        else:
            bent = project_ring(ring, source, domain.working_crs, middle)
        long = np.hypot(*np.diff(bent, axis=0).T) > domain.grid.side * _LONG
        if not long.any():
            break
        pieces = np.where(long, EDGE_PIECES // 16, 1)
        edge = np.repeat(np.arange(pieces.size), pieces)
        part = (np.arange(edge.size) - (np.cumsum(pieces) - pieces)[edge]) / pieces[edge]
        corners = ring[edge] + part[:, None] * np.diff(ring, axis=0)[edge]
        ring = np.concatenate([corners, ring[-1:]])
    return bent


def _is_cylinder(crs: pyproj.CRS) -> bool:
    """Whether a map has straight meridians and parallels, as Web Mercator has."""
    if crs.is_geographic:
        return False
    try:
        way = transformer(DEGREES, crs)
        x, y = way.forward(
            np.array([-150.0, -150.0, 0.0, 150.0]), np.array([20.0, -40.0, 20.0, 20.0])
        )
    except BadInput:
        return False
    small = 1e-9 * max(float(np.ptp(x)), 1.0)
    return bool(np.isfinite(x).all() and abs(x[0] - x[1]) < small and np.ptp(y[[0, 2, 3]]) < small)


def _in_degrees(shape: Any, crs: pyproj.CRS) -> Any:
    """Straight lines on a cylinder may bend in degrees, but for meridians and parallels."""
    if shape.is_empty:
        return shape
    left, bottom, right, top = shape.bounds
    pieces = shapely.segmentize(shape, max(right - left, top - bottom) / EDGE_PIECES)
    way = transformer(DEGREES, crs)
    return _polygonal(
        shapely.transform(pieces, lambda at: np.column_stack(way.inverse(at[:, 0], at[:, 1])))
    )


def _cut(shape: Any, box: Bounds, turns: bool) -> Any:
    """The part of a shape in a box; in degrees, wherever the shape is a whole turn away too."""
    frame = shapely.box(*box)
    if not turns:
        return _polygonal(shapely.intersection(shape, frame))
    moved = [shapely.transform(shape, lambda at, by=by: at + [by, 0]) for by in (-360, 0, 360)]
    found = [shapely.intersection(one, frame) for one in moved if one.intersects(frame)]
    return _polygonal(shapely.union_all(found))


def _polygonal(shape: Any) -> Any:
    """A valid shape with the same inside; of parts that overlap, the union."""
    if not np.isfinite(shapely.get_coordinates(shape)).all():
        raise BadInput("The corners of a polygon must be finite numbers.")
    if not shape.is_valid:
        shape = shapely.make_valid(shape, method="structure", keep_collapsed=False)
    if shape.geom_type == "GeometryCollection":
        parts = shapely.get_parts(shape)
        shape = shapely.union_all(parts[np.isin(shapely.get_type_id(parts), (3, 6))])
    return shape if shape.geom_type in ("Polygon", "MultiPolygon") else shapely.Polygon()


def surroundings(domain: Domain, crs: pyproj.CRS) -> Optional[Bounds]:
    """A box in ``crs`` around the domain; None where the domain has no image there."""
    grid = domain.grid
    ring = box_ring(grid.x0, grid.y0, grid.x0 + grid.side, grid.y0 + grid.side, pieces=64)
    x, y = domain.unproject(ring[:, 0], ring[:, 1], crs)
    known = np.isfinite(x) & np.isfinite(y)
    if crs.is_geographic:
        way = transformer(crs, domain.working_crs)
        if isinstance(way, ByProj):
            middle = float(domain.unproject(*domain.middle(), crs)[0][0])
        else:
            middle = way.lon0
        return _surroundings_in_degrees(domain, crs, unwrapped(x[known], middle), y[known], middle)
    if not known.all():
        return None
    return _widened(float(x.min()), float(y.min()), float(x.max()), float(y.max()))


def _surroundings_in_degrees(
    domain: Domain, crs: pyproj.CRS, lon: Array, lat: Array, middle: float
) -> Bounds:
    """With a pole in the domain, all longitudes; a wide map goes around the globe."""
    grid = domain.grid
    west, south, east, north = _widened(lon.min(), lat.min(), lon.max(), lat.max())
    around = east - west > 300
    for pole in (-90.0, 90.0):
        x, y = domain.project(np.array([middle]), np.array([pole]), crs)
        if 0 <= x[0] - grid.x0 <= grid.side and 0 <= y[0] - grid.y0 <= grid.side:
            around, south, north = True, min(south, pole), max(north, pole)
    if around:
        half = (
            180.0 if isinstance(transformer(crs, domain.working_crs), Cylindrical) else _HALF_TURN
        )
        west, east = middle - half, middle + half
    return float(west), max(float(south), -90.0), float(east), min(float(north), 90.0)


def _widened(west: float, south: float, east: float, north: float) -> Bounds:
    more = _MARGIN * max(east - west, north - south)
    return west - more, south - more, east + more, north + more
