"""Layers that an algorithm reads, taken while they are there.

A run has a thread of its own, and meanwhile the user may remove the layer or start another project.
So everything that a run needs of a layer is taken beforehand, in the thread of the layer; features
come from QGIS's feature source, which is made to be read in other threads and outlives its layer.
"""

import dataclasses
from functools import partial
from typing import List, Union

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsExpression,
    QgsFeatureRequest,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsVectorLayerFeatureSource,
    QgsVectorLayerSelectedFeatureSource,
)

from ._vendor.dpsort_geo.errors import BadInputError
from .i18n import tr
from .origins import is_query, read_layers

#: functions of expressions that see other features, beside all aggregates and those of users
_SEE_OTHERS = ("get_feature", "layer_property", "eval", "num_selected", "overlay_")


@dataclasses.dataclass(frozen=True)
class TakenLayer:
    """What a run needs of a layer; ``filtered`` and ``selected`` say that only a part is meant."""

    crs: QgsCoordinateReferenceSystem
    count: int
    filtered: bool
    selected: bool
    #: whether the layer is a query of others
    queried: bool
    #: a filter and a limit of this run alone, as the toolbox has them
    expression: str
    limit: int
    source: Union[QgsVectorLayerFeatureSource, QgsVectorLayerSelectedFeatureSource]
    #: gets an entry when a layer is deleted that a virtual one is made of
    lost: List[bool] = dataclasses.field(default_factory=list)

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

    def check_whole(self):
        """Refuse what was read of a virtual layer while a part of it was taken away."""
        if self.lost:
            raise BadInputError(
                tr(
                    "A layer that this one is made of was removed while it was read; add it again, "
                    "and publish then."
                )
            )


def take(layer, value):
    """Take a layer, or the part of it that the value of a parameter means."""
    definition = value if isinstance(value, QgsProcessingFeatureSourceDefinition) else None
    selected = definition is not None and definition.selectedFeaturesOnly
    expression = getattr(definition, "filterExpression", "")  # since QGIS 3.32
    kind = QgsVectorLayerSelectedFeatureSource if selected else QgsVectorLayerFeatureSource
    taken = TakenLayer(
        crs=layer.crs(),
        count=layer.selectedFeatureCount() if selected else layer.featureCount(),
        filtered=bool(expression or layer.subsetString()),
        selected=selected,
        queried=is_query(layer),
        expression=expression,
        limit=getattr(definition, "featureLimit", -1),
        source=kind(layer),
    )
    for one in read_layers(layer):
        # a feature source outlives its layer, but not the layers behind a virtual one
        if one is not layer and QgsProject.instance().mapLayer(one.id()) is not None:
            one.willBeDeleted.connect(partial(taken.lost.append, True))
    return taken


def refuse_entangled(taken):
    """Refuse a part of a private layer in which one row decides whether another is there.

    One row less would let another in, and change the data by more than the promise covers.
    """
    if taken.limit > 0:
        raise BadInputError(
            tr(
                "A limit on the number of features would let one point decide whether another is "
                "published; take the limit away, or choose the features by their own values."
            )
        )
    if taken.expression and _sees_others(taken.expression):
        raise BadInputError(
            tr(
                "The filter looks at other features than its own, so that one point would decide "
                "whether another is published; filter by the values of each feature alone."
            )
        )


def _sees_others(expression):
    names = QgsExpression(expression).referencedFunctions()
    groups = {one.name(): one.groups() for one in QgsExpression.Functions()}
    return any(
        name.startswith(_SEE_OTHERS)
        or {group.lower() for group in groups.get(name, ["custom"])} & {"aggregates", "custom"}
        for name in names
    )
