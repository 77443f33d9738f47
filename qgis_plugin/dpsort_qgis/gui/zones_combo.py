"""Choose zones that are declared beforehand, and know how many of them there are."""

from qgis.core import QgsMapLayerProxyModel, QgsProject
from qgis.gui import QgsMapLayerComboBox

from ..declared_zones import declare_zones
from ..planner import grid_of
from .layer_watch import LayerWatch


class ZonesCombo(QgsMapLayerComboBox):
    """A polygon layer, or none; ``watch`` tells when the chosen layer changes."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setFilters(QgsMapLayerProxyModel.Filter.PolygonLayer)
        self.setAllowEmptyLayer(True)
        self.setLayer(None)  # which zones are public is for the user to say
        self._asked, self._found = None, 0
        self.watch = LayerWatch(self)
        self.watch.changed.connect(self.forget)
        self.layerChanged.connect(self.forget)

    def forget(self, *_):
        """Look at the layer again when it is asked about."""
        self._asked = None
        self.watch.watch(self.currentLayer())

    def zones_layer(self):
        """The layer of zones; None where there is none, or none can be."""
        return self.currentLayer() if self.isEnabled() else None

    def number(self, area, resolution, axes):
        """How many zones lie in an area; raises BadInputError where they have no table."""
        layer = self.zones_layer()
        if layer is None or area is None or not axes:
            return 0
        if self._asked != (area, resolution, axes):
            features, crs = layer.getFeatures(), layer.crs()
            grid, context = grid_of(area, resolution), QgsProject.instance().transformContext()
            self._found = declare_zones(features, crs, area, grid, axes, context).size
            self._asked = area, resolution, axes
        return self._found

    def parameters(self):
        """The parameter ZONES."""
        layer = self.zones_layer()
        return {"ZONES": layer.id() if layer is not None else None}
