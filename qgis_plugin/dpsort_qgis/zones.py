"""Zones to count in, brought into the coordinates of a release's grid.

A projection is true near its centre. A polygon that surrounds the far side of the globe, or leaves
the projection, comes out of it inside out. So a zone is cut down, in its own CRS, to the
neighbourhood of the grid before it is projected.
"""

import dataclasses
import re

import numpy as np
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsGeometry,
    QgsRectangle,
)

from .area import EDGE_PIECES, cut, polygonal, projected, rings_of

#: the neighbourhood goes beyond the grid by this share of its side
ROOM = 1 / 16
#: places a side at which the grid is looked at
PLACES = 33
#: one turn around the globe in Web Mercator
_MERCATOR_TURN = 2 * 20037508.342789244
#: y beyond which no zone reaches in Web Mercator, where the poles have no place
_ENDLESS = 1e9
#: an edge that comes out longer than this share of the grid's side is cut again, this many times
_LONG, _CUTS = 1 / 32, 4


@dataclasses.dataclass(frozen=True)
class Neighbourhood:
    """A box in the CRS of the zones; ``turn`` is 0 where x does not go around the globe."""

    box: QgsRectangle
    turn: float
    #: longest edge of a projected zone
    longest: float


def neighbourhood(grid, working, crs, context):
    """The box around a grid in another CRS, or None when the grid has no place there."""
    across = np.linspace(-ROOM, 1 + ROOM, PLACES)
    u, v = (axis.ravel() for axis in np.meshgrid(across, across))
    x, y = _moved(grid.x0 + u * grid.side, grid.y0 + v * grid.side, working, crs, context)
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return None
    off_centre = np.where(known, (u - 0.5) ** 2 + (v - 0.5) ** 2, np.inf)
    middle, turn = x[np.argmin(off_centre)], _turn(crs)
    x, y = x[known], y[known]
    if turn:
        (west, east), (south, north) = _on_the_globe(x, y, middle, grid, working, crs, context)
    else:
        (west, east), (south, north) = _roomy(x), _roomy(y)
    return Neighbourhood(QgsRectangle(west, south, east, north), turn, _LONG * grid.side)


def _on_the_globe(x, y, middle, grid, working, crs, context):
    """Ranges of x and y where x goes around the globe; they end at the poles and the far side."""
    turn, top = _turn(crs), 90.0 if crs.isGeographic() else _ENDLESS
    shape = dict(re.findall(r"\+(\w+)=(\S+)", working.toProj()))
    if "lon_0" in shape:
        middle = float(shape["lon_0"]) * turn / 360
    half = turn / 2 * (1 - 1e-11)
    if shape.get("proj") == "laea" and abs(float(shape.get("lat_0", 0))) < 90:
        # the far meridian runs through the point that this projection tears into a circle
        half = turn / 2 * (1 - 1e-4)
    west, east = _roomy((x - middle + turn / 2) % turn - turn / 2)
    south, north = _roomy(y)
    lon = middle * 360 / turn
    poles = [pole for pole in (-90.0, 90.0) if _holds(grid, lon, pole, working, context)]
    if poles:
        west, east = -half, half
    south = -top if -90.0 in poles else max(south, -top)
    north = top if 90.0 in poles else min(north, top)
    return (middle + max(west, -half), middle + min(east, half)), (south, north)


def zone_rings(geometry, crs, working, around, context):
    """Rings of a zone in the working CRS, bent as the projection bends them; none far away."""
    if around is None:
        return []
    shape = _near(polygonal(geometry), around)
    box = shape.boundingBox()
    step = max(box.width(), box.height()) / EDGE_PIECES
    if shape.isEmpty() or not step > 0:
        return []
    if crs == working:
        return rings_of(shape)
    rings = [cut(ring, step, step) for ring in rings_of(shape)]
    return [_bent(ring, crs, working, around.longest, context) for ring in rings]


def _near(shape, around):
    """The part of a shape in a neighbourhood, whichever turn around the globe it was drawn in."""
    box, pieces = shape.boundingBox(), []
    if around.box.contains(box):
        return shape
    for turns in (-1, 0, 1) if around.turn else (0,):
        move = turns * around.turn
        frame = QgsRectangle(around.box)
        frame.setXMinimum(frame.xMinimum() + move)
        frame.setXMaximum(frame.xMaximum() + move)
        if frame.intersects(box):
            piece = polygonal(shape.intersection(QgsGeometry.fromRect(frame)))
            if not piece.isEmpty() and not piece.translate(-move, 0):  # 0 says that it was moved
                pieces.append(piece)
    return QgsGeometry.unaryUnion(pieces)


def _bent(ring, crs, working, longest, context):
    """A projected ring; where the projection pulls an edge apart, it follows more closely."""
    bent = projected(ring, crs, working, context)
    for _ in range(_CUTS):
        pulled = np.hypot(*np.diff(bent, axis=0).T) > longest
        if not pulled.any():
            break
        pieces = np.where(pulled, EDGE_PIECES // 16, 1)
        edge = np.repeat(np.arange(pieces.size), pieces)
        part = (np.arange(edge.size) - (np.cumsum(pieces) - pieces)[edge]) / pieces[edge]
        corners = ring[edge] + part[:, None] * np.diff(ring, axis=0)[edge]
        ring = np.concatenate([corners, ring[-1:]])
        bent = projected(ring, crs, working, context)
    return bent


def _roomy(values):
    low, high = float(values.min()), float(values.max())
    return low - ROOM * (high - low), high + ROOM * (high - low)


def _turn(crs):
    if crs.isGeographic():
        return 360.0
    return _MERCATOR_TURN if crs.authid() == "EPSG:3857" else 0.0


def _holds(grid, lon, lat, working, context):
    """Whether a place on the globe lies in the grid or close to it."""
    degrees = QgsCoordinateReferenceSystem("EPSG:4326")
    (x,), (y,) = _moved(np.array([lon]), np.array([lat]), degrees, working, context)
    u, v = (x - grid.x0) / grid.side, (y - grid.y0) / grid.side
    return bool(-ROOM <= u <= 1 + ROOM and -ROOM <= v <= 1 + ROOM)


def _moved(x, y, source, target, context):
    """Places one by one in another CRS, NaN for those that have no place there."""
    operation = QgsCoordinateTransform(source, target, context)
    operation.setAllowFallbackTransforms(False)
    moved = np.full((x.size, 2), np.nan)
    for number, (one, other) in enumerate(zip(x.tolist(), y.tolist())):
        try:
            place = operation.transform(one, other)
        except QgsCsException:
            continue
        moved[number] = place.x(), place.y()
    return moved[:, 0], moved[:, 1]
