"""The window behind Vector > Private points > Open a release..."""

from qgis.core import QgsProcessing, QgsProcessingOutputLayerDefinition, QgsProject
from qgis.gui import QgsFileWidget
from qgis.PyQt.QtWidgets import QCheckBox, QFormLayout, QGroupBox, QLabel, QVBoxLayout

from .._vendor.dpsort_geo.errors import BadInput
from .._vendor.dpsort_geo.release import load
from ..i18n import said, tr
from ..releases import statement_text
from .window import Window


class ReleaseDialog(Window):
    """Choose a release file and what to make of it."""

    def __init__(self):
        super().__init__(
            "points.svg",
            tr("Open a release"),
            tr("Rebuild points, a density or a report from a public release file."),
            tr("&Open"),
        )
        box = QGroupBox(tr("Release"), self)
        form = QFormLayout(box)
        self.file = QgsFileWidget(self)
        self.file.setObjectName("file")
        self.file.setFilter(tr("Releases (*.release.json *.json)"))
        label = QLabel(tr("Release &file"), self)
        label.setBuddy(self.file.lineEdit())
        form.addRow(label, self.file)
        self.statement = QLabel(self)
        self.statement.setWordWrap(True)
        form.addRow(self.statement)
        self.form_layout.addWidget(box)
        self.form_layout.addWidget(self._choices())
        self.form_layout.addStretch(1)
        self.file.fileChanged.connect(self.refresh)
        self._waiting = []
        self.resize(560, 380)

    def _choices(self):
        box = QGroupBox(tr("Make"), self)
        column = QVBoxLayout(box)
        self.points = QCheckBox(tr("&Points"), self)
        self.density = QCheckBox(tr("&Density"), self)
        self.report = QCheckBox(tr("&Report"), self)
        for choice in (self.points, self.density, self.report):
            choice.setChecked(choice is not self.report)
            choice.toggled.connect(self.refresh)
            column.addWidget(choice)
        return box

    def refresh(self, *_):
        """Show the statement of the chosen file."""
        words, good = tr("Choose a release file."), False
        if self.file.filePath():
            try:
                words, good = statement_text(load(self.file.filePath())), True
            except BadInput as error:
                words = said(error)
        self.statement.setText(words)
        chosen = any(box.isChecked() for box in (self.points, self.density, self.report))
        self.run_button.setEnabled(good and chosen and self.active is None)

    def run(self):
        """Run the chosen algorithms one after the other."""
        loaded = QgsProcessingOutputLayerDefinition(
            QgsProcessing.TEMPORARY_OUTPUT, QgsProject.instance()
        )
        path = self.file.filePath()
        steps = [
            (self.density, "dpsort:densityfromrelease", {"OUTPUT": loaded}),
            (self.points, "dpsort:pointsfromrelease", {"OUTPUT": loaded}),
            (self.report, "dpsort:inspectrelease", {"REPORT": QgsProcessing.TEMPORARY_OUTPUT}),
        ]
        self._waiting = [
            (name, {"RELEASE": path, **parameters})
            for box, name, parameters in steps
            if box.isChecked()
        ]
        self._next({})

    def _next(self, results):
        if self._waiting:
            name, parameters = self._waiting.pop(0)
            self.launch(name, parameters, self._next)
        else:
            self.announce(tr("The release was opened."), results.get("REPORT"))
