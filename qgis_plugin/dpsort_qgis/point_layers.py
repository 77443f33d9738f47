"""Published points, written into QGIS layers without a Python object for each of them."""

import numpy as np
from qgis.core import (
    QgsApplication,
    QgsFeature,
    QgsFeatureSink,
    QgsFields,
    QgsGeometry,
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsVectorLayer,
)

from ._vendor.dpsort_geo.errors import BadInputError
from .axis_fields import field_kind, slice_values
from .compat import field
from .i18n import tr
from .releases import CancelledError

#: one plain point in little-endian well-known binary
WKB_POINT = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])
#: features between two looks at the cancel button
BATCH = 20000


def axis_fields(axes):
    """A field for each axis of a release."""
    fields = QgsFields()
    for axis in axes:
        fields.append(field(axis.name, field_kind(axis)))
    return fields


def write_points(sink, crs, axes, chunks, total, feedback, paid=False, start=50.0):
    """Add points to a feature sink in batches; once they are paid for, nobody can cancel that.

    QGIS itself takes multipoints apart into features: a Python object for each of them would
    cost more than all the rest of the plugin.
    """
    values = [slice_values(axis) for axis in axes]
    done = 0
    for x, y, labels in chunks:
        table = np.zeros(x.size, WKB_POINT)
        table["order"], table["type"], table["x"], table["y"] = 1, 1, x, y
        for first in range(0, x.size, BATCH):
            if feedback.isCanceled() and not paid:
                raise CancelledError
            here = slice(first, first + BATCH)
            parts = _parts(table[here], [label[here] for label in labels], values)
            singles = _taken_apart(parts, axis_fields(axes), crs)
            if not sink.addFeatures(singles.getFeatures(), QgsFeatureSink.Flag.FastInsert):
                raise BadInputError(tr("The points could not be written; check the output file."))
            feedback.setProgress(start + (100.0 - start) * (done + first) / total)
        done += x.size


def _parts(table, labels, values):
    """Points of one label after the other, with the attributes of the label."""
    if not labels:
        return [(table, [])]
    joint = np.zeros(table.size, np.int64)
    for label, known in zip(labels, values):
        joint = joint * len(known) + label
    order = np.argsort(joint, kind="stable")
    cuts = np.flatnonzero(np.diff(joint[order])) + 1
    return [
        (table[some], [known[label[some[0]]] for label, known in zip(labels, values)])
        for some in np.split(order, cuts)
    ]


def _taken_apart(parts, fields, crs):
    """A layer of single points from tables of them."""
    together = QgsVectorLayer("MultiPoint", "", "memory")
    together.setCrs(crs)
    provider = together.dataProvider()
    provider.addAttributes(fields.toList())
    together.updateFields()
    features = []
    for table, attributes in parts:
        head = np.array([4, table.size], "<u4").tobytes()
        geometry = QgsGeometry()
        geometry.fromWkb(b"\x01" + head + table.tobytes())
        feature = QgsFeature(fields)
        feature.setGeometry(geometry)
        feature.setAttributes(attributes)
        features.append(feature)
    if not provider.addFeatures(features)[0]:
        raise BadInputError(tr("The points could not be written; check the output file."))
    registry, context = QgsApplication.processingRegistry(), QgsProcessingContext()
    parameters = {"INPUT": together, "OUTPUT": QgsProcessing.TEMPORARY_OUTPUT}
    algorithm = registry.createAlgorithmById("native:multiparttosingleparts")
    results, _ = algorithm.run(parameters, context, QgsProcessingFeedback(False))
    return context.takeResultLayer(results["OUTPUT"])
