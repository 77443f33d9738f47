"""Where results go: a release file that is suggested and never overwritten, and a point layer."""

import os
from pathlib import Path

from qgis.core import QgsProcessing, QgsProcessingOutputLayerDefinition, QgsProject
from qgis.gui import QgsFileWidget
from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QFormLayout, QGroupBox, QLabel

from ..i18n import tr
from ..release_files import free_path, suggest_path


class OutputBox(QGroupBox):
    """Emits ``changed``; the suggestion follows layer and epsilon until the user writes another."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(tr("Output"), parent)
        form = QFormLayout(self)
        self._suggested, self._folder = "", None
        self.release = _file(tr("Releases (*.release.json)"), self)
        self.release.setObjectName("release")
        self.release.setToolTip(
            tr("The file to keep and to share: everything can be rebuilt from it.")
        )
        form.addRow(buddy(tr("&Release file"), self.release.lineEdit()), self.release)
        self.target = _file(tr("GeoPackage (*.gpkg)"), self)
        self.target.setObjectName("target")
        self.target.lineEdit().setPlaceholderText(tr("[temporary layer]"))
        self.target.setToolTip(
            tr("The point layer; it can be made again from the release at any time.")
        )
        form.addRow(buddy(tr("Po&ints"), self.target.lineEdit()), self.target)
        for widget in (self.release, self.target):
            widget.fileChanged.connect(lambda *_: self.changed.emit())

    def suggest(self, layer, epsilon):
        """Suggest a free name, unless the user wrote one."""
        if layer is None or self.release.filePath() not in ("", self._suggested):
            return
        path = str(suggest_path(layer.name(), epsilon, folder=self._folder))
        if path != self._suggested or not self.release.filePath():
            self._suggested = path
            blocked = self.release.blockSignals(True)
            self.release.setFilePath(path)
            self.release.blockSignals(blocked)

    def renew(self):
        """After a release was written: suggest a new name, in the same folder."""
        self._folder = Path(self.release.filePath()).parent
        self._suggested = self.release.filePath()
        if self.target.filePath():  # a layer of the project shows that file
            self.target.setFilePath(str(free_path(self._target())))

    def report(self):
        """The report beside the release."""
        path = Path(self.release.filePath())
        return str(path.parent / (path.name.split(".release")[0] + ".report.html"))

    def report_words(self):
        """Where the report goes, in words."""
        return _place(self.report())

    def points(self):
        """Where the points go, in words."""
        return _place(self._target()) if self.target.filePath() else tr("a temporary layer")

    def _target(self):
        path = self.target.filePath()
        return path if Path(path).suffix else f"{path}.gpkg"

    def parameters(self):
        """The parameters of the outputs."""
        given = self.release.filePath()
        target = self._target() if self.target.filePath() else QgsProcessing.TEMPORARY_OUTPUT
        return {
            "OUTPUT": QgsProcessingOutputLayerDefinition(target, QgsProject.instance()),
            "RELEASE": given or QgsProcessing.TEMPORARY_OUTPUT,
            "REPORT": self.report() if given else QgsProcessing.TEMPORARY_OUTPUT,
        }


def _place(path):
    if os.path.lexists(path):
        return tr("{path}, in place of the file that is there").format(path=path)
    return path


def buddy(text, widget):
    """A label whose underlined letter leads to a widget inside a larger one."""
    label = QLabel(text)
    label.setBuddy(widget)
    return label


def _file(kind, parent):
    widget = QgsFileWidget(parent)
    widget.setStorageMode(QgsFileWidget.StorageMode.SaveFile)
    widget.setFilter(kind)
    if hasattr(widget, "setConfirmOverwrite"):
        widget.setConfirmOverwrite(True)
    return widget
