"""The window behind Vector > Private points > Open a release... and Count in polygons..."""

from qgis.core import (
    QgsMapLayerProxyModel,
    QgsProcessing,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
)
from qgis.gui import QgsFileWidget, QgsMapLayerComboBox
from qgis.PyQt.QtWidgets import QCheckBox, QFormLayout, QGridLayout, QGroupBox, QLabel

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.release import load
from ..i18n import said, tr
from ..promise import statement_text
from .window import Window


class ReleaseDialog(Window):
    """Choose a release file and what to make of it."""

    def __init__(self):
        super().__init__(
            "points.svg",
            tr("Open a release"),
            tr("Rebuild points, a density, counts or a report from a public release file."),
            tr("&Open"),
        )
        self._axes = ()
        box = QGroupBox(tr("Release"), self)
        form = QFormLayout(box)
        self.file = QgsFileWidget(self)
        self.file.setObjectName("file")
        self.file.setFilter(tr("Releases (*.release.json *.json)"))
        self.file.setToolTip(tr("A release file; it can be dropped here, or on the map."))
        label = QLabel(tr("Release &file"), self)
        label.setBuddy(self.file.lineEdit())
        form.addRow(label, self.file)
        self.statement = QLabel(self)
        self.statement.setWordWrap(True)
        form.addRow(self.statement)
        self.within = self._polygons("within")
        self.within.setToolTip(
            tr("A public boundary outside of which there are no points, such as the coast.")
        )
        form.addRow(tr("Read &within"), self.within)
        self.form_layout.addWidget(box)
        self.form_layout.addWidget(self._choices())
        self.form_layout.addStretch(1)
        self.file.fileChanged.connect(self.refresh)
        self._waiting = []
        self.setAcceptDrops(True)
        self.resize(600, 460)

    def _polygons(self, name):
        combo = QgsMapLayerComboBox(self)
        combo.setObjectName(name)
        combo.setFilters(QgsMapLayerProxyModel.Filter.PolygonLayer)
        combo.setAllowEmptyLayer(True)
        combo.setLayer(None)
        combo.layerChanged.connect(self.refresh)
        return combo

    def _choices(self):
        box = QGroupBox(tr("Make"), self)
        grid = QGridLayout(box)
        self.points = QCheckBox(tr("&Points"), self)
        self.density = QCheckBox(tr("&Density"), self)
        self.report = QCheckBox(tr("&Report"), self)
        self.count = QCheckBox(tr("Counts &in"), self)
        self.zones = self._polygons("zones")
        self.zones.setToolTip(tr("The polygons to count in; they may overlap."))
        self.by_category = QCheckBox(tr("by category"), self)
        self.by_time = QCheckBox(tr("by time"), self)
        self._add_tips()
        for choice in (self.points, self.density, self.report, self.count):
            choice.setChecked(choice in (self.points, self.density))
        for choice in (*self._made(), self.by_category, self.by_time):
            choice.toggled.connect(self.refresh)
        for row, choice in enumerate((self.points, self.density, self.report)):
            grid.addWidget(choice, row, 0)
        grid.addWidget(self.count, 3, 0)
        grid.addWidget(self.zones, 3, 1, 1, 2)
        grid.addWidget(self.by_category, 4, 1)
        grid.addWidget(self.by_time, 4, 2)
        grid.setColumnStretch(2, 1)
        return box

    def _add_tips(self):
        for choice, words in (
            (
                self.points,
                tr(
                    "A point layer; its attributes are the category and the time, if there are any."
                ),
            ),
            (
                self.density,
                tr(
                    "A raster with one band, points per square kilometre; no data outside the area."
                ),
            ),
            (self.report, tr("A page that says what was published and what it promises.")),
            (self.count, self.zones.toolTip()),
            (
                self.by_category,
                tr("A row for each polygon and category, if the release has categories."),
            ),
            (
                self.by_time,
                tr(
                    "A row for each polygon and stretch of time, if the release has times; the "
                    "temporal controller plays them."
                ),
            ),
        ):
            choice.setToolTip(words)

    def _made(self):
        return self.points, self.density, self.report, self.count

    def count_only(self):
        """Offer counts and nothing else."""
        for choice in self._made():
            choice.setChecked(choice is self.count)

    def open_file(self, path):
        """Show a release file."""
        self.file.setFilePath(path)

    def refresh(self, *_):
        """Show the statement of the chosen file."""
        words, good, axes = tr("Choose a release file."), False, ()
        if self.file.filePath():
            try:
                release = load(self.file.filePath())
                words, good, axes = statement_text(release), True, release.axes
            except BadInputError as error:
                words = said(error)
        self.statement.setText(words)
        timed = [hasattr(axis, "every") for axis in axes]
        self.by_category.setEnabled(self.count.isChecked() and False in timed)
        self.by_time.setEnabled(self.count.isChecked() and True in timed)
        self.zones.setEnabled(self.count.isChecked())
        chosen = any(box.isChecked() for box in self._made())
        counted = not self.count.isChecked() or self.zones.currentLayer() is not None
        self.run_button.setEnabled(good and chosen and counted and self.active is None)

    def dragEnterEvent(self, event):
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event):
        self.open_file(event.mimeData().urls()[0].toLocalFile())

    def run(self):
        """Run the chosen algorithms one after the other."""
        temporary = QgsProcessing.TEMPORARY_OUTPUT
        loaded = {"OUTPUT": QgsProcessingOutputLayerDefinition(temporary, QgsProject.instance())}
        within, zones = self.within.currentLayer(), self.zones.currentLayer()
        common = {"RELEASE": self.file.filePath(), "WITHIN": within.id() if within else None}
        counted = {
            "ZONES": zones.id() if zones else None,
            "BY_CATEGORY": self.by_category.isEnabled() and self.by_category.isChecked(),
            "BY_TIME": self.by_time.isEnabled() and self.by_time.isChecked(),
            **loaded,
        }
        steps = [
            (self.density, "dpsort:densityfromrelease", loaded),
            (self.count, "dpsort:countinpolygons", counted),
            (self.points, "dpsort:pointsfromrelease", loaded),
            (self.report, "dpsort:inspectrelease", {"REPORT": temporary}),
        ]
        self._waiting = [
            (name, {**common, **parameters}) for box, name, parameters in steps if box.isChecked()
        ]
        self._next({})

    def _next(self, results):
        if self._waiting:
            name, parameters = self._waiting.pop(0)
            self.launch(name, parameters, self._next)
        else:
            self.announce(tr("The release was opened."), results.get("REPORT"))
