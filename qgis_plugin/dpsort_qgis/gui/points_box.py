"""Which points: the private layer, whose they are, how many, and what was spent on them."""

from qgis.core import (
    QgsMapLayerProxyModel,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.gui import QgsFieldComboBox, QgsMapLayerComboBox
from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QFormLayout, QGroupBox, QLabel, QLineEdit, QSpinBox
from qgis.utils import iface

from .._vendor.dpsort_geo.errors import BadInputError
from ..datasets import check_kept_names, dataset_of, is_published, ledger, source_of, spent
from ..i18n import count_text, number_text, said, tr
from .layer_watch import LayerWatch


class PointsBox(QGroupBox):
    """Emits ``changed`` when anything is chosen otherwise, or changes in the chosen layer."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(tr("Points"), parent)
        self._typed = 10_000
        self._public = True
        form = QFormLayout(self)
        self.layer = QgsMapLayerComboBox(self)
        self.layer.setObjectName("points")
        self.layer.setFilters(QgsMapLayerProxyModel.Filter.PointLayer)
        self.layer.setToolTip(tr("The points to protect; published layers are not offered."))
        form.addRow(tr("Private &layer"), self.layer)
        self.selected = QCheckBox(tr("Selected features &only"), self)
        self.selected.setObjectName("selected")
        self.selected.setToolTip(tr("Publish only the features that are selected in the layer."))
        form.addRow("", self.selected)
        self.several = QCheckBox(tr("&Several points per person, named by"), self)
        self.several.setObjectName("several")
        self.several.setToolTip(
            tr("All points of a person are protected together, and each person counts once.")
        )
        self.person = QgsFieldComboBox(self)
        self.person.setObjectName("person")
        self.person.setToolTip(self.several.toolTip())
        self.person.setAllowEmptyFieldName(True)
        form.addRow(self.several, self.person)
        self._add_count(form)
        self.name = QLineEdit(self)
        self.name.setObjectName("dataset")
        self.name.setToolTip(
            tr("The ledger adds up what is spent under this name; use it again for these points.")
        )
        self.name_label = QLabel(tr("&Data set name"), self)
        self.name_label.setBuddy(self.name)
        form.addRow(self.name_label, self.name)
        self.spent = QLabel(self)
        self.spent.setObjectName("spent")
        self.spent.setWordWrap(True)
        form.addRow(self.spent)
        self._connect()
        self._layer_changed()  # a layer is chosen already, and nobody told of it

    def _add_count(self, form):
        self.count = QSpinBox(self)
        self.count.setObjectName("count")
        self.count.setRange(0, 2_000_000_000)
        self.count.setSpecialValueText("–")
        self.count.setGroupSeparatorShown(True)
        self.count.setKeyboardTracking(False)
        self.count.setToolTip(tr("The expected error follows from this number."))
        self.count_label = QLabel(tr("&Number of points"), self)
        self.count_label.setBuddy(self.count)
        form.addRow(self.count_label, self.count)

    def _connect(self):
        self.watch = LayerWatch(self)
        self.watch.changed.connect(self.refresh)
        self.layer.layerChanged.connect(self._layer_changed)
        self.selected.toggled.connect(self.refresh)
        self.several.toggled.connect(self.refresh)
        self.person.fieldChanged.connect(self._tell)
        self.count.valueChanged.connect(self._counted)
        self.name.textChanged.connect(self._named)

    def prefer_active(self):
        """Choose the layer that is active in QGIS, if it can be."""
        active = iface.activeLayer()
        if active is not None and active in self._offered():
            self.layer.setLayer(active)

    def _offered(self):
        hidden = self.layer.exceptedLayerList()
        return [layer for layer in self._points() if layer not in hidden]

    def _points(self):
        every = QgsProject.instance().mapLayers().values()
        kind = QgsWkbTypes.GeometryType.PointGeometry
        return [
            layer
            for layer in every
            if isinstance(layer, QgsVectorLayer) and layer.geometryType() == kind
        ]

    def refresh(self, *_):
        """Look again at the layer: rows, filter, selection, and what was spent on it."""
        hidden = [layer for layer in self._points() if is_published(layer)]
        if set(hidden) != set(self.layer.exceptedLayerList()):
            self.layer.setExceptedLayerList(hidden)
        layer = self.current()
        self.watch.watch(layer)
        self.person.setEnabled(self.several.isChecked())
        self.selected.setEnabled(layer is not None and layer.selectedFeatureCount() > 0)
        if not self.selected.isEnabled():
            self.selected.setChecked(False)
        place = source_of(layer) if layer is not None else ""
        self.name.setPlaceholderText(place or tr("such as thefts 2026"))
        self._show_count(layer)
        self._show_spent(layer)
        self.changed.emit()

    def current(self):
        """The private layer, or None."""
        return self.layer.currentLayer()

    def hide_number(self, hidden):
        """Under add-remove the number of points is private: only the user may say one."""
        self._public = not hidden
        self.refresh()

    def number_is_public(self):
        """Whether the exact number of points is shown, and published."""
        return self._public and not self.several.isChecked()

    def _show_count(self, layer):
        people, number = self.several.isChecked(), self._typed
        public = self.number_is_public()
        if layer is None:
            number = 0
        elif public:
            chosen = self.selected.isChecked()
            number = layer.selectedFeatureCount() if chosen else layer.featureCount()
        blocked = self.count.blockSignals(True)
        self.count.setValue(max(0, min(number, self.count.maximum())))
        self.count.blockSignals(blocked)
        self.count.setEnabled(layer is not None and not public)
        words = tr("&Number of people, roughly") if people else tr("&Number of points")
        self.count_label.setText(words if people or public else tr("&Number of points, roughly"))

    def _show_spent(self, layer):
        words = ""
        if layer is not None:
            try:
                name = self.dataset()
                if name:
                    check_kept_names(layer, name)
                count = len(ledger().entries(name)) if name else 0
                words = tr("Nothing was spent on this data set: this would be its first release.")
                if not name:
                    words = tr("This layer has no lasting place: give its data set a name.")
                elif count:
                    words = tr(
                        "Spent on this data set: epsilon {spent} (releases: {count}). A new one "
                        "adds to it."
                    ).format(spent=number_text(spent(name)), count=count_text(count))
            except BadInputError as error:
                words = said(error)
        self.spent.setText(words)

    def _layer_changed(self, *_):
        layer = self.current()
        self.person.setLayer(layer)
        blocked = self.name.blockSignals(True)
        named = dataset_of(layer) if layer is not None else ""
        self.name.setText("" if layer is not None and named == source_of(layer) else named)
        self.name.blockSignals(blocked)
        self.refresh()

    def _counted(self, number):
        if self.count.isEnabled():
            self._typed = number
        self._tell()

    def _named(self, *_):
        self._show_spent(self.current())
        self._tell()

    def _tell(self, *_):
        self.changed.emit()

    def dataset(self):
        """The name of the data set in the ledger; nothing when it has none yet."""
        layer = self.current()
        return "" if layer is None else self.name.text().strip() or source_of(layer)

    def rows(self):
        """Which rows are published, in words."""
        layer = self.current()
        if self.selected.isChecked():
            count = count_text(layer.selectedFeatureCount())
            return tr("the {count} selected features").format(count=count)
        if layer.subsetString():
            return tr("those that the filter lets through: {filter}").format(
                filter=layer.subsetString()
            )
        return tr("all rows")

    def is_filtered(self):
        """Whether the layer has a filter."""
        layer = self.current()
        return layer is not None and bool(layer.subsetString())

    def parameters(self):
        """The parameters INPUT, PERSON and DATASET."""
        source = self.current().id()
        if self.selected.isChecked():
            source = QgsProcessingFeatureSourceDefinition(source, True)
        return {
            "INPUT": source,
            "PERSON": self.person.currentField() if self.several.isChecked() else None,
            "DATASET": self.name.text().strip() or None,
        }
