"""The parameters of publishing: what is asked, with help for each."""

from qgis.core import (
    QgsProcessing,
    QgsProcessingOutputString,
    QgsProcessingParameterCrs,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)

from ..i18n import tr
from ..private_points import RowWords
from ..releases import neighbour_words
from ..row_fields import CATEGORY, PERSON, TIME, safe_field
from .axis_parameters import AxisParameters


class PublishParameters(AxisParameters):
    """Parameters, and what they mean together; the algorithm itself is ``publish``."""

    INPUT = FIELDS_OF = "INPUT"
    PERSON = "PERSON"
    NEIGHBOURS = "NEIGHBOURS"
    GROUP_SIZE = "GROUP_SIZE"
    ZONES = "ZONES"
    DATASET = "DATASET"
    RELEASE = "RELEASE"
    CRS = "CRS"
    OUTPUT = "OUTPUT"

    def initAlgorithm(self, config=None):
        points = [QgsProcessing.SourceType.TypeVectorPoint]
        self.add(
            QgsProcessingParameterFeatureSource(self.INPUT, tr("Private point layer"), points),
            tr(
                "The points to protect. Their geometry is used, and the fields that are named "
                "below; no other attribute is read or published."
            ),
        )
        self.add_area()
        self.add_epsilon()
        self.add_field(
            self.PERSON,
            tr("Person: field with the name"),
            tr(
                "With it, each person counts once and all their points are protected together. "
                "Without it, each point is protected by itself."
            ),
        )
        self.add_axes()
        self._add_advanced()
        self._add_outputs()

    def _add_advanced(self):
        polygons = [QgsProcessing.SourceType.TypeVectorPolygon]
        self.add(
            QgsProcessingParameterFeatureSource(
                self.ZONES, tr("Declared zones: polygon layer"), polygons, optional=True
            ),
            tr(
                "With a category or a time: public polygons that do not overlap, such as wards. A "
                "third of epsilon goes to a table of their counts by category and time, which "
                "brings those counts nearer to the truth where points are many, and makes all maps "
                "worse. Refused where it would be noise."
            ),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterString(self.DATASET, tr("Name of the data set"), optional=True),
            tr(
                "Under which name the ledger adds up what is spent on these points. Empty: where "
                "the layer's data lies. Memory layers and queries need a name."
            ),
            advanced=True,
        )
        self.add_method()
        self.add(
            QgsProcessingParameterEnum(
                self.NEIGHBOURS, tr("What is hidden"), neighbour_words(), defaultValue=0
            ),
            tr(
                "Either where a person is (the number of points is public), or whether a person is "
                "in the data at all (the number of points gets noise, too)."
            ),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterNumber(
                self.GROUP_SIZE, tr("Group size"), optional=True, minValue=1
            ),
            tr(
                "For the methods Sort and Hybrid: points in a group. Empty: chosen from the number "
                "of points and epsilon."
            ),
            advanced=True,
        )
        self.add_resolution()
        self.add(
            QgsProcessingParameterCrs(self.CRS, tr("CRS of the points"), optional=True),
            tr("Of the published point layer. Empty: that of the private layer."),
            advanced=True,
        )

    def _add_outputs(self):
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT,
                tr("Published points"),
                QgsProcessing.SourceType.TypeVectorPoint,
                optional=True,
                createByDefault=True,
            ),
            tr("The published points; their category and time are the only attributes."),
        )
        self.add(
            QgsProcessingParameterFileDestination(
                self.RELEASE,
                tr("Release file"),
                fileFilter=tr("Releases (*.release.json)"),
                optional=True,
                createByDefault=True,
            ),
            tr(
                "The file to keep and to share: everything can be rebuilt from it. It is never "
                "temporary and never overwrites another: without a name it gets one beside the "
                "project, or among your documents."
            ),
        )
        self.add_page(tr("Report"), tr("A page that says what was published and what it promises."))
        self.addOutput(QgsProcessingOutputString("STATEMENT", tr("Privacy statement")))

    def row_words(self, layer, parameters, context):
        """What is read of each row; refuses fields in which one row can change others."""
        axes = self.axes(parameters, context)
        fields = tuple(
            safe_field(layer, axis.column, TIME if hasattr(axis, "every") else CATEGORY)
            for axis in axes
        )
        person = self.parameterAsString(parameters, self.PERSON, context)
        return RowWords(safe_field(layer, person, PERSON) if person else None, axes, fields)
