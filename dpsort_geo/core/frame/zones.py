"""Zones that people ask about, as rings in the working CRS.

A zone may be far larger than the domain, and a projection holds near its centre only: the far side
of the globe would be turned inside out. So a zone is first cut to the surroundings of the domain.
"""

from __future__ import annotations

from typing import Iterable, List, Optional, Sequence

import numpy as np

from ..errors import BadInputError
from .ground import Frame
from .host import LONLAT, Array, Bounds, Crs, Host, Polygons
from .rings import (
    EDGE_PIECES,
    box_ring,
    cut,
    cut_rings,
    divide,
    extent,
    extents,
    project_ring,
    rings_of,
    unwrapped,
)

#: how much more than the domain is kept on each side
_MARGIN = 0.05
#: an edge longer than this share of the domain is cut again, this many times at most
_LONG, _CUTS = 1 / 32, 4
#: no edge need be shorter than the domain's surroundings by this: by 4e-7 of its side at most does
#: a straight one then leave the bent one, on a map of half the globe, and far less on others
_PIECES = 1024
#: the far meridian runs through the point that an azimuthal projection tears into a circle
_HALF_TURN = 180 * (1 - 1e-4)


def zone_rings(frame: Frame, zones: Iterable[Polygons], crs: Crs) -> List[List[Array]]:
    """Rings of valid polygons in ``crs``, bent as the projection bends them; none elsewhere."""
    host, source = frame.host, crs
    if source == frame.working_crs:
        return [rings_of(_finite(zone)) for zone in zones]
    if _is_cylinder(host, source):
        # such a map breaks at the far meridian and has no poles; degrees can be put together
        source = host.crs_of(LONLAT)
        zones = [_to_degrees(host, zone, crs, source) for zone in zones]
    box, every = surroundings(frame, source), list(zones)
    for number in _reaching_out(every, box).tolist():
        zone = _finite(every[number])
        if box is not None:
            every[number] = _clip(host, zone, box, host.is_geographic(source))
    return _bend(frame, [rings_of(zone) for zone in every], source, box)


def share_near(frame: Frame, zones: Iterable[Polygons], crs: Crs) -> Array:
    """Share of each polygon's area that `zone_rings` keeps, because it is near the domain."""
    host, source, every = frame.host, crs, list(zones)
    if source != frame.working_crs and _is_cylinder(host, source):
        source = host.crs_of(LONLAT)
        every = [_to_degrees(host, zone, crs, source) for zone in every]
    box = None if source == frame.working_crs else surroundings(frame, source)
    if box is None:
        return np.ones(len(every))
    share = np.ones(len(every))
    for number in _reaching_out(every, box).tolist():
        share[number] = _share_in(host, every[number], box, host.is_geographic(source))
    return share


def _reaching_out(zones: Sequence[Polygons], box: Optional[Bounds]) -> Array:
    """Which zones do not lie in a box, such as those without finite corners; all without a box."""
    if box is None:
        return np.arange(len(zones))
    extent = extents([[ring for polygon in zone for ring in polygon] for zone in zones])
    low, high = extent[:, :2] >= box[:2], extent[:, 2:] <= box[2:]
    return np.flatnonzero(~(low.all(axis=1) & high.all(axis=1)))


def _share_in(host: Host, zone: Polygons, box: Bounds, degrees: bool) -> float:
    whole = _area_of(zone, degrees)
    return min(_area_of(_clip(host, zone, box, degrees), degrees) / whole, 1.0) if whole else 1.0


def _area_of(zone: Polygons, degrees: bool) -> float:
    """Area of polygons; of those in degrees on a map that keeps areas."""
    total = 0.0
    if zone:
        low, high = extent(zone)
        for ring in rings_of(cut(zone, float((high - low).max()))):
            x, y = (ring - ring[0]).T
            if degrees:
                y = np.degrees(np.sin(np.radians(ring[:, 1])))
            total += float(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y)) / 2
    return total


def _finite(zone: Polygons) -> Polygons:
    if not all(np.isfinite(ring).all() for polygon in zone for ring in polygon):
        raise BadInputError("The corners of a polygon must be finite numbers.")
    return zone


def _bend(
    frame: Frame, zones: List[List[Array]], source: Crs, box: Optional[Bounds]
) -> List[List[Array]]:
    """Rings of all zones projected together: there may be thousands, with six corners each."""
    rings = [ring for zone in zones for ring in zone]
    if not rings:
        return zones
    west, south, east, north = extents(zones).T
    step = np.maximum(east - west, north - south) / EDGE_PIECES
    middle = None
    if box is not None:
        step = np.maximum(step, max(box[2] - box[0], box[3] - box[1]) / _PIECES)
        if frame.host.is_geographic(source):
            middle = (box[0] + box[2]) / 2
    owner = np.repeat(np.arange(len(zones)), [len(zone) for zone in zones])
    rings = cut_rings(rings, step[owner])
    last = np.cumsum([len(ring) for ring in rings]) - 1
    bent = _project(frame, np.concatenate(rings), source, middle)
    long = np.hypot(*np.diff(bent, axis=0).T) > frame.grid.side * _LONG
    long[last[:-1]] = False
    found = np.split(bent, last[:-1] + 1)
    for number in np.unique(np.searchsorted(last, np.flatnonzero(long))).tolist():
        found[number] = _bend_closer(frame, rings[number], found[number], source, middle)
    ring = iter(found)
    return [[next(ring) for _ in zone] for zone in zones]


