"""The public area that a user gives in QGIS, and the guard against one read from the points."""

from qgis.core import QgsCoordinateTransform, QgsCsException, QgsGeometry, QgsRectangle

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame import area as frame
from .host import QgisHost, check_grids, polygonal, polygons_of
from .i18n import tr

#: two boxes that differ by less than this share of their size are the same box
_SAME = 1e-6
#: QGIS's "zoom to layer" shows the layer's box, enlarged by this factor
_ZOOM = 1.05


def area_of_box(box, crs, context):
    """The area of a QgsRectangle."""
    return frame.area_of_box(QgisHost(context), _edges(box), _known(crs))


def area_of_polygons(features, crs, context):
    """The area of a polygon layer's features, all of them together."""
    return frame.area_of_polygons(QgisHost(context), polygons_of(union_of(features)), _known(crs))


def union_of(features):
    """All polygons of features together."""
    shapes = [polygonal(feature.geometry()) for feature in features]
    return QgsGeometry.unaryUnion([shape for shape in shapes if not shape.isEmpty()])


def leak():
    """What is said of an area that was read from the points."""
    return tr(
        "The public area is the bounding box of the private points, which tells where the "
        "outermost person is. Choose an area that is known without the points: a boundary layer "
        "is best."
    )


def _known(crs):
    if not crs.isValid():
        raise BadInputError(
            tr("The public area has no coordinate reference system; set one for it first.")
        )
    return crs


def looks_like(box, crs, private_box, private_crs, context):
    """Whether a box is the bounding box of the private points, in either CRS.

    Such a box tells where the outermost persons are. QGIS offers it in one click ("calculate
    from layer", or the map canvas after "zoom to layer"), so it is worth catching.
    """
    if private_box.isNull() or box.isNull():
        return False
    check_grids(private_crs, crs, context)
    pairs = [(box, _moved(private_box, private_crs, crs, context))]
    pairs.append((_moved(box, crs, private_crs, context), private_box))
    return any(_same(one, other) for one, other in pairs if one and other)


def lies_elsewhere(box, crs, private_box, private_crs, context):
    """Whether no private point can lie in a box: both boxes are apart, in either CRS.

    A layer's box may be larger than its points, never smaller; what cannot be told is no refusal.
    """
    if private_box.isNull() or box.isNull() or not (crs.isValid() and private_crs.isValid()):
        return False
    pairs = [(box, _moved(private_box, private_crs, crs, context), crs)]
    pairs.append((_moved(box, crs, private_crs, context), private_box, private_crs))
    known = [pair for pair in pairs if all(one and one.isFinite() for one in pair[:2])]
    return bool(known) and all(_apart(*pair) for pair in known)


def _apart(one, other, crs):
    # longitudes are written in several ways
    turns = (-360, 0, 360) if crs.isGeographic() else (0,)
    low, high = one.yMinimum(), one.yMaximum()
    moved = [
        QgsRectangle(one.xMinimum() + turn, low, one.xMaximum() + turn, high) for turn in turns
    ]
    return not any(box.intersects(other) for box in moved)


def _moved(box, source, target, context):
    if source == target:
        return box
    operation = QgsCoordinateTransform(source, target, context)
    operation.setAllowFallbackTransforms(False)
    try:
        return operation.transformBoundingBox(box)
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
