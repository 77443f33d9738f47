"""Where the versions of QGIS and Qt differ; nothing else in the plugin asks for a version."""

from qgis.core import (
    NULL,
    Qgis,
    QgsField,
    QgsProcessingFeatureSource,
    QgsTemporalNavigationObject,
    QgsUnitTypes,
)
from qgis.PyQt.QtCore import QMetaType

try:  # Qt 6
    from qgis.PyQt.QtGui import QAction
except ImportError:
    from qgis.PyQt.QtWidgets import QAction

__all__ = (
    "UNCHECKED", "QAction", "clock_off", "field", "group_of", "is_null", "remember",
    "square_kilometres", "time_unit",
)  # fmt: skip

#: features as they are: QGIS's own check of their geometry would refuse and name them
if Qgis.QGIS_VERSION_INT < 33600:
    UNCHECKED = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
else:
    UNCHECKED = Qgis.ProcessingFeatureSourceFlag.SkipGeometryValidityChecks

_FIELDS = {
    "number": QMetaType.Type.Double,
    "text": QMetaType.Type.QString,
    "moment": QMetaType.Type.QDateTime,
    "truth": QMetaType.Type.Int,
}


def field(name, kind):
    """A field for "number", "text", "moment" or "truth" (0 or 1, which every format knows)."""
    return QgsField(name, _old(_FIELDS[kind]) if Qgis.QGIS_VERSION_INT < 33800 else _FIELDS[kind])


def _old(kind):
    """QGIS 3.38 changed how field types are named; before, it knows no others."""
    from qgis.PyQt.QtCore import QVariant

    return QVariant.Type(kind)  # noqa: QGS402


def is_null(value):
    """Whether an attribute is empty; PyQt5 and PyQt6 give different objects for that."""
    if value is None or value == NULL:
        return True
    return type(value).__name__ == "QVariant" and value.isNull()


def time_unit(unit):
    """QGIS's name for "minute", "hour", "day", "week", "month" or "year"."""
    name = f"{unit.capitalize()}s"
    if Qgis.QGIS_VERSION_INT >= 33000:
        return getattr(Qgis.TemporalUnit, name)
    return getattr(QgsUnitTypes.TemporalUnit, f"Temporal{name}")


def clock_off():
    """QGIS's name for the state of a temporal controller that plays nothing; 3.36 moved it."""
    if hasattr(Qgis, "TemporalNavigationMode"):
        return Qgis.TemporalNavigationMode.Disabled
    return QgsTemporalNavigationObject.NavigationMode.NavigationOff


def square_kilometres():
    """QGIS's name for the unit."""
    if Qgis.QGIS_VERSION_INT >= 33000:
        return Qgis.AreaUnit.SquareKilometers
    return QgsUnitTypes.AreaUnit.AreaSquareKilometers


def remember(algorithm, parameters, context):
    """Write a run of the dialog into the Processing history, as the toolbox does."""
    command = algorithm.asPythonCommand(parameters, context)
    if Qgis.QGIS_VERSION_INT < 32400:
        from processing.core.ProcessingLog import ProcessingLog

        ProcessingLog.addToLog(command)
        return
    from qgis.gui import QgsGui

    entry = {
        "python_command": command,
        "algorithm_id": algorithm.id(),
        "parameters": algorithm.asMap(parameters, context),
    }
    QgsGui.historyProviderRegistry().addEntry("processing", entry)


def group_of(details, name):
    """Ask QGIS to put a result into a group of layers; it can since 3.32."""
    if hasattr(details, "groupName"):
        details.groupName = name
