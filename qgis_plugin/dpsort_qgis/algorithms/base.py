"""What all algorithms share: names, help, the public area, releases, errors in one sentence."""

import re
from pathlib import Path

from qgis.core import (
    QgsFeatureRequest,
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterFile,
    QgsProcessingUtils,
    QgsProperty,
)
from qgis.PyQt.QtGui import QIcon

from .._vendor.dpsort_geo.errors import BadInput
from ..area import area_of_box, area_of_polygons, looks_like
from ..compat import UNCHECKED
from ..i18n import said, tr
from ..points import Cancelled

#: the beginning of an extent that gives numbers, and does not name a layer
_NUMBERS = re.compile(r"\s*[-+.\d][-+.\deE]*\s*,\s*[-+.\d]")
ICONS = Path(__file__).parent.parent / "icons"


class PrivacyAlgorithm(QgsProcessingAlgorithm):
    """One algorithm of the provider; a subclass gives the words and ``work``."""

    NAME = ""
    ICON = "dpsort.svg"
    AREA = "AREA"
    EXTENT = "EXTENT"
    RELEASE = "RELEASE"

    def createInstance(self):
        return type(self)()

    def name(self):
        return self.NAME

    def displayName(self):
        return self.title()

    def shortHelpString(self):
        return self.help()

    def icon(self):
        return QIcon(str(ICONS / self.ICON))

    def svgIconPath(self):
        return str(ICONS / self.ICON)

    def tags(self):
        words = tr("privacy,differential privacy,anonymise,points,release,dpsort").split(",")
        return words + self.words().split(",")

    def words(self):
        """Further words, separated by commas, under which the toolbox finds the algorithm."""
        return ""

    def add(self, parameter, help_text, advanced=False):
        """Add a parameter with its help."""
        parameter.setHelp(help_text)
        if advanced:
            flag = QgsProcessingParameterDefinition.Flag.FlagAdvanced
            parameter.setFlags(parameter.flags() | flag)
        if not self.addParameter(parameter):
            raise ValueError(f"{self.NAME} has two parameters {parameter.name()}")

    def add_area(self):
        """The two ways to say where points may lie."""
        polygons = [QgsProcessing.SourceType.TypeVectorPolygon]
        self.add(
            QgsProcessingParameterFeatureSource(
                self.AREA, tr("Public area: polygon layer"), polygons, optional=True
            ),
            tr(
                "Polygons within which every point lies, such as a city limit. It must be known "
                "without looking at the points. All features together are the area."
            ),
        )
        self.add(
            QgsProcessingParameterExtent(
                self.EXTENT, tr("Public area: or an extent"), optional=True
            ),
            tr(
                "A box instead of polygons. Never the extent of the private layer: that would tell "
                "where the outermost person is."
            ),
        )

    def add_release(self):
        """The release file that an algorithm reads."""
        self.add(
            QgsProcessingParameterFile(
                self.RELEASE,
                tr("Release file"),
                fileFilter=tr("Releases (*.release.json *.json)"),
            ),
            tr("A file made by 'Publish points privately', or by dpsort-geo elsewhere."),
        )

    def processAlgorithm(self, parameters, context, feedback):
        try:
            return self.work(parameters, context, feedback)
        except Cancelled:
            return {}
        except (BadInput, QgsProcessingException) as error:
            raise QgsProcessingException(said(error)) from None
        except Exception as error:
            # the text of an unforeseen error may quote a value, and that may be a private one
            words = tr("Something unexpected went wrong ({kind}).")
            raise QgsProcessingException(words.format(kind=type(error).__name__)) from None

    def checkParameterValues(self, parameters, context):
        try:
            self.check(parameters, context)
        except BadInput as error:
            return False, said(error)
        return super().checkParameterValues(parameters, context)

    def check(self, parameters, context):
        """Raise BadInput for what can be seen before the run."""

    def check_area(self, parameters, context, private=None):
        """Exactly one public area, and not one that was read from the private layer."""
        polygons, extent = parameters.get(self.AREA), parameters.get(self.EXTENT)
        if not _given(polygons) and not _given(extent):
            raise BadInput(
                tr(
                    "Say where points may lie: give a polygon layer as the public area (a "
                    "boundary layer is best), or an extent."
                )
            )
        if _given(polygons) and _given(extent):
            raise BadInput(
                tr("Give the public area once: a polygon layer or an extent, and not both.")
            )
        if private is not None:
            self._check_not_private(parameters, context, private)

    def layer_of(self, parameters, name, context):
        """The layer behind an input, also where only its selected features are meant.

        QGIS itself finds none for those; without a layer there would be no guard and no ledger.
        """
        value = parameters.get(name)
        if isinstance(value, QgsProcessingFeatureSourceDefinition):
            value = value.source
        if isinstance(value, QgsProperty):
            value = value.valueAsString(context.expressionContext())[0]
        if not isinstance(value, QgsMapLayer):
            value = QgsProcessingUtils.mapLayerFromString(value, context) if value else None
        if value is None:
            raise BadInput(tr("The layer is not known to QGIS; add it to the project first."))
        return value

    def _check_not_private(self, parameters, context, private):
        source = self.layer_of(parameters, private, context)
        if _given(parameters.get(self.AREA)):
            layer = self.layer_of(parameters, self.AREA, context)
            box, crs = layer.extent(), layer.crs()
        else:
            if _names(parameters.get(self.EXTENT), source, context):
                raise BadInput(_leak())
            box = self.parameterAsExtent(parameters, self.EXTENT, context)
            crs = self.parameterAsExtentCrs(parameters, self.EXTENT, context)
        if looks_like(box, crs, source.extent(), source.crs(), context.transformContext()):
            raise BadInput(_leak())

    def public_area(self, parameters, context, private=None):
        """The public area that the user gave."""
        self.check_area(parameters, context, private)
        if _given(parameters.get(self.AREA)):
            source = self.parameterAsSource(parameters, self.AREA, context)
            if source is None:
                raise QgsProcessingException(self.invalidSourceError(parameters, self.AREA))
            crs = source.sourceCrs()
            features = source.getFeatures(QgsFeatureRequest(), UNCHECKED)
            return area_of_polygons(features, crs, context.transformContext())
        box = self.parameterAsExtent(parameters, self.EXTENT, context)
        crs = self.parameterAsExtentCrs(parameters, self.EXTENT, context)
        return area_of_box(box, crs, context.transformContext())


def _given(value):
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None


def _names(value, private, context):
    """Whether an extent parameter names the private layer instead of giving numbers."""
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        value = value.source.staticValue()
    if isinstance(value, QgsMapLayer):
        layer = value
    elif isinstance(value, str) and not _NUMBERS.match(value):
        layer = QgsProcessingUtils.mapLayerFromString(value, context)
    else:
        return False
    return layer is not None and (layer.id() == private.id() or layer.source() == private.source())


def _leak():
    return tr(
        "The public area is the bounding box of the private points, which tells where the "
        "outermost person is. Choose an area that is known without the points: a boundary layer "
        "is best."
    )
