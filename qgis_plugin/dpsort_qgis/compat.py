"""Where the versions of QGIS and Qt differ; nothing else in the plugin asks for a version."""

from qgis.core import NULL, Qgis, QgsField, QgsProcessingFeatureSource
from qgis.PyQt.QtCore import QMetaType, QVariant

_DOUBLE = QMetaType.Type.Double
if Qgis.QGIS_VERSION_INT < 33800:
    _DOUBLE = QVariant.Type(_DOUBLE)  # noqa: QGS402 (only where QGIS knows no other)

#: features as they are: QGIS's own check of their geometry would refuse and name them
if Qgis.QGIS_VERSION_INT < 33600:
    UNCHECKED = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
else:
    UNCHECKED = Qgis.ProcessingFeatureSourceFlag.SkipGeometryValidityChecks


def number_field(name):
    """A field of real numbers; QGIS 3.38 changed how field types are named."""
    return QgsField(name, _DOUBLE)


def is_null(value):
    """Whether an attribute is empty; PyQt5 and PyQt6 give different objects for that."""
    if value is None or value == NULL:
        return True
    return isinstance(value, QVariant) and value.isNull()


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
