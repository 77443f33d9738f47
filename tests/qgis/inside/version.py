"""Print the versions of what runs here."""

import platform

import numpy
from qgis.core import Qgis
from qgis.PyQt.QtCore import QT_VERSION_STR

versions = Qgis.QGIS_VERSION, QT_VERSION_STR, platform.python_version(), numpy.__version__
print("QGIS {}, Qt {}, Python {}, numpy {}".format(*versions))
