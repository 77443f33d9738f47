"""Boxes and polygons that bound a domain: checked, cut into short edges, projected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj
import shapely

from ..errors import BadInput
from .crs import Bounds, crs_name, read_crs
from .projection import transformer

Array = np.ndarray

#: edges are cut into pieces of this share of the domain before they are projected
EDGE_PIECES = 512


def checked_bounds(bounds: Any, crs: pyproj.CRS) -> Bounds:
    try:
        west, south, east, north = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise BadInput("Bounds are four numbers: west, south, east, north.") from None
    if not np.isfinite([west, south, east, north]).all():
        raise BadInput("Bounds must be finite numbers: west, south, east, north.")
    if crs.is_geographic:
        if not (south >= -90 and north <= 90 and abs(west) <= 360 and abs(east) <= 360):
            raise BadInput(
                f"These bounds are not degrees, but {crs_name(crs)} is in degrees; "
                "give west, south, east, north in degrees or the CRS they are in."
            )
        if west > east and east + 360 - west < 180:
            east += 360
    if west > east or south > north:
        raise BadInput("The box is inverted: give west, south, east, north in this order.")
    if west == east or south == north:
        raise BadInput("The box is empty: its sides must be longer than zero.")
    if crs.is_geographic and east - west > 360:
        raise BadInput("The box goes around the globe more than once; its width is at most 360.")
    return west, south, east, north


def polygon_of(area: Any, crs: Any) -> tuple[Any, pyproj.CRS]:
    own = getattr(area, "crs", None)
    if own is not None and crs is not None and read_crs(crs) != read_crs(own):
        raise BadInput(
            f"The polygon is in {crs_name(read_crs(own))} but crs says "
            f"{crs_name(read_crs(crs))}: leave crs out, or call to_crs first."
        )
    crs = read_crs(own if own is not None else crs)
    if isinstance(area, shapely.Geometry):
        shapes = np.array([area], object)
    elif hasattr(area, "geometry"):
        shapes = np.asarray(area.geometry.array, object)
    elif hasattr(area, "__geo_interface__"):
        shapes = np.array([shapely.geometry.shape(area.__geo_interface__)], object)
    else:
        raise BadInput("A domain is made from a GeoDataFrame, a GeoSeries or a shapely polygon.")
    shapes = shapes[~(shapely.is_missing(shapes) | shapely.is_empty(shapes))]
    if not np.isin(shapely.get_type_id(shapes), (3, 6)).all():
        raise BadInput("A domain is made from polygons; this has lines or points in it.")
    whole = shapely.union_all(shapely.make_valid(shapely.force_2d(shapes)))
    polygons = [part for part in shapely.get_parts(whole) if part.area > 0]
    if not polygons:
        raise BadInput("The polygon has no area: give the area in which points may lie.")
    if not np.isfinite(whole.bounds).all():
        raise BadInput("The polygon has coordinates that are not finite numbers.")
    return shapely.multipolygons(polygons), crs


def rings_of(geometry: Any) -> list[Array]:
    """Rings of a polygon or multipolygon, as float arrays of shape (k, 2); holes turn clockwise.

    >>> [ring.shape for ring in rings_of(shapely.box(0, 0, 1, 1))]
    [(5, 2)]
    """
    lines, owner = shapely.get_rings(shapely.get_parts(geometry), return_index=True)
    outer = np.diff(owner, prepend=-1) > 0
    lines = np.where(shapely.is_ccw(lines) == outer, lines, shapely.reverse(lines))
    points, which = shapely.get_coordinates(lines, return_index=True)
    return np.split(points, np.flatnonzero(np.diff(which)) + 1) if len(points) else []


def box_ring(
    west: float, south: float, east: float, north: float, pieces: int = EDGE_PIECES
) -> Array:
    along = np.arange(pieces) / pieces
    x = west + (east - west) * along
    y = south + (north - south) * along
    back_x = east - (east - west) * along
    back_y = north - (north - south) * along
    still = np.ones(pieces)
    return np.column_stack(
        [
            np.concatenate([x, still * east, back_x, still * west, [west]]),
            np.concatenate([still * south, y, still * north, back_y, [south]]),
        ]
    )


def project_ring(ring: Array, crs: pyproj.CRS, working: pyproj.CRS, centre: float) -> Array:
    # longitudes just inside the far meridian, so that rounding cannot throw them to the other side
    lon = centre + np.clip(unwrapped(ring[:, 0], centre) - centre, -180 + 1e-9, 180 - 1e-9)
    x, y = transformer(crs, working).forward(np.ascontiguousarray(lon), ring[:, 1].copy())
    return np.column_stack([x, y])


def unwrapped(lon: Array, centre: float) -> Array:
    """Longitudes moved by whole turns to within 180 degrees of ``centre``."""
    off = lon - centre
    return np.where(np.abs(off) > 180, (off + 180) % 360 - 180, off) + centre


def wrapped(box: Bounds, crs: pyproj.CRS) -> Bounds:
    """Bounds with both longitudes in [-180, 180]; west > east says: across the antimeridian."""
    west, south, east, north = (float(value) for value in box)
    if crs.is_geographic and not (west >= -180 and east <= 180):
        west, east = (west + 180) % 360 - 180, (east + 180) % 360 - 180
    return west, south, east, north


def geographic_bounds(geometry: Any) -> Bounds:
    """Smallest box around the parts of a polygon in degrees; east exceeds 180 when it must."""
    part = shapely.bounds(shapely.get_parts(geometry))
    if part[:, 1].min() < -90 or part[:, 3].max() > 90 or np.abs(part[:, [0, 2]]).max() > 360:
        raise BadInput("The polygon's coordinates are not degrees, but its CRS is in degrees.")
    south, north = float(part[:, 1].min()), float(part[:, 3].max())
    west, east = float(part[:, 0].min()), float(part[:, 2].max())
    # the widest gap between parts, seen as arcs on the circle, is what the box leaves out
    start = part[:, 0] % 360
    order = np.argsort(start)
    begin = start[order]
    reach = np.maximum.accumulate(begin + (part[:, 2] - part[:, 0])[order])
    gap = np.append(begin[1:], begin[0] + 360) - reach
    widest = int(np.argmax(gap))
    width = 360 - float(gap[widest])
    if gap[widest] > 0 and width < east - west - 1e-9:
        west = float(begin[(widest + 1) % len(begin)])
        west -= 360 * (west > 180)
        east = west + width
    return west, south, east, north
