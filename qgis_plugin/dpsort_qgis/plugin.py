"""The plugin: a provider for Processing, a menu under Vector, a button on the toolbar."""

from pathlib import Path

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QUrl
from qgis.PyQt.QtGui import QDesktopServices, QIcon
from qgis.PyQt.QtWidgets import QAction, QMenu
from qgis.utils import iface

from .algorithms.base import ICONS
from .i18n import tr
from .provider import PrivacyProvider

_HELP = Path(__file__).parent / "help"


class PrivatePointsPlugin:
    """What QGIS loads and unloads."""

    def __init__(self):
        self.provider = None
        self.menu = None
        self.actions = []
        self.windows = {}

    def initProcessing(self):
        """Register the algorithms; qgis_process calls this and nothing else."""
        self.provider = PrivacyProvider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):
        """Build the menu and the button."""
        self.initProcessing()
        self.menu = QMenu(tr("&Private points"), iface.mainWindow())
        self.menu.setObjectName("PrivatePointsMenu")
        self.menu.setIcon(QIcon(str(ICONS / "dpsort.svg")))
        publish = self._action("publish", tr("&Publish..."), self.publish)
        publish.setToolTip(tr("Publish points privately"))
        self._action("plan", tr("P&lan..."), self.plan)
        self._action("points", tr("&Open a release..."), self.open_release)
        self.menu.addSeparator()
        self._action("dpsort", tr("&Help"), self.help)
        iface.vectorMenu().addMenu(self.menu)
        iface.addVectorToolBarIcon(publish)

    def _action(self, icon, text, slot):
        action = QAction(QIcon(str(ICONS / f"{icon}.svg")), text, iface.mainWindow())
        action.setObjectName(f"PrivatePoints_{icon}")
        action.triggered.connect(slot)
        self.menu.addAction(action)
        self.actions.append(action)
        return action

    def unload(self):
        """Take everything back; QGIS may load the plugin again afterwards."""
        for window in self.windows.values():
            window.close()
            window.deleteLater()
        self.windows.clear()
        if self.menu is not None:
            iface.removeVectorToolBarIcon(self.actions[0])
            iface.vectorMenu().removeAction(self.menu.menuAction())
            self.menu.deleteLater()
            self.menu = None
        for action in self.actions:
            action.deleteLater()
        self.actions.clear()
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
            self.provider = None

    def publish(self):
        """Open the dialog that publishes."""
        from .gui.publish_dialog import PublishDialog

        self._show("publish", PublishDialog)

    def plan(self):
        """Open the dialog that plans."""
        from .gui.plan_dialog import PlanDialog

        self._show("plan", PlanDialog)

    def open_release(self):
        """Open the dialog that reads a release."""
        from .gui.release_dialog import ReleaseDialog

        self._show("release", ReleaseDialog)

    def help(self):
        """Open the help page in the browser."""
        language = QgsApplication.locale()[:2]
        page = _HELP / f"{language}.html"
        page = page if page.is_file() else _HELP / "en.html"
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(page)))

    def _show(self, name, kind):
        window = self.windows.get(name)
        if window is None:
            window = self.windows[name] = kind()
        window.refresh()
        window.show()
        window.raise_()
        window.activateWindow()
