"""The window behind Vector > Private points > Publish..."""

from pathlib import Path

from qgis.core import (
    QgsMapLayerProxyModel,
    QgsProcessing,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
)
from qgis.gui import QgsCollapsibleGroupBox, QgsFieldComboBox, QgsFileWidget, QgsMapLayerComboBox
from qgis.PyQt.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QLabel,
    QSpinBox,
    QVBoxLayout,
)

from .._vendor.dpsort_geo.budget import NEIGHBOURS
from .._vendor.dpsort_geo.errors import BadInput
from .._vendor.dpsort_geo.publisher.measure import METHODS
from ..i18n import said, tr
from ..releases import ledger, ledger_name, method_words, neighbour_words
from ..report import length
from .area_widget import AreaWidget
from .epsilon_widget import EpsilonWidget
from .expectation import Expectation
from .runner import Run
from .window import Window

ALGORITHM = "dpsort:publishpoints"


class PublishDialog(Window):
    """Layer, area, epsilon, output; beside it what to expect."""

    def __init__(self):
        super().__init__(
            "publish.svg",
            tr("Publish points privately"),
            tr("Turn points that belong to people into points that anybody may see."),
            tr("&Publish"),
        )
        self.plan = None
        self._build_points()
        self._build_area()
        self._build_privacy()
        self._build_output()
        self.form_layout.addStretch(1)
        self.card = Expectation(self)
        self.middle.addWidget(self.card)
        self._connect()
        self._layer_changed()
        self.resize(900, 600)

    def _build_points(self):
        box = QGroupBox(tr("Points"), self)
        form = QFormLayout(box)
        self.layer = QgsMapLayerComboBox(self)
        self.layer.setObjectName("points")
        self.layer.setFilters(QgsMapLayerProxyModel.Filter.PointLayer)
        form.addRow(tr("Private &layer"), self.layer)
        self.several = QCheckBox(tr("&Several points per person, named by"), self)
        self.several.setObjectName("several")
        self.person = QgsFieldComboBox(self)
        self.person.setObjectName("person")
        self.person.setAllowEmptyFieldName(True)
        form.addRow(self.several, self.person)
        self.count = QSpinBox(self)
        self.count.setObjectName("count")
        self.count.setRange(1, 2_000_000_000)
        self.count.setGroupSeparatorShown(True)
        self.count.setKeyboardTracking(False)
        self.count.setValue(10_000)
        self.count_label = _buddy(tr("&Number of points"), self.count)
        form.addRow(self.count_label, self.count)
        self.spent = QLabel(self)
        self.spent.setObjectName("spent")
        self.spent.setWordWrap(True)
        form.addRow(self.spent)
        self.form_layout.addWidget(box)

    def _build_area(self):
        box = QGroupBox(tr("Public area: where points may lie"), self)
        layout = QVBoxLayout(box)
        self.area = AreaWidget(box)
        layout.addWidget(self.area)
        self.form_layout.addWidget(box)

    def _build_privacy(self):
        box = QGroupBox(tr("Privacy"), self)
        form = QFormLayout(box)
        self.epsilon = EpsilonWidget(self)
        form.addRow(_buddy(tr("&Epsilon"), self.epsilon.spin), self.epsilon)
        self.form_layout.addWidget(box)
        more = QgsCollapsibleGroupBox(tr("Advanced"), self)
        more.setObjectName("advanced")
        form = QFormLayout(more)
        self.method = _combo(method_words(), self)
        self.method.setObjectName("method")
        form.addRow(tr("&Method"), self.method)
        self.neighbours = _combo(neighbour_words(), self)
        self.neighbours.setObjectName("neighbours")
        form.addRow(tr("&Hidden"), self.neighbours)
        self.group_size = QSpinBox(self)
        self.group_size.setRange(0, 2_000_000_000)
        self.group_size.setSpecialValueText(tr("automatic"))
        self.group_size.setKeyboardTracking(False)
        self.group_size.setEnabled(False)
        form.addRow(tr("&Group size"), self.group_size)
        more.setCollapsed(True)
        self.form_layout.addWidget(more)

    def _build_output(self):
        box = QGroupBox(tr("Output"), self)
        form = QFormLayout(box)
        self.release = _file(tr("Releases (*.release.json)"), tr("[temporary file]"), self)
        self.release.setObjectName("release")
        form.addRow(_buddy(tr("&Release file"), self.release.lineEdit()), self.release)
        self.target = _file(tr("GeoPackage (*.gpkg)"), tr("[temporary layer]"), self)
        self.target.setObjectName("target")
        form.addRow(_buddy(tr("P&oints"), self.target.lineEdit()), self.target)
        self.form_layout.addWidget(box)

    def _connect(self):
        self.layer.layerChanged.connect(self._layer_changed)
        for signal in (
            self.several.toggled,
            self.neighbours.currentIndexChanged,
            self.method.currentIndexChanged,
        ):
            signal.connect(self._choice_changed)
        self.count.valueChanged.connect(self.update_card)
        self.area.changed.connect(self.update_card)
        self.epsilon.changed.connect(self.update_card)
        self.person.fieldChanged.connect(self.update_card)

    def refresh(self):
        """What was spent, and whether the layers are still there."""
        self._show_spent()
        self.update_card()

    def _layer_changed(self, *_):
        layer = self.layer.currentLayer()
        self.person.setLayer(layer)
        self._choice_changed()
        self._show_spent()

    def _choice_changed(self, *_):
        self.person.setEnabled(self.several.isChecked())
        self.group_size.setEnabled(self._method() != "adaptive")
        if self._method() == "adaptive":
            self.group_size.setValue(0)
        people = self.several.isChecked()
        layer = self.layer.currentLayer()
        public = NEIGHBOURS[self.neighbours.currentIndex()] == "replace" and not people
        public = public and layer is not None and layer.featureCount() > 0
        if public:
            # public by the relation that was chosen; otherwise only the user may say a number
            self.count.setValue(min(layer.featureCount(), self.count.maximum()))
        self.count.setEnabled(not public)
        words = tr("&Number of people, roughly") if people else tr("&Number of points")
        self.count_label.setText(words if people or public else tr("&Number of points, roughly"))
        self.update_card()

    def _method(self):
        return METHODS[self.method.currentIndex()]

    def _show_spent(self):
        layer = self.layer.currentLayer()
        if layer is None:
            self.spent.setText("")
            return
        try:
            entries = ledger().entries(ledger_name(layer))
            spent = float(ledger().spent(ledger_name(layer)))
        except BadInput as error:
            self.spent.setText(said(error))
            return
        if not entries:
            self.spent.setText(
                tr("Nothing was spent on this layer: this would be its first release.")
            )
        else:
            words = tr(
                "Spent on this layer: epsilon {spent:g} (releases: {count}). A new one adds to it."
            )
            self.spent.setText(words.format(spent=spent, count=len(entries)))

    def update_card(self, *_):
        """Show anew what to expect."""
        area = self.area.area()
        hint = self._hint(area)
        person = self.several.isChecked()
        self.plan = self.card.show_plan(
            area, self.count.value(), self.epsilon.value(), self._method(), person, hint
        )
        self.run_button.setEnabled(not hint)

    def _hint(self, area):
        if self.layer.currentLayer() is None:
            return tr("Load a layer of points first.")
        if self.several.isChecked() and not self.person.currentField():
            return tr("Choose the field that names the person.")
        if area is None:
            return self.area.problem or tr("Choose a public area: a boundary layer is best.")
        return Run(ALGORITHM, self._parameters()).problem()

    def _parameters(self):
        release = self.release.filePath() or QgsProcessing.TEMPORARY_OUTPUT
        report = QgsProcessing.TEMPORARY_OUTPUT
        if self.release.filePath():
            name = Path(release).name.split(".")[0]
            report = str(Path(release).with_name(f"{name}.report.html"))
        target = self.target.filePath() or QgsProcessing.TEMPORARY_OUTPUT
        return {
            "INPUT": self.layer.currentLayer().id(),
            **self.area.parameters(),
            "EPSILON": self.epsilon.value(),
            "PERSON": self.person.currentField() if self.several.isChecked() else None,
            "METHOD": self.method.currentIndex(),
            "NEIGHBOURS": self.neighbours.currentIndex(),
            "GROUP_SIZE": self.group_size.value() or None,
            "OUTPUT": QgsProcessingOutputLayerDefinition(target, QgsProject.instance()),
            "RELEASE": release,
            "REPORT": report,
        }

    def run(self):
        """Publish."""
        self.launch(ALGORITHM, self._parameters(), self._published)

    def _published(self, results):
        error = length(self.plan.expected_error) if self.plan else "?"
        sentence = tr("Published with epsilon {epsilon:g}; typical error about {error}.").format(
            epsilon=self.epsilon.value(), error=error
        )
        self.announce(sentence, results.get("REPORT"))


def _buddy(text, widget):
    """A label whose underlined letter leads to a widget inside a larger one."""
    label = QLabel(text)
    label.setBuddy(widget)
    return label


def _combo(words, parent):
    combo = QComboBox(parent)
    combo.addItems(words)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(30)
    return combo


def _file(kind, placeholder, parent):
    widget = QgsFileWidget(parent)
    widget.setStorageMode(QgsFileWidget.StorageMode.SaveFile)
    widget.setFilter(kind)
    widget.lineEdit().setPlaceholderText(placeholder)
    return widget
