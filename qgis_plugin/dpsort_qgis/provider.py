"""The Processing provider ``dpsort``."""

from qgis.core import QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from .algorithms import ALGORITHMS
from .algorithms.base import ICONS
from .i18n import tr


class PrivacyProvider(QgsProcessingProvider):
    """All algorithms of the plugin."""

    def id(self):
        return "dpsort"

    def name(self):
        return tr("Private points")

    def longName(self):
        return tr("Private points (differential privacy)")

    def icon(self):
        return QIcon(str(ICONS / "dpsort.svg"))

    def svgIconPath(self):
        return str(ICONS / "dpsort.svg")

    def loadAlgorithms(self):
        for algorithm in ALGORITHMS:
            self.addAlgorithm(algorithm())
