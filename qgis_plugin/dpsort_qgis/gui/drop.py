"""A release file that is dropped onto QGIS opens as a release, not as a layer."""

from qgis.gui import QgsCustomDropHandler

from ..release_files import ENDING


class ReleaseDrop(QgsCustomDropHandler):
    """Takes release files and leaves all others to QGIS."""

    def __init__(self, open_release):
        super().__init__()
        self._open = open_release

    def customUriProviderKey(self):
        return "dpsort_release"

    def handleFileDrop(self, file):
        if not file.lower().endswith(ENDING):
            return False
        self._open(file)
        return True
