"""The tour's stops at windows: plan, toolbox, dark and German ones; what is looked for in them."""

from qgis.core import (
    QgsProject,
    QgsSettings,
)
from qgis.gui import QgsCollapsibleGroupBox
from qgis.PyQt.QtGui import QColor, QPalette
from qgis.PyQt.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSlider,
    QWidget,
)
from qgis.utils import iface, plugins
from tour_hands import FOUND, keys, shot, text, until, window


def plan_and_toolbox():
    """The plan's window, the toolbox, and the algorithm's own dialog there."""
    import processing

    iface.mainWindow().activateWindow()
    yield 500
    keys("alt+o")
    yield 600
    text("p")
    yield 600
    text("l")
    yield from until(lambda: window("PlanDialog"), 20)
    dialog = window("PlanDialog")
    dialog.area.layer.setFocus()
    text("city")
    yield 800
    FOUND["plan"] = dialog.card.figure.text()
    keys("alt+d", "ctrl+a")
    text("300")
    keys("Tab")
    yield 500
    dialog.axes.setCollapsed(False)
    dialog.axes.values.setText("burglary, theft, other")
    yield 800
    shot("plan")
    FOUND["letters"] = {"plan": letters(dialog)}
    planned = dialog.epsilon.value()
    keys("alt+p")
    yield from until(lambda: window("PublishDialog"), 20)
    publish = window("PublishDialog")
    yield 500
    FOUND["handed on"] = {
        "wanted": dialog.card.figure.text(),
        "epsilon": [planned, publish.epsilon.value()],
        "area": publish.area.words(),
        "values": publish.axes.values.text(),
        "hint": publish.card.hint.text(),
    }
    FOUND["letters"]["publish"] = letters(publish)
    FOUND["without a tip"] = {"plan": without_tip(dialog), "publish": without_tip(publish)}
    FOUND["cut off"] = [cut_off(shown) for shown in (dialog, publish)]
    publish.axes.values.clear()
    publish.close()
    dialog.close()
    yield 500
    iface.mainWindow().activateWindow()
    keys("ctrl+alt+t")
    yield 1500
    plugin = plugins["processing"]
    plugin.toolbox.searchBox.setText("private")
    yield 1500
    shot("toolbox")
    form = processing.createAlgorithmDialog("dpsort:publishpoints", {})
    form.show()
    yield 1500
    shot("algorithm")
    bars = [area.horizontalScrollBar().maximum() for area in form.findChildren(QScrollArea)]
    FOUND["form scrolls sideways"] = max(bars)
    form.close()
    yield 300
    plugin.toolbox.close()
    yield 300


def dark():
    """The same window in a dark theme."""
    from dpsort_qgis.gui.publish_dialog import PublishDialog

    old = QApplication.palette()
    palette = QPalette(QColor(43, 48, 54))
    QApplication.setPalette(palette)
    dialog = PublishDialog()
    dialog.area.layer.setFocus()
    dialog.area.layer.setLayer(QgsProject.instance().mapLayersByName("city boundary")[0])
    dialog.present()
    yield 1200
    shot("dark")
    FOUND["dark card"] = dialog.card.palette().color(QPalette.ColorRole.Window).lightness() < 128
    dialog.close()
    QApplication.setPalette(old)
    yield 500


def german(area):
    """The windows as a German sees them; QGIS itself stays English."""
    from dpsort_qgis.gui.confirmation import Confirmation
    from dpsort_qgis.gui.ledger_window import LedgerWindow
    from dpsort_qgis.gui.plan_dialog import PlanDialog
    from dpsort_qgis.gui.publish_dialog import PublishDialog
    from dpsort_qgis.gui.release_dialog import ReleaseDialog

    QgsSettings().setValue("locale/userLocale", "de_DE")
    for kind in (PublishDialog, PlanDialog, ReleaseDialog, LedgerWindow):
        dialog = kind()
        dialog.present()
        if hasattr(dialog, "area"):
            dialog.area.layer.setLayer(area)
        for group in dialog.findChildren(QgsCollapsibleGroupBox):
            group.setCollapsed(False)
        yield 800
        name = f"german_{kind.__name__}"
        shot(name)
        FOUND["letters"][name] = letters(dialog)
        FOUND["cut off"].append(cut_off(dialog))
        if kind is PublishDialog:
            FOUND["typed in German"] = []
            for typed in ("0.5", "0,5", "1"):
                dialog.activateWindow()
                keys("alt+e", "ctrl+a")
                text(typed)
                keys("Tab")
                yield 500
                shown = dialog.epsilon.spin.text()
                FOUND["typed in German"].append([dialog.epsilon.value(), shown])
            question = Confirmation(dialog.rows(), dialog.choice.notes, dialog)
            question.show()
            yield 500
            shot("german_Confirmation")
            question.close()
        dialog.close()
        yield 200
    QgsSettings().setValue("locale/userLocale", "en_US")


def letters(dialog):
    """The underlined letters of a window, each of which should be there once."""
    found = []
    for widget in dialog.findChildren(QWidget):
        words = widget.text() if isinstance(widget, (QLabel, QAbstractButton)) else ""
        place = words.replace("&&", "").find("&")
        if place >= 0 and "<" not in words and widget.isVisibleTo(dialog):
            found.append(words.replace("&&", "")[place + 1].lower())
    return "".join(sorted(found))


def without_tip(dialog):
    """What can be filled in and says nothing when the mouse rests on it."""
    kinds = (QComboBox, QLineEdit, QAbstractSpinBox, QCheckBox, QSlider)
    found = []
    for widget in dialog.findChildren(QWidget):
        above = widget
        while above is not dialog and not above.toolTip():
            above = above.parentWidget()
        if isinstance(widget, kinds) and above is dialog and widget.isVisibleTo(dialog):
            found.append(f"{type(widget).__name__} {widget.objectName()}")
    return found


def cut_off(dialog):
    """Whether a part of the form is wider than what is shown of it."""
    return any(
        area.widget().width() > area.viewport().width() for area in dialog.findChildren(QScrollArea)
    )
