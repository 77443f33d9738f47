"""Making a release: where points may lie, at what epsilon, how they are measured."""

import re

from qgis.core import (
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterNumber,
    QgsProcessingUtils,
)

from .._vendor.dpsort_geo.errors import BadInputError
from ..area import area_of_box, area_of_polygons, leak, lies_elsewhere, looks_like
from ..i18n import tr
from ..releases import method_words
from .base import PrivacyAlgorithm, is_given

#: the beginning of an extent that gives numbers, and does not name a layer
_NUMBERS = re.compile(r"\s*[-+.\d][-+.\deE]*\s*,\s*[-+.\d]")


class MakingParameters(PrivacyAlgorithm):
    """The public settings that publishing and planning share."""

    AREA = "AREA"
    EXTENT = "EXTENT"
    EPSILON = "EPSILON"
    METHOD = "METHOD"
    RESOLUTION = "RESOLUTION"

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

    def add_epsilon(self, optional=False):
        """Epsilon, with three decimals."""
        epsilon = QgsProcessingParameterNumber(
            self.EPSILON,
            tr("Epsilon (privacy budget)"),
            QgsProcessingParameterNumber.Type.Double,
            1.0,
            optional=optional,
            minValue=0.001,
            maxValue=100,
        )
        epsilon.setMetadata({"widget_wrapper": {"decimals": 3}})
        self.add(
            epsilon,
            tr(
                "How much one person can change the result. Smaller protects more and blurs more: "
                "0.1 is strong, 1 is usual, above 3 is weak."
            ),
        )

    def add_method(self):
        """The mechanism."""
        self.add(
            QgsProcessingParameterEnum(self.METHOD, tr("Method"), method_words(), defaultValue=0),
            tr("How the points are measured. If in doubt: adaptive."),
            advanced=True,
        )

    def add_resolution(self):
        """The smallest detail that readers will ask for."""
        self.add(
            QgsProcessingParameterNumber(
                self.RESOLUTION,
                tr("Resolution in metres"),
                QgsProcessingParameterNumber.Type.Double,
                optional=True,
                minValue=0,
            ),
            tr(
                "The smallest detail that readers will ask for. Nothing is spent below it, so that "
                "everything above is nearer to the truth; what is read finer is worse. Empty: as "
                "fine as makes sense."
            ),
            advanced=True,
        )

    def resolution(self, parameters, context):
        """Metres, or None."""
        return self.parameterAsDouble(parameters, self.RESOLUTION, context) or None

    def check_area(self, parameters, context, private=None):
        """Exactly one public area, and not one that was read from the private layer."""
        polygons, extent = parameters.get(self.AREA), parameters.get(self.EXTENT)
        if not is_given(polygons) and not is_given(extent):
            raise BadInputError(
                tr(
                    "Say where points may lie: give a polygon layer as the public area (a "
                    "boundary layer is best), or an extent."
                )
            )
        if is_given(polygons) and is_given(extent):
            raise BadInputError(
                tr("Give the public area once: a polygon layer or an extent, and not both.")
            )
        if private is not None:
            self._check_not_private(parameters, context, private)

    def _check_not_private(self, parameters, context, private):
        source = self.layer_of(parameters, private, context)
        if is_given(parameters.get(self.AREA)):
            layer = self.layer_of(parameters, self.AREA, context)
            box, crs = layer.extent(), layer.crs()
        else:
            if _names(parameters.get(self.EXTENT), source, context):
                raise BadInputError(leak())
            box = self.parameterAsExtent(parameters, self.EXTENT, context)
            crs = self.parameterAsExtentCrs(parameters, self.EXTENT, context)
        theirs = source.extent(), source.crs(), context.transformContext()
        if looks_like(box, crs, *theirs):
            raise BadInputError(leak())
        if lies_elsewhere(box, crs, *theirs):
            raise BadInputError(
                tr(
                    "The public area and the private layer lie in different places, so that every "
                    "point would be moved to the area's edge; check the area, and the coordinate "
                    "reference system of the layer."
                )
            )

    def take_area(self, parameters, context):
        """What the run needs to make the public area."""
        if is_given(parameters.get(self.AREA)):
            self._polygons = self.take_layer(parameters, self.AREA, context)
            return
        self._polygons = None
        self._box = self.parameterAsExtent(parameters, self.EXTENT, context)
        self._box_crs = self.parameterAsExtentCrs(parameters, self.EXTENT, context)

    def public_area(self, context):
        """The public area that the user gave."""
        transforms = context.transformContext()
        if self._polygons is None:
            return area_of_box(self._box, self._box_crs, transforms)
        return area_of_polygons(self._polygons.features(context), self._polygons.crs, transforms)


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
