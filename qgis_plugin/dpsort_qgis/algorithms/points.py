"""Points from a release."""

from qgis.core import (
    QgsFields,
    QgsProcessing,
    QgsProcessingException,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterFeatureSink,
    QgsWkbTypes,
)

from .._vendor.dpsort_geo.release import load
from ..i18n import tr
from ..points import sign_geopackage, write_points
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
        crs, _ = crs_pair(release)
        output = PointsOutput(self, self.OUTPUT, crs, parameters, context)
        output.write(release, spread, context, feedback)
        return {self.OUTPUT: output.target}


class PointsOutput:
    """The point layer of an algorithm, opened before anything is made for it.

    ``target`` is the layer's id, or None when the user wants no layer.
    """

    def __init__(self, algorithm, name, crs, parameters, context):
        self.crs = crs
        self.sink, self.target = algorithm.parameterAsSink(
            parameters, name, context, QgsFields(), QgsWkbTypes.Type.Point, crs
        )
        if self.sink is None:
            self.target = None
            if parameters.get(name) not in (None, ""):
                raise QgsProcessingException(algorithm.invalidSinkError(parameters, name))

    def write(self, release, spread, context, feedback, paid=False):
        """Write the points of a release, with the privacy statement."""
        if self.sink is None:
            return
        x, y = point_coordinates(release, spread, context.transformContext())
        write_points(self.sink, self.crs, x, y, feedback, paid)
        self.sink = None  # closes the file
        sign_geopackage(self.target, statement_text(release))
        if context.willLoadLayerOnCompletion(self.target):
            styler = Styler(points_style, statement_text(release))
            context.layerToLoadOnCompletionDetails(self.target).setPostProcessor(styler)
