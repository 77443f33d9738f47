"""The plugin: a provider for Processing, a menu under Vector, a button on the toolbar."""

from qgis.core import QgsApplication
from qgis.PyQt.QtGui import QDesktopServices, QIcon
from qgis.PyQt.QtWidgets import QMenu
from qgis.utils import iface

from .algorithms.base import ICONS, help_page
from .compat import QAction
from .i18n import tr
from .provider import PrivacyProvider


class PrivatePointsPlugin:
    """What QGIS loads and unloads."""

    def __init__(self):
        self.provider = None
        self.menu = None
        self.actions = []
        self.windows = {}
        self.drop = None

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
        self._action("count", tr("&Count in polygons..."), self.count)
        self.menu.addSeparator()
        self._action("inspect", tr("Le&dger..."), self.show_ledger)
        self._action("dpsort", tr("&Help"), self.help)
        iface.vectorMenu().addMenu(self.menu)
        iface.addVectorToolBarIcon(publish)
        from .gui.drop import ReleaseDrop

        self.drop = ReleaseDrop(self.open_release)
        iface.registerCustomDropHandler(self.drop)

    def _action(self, icon, text, slot):
        action = QAction(QIcon(str(ICONS / f"{icon}.svg")), text, iface.mainWindow())
        action.setObjectName(f"PrivatePoints_{icon}")
        action.triggered.connect(slot)
        self.menu.addAction(action)
        self.actions.append(action)
        return action

    def unload(self):
        """Take everything back; QGIS may load the plugin again afterwards."""
        if self.drop is not None:
            iface.unregisterCustomDropHandler(self.drop)
            self.drop = None
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

    def publish_planned(self, epsilon, area, axes):
        """Open the dialog that publishes with what was planned."""
        self.publish()
        self.windows["publish"].take(epsilon, area, axes)

    def plan(self):
        """Open the dialog that plans."""
        from .gui.plan_dialog import PlanDialog

        self._show("plan", lambda: PlanDialog(self.publish_planned))

    def open_release(self, path=None):
        """Open the dialog that reads a release; ``path`` is a file, or what a menu sends."""
        from .gui.release_dialog import ReleaseDialog

        self._show("release", ReleaseDialog)
        if isinstance(path, str):
            self.windows["release"].open_file(path)

    def count(self):
        """Open the dialog that reads a release, with counts chosen."""
        self.open_release()
        self.windows["release"].count_only()

    def show_ledger(self):
        """Open the window with what was spent."""
        from .gui.ledger_window import LedgerWindow

        self._show("ledger", LedgerWindow)

    def help(self):
        """Open the help page in the browser."""
        QDesktopServices.openUrl(help_page())

    def _show(self, name, kind):
        window = self.windows.get(name)
        if window is None:
            window = self.windows[name] = kind()
        window.present()
