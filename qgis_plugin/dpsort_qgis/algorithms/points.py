"""Points from a release."""

from qgis.core import (
    QgsFields,
    QgsProcessing,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterFeatureSink,
    QgsWkbTypes,
)

from .._vendor.dpsort_geo.release import load
from ..i18n import tr
from ..points import Cancelled, sign_geopackage, write_points
from ..releases import crs_pair, point_coordinates, statement_text
from ..style import Styler, points_style
from .base import PrivacyAlgorithm


class PointsFromRelease(PrivacyAlgorithm):
    """Rebuild the point layer that a release stands for."""

    NAME = "pointsfromrelease"
    ICON = "points.svg"
    SPREAD = "SPREAD"
    OUTPUT = "OUTPUT"

    def title(self):
        return tr("Points from a release")

    def help(self):
        return tr(
            "Rebuilds the points of a release file. This needs no private data and costs no "
            "privacy: everybody who has the file gets the same points."
        )

    def initAlgorithm(self, config=None):
        self.add_release()
        self.add(
            QgsProcessingParameterBoolean(
                self.SPREAD, tr("Spread points over the area that they stand for"), True
            ),
            tr(
                "Without it, points lie on top of each other where the release knows no more than "
                "their number; with it, the map is easier to read."
            ),
        )
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT, tr("Private points"), QgsProcessing.SourceType.TypeVectorPoint
            ),
            tr("A point layer with no attributes."),
        )

    def work(self, parameters, context, feedback):
        release = load(self.parameterAsFile(parameters, self.RELEASE, context))
        spread = self.parameterAsBool(parameters, self.SPREAD, context)
        target = add_points(self, self.OUTPUT, release, spread, parameters, context, feedback)
        return {self.OUTPUT: target}


def add_points(algorithm, name, release, spread, parameters, context, feedback):
    """Write the points of a release into the sink of an algorithm; the sink's id, or None."""
    crs, _ = crs_pair(release)
    sink, target = algorithm.parameterAsSink(
        parameters, name, context, QgsFields(), QgsWkbTypes.Type.Point, crs
    )
    if sink is None:
        return None
    x, y = point_coordinates(release, spread, context.transformContext())
    if not write_points(sink, crs, x, y, feedback):
        raise Cancelled
    del sink  # closes the file
    sign_geopackage(target, statement_text(release))
    if context.willLoadLayerOnCompletion(target):
        styler = Styler(points_style, statement_text(release))
        context.layerToLoadOnCompletionDetails(target).setPostProcessor(styler)
    return target
