"""The public area: where points may lie, in the coordinates in which the grid's cells are square.

The rules are those of ``dpsort_geo.geo.domain``, with QGIS's own coordinate transforms: a
projected CRS is used as it is, a geographic one gets an equal-area projection centred on the area.
"""

import dataclasses
import math
from typing import List

import numpy as np
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCoordinateTransformContext,
    QgsCsException,
    QgsDistanceArea,
    QgsGeometry,
    QgsPointXY,
    QgsRectangle,
    QgsUnitTypes,
    QgsWkbTypes,
)

from ._vendor.dpsort_geo.curve.cover import cover
from ._vendor.dpsort_geo.curve.grid import Grid, default_order
from ._vendor.dpsort_geo.errors import BadInput
from .i18n import tr

#: edges are cut into pieces of this share of the area before they are projected
EDGE_PIECES = 512
#: two boxes that differ by less than this share of their size are the same box
_SAME = 1e-6
#: QGIS's "zoom to layer" shows the layer's box, enlarged by this factor
_ZOOM = 1.05


@dataclasses.dataclass(frozen=True)
class PublicArea:
    """Rings of the area in its working CRS, and the CRS in which the user gave it."""

    rings: List[np.ndarray]
    crs: QgsCoordinateReferenceSystem
    working_crs: QgsCoordinateReferenceSystem

    @property
    def bounds(self):
        """West, south, east, north in the working CRS."""
        corners = np.concatenate(self.rings)
        (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
        return float(west), float(south), float(east), float(north)

    @property
    def side(self):
        """Side of the grid, in units of the working CRS."""
        west, south, east, north = self.bounds
        return max(east - west, north - south)

    @property
    def metres(self):
        """Metres on the ground in one unit of the working CRS, at the middle of the grid."""
        west, south, _, _ = self.bounds
        return metres_on_the_ground(self.working_crs, west, south, self.side)

    def grid(self):
        """The grid with the area as its mask."""
        west, south, east, north = self.bounds
        order = default_order(self.side * metres_per_unit(self.working_crs))
        grid = Grid(west, south, self.side / 2.0**order, order)
        if _is_whole_square(self.rings, east - west == north - south):
            return grid
        runs = cover(self.rings, grid)
        if len(runs) == 1 and runs[0, 0] == 0 and runs[0, 1] == 4**order:
            return grid
        return Grid(grid.x0, grid.y0, grid.cell, order, runs)


def _is_whole_square(rings, square):
    if not square or len(rings) != 1 or len(rings[0]) != 5:
        return False
    ring = rings[0]
    return all(len(np.unique(ring[:, axis])) == 2 for axis in (0, 1))


def area_of_box(box, crs, context):
    """The area of a QgsRectangle; in degrees it means that box, not the hull of its projection."""
    if box.isEmpty() or not box.isFinite():
        raise BadInput(tr("The public area is empty: draw a box with some width and height."))
    west, south, east, north = box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()
    if not _in_degrees(crs):
        ring = np.array([[west, south], [east, south], [east, north], [west, north], [west, south]])
        return PublicArea([ring], crs, crs)
    if south < -90 or north > 90 or west < -360 or east > 360:
        raise BadInput(tr("The public area is not in degrees, but its CRS is: check the CRS."))
    working = equal_area(crs, west, south, east, north)
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    ring = cut(np.array(corners), (east - west) / EDGE_PIECES, (north - south) / EDGE_PIECES)
    middle = (west + east) / 2
    ring[:, 0] = middle + np.clip(ring[:, 0] - middle, -180 + 1e-9, 180 - 1e-9)
    return PublicArea([projected(ring, crs, working, context)], crs, working)


def area_of_polygons(features, crs, context):
    """The area of a polygon layer's features, all of them together."""
    shapes = [polygonal(feature.geometry()) for feature in features]
    whole = QgsGeometry.unaryUnion([shape for shape in shapes if not shape.isEmpty()])
    if whole.isEmpty() or not whole.area() > 0:
        raise BadInput(tr("The layer of the public area has no polygon with an area in it."))
    if not _in_degrees(crs):
        return PublicArea(rings_of(whole), crs, crs)
    box = whole.boundingBox()
    west, south, east, north = box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()
    if south < -90 or north > 90:
        raise BadInput(tr("The public area is not in degrees, but its CRS is: check the CRS."))
    west, east = _around_the_antimeridian(whole, west, east)
    working = equal_area(crs, west, south, east, north)
    step = max(east - west, north - south) / EDGE_PIECES
    middle, rings = (west + east) / 2, []
    for ring in rings_of(whole):
        ring = cut(ring, step, step)
        off = ring[:, 0] - middle
        off = np.where(np.abs(off) > 180, (off + 180) % 360 - 180, off)
        ring[:, 0] = middle + np.clip(off, -180 + 1e-9, 180 - 1e-9)
        rings.append(projected(ring, crs, working, context))
    return PublicArea(rings, crs, working)


def _around_the_antimeridian(whole, west, east):
    """The narrowest range of longitudes that holds all parts; east may pass 180."""
    boxes = [part.boundingBox() for part in whole.asGeometryCollection()]
    start = np.array([box.xMinimum() % 360 for box in boxes])
    width = np.array([box.width() for box in boxes])
    order = np.argsort(start)
    begin, reach = start[order], np.maximum.accumulate((start + width)[order])
    gap = np.append(begin[1:], begin[0] + 360) - reach
    widest = int(np.argmax(gap))
    needed = 360 - float(gap[widest])
    if not (gap[widest] > 0 and needed < east - west - 1e-9):
        return west, east
    west = float(begin[(widest + 1) % len(begin)])
    west -= 360 * (west > 180)
    return west, west + needed


def equal_area(crs, west, south, east, north):
    """Equal-area projection centred on a box in degrees."""
    lon, lat = round((west + east) / 2, 4), round((south + north) / 2, 4)
    lon = (lon + 180) % 360 - 180
    wide = east - west > 180
    if wide and west >= -180 and east <= 180:
        lon = 0.0
    plain = crs.authid() in ("EPSG:4326", "OGC:CRS84")
    if plain and wide and lon == 0.0:
        return QgsCoordinateReferenceSystem("EPSG:6933")
    shape = f"+proj=cea +lat_ts=30 +lon_0={lon:g}"
    if not wide:
        shape = f"+proj=laea +lat_0={lat:g} +lon_0={lon:g}"
    if plain:
        return crs_of(f"{shape} +datum=WGS84 +units=m")
    return crs_of(crs.toProj().replace("+proj=longlat", shape) + " +units=m")


def polygonal(geometry):
    """The polygons of a geometry, made valid; what several of them cover counts once."""
    shape = QgsGeometry(geometry)
    shape.convertToStraightSegment()
    kind = QgsWkbTypes.GeometryType.PolygonGeometry
    if shape.type() == kind and shape.isGeosValid():
        return shape
    parts = []
    for part in shape.asGeometryCollection():
        valid = part if part.isGeosValid() else part.makeValid()
        # repair may leave lines and points beside the polygons
        parts += [piece for piece in valid.asGeometryCollection() if piece.type() == kind]
    return QgsGeometry.unaryUnion(parts)


def rings_of(geometry):
    """Rings of a polygon geometry, as arrays of shape (k, 2); holes turn clockwise."""
    shape = QgsGeometry(geometry)
    rings = []
    for polygon in shape.asMultiPolygon() if shape.convertToMultiType() else ():
        for number, points in enumerate(polygon):
            ring = np.array([(point.x(), point.y()) for point in points])
            rings.append(ring if _turns_left(ring) == (number == 0) else ring[::-1])
    return rings


def _turns_left(ring):
    """Whether a ring runs counterclockwise."""
    x, y = (ring - ring[0]).T
    return x @ np.roll(y, -1) > y @ np.roll(x, -1)


def transformed(x, y, source, target, context):
    """Coordinate arrays from one CRS to another, all points in one call to PROJ.

    Where a point goes must depend on that point alone. QGIS would try another operation for all
    points of a call as soon as one of them fails, so that is turned off.
    """
    if source == target or not x.size:
        return x, y
    operation = QgsCoordinateTransform(source, target, context)
    operation.setAllowFallbackTransforms(False)
    line = QgsGeometry()
    head = np.array([2, x.size], "<u4").tobytes()
    line.fromWkb(b"\x01" + head + np.column_stack([x, y]).astype("<f8").tobytes())
    try:
        failed = line.transform(operation)
    except QgsCsException:
        failed = True
    if failed:
        # not the message of QGIS: that quotes a coordinate, and it may be a private one
        raise BadInput(
            tr("Some coordinates cannot be transformed to the CRS of the public area; check both.")
        )
    both = np.frombuffer(line.asWkb().data(), "<f8", offset=9).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def projected(ring, crs, working, context):
    """A ring in another CRS."""
    x, y = transformed(ring[:, 0].copy(), ring[:, 1].copy(), crs, working, context)
    ring = np.column_stack([x, y])
    if not np.isfinite(ring).all():
        raise BadInput(tr("The public area does not fit into its CRS; give a smaller area."))
    return ring


def cut(ring, step_x, step_y):
    """A ring whose edges are cut into pieces no longer than a step."""
    out = []
    for a, b in zip(ring[:-1], ring[1:]):
        pieces = max(1, int(np.ceil(np.max(np.abs(b - a) / (step_x, step_y)) - 1e-9)))
        out.append(a + (b - a) * (np.arange(pieces) / pieces)[:, None])
    out.append(ring[-1:])
    return np.concatenate(out)


def crs_text(crs):
    """Text from which anybody can read the same CRS: its code, PROJ text or WKT."""
    if crs.authid() and not crs.authid().startswith("USER:"):
        return crs.authid()
    proj = crs.toProj()
    if proj and crs_of(proj) == crs:
        return proj
    return crs.toWkt(QgsCoordinateReferenceSystem.WktVariant.WKT_PREFERRED)


def crs_of(text):
    """The CRS that a text names, as in a release file."""
    text = text.strip()
    if text.startswith("+proj="):
        crs = QgsCoordinateReferenceSystem.fromProj(text)
    elif "[" in text:
        crs = QgsCoordinateReferenceSystem.fromWkt(text)
    else:
        crs = QgsCoordinateReferenceSystem(text)
    if not crs.isValid():
        raise BadInput(tr("QGIS does not know the coordinate reference system of this release."))
    return crs


def metres_per_unit(crs):
    """Metres in one unit of a projected CRS."""
    if Qgis.QGIS_VERSION_INT >= 33000:
        return QgsUnitTypes.fromUnitToUnitFactor(crs.mapUnits(), Qgis.DistanceUnit.Meters)
    metres = QgsUnitTypes.DistanceUnit.DistanceMeters
    return QgsUnitTypes.fromUnitToUnitFactor(crs.mapUnits(), metres)


def metres_on_the_ground(crs, x0, y0, side):
    """Metres that one unit stands for at the middle of a square.

    Web Mercator, at the latitude of Berlin, makes things two thirds longer than they are.
    """
    middle = np.array([x0 + side / 2]), np.array([y0 + side / 2])
    return math.sqrt(square_metres(crs, *middle, side)[0])


def square_metres(crs, x, y, side):
    """Square metres on the ground in one square unit of a CRS, at places in a square of that side.

    Where the CRS is true to within a hundredth at all of them, its own unit is taken.
    """
    plain = np.full(len(x), metres_per_unit(crs) ** 2)
    measure = QgsDistanceArea()
    measure.setSourceCrs(crs, QgsCoordinateTransformContext())
    if not measure.setEllipsoid("EPSG:7030"):
        return plain
    square = np.array([_square_metres(measure, *place, side / 1000) for place in zip(x, y)])
    square = np.where(np.isfinite(square) & (square > 0), square, plain)
    return square if (abs(square / plain - 1) > 0.01).any() else plain


def _square_metres(measure, x, y, step):
    here = QgsPointXY(x, y)
    try:
        across = measure.measureLine(here, QgsPointXY(x + step, y)) / step
        along = measure.measureLine(here, QgsPointXY(x, y + step)) / step
    except QgsCsException:
        return math.nan
    return across * along


def _in_degrees(crs):
    if not crs.isValid():
        raise BadInput(
            tr("The public area has no coordinate reference system; set one for it first.")
        )
    return crs.isGeographic()


def looks_like(box, crs, private_box, private_crs, context):
    """Whether a box is the bounding box of the private points, in either CRS.

    Such a box tells where the outermost persons are. QGIS offers it in one click ("calculate
    from layer", or the map canvas after "zoom to layer"), so it is worth catching.
    """
    if private_box.isNull() or box.isNull():
        return False
    pairs = [(box, _moved(private_box, private_crs, crs, context))]
    pairs.append((_moved(box, crs, private_crs, context), private_box))
    return any(_same(one, other) for one, other in pairs if one and other)


def _moved(box, source, target, context):
    if source == target:
        return box
    try:
        return QgsCoordinateTransform(source, target, context).transformBoundingBox(box)
    except QgsCsException:
        return None


def _same(box, private):
    size = max(private.width(), private.height())
    if size <= 0:
        return False

    def close(first, second):
        return abs(first - second) <= _SAME * size

    if all(close(*edges) for edges in zip(_edges(box), _edges(private))):
        return True
    centred = close(box.center().x(), private.center().x())
    centred = centred and close(box.center().y(), private.center().y())
    zoomed = close(box.width(), _ZOOM * private.width())
    return centred and (zoomed or close(box.height(), _ZOOM * private.height()))


def _edges(box: QgsRectangle):
    return box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()
