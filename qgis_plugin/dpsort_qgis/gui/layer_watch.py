"""Tells when anything about a layer changes that a window shows: rows, filter, selection, CRS."""

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QObject, QTimer, pyqtSignal

_SIGNALS = (
    "subsetStringChanged", "selectionChanged", "featureAdded", "featureDeleted", "featuresDeleted",
    "editingStarted", "editingStopped", "afterRollBack", "dataChanged", "crsChanged", "nameChanged",
    "geometryChanged", "attributeAdded", "attributeDeleted", "dataSourceChanged",
)  # fmt: skip


class LayerWatch(QObject):
    """Watches one layer at a time, and the project's list of layers; ``changed`` comes once."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(parent)
        self._layer = None
        self._soon = QTimer(self)  # an edit of a thousand rows is one change
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.changed)
        project = QgsProject.instance()
        for signal in (project.layersAdded, project.layersRemoved, project.cleared):
            signal.connect(self._tell)

    def watch(self, layer):
        """Watch this layer, or none, instead of the one before."""
        if layer is self._layer:
            return
        for signal in self._signals():
            try:
                signal.disconnect(self._tell)
            except (RuntimeError, TypeError):  # the layer is gone already
                break
        self._layer = layer
        for signal in self._signals():
            signal.connect(self._tell)

    def _signals(self):
        try:
            found = [getattr(self._layer, name, None) for name in _SIGNALS]
        except RuntimeError:
            return []
        return [signal for signal in found if signal is not None]

    def _tell(self, *_):
        self._soon.start()
