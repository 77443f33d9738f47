"""Points in and out of QGIS layers, without a Python object for each of them where it matters.

A plain point in well-known binary is 21 bytes: byte order, type, x, y. Features of a chunk are
joined into one block of bytes that numpy reads at once, and written the same way.
"""

from itertools import islice
from pathlib import Path

import numpy as np
from osgeo import gdal
from qgis.core import (
    QgsApplication,
    QgsFeature,
    QgsFeatureRequest,
    QgsFeatureSink,
    QgsGeometry,
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsVectorLayer,
    QgsWkbTypes,
)

from ._vendor.dpsort_geo.errors import BadInput
from .area import transformed
from .compat import UNCHECKED, is_null
from .i18n import tr

WKB_POINT = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])
#: features between two looks at the cancel button, when reading and when writing
CHUNK = 5000
BATCH = 20000


class Cancelled(Exception):
    """The user pressed cancel; nothing was published."""


def read_points(source, working_crs, context, feedback, person=None):
    """Chunks of ``(x, y, persons)`` in the working CRS; persons is None without a person field.

    No message tells how many features were at fault, or which ones: that is private.
    """
    request = QgsFeatureRequest()
    column = -1 if not person else source.fields().lookupField(person)
    if person and column < 0:
        raise BadInput(
            tr("The point layer has no such field for the person; choose one of its fields.")
        )
    if column < 0:
        request.setNoAttributes()
    else:
        request.setSubsetOfAttributes([column])
    total = source.featureCount()
    features, done = source.getFeatures(request, UNCHECKED), 0
    while True:
        blocks, persons = _next_features(features, column)
        if feedback.isCanceled():
            raise Cancelled
        if not blocks:
            return
        x, y, owner = _coordinates(blocks, persons)
        x, y = transformed(x, y, source.sourceCrs(), working_crs, context.transformContext())
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise BadInput(_empty())
        yield x, y, owner
        done += len(blocks)
        if total > 0:
            feedback.setProgress(min(50.0, 50.0 * done / total))


def _next_features(features, column):
    """Well-known binary of the next features, and the person of each when there is a column."""
    if column < 0:
        return [one.geometry().asWkb().data() for one in islice(features, CHUNK)], None
    pairs = [
        (one.geometry().asWkb().data(), _person(one.attribute(column)))
        for one in islice(features, CHUNK)
    ]
    return [block for block, _ in pairs], [person for _, person in pairs]


def _person(value):
    if is_null(value):
        raise BadInput(tr("Every point needs a person: fill in the empty values of that field."))
    return value if isinstance(value, (int, float, str)) else str(value)


def _coordinates(blocks, persons):
    joined = b"".join(blocks)
    if len(joined) == WKB_POINT.itemsize * len(blocks):
        plain = np.frombuffer(joined, WKB_POINT)
        if (plain["order"] == 1).all() and (plain["type"] == 1).all():
            return plain["x"].copy(), plain["y"].copy(), persons
    xs, ys, owner = [], [], []
    for number, block in enumerate(blocks):
        parts = _parts(block)
        if persons is None and len(parts) > 1:
            raise BadInput(
                tr(
                    "Some features hold several points. Run 'Multipart to singleparts' first, or "
                    "name the field that tells whose points they are."
                )
            )
        xs += [part.x() for part in parts]
        ys += [part.y() for part in parts]
        if persons is not None:
            owner += [persons[number]] * len(parts)
    return np.array(xs), np.array(ys), owner if persons is not None else None


def _parts(block):
    geometry = QgsGeometry()
    geometry.fromWkb(block)
    if geometry.isEmpty():
        raise BadInput(_empty())
    if geometry.type() != QgsWkbTypes.GeometryType.PointGeometry:
        raise BadInput(tr("Only points can be published; take points of the geometries first."))
    return list(geometry.constParts())


def _empty():
    return tr("Every feature needs a point with finite coordinates; remove empty ones first.")


def write_points(sink, crs, x, y, feedback, paid=False, start=50.0):
    """Add points to a feature sink in batches; once they are paid for, nobody can cancel that.

    QGIS itself takes multipoints apart into features: a Python object for each of them would
    cost more than all the rest of the plugin.
    """
    table = np.zeros(x.size, WKB_POINT)
    table["order"], table["type"], table["x"], table["y"] = 1, 1, x, y
    for first in range(0, x.size, BATCH):
        if feedback.isCanceled() and not paid:
            raise Cancelled
        singles = _taken_apart(table[first : first + BATCH], crs)
        if not sink.addFeatures(singles.getFeatures(), QgsFeatureSink.Flag.FastInsert):
            raise BadInput(tr("The points could not be written; check the output file."))
        feedback.setProgress(start + (100.0 - start) * first / x.size)


def _taken_apart(table, crs):
    """A layer of single points from a table of them."""
    head = np.array([4, table.size], "<u4").tobytes()
    geometry = QgsGeometry()
    geometry.fromWkb(b"\x01" + head + table.tobytes())
    feature = QgsFeature()
    feature.setGeometry(geometry)
    together = QgsVectorLayer("MultiPoint", "", "memory")
    together.setCrs(crs)
    if not together.dataProvider().addFeatures([feature])[0]:
        raise BadInput(tr("The points could not be written; check the output file."))
    registry, context = QgsApplication.processingRegistry(), QgsProcessingContext()
    parameters = {"INPUT": together, "OUTPUT": QgsProcessing.TEMPORARY_OUTPUT}
    algorithm = registry.createAlgorithmById("native:multiparttosingleparts")
    results, _ = algorithm.run(parameters, context, QgsProcessingFeedback(False))
    return context.takeResultLayer(results["OUTPUT"])


def sign_geopackage(target, statement):
    """Put the privacy statement into a GeoPackage, so that it travels with the file."""
    path = Path(target.split("|")[0])
    if path.suffix.lower() != ".gpkg" or not path.is_file():
        return
    opened = gdal.OpenEx(str(path), gdal.OF_VECTOR | gdal.OF_UPDATE)
    if opened is not None:
        # QGIS shows a layer's description as the abstract in its metadata
        opened.GetLayer(0).SetMetadataItem("DESCRIPTION", statement)
