"""Count in polygons from a release."""

from qgis.core import (
    QgsFeature,
    QgsFeatureRequest,
    QgsFeatureSink,
    QgsFields,
    QgsProcessing,
    QgsProcessingException,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterNumber,
)

from .._vendor.dpsort_geo.errors import BadInput
from .._vendor.dpsort_geo.reader.decode import decode
from .._vendor.dpsort_geo.reader.query import count_within
from .._vendor.dpsort_geo.release import load
from ..compat import UNCHECKED, number_field
from ..i18n import tr
from ..points import Cancelled
from ..releases import crs_pair, statement_text
from ..style import Styler, counts_style
from ..zones import neighbourhood, zone_rings
from .base import PrivacyAlgorithm

COLUMNS = ("estimate", "low", "high")


class CountInPolygons(PrivacyAlgorithm):
    """How many points lie in each polygon, with limits."""

    NAME = "countinpolygons"
    ICON = "count.svg"
    ZONES = "ZONES"
    LEVEL = "LEVEL"
    OUTPUT = "OUTPUT"

    def title(self):
        return tr("Count in polygons from a release")

    def help(self):
        return tr(
            "Estimates how many points lie in each polygon, with limits between which the true "
            "number lies with the chosen confidence. It reads a release file and no private data."
        )

    def words(self):
        return tr("zones,statistics,estimate,confidence")

    def initAlgorithm(self, config=None):
        self.add_release()
        polygons = [QgsProcessing.SourceType.TypeVectorPolygon]
        self.add(
            QgsProcessingParameterFeatureSource(self.ZONES, tr("Polygons"), polygons),
            tr("The polygons to count in; they may overlap."),
        )
        self.add(
            QgsProcessingParameterNumber(
                self.LEVEL,
                tr("Confidence in percent"),
                QgsProcessingParameterNumber.Type.Double,
                90.0,
                minValue=1,
                maxValue=99.9,
            ),
            tr("How often the limits should hold the true number."),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT, tr("Private counts"), QgsProcessing.SourceType.TypeVectorPolygon
            ),
            tr("The polygons with the fields estimate, low and high."),
        )

    def work(self, parameters, context, feedback):
        release = load(self.parameterAsFile(parameters, self.RELEASE, context))
        source = self.parameterAsSource(parameters, self.ZONES, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, self.ZONES))
        level = self.parameterAsDouble(parameters, self.LEVEL, context) / 100
        if not source.sourceCrs().isValid():
            raise BadInput(tr("The polygons have no coordinate reference system; set it first."))
        features = list(source.getFeatures(QgsFeatureRequest(), UNCHECKED))
        zones = self._zones(features, source.sourceCrs(), release, context, feedback)
        columns = count_within(decode(release), zones, level)
        fields = QgsFields(source.fields())
        for name in COLUMNS:
            if fields.lookupField(name) >= 0:
                fields.remove(fields.lookupField(name))
        kept = [source.fields().lookupField(field.name()) for field in fields]
        for name in COLUMNS:
            fields.append(number_field(name))
        sink, target = self.parameterAsSink(
            parameters, self.OUTPUT, context, fields, source.wkbType(), source.sourceCrs()
        )
        if sink is None:
            raise QgsProcessingException(self.invalidSinkError(parameters, self.OUTPUT))
        counted = [
            _with_counts(feature, fields, kept, [float(column[row]) for column in columns])
            for row, feature in enumerate(features)
        ]
        if not sink.addFeatures(counted, QgsFeatureSink.Flag.FastInsert):
            raise QgsProcessingException(sink.lastError())
        if context.willLoadLayerOnCompletion(target):
            styler = Styler(counts_style, statement_text(release))
            context.layerToLoadOnCompletionDetails(target).setPostProcessor(styler)
        return {self.OUTPUT: target}

    def _zones(self, features, crs, release, context, feedback):
        _, working = crs_pair(release)
        transforms, zones = context.transformContext(), []
        around = neighbourhood(release.grid, working, crs, transforms)
        for number, feature in enumerate(features):
            if feedback.isCanceled():
                raise Cancelled
            if not feature.hasGeometry():
                raise BadInput(
                    tr("Every feature needs a polygon to count in; remove empty ones first.")
                )
            zones.append(zone_rings(feature.geometry(), crs, working, around, transforms))
            feedback.setProgress(80 * number / len(features))
        return zones


def _with_counts(feature, fields, kept, counts):
    counted = QgsFeature(fields)
    counted.setGeometry(feature.geometry())
    values = feature.attributes()
    counted.setAttributes([values[column] for column in kept] + [round(c, 1) for c in counts])
    return counted
