"""Layers that an algorithm reads, taken while they are there.

A run has a thread of its own, and meanwhile the user may remove the layer or start another project.
So everything that a run needs of a layer is taken beforehand, in the thread of the layer; features
come from QGIS's feature source, which is made to be read in other threads and outlives its layer.
"""

import dataclasses
from typing import Union

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFeatureRequest,
    QgsProcessingFeatureSourceDefinition,
    QgsVectorLayerFeatureSource,
    QgsVectorLayerSelectedFeatureSource,
)


@dataclasses.dataclass(frozen=True)
class TakenLayer:
    """What a run needs of a layer; ``filtered`` and ``selected`` say that only a part is meant."""

    crs: QgsCoordinateReferenceSystem
    count: int
    filtered: bool
    selected: bool
    #: a filter and a limit of this run alone, as the toolbox has them
    expression: str
    limit: int
    source: Union[QgsVectorLayerFeatureSource, QgsVectorLayerSelectedFeatureSource]

    def features(self, context, columns=()):
        """Features with their geometry, and with the attributes in some columns."""
        request = QgsFeatureRequest()
        if columns:
            request.setSubsetOfAttributes(list(columns))
        else:
            request.setNoAttributes()
        if self.expression:
            request.setExpressionContext(context.expressionContext())
            request.setFilterExpression(self.expression)
        if self.limit > 0:
            request.setLimit(self.limit)
        return self.source.getFeatures(request)


def take(layer, value):
    """Take a layer, or the part of it that the value of a parameter means."""
    definition = value if isinstance(value, QgsProcessingFeatureSourceDefinition) else None
    selected = definition is not None and definition.selectedFeaturesOnly
    expression = getattr(definition, "filterExpression", "")  # since QGIS 3.32
    kind = QgsVectorLayerSelectedFeatureSource if selected else QgsVectorLayerFeatureSource
    return TakenLayer(
        crs=layer.crs(),
        count=layer.selectedFeatureCount() if selected else layer.featureCount(),
        filtered=bool(expression or layer.subsetString()),
        selected=selected,
        expression=expression,
        limit=getattr(definition, "featureLimit", -1),
        source=kind(layer),
    )
