"""Choose the public area: a boundary layer, or a box."""

from qgis.core import QgsMapLayerProxyModel, QgsProject, QgsReferencedRectangle
from qgis.gui import QgsExtentWidget, QgsMapLayerComboBox
from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QGridLayout, QRadioButton, QToolButton, QWidget
from qgis.utils import iface

from .._vendor.dpsort_geo.errors import BadInputError
from ..area import area_of_box, area_of_polygons
from ..host import crs_name
from ..i18n import number_text, said, tr
from .layer_watch import LayerWatch


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
        self.extent.setNullValueAllowed(True)
        self.extent.clear()
        self.layer.setToolTip(
            tr("Polygons within which every point lies, known without looking at the points.")
        )
        self.extent.setToolTip(tr("A box instead of polygons; draw it on the map, or type it."))
        # while a box is drawn on the map, the window is not in the way
        self.extent.toggleDialogVisibility.connect(self._step_aside)
        self._own = _own_extent(self.extent)
        if self._own is not None:
            self._own.triggered.connect(self._take_own)
        self.set_private(None)
        form = QGridLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addWidget(self.by_layer, 0, 0)
        form.addWidget(self.layer, 0, 1)
        form.addWidget(self.by_extent, 1, 0)
        form.addWidget(self.extent, 1, 1)
        form.setColumnStretch(1, 1)
        self.by_layer.toggled.connect(self._switch)
        self.watch = LayerWatch(self)
        self.watch.changed.connect(self._forget)
        self.layer.layerChanged.connect(self._forget)
        self.extent.extentChanged.connect(self._forget)
        self._switch()

    def _step_aside(self, seen):
        window = self.window()
        window.setVisible(seen)
        if seen:
            window.raise_()
            window.activateWindow()

    def set_private(self, layer):
        """Know the private layer, whose extent is offered as any layer's, and refused later."""
        self._private = layer
        if self._own is not None:
            self._own.setVisible(layer is not None)

    def _take_own(self):
        if self._private is not None:
            self.extent.setOutputExtentFromLayer(self._private)

    def is_box(self):
        """Whether the area is a box."""
        return self.by_extent.isChecked()

    def words(self):
        """The area in a few words."""
        if self.by_layer.isChecked():
            layer = self.layer.currentLayer()
            return layer.name() if layer is not None else ""
        box = self.extent.outputExtent()
        edges = box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()
        west, south, east, north = map(number_text, edges)
        crs = crs_name(self.extent.outputCrs())
        return tr("box from {west}, {south} to {east}, {north} ({crs})").format(
            west=west, south=south, east=east, north=north, crs=crs
        )

    def take(self, other):
        """Take over the choice of another such widget."""
        self.by_extent.setChecked(other.by_extent.isChecked())
        self.by_layer.setChecked(other.by_layer.isChecked())
        self.layer.setLayer(other.layer.currentLayer())
        if other.extent.isValid():
            crs = other.extent.outputCrs()
            self.extent.setOutputCrs(crs)
            self.extent.setOutputExtentFromUser(other.extent.outputExtent(), crs)

    def _switch(self):
        self.layer.setEnabled(self.by_layer.isChecked())
        self.extent.setEnabled(self.by_extent.isChecked())
        self._forget()

    def _forget(self, *_):
        self._known = False
        self.watch.watch(self.layer.currentLayer())
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
            except BadInputError as error:
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


def _own_extent(widget):
    """The entry "current layer extent" of QGIS's menu, which by itself gives that of the map."""
    button = widget.findChild(QToolButton, "mCondensedToolButton")
    return button.menu().actions()[-1] if button is not None and button.menu() else None
