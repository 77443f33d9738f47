"""QGIS 4 as far as the plugin's windows ask for it: PyQt6 is real, QGIS's own widgets are small.

QGIS 4 is not on this machine. What can be run of it is Qt 6: its classes, signals and scoped enums.
QGIS's widgets are stood in for by Qt widgets with the same methods and signals; everything of
``qgis.core`` that draws or shows nothing is an object that agrees with whatever is asked of it.
"""

import sys
import types

import PyQt6.QtCore
import PyQt6.QtGui
import PyQt6.QtWidgets
from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QGroupBox, QHBoxLayout, QLineEdit, QWidget


class Agreeing(type):
    """A class whose unknown names are further such classes, or functions that give them."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name[0].isupper():
            made = Agreeing(name, (Anything,), {})
            setattr(cls, name, made)
            return made
        return lambda *_, **__: Anything()


class Anything(metaclass=Agreeing):
    """An object that agrees with whatever is asked of it."""

    def __init__(self, *_, **__):
        """Takes anything."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: Anything()

    def __iter__(self):
        return iter(())


class Qgis(Anything):
    QGIS_VERSION_INT = 40000


class QgsApplication(Anything):
    folder = ""

    @staticmethod
    def locale():
        return "en_US"

    @classmethod
    def qgisSettingsDirPath(cls):
        return cls.folder

    @staticmethod
    def processingRegistry():
        return types.SimpleNamespace(createAlgorithmById=lambda name: Algorithm())


class Algorithm(Anything):
    def checkParameterValues(self, parameters, context):
        return True, ""


class QgsProject(QObject):
    layersAdded = pyqtSignal(list)
    layersRemoved = pyqtSignal(list)
    cleared = pyqtSignal()
    _only = None

    @classmethod
    def instance(cls):
        cls._only = cls._only or cls()
        return cls._only

    def mapLayers(self):
        return {}

    def __getattr__(self, name):
        if name == "absolutePath":
            return lambda: QgsApplication.folder
        return lambda *_, **__: Anything()


class QgsMapLayerComboBox(QComboBox):
    layerChanged = pyqtSignal(object)

    def __init__(self, parent=None):
        super().__init__(parent)
        self.chosen = None

    def setFilters(self, kinds):
        """Any kind."""

    def setAllowEmptyLayer(self, allowed):
        """Always."""

    def setExceptedLayerList(self, layers):
        """None are."""

    def exceptedLayerList(self):
        return []

    def setLayer(self, layer):
        self.chosen = layer
        self.layerChanged.emit(layer)

    def currentLayer(self):
        return self.chosen


class QgsFieldComboBox(QComboBox):
    fieldChanged = pyqtSignal(str)

    def setAllowEmptyFieldName(self, allowed):
        """Always."""

    def setFilters(self, kinds):
        """Any kind."""

    def setLayer(self, layer):
        self._layer = layer

    def layer(self):
        return getattr(self, "_layer", None)

    def currentField(self):
        return self.currentText()


class QgsFileWidget(QWidget):
    fileChanged = pyqtSignal(str)
    StorageMode = Anything

    def __init__(self, parent=None):
        super().__init__(parent)
        self._line = QLineEdit(self)
        QHBoxLayout(self).addWidget(self._line)
        self._line.textChanged.connect(self.fileChanged)

    def setStorageMode(self, mode):
        """To save."""

    def setFilter(self, kinds):
        """Any kind."""

    def lineEdit(self):
        return self._line

    def filePath(self):
        return self._line.text()

    def setFilePath(self, path):
        self._line.setText(path)


class QgsExtentWidget(QWidget):
    extentChanged = pyqtSignal(object)
    toggleDialogVisibility = pyqtSignal(bool)

    def isValid(self):
        return False

    def __getattr__(self, name):
        return lambda *_, **__: Anything()


class QgsCollapsibleGroupBox(QGroupBox):
    def setCollapsed(self, yes):
        """Never."""


class QgsProjectionSelectionWidget(QWidget):
    CrsOption = Anything

    def crs(self):
        return types.SimpleNamespace(isValid=lambda: False)

    def __getattr__(self, name):
        return lambda *_, **__: None


class QgsMessageBar(QWidget):
    def clearWidgets(self):
        self.said = []

    def pushMessage(self, title, text, level=None, seconds=0):
        self.said = [*getattr(self, "said", []), text]


def install(folder):
    """Put the modules in place; ``folder`` is that of the user's settings."""
    QgsApplication.folder = str(folder)
    core, gui = _module("qgis.core"), _module("qgis.gui")
    for made in (Qgis, QgsApplication, QgsProject):
        setattr(core, made.__name__, made)
    core.NULL = None
    for made in (
        QgsMapLayerComboBox, QgsFieldComboBox, QgsFileWidget, QgsExtentWidget,
        QgsCollapsibleGroupBox, QgsProjectionSelectionWidget, QgsMessageBar,
    ):  # fmt: skip
        setattr(gui, made.__name__, made)
    utils = types.ModuleType("qgis.utils")
    utils.iface = types.SimpleNamespace(
        mainWindow=lambda: None, mapCanvas=lambda: Anything(), activeLayer=lambda: None,
        messageBar=lambda: QgsMessageBar(),
    )  # fmt: skip
    package, pyqt = types.ModuleType("qgis"), types.ModuleType("qgis.PyQt")
    package.__path__ = pyqt.__path__ = []
    parts = {"QtCore": PyQt6.QtCore, "QtGui": PyQt6.QtGui, "QtWidgets": PyQt6.QtWidgets}
    sys.modules.update({"qgis": package, "qgis.PyQt": pyqt, "qgis.utils": utils})
    sys.modules.update({"qgis.core": core, "qgis.gui": gui})
    sys.modules.update({f"qgis.PyQt.{name}": module for name, module in parts.items()})
    osgeo = _module("osgeo")
    sys.modules["osgeo"] = osgeo


def _module(name):
    """A module in which every class is there."""
    module = types.ModuleType(name)
    module.__getattr__ = lambda wanted: getattr(Anything, wanted)
    return module
