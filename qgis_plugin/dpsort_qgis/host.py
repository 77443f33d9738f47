"""QGIS answers what ``core.frame`` of the library asks of a GIS."""

import re
from pathlib import Path

import numpy as np
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsGeometry,
    QgsPoint,
    QgsPointXY,
    QgsProjUtils,
    QgsRectangle,
    QgsUnitTypes,
    QgsWkbTypes,
)

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.reference import is_plain
from .i18n import tr

#: how PROJ names grids in the text of an operation
_GRIDS = re.compile(r"\+\w*(?:grids|file|model)=(\S+)")
#: units that QGIS does not tell apart from others before 3.40
_METRES = {"us-ft": 1200 / 3937}


class QgisHost:
    """Reference systems are QgsCoordinateReferenceSystem; the context is that of a project."""

    def __init__(self, context):
        self.context = context

    def crs_of(self, text):
        """The reference system that a text names."""
        return crs_of(text)

    def parameters(self, crs):
        """What PROJ's text of a reference system says."""
        return dict(re.findall(r"\+(\w+)=(\S+)", crs.toProj()))

    def is_geographic(self, crs):
        """Whether coordinates are longitudes and latitudes."""
        return crs.isGeographic()

    def metres_per_unit(self, crs):
        """Metres in one unit of a projected system, by its own definition."""
        units = self.parameters(crs).get("units")
        if units in _METRES:
            return _METRES[units]
        if Qgis.QGIS_VERSION_INT >= 33000:
            return QgsUnitTypes.fromUnitToUnitFactor(crs.mapUnits(), Qgis.DistanceUnit.Meters)
        metres = QgsUnitTypes.DistanceUnit.DistanceMeters
        return QgsUnitTypes.fromUnitToUnitFactor(crs.mapUnits(), metres)

    def equal_area(self, crs, projection):
        """A projection of the datum of a geographic system."""
        if crs.authid() in ("EPSG:4326", "OGC:CRS84"):
            return crs_of(projection.text)
        return crs_of(crs.toProj().replace("+proj=longlat", projection.shape) + " +units=m")

    def transform(self, x, y, source, target):
        """Coordinates in another system; NaN where a place has none there."""
        try:
            return transformed(x, y, source, target, self.context)
        except BadInputError:
            return _one_by_one(x, y, source, target, self.context)

    def areal_scale(self, crs, lon, lat):
        """How much larger than on the ground areas are on the map; NaN where unknown."""
        factors = [crs.factors(QgsPoint(*place)) for place in zip(lon.tolist(), lat.tolist())]
        return np.array([one.arealScale() if one.isValid() else np.nan for one in factors])

    def unite(self, polygons):
        """Valid polygons with the same inside; what several cover counts once."""
        return polygons_of(_shape(polygons))

    def clip(self, polygons, box):
        """The part of polygons that lies in a box, as valid polygons."""
        return polygons_of(_shape(polygons).intersection(QgsGeometry.fromRect(QgsRectangle(*box))))


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
        raise BadInputError(
            tr("Some coordinates cannot be transformed to the CRS of the public area; check both.")
        )
    both = np.frombuffer(line.asWkb().data(), "<f8", offset=9).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def _one_by_one(x, y, source, target, context):
    """The same, with NaN for places that have none in the other CRS."""
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


def check_grids(source, target, context):
    """Refuse an operation for private points whose grids are not files on this machine.

    PROJ may be told to read grids from the web (``PROJ_NETWORK=ON``, as conda does), and then it
    asks for the tiles around the points. QGIS has no switch for that, and takes an operation
    without its grid only where the network is on; so the file is looked for, whatever is on.
    """
    if source == target:
        return
    used = QgsCoordinateTransform(source, target, context).instantiatedCoordinateOperationDetails()
    files = {grid.shortName: grid.fullName for grid in used.grids}
    names = {name.lstrip("@") for text in _GRIDS.findall(used.proj) for name in text.split(",")}
    for name in {*names, *files} - {"null"}:
        places = [Path(folder, files.get(name) or name) for folder in QgsProjUtils.searchPaths()]
        if not any(place.is_file() for place in places):
            raise BadInputError(
                tr(
                    "To bring the points into the CRS of the public area, QGIS would read a grid "
                    "from the web, piece by piece around the points; install the grid on this "
                    "machine, set PROJ_NETWORK=OFF, or give the public area in the CRS of the "
                    "points."
                )
            )


def crs_text(crs):
    """Text from which anybody can read the same CRS: its code, or what the library allows."""
    if is_plain(crs.authid()):
        return crs.authid()
    proj = crs.toProj()
    if is_plain(proj) and crs_of(proj) == crs:
        return proj
    text = crs.toWkt(QgsCoordinateReferenceSystem.WktVariant.WKT_PREFERRED)
    if not is_plain(text):
        raise BadInputError(
            tr(
                "The CRS of the public area brings a datum shift or a file of its own; "
                "give the area in a CRS that has a code, such as EPSG:4326."
            )
        )
    return text


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
        raise BadInputError(
            tr("QGIS does not know the coordinate reference system of this release.")
        )
    return crs


def crs_name(crs):
    """Short name of a CRS for people."""
    return crs.authid() or crs.description() or crs.toProj()


def polygons_of(geometry):
    """The polygons of a geometry, made valid; what several of them cover counts once."""
    shape = polygonal(geometry)
    if shape.isEmpty() or not shape.convertToMultiType():
        return []
    return [
        [np.array([(point.x(), point.y()) for point in ring]) for ring in polygon]
        for polygon in shape.asMultiPolygon()
    ]


def polygonal(geometry):
    """A geometry of polygons only, made valid."""
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


def _shape(polygons):
    return QgsGeometry.fromMultiPolygonXY(
        [
            [[QgsPointXY(*corner) for corner in ring.tolist()] for ring in polygon]
            for polygon in polygons
        ]
    )
