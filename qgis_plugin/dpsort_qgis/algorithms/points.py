"""Points from a release."""

from qgis.core import (
    QgsProcessing,
    QgsProcessingException,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterCrs,
    QgsProcessingParameterFeatureSink,
    QgsWkbTypes,
)

from ..i18n import tr
from ..outputs import files_written, sign, unsigned
from ..point_layers import axis_fields, write_points
from ..release_files import title_of
from ..results import Styler, category_axis, dated_axis, metadata_of, result_name
from ..style import points_style
from .reading_parameters import ReadingParameters


class PointsFromRelease(ReadingParameters):
    """Rebuild the point layer that a release stands for."""

    NAME = "pointsfromrelease"
    ICON = "points.svg"
    DIFFUSE = "SPREAD"  # as models have saved it
    CRS = "CRS"
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
        self.add_within()
        self.add(
            QgsProcessingParameterBoolean(
                self.DIFFUSE, tr("Diffuse points over the area that they stand for"), True
            ),
            tr(
                "Without it, points lie on top of each other where the release knows no more than "
                "their number; with it, the map is easier to read."
            ),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterCrs(self.CRS, tr("CRS of the points"), optional=True),
            tr("Empty: that in which the public area was given."),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT, tr("Published points"), QgsProcessing.SourceType.TypeVectorPoint
            ),
            tr("A point layer; its attributes are the category and the time, if there are any."),
        )

    def prepare_work(self, parameters, context):
        self.take_within(parameters, context)

    def work(self, parameters, context, feedback):
        outputs = files_written(parameters.get(self.OUTPUT), context)
        reading = self.reading(parameters, context, *outputs)
        diffuse = self.parameterAsBool(parameters, self.DIFFUSE, context)
        crs = self.parameterAsCrs(parameters, self.CRS, context)
        crs = crs if crs.isValid() else reading.frame.crs
        output = PointsOutput(self, crs, reading.release.axes, parameters, context)
        title = title_of(self.parameterAsFile(parameters, self.RELEASE, context))
        output.write(reading, diffuse, context, feedback, title)
        return {self.OUTPUT: output.target}


class PointsOutput:
    """The point layer of an algorithm, opened before anything is made for it.

    ``target`` is the layer's id, or None when the user wants no layer.
    """

    def __init__(self, algorithm, crs, axes, parameters, context):
        self.crs, self.axes, name = crs, axes, algorithm.OUTPUT
        files_written(parameters.get(name), context)
        self.sink, self.target = algorithm.parameterAsSink(
            parameters, name, context, axis_fields(axes), QgsWkbTypes.Type.Point, crs
        )
        if self.sink is None:
            self.target = None
            if parameters.get(name) not in (None, ""):
                raise QgsProcessingException(algorithm.invalidSinkError(parameters, name))

    def write(self, reading, diffuse, context, feedback, title, paid=False):
        """Write the points of a release, with the privacy statement."""
        if self.sink is None:
            return
        release = reading.release
        chunks = reading.points(diffuse, self.crs, paid)
        write_points(self.sink, self.crs, self.axes, chunks, release.size, feedback, paid)
        self.sink = None  # closes the file
        if not sign(self.target, metadata_of(release, title)):
            feedback.pushWarning(unsigned())
        dated = dated_axis(self.axes)
        style = points_style(category_axis(self.axes), dated)
        styler = Styler(style, release, title, dated)
        styler.on_load(self.target, context, result_name(title, release.epsilon))
