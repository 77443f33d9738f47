"""Choose the public area: a boundary layer, or a box."""

from qgis.core import QgsMapLayerProxyModel, QgsProject, QgsReferencedRectangle
from qgis.gui import QgsExtentWidget, QgsMapLayerComboBox
from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QGridLayout, QRadioButton, QWidget
from qgis.utils import iface

from .._vendor.dpsort_geo.errors import BadInput
from ..area import area_of_box, area_of_polygons
from ..i18n import said, tr


class AreaWidget(QWidget):
    """Two radio buttons, a layer and an extent; emits ``changed``."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(parent)
        self._area, self._problem, self._known = None, "", False
        self.by_layer = QRadioButton(tr("&Boundary layer"), self)
        self.by_extent = QRadioButton(tr("E&xtent"), self)
        self.by_layer.setChecked(True)
        self.layer = QgsMapLayerComboBox(self)
        self.layer.setObjectName("areaLayer")
        self.layer.setFilters(QgsMapLayerProxyModel.Filter.PolygonLayer)
        self.layer.setAllowEmptyLayer(True)
        self.layer.setLayer(None)  # which area is public is for the user to say
        self.extent = QgsExtentWidget(self)
        self.extent.setObjectName("areaExtent")
        canvas = iface.mapCanvas()
        self.extent.setMapCanvas(canvas)
        self.extent.setCurrentExtent(canvas.extent(), canvas.mapSettings().destinationCrs())
        self.extent.setOutputCrs(QgsProject.instance().crs())
        form = QGridLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addWidget(self.by_layer, 0, 0)
        form.addWidget(self.layer, 0, 1)
        form.addWidget(self.by_extent, 1, 0)
        form.addWidget(self.extent, 1, 1)
        form.setColumnStretch(1, 1)
        self.by_layer.toggled.connect(self._switch)
        self.layer.layerChanged.connect(self._forget)
        self.extent.extentChanged.connect(self._forget)
        self._switch()

    def _switch(self):
        self.layer.setEnabled(self.by_layer.isChecked())
        self.extent.setEnabled(self.by_extent.isChecked())
        self._forget()

    def _forget(self):
        self._known = False
        self.changed.emit()

    def parameters(self):
        """The parameters AREA and EXTENT of an algorithm."""
        if self.by_layer.isChecked():
            layer = self.layer.currentLayer()
            return {"AREA": layer.id() if layer is not None else None}
        if not self.extent.isValid():
            return {"EXTENT": None}
        box, crs = self.extent.outputExtent(), self.extent.outputCrs()
        return {"EXTENT": QgsReferencedRectangle(box, crs)}

    def area(self):
        """The public area, or None while it is not complete; ``problem`` then says why."""
        if not self._known:
            self._known, self._area, self._problem = True, None, ""
            try:
                self._area = self._read()
            except BadInput as error:
                self._problem = said(error)
        return self._area

    @property
    def problem(self):
        """What is wrong with the area, in a sentence."""
        return self._problem

    def _read(self):
        context = QgsProject.instance().transformContext()
        if self.by_layer.isChecked():
            layer = self.layer.currentLayer()
            if layer is None:
                return None
            return area_of_polygons(layer.getFeatures(), layer.crs(), context)
        if not self.extent.isValid():
            return None
        return area_of_box(self.extent.outputExtent(), self.extent.outputCrs(), context)