def _project(frame: Frame, corners: Array, source: Crs, middle: Optional[float]) -> Array:
    if middle is None:
        return np.column_stack(frame.project(corners[:, 0], corners[:, 1], source))
    return project_ring(frame.host, corners, source, frame.working_crs, middle)


def _bend_closer(
    frame: Frame, ring: Array, bent: Array, source: Crs, middle: Optional[float]
) -> Array:
    """Where the projection pulls an edge of a ring apart, it is followed more closely."""
    for _ in range(_CUTS):
        long = np.hypot(*np.diff(bent, axis=0).T) > frame.grid.side * _LONG
        if not long.any():
            break
        ring = divide(ring, np.where(long, EDGE_PIECES // 16, 1))
        bent = _project(frame, ring, source, middle)
    return bent


def _is_cylinder(host: Host, crs: Crs) -> bool:
    """Whether a map has straight meridians and parallels, as Web Mercator has."""
    if host.is_geographic(crs):
        return False
    lon, lat = np.array([-150.0, -150.0, 0.0, 150.0]), np.array([20.0, -40.0, 20.0, 20.0])
    try:
        x, y = host.transform(lon, lat, host.crs_of(LONLAT), crs)
    except BadInputError:
        return False
    if not np.isfinite(x).all():
        return False
    small = 1e-9 * max(float(np.ptp(x)), 1.0)
    return bool(abs(x[0] - x[1]) < small and np.ptp(y[[0, 2, 3]]) < small)


def _to_degrees(host: Host, zone: Polygons, crs: Crs, degrees: Crs) -> Polygons:
    """Straight lines on a cylinder may bend in degrees, but for meridians and parallels."""
    if not zone:
        return zone
    low, high = extent(_finite(zone))
    moved = [
        [np.column_stack(host.transform(ring[:, 0].copy(), ring[:, 1].copy(), crs, degrees))
         for ring in polygon]
        for polygon in cut(zone, float((high - low).max()))
    ]  # fmt: skip
    return host.unite(_finite(moved))


def _clip(host: Host, zone: Polygons, box: Bounds, turns: bool) -> Polygons:
    """The part of a zone in a box; in degrees, wherever the zone is a whole turn away too."""
    if not zone:
        return zone
    (west, south), (east, north) = extent(zone)
    if west >= box[0] and south >= box[1] and east <= box[2] and north <= box[3]:
        return zone
    found: Polygons = []
    pieces = 0
    for turn in (-360.0, 0.0, 360.0) if turns else (0.0,):
        if west + turn > box[2] or east + turn < box[0] or south > box[3] or north < box[1]:
            continue
        moved = [[ring + [turn, 0.0] for ring in polygon] for polygon in zone]
        inside = host.clip(moved, box)
        found += inside
        pieces += bool(inside)
    return host.unite(found) if pieces > 1 else found


def surroundings(frame: Frame, crs: Crs) -> Optional[Bounds]:
    """A box in ``crs`` around the domain; None where the domain has no image there."""
    grid = frame.grid
    ring = box_ring(grid.x0, grid.y0, grid.x0 + grid.side, grid.y0 + grid.side, pieces=64)
    x, y = frame.unproject(ring[:, 0], ring[:, 1], crs)
    known = np.isfinite(x) & np.isfinite(y)
    if frame.host.is_geographic(crs) and known.any():
        middle = _middle(frame, crs)
        return _surroundings_in_degrees(frame, crs, unwrapped(x[known], middle), y[known], middle)
    if not known.all():
        return None
    return _widen(float(x.min()), float(y.min()), float(x.max()), float(y.max()))


def _middle(frame: Frame, crs: Crs) -> float:
    """The longitude in the middle of the map, on whose far side it is torn."""
    shape = frame.host.parameters(frame.working_crs)
    if "lon_0" in shape and "pm" not in shape:
        return float(shape["lon_0"])
    return float(frame.unproject(*frame.middle(), crs)[0][0])


def _surroundings_in_degrees(
    frame: Frame, crs: Crs, lon: Array, lat: Array, middle: float
) -> Bounds:
    """With a pole in the domain, all longitudes; a wide map goes around the globe."""
    grid = frame.grid
    west, south, east, north = _widen(lon.min(), lat.min(), lon.max(), lat.max())
    around = east - west > 300
    for pole in (-90.0, 90.0):
        x, y = frame.project(np.array([middle]), np.array([pole]), crs)
        if 0 <= x[0] - grid.x0 <= grid.side and 0 <= y[0] - grid.y0 <= grid.side:
            around, south, north = True, min(south, pole), max(north, pole)
    if around:
        half = _half_turn(frame)
        west, east = middle - half, middle + half
    return float(west), max(float(south), -90.0), float(east), min(float(north), 90.0)


def _half_turn(frame: Frame) -> float:
    """How far from its middle a map goes without being torn."""
    shape = frame.host.parameters(frame.working_crs)
    around_a_pole = abs(float(shape.get("lat_0", 0))) == 90
    whole = around_a_pole or _is_cylinder(frame.host, frame.working_crs)
    return 180.0 if whole else _HALF_TURN


def _widen(west: float, south: float, east: float, north: float) -> Bounds:
    more = _MARGIN * max(east - west, north - south)
    return west - more, south - more, east + more, north + more
