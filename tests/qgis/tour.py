"""A tour of the plugin inside QGIS's window, driven with real keystrokes; takes pictures.

Run by QGIS itself (``qgis --code tour.py``) under a virtual screen; see ``desktop.py``. What it
finds goes to ``tour.json`` in the folder ``DPSORT_TOUR``, beside the pictures.
"""

import json
import os
import sys
import traceback

from qgis.core import (
    QgsApplication,
    QgsFillSymbol,
    QgsProject,
    QgsSingleSymbolRenderer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import (
    QApplication,
    QDialog,
)
from qgis.utils import iface, loadPlugin, plugins, startPlugin, unloadPlugin

sys.path.insert(0, os.environ["DPSORT_TOUR_INSIDE"])
from tour_hands import FOUND, OUT, keys, listen, shot, text, until, window
from tour_publishing import (
    cancel,
    choose_extent,
    fill_in,
    publish,
    publish_what_and_when,
    remember_name,
    watch_card,
)
from tour_reading import count, ledger_and_drop, open_release, play
from tour_windows import dark, german, plan_and_toolbox

POINTS = os.environ["DPSORT_TOUR_POINTS"]
AREA = os.environ["DPSORT_TOUR_AREA"]


def visit():
    """The tour; each yield gives QGIS that many milliseconds."""
    QgsApplication.messageLog().messageReceived.connect(listen)
    area, points = yield from load_layers()
    dialog = yield from open_dialog()
    FOUND["extent"] = yield from choose_extent(dialog, points)
    yield from fill_in(dialog, area)
    yield from publish(dialog, points)
    FOUND["card"] = yield from watch_card(dialog, points)
    FOUND.update((yield from cancel(dialog, points)))
    yield from open_release()
    yield from plan_and_toolbox()
    yield from ledger_and_drop()
    yield from dark()
    yield from remember_name()
    layer = yield from publish_what_and_when(area)
    yield from play(layer)
    yield from count(area, layer)
    yield from german(area)
    yield from unload_and_reload()


def load_layers():
    """The made-up city in the window of QGIS."""
    main = iface.mainWindow()
    main.setGeometry(0, 0, 1280, 800)
    area, points = QgsVectorLayer(AREA, "city boundary"), QgsVectorLayer(POINTS, "calls")
    QgsProject.instance().addMapLayers([area, points])
    outline = {"color": "236,240,244,255", "outline_color": "150,160,170,255"}
    area.setRenderer(QgsSingleSymbolRenderer(QgsFillSymbol.createSimple(outline)))
    yield 1500
    iface.setActiveLayer(area)
    iface.zoomToActiveLayer()
    yield 2500
    main.activateWindow()
    yield 500
    return area, points


def open_dialog():
    """The dialog that publishes, by keys alone."""
    FOUND["plugin loaded"] = "dpsort_qgis" in plugins
    keys("alt+o")
    yield 800
    text("p")
    yield 1000
    shot("menu")
    text("p")
    yield from until(lambda: window("PublishDialog"), 20)
    dialog = window("PublishDialog")
    yield 800
    shot("dialog_empty")
    FOUND["run waits for an area"] = not dialog.run_button.isEnabled()
    person = dialog.points.person
    FOUND["fields of the person"] = [person.itemText(row) for row in range(person.count())]
    return dialog


def unload_and_reload():
    """Take the plugin away, and bring it back."""
    unloadPlugin("dpsort_qgis")
    yield 500
    registry = QgsApplication.processingRegistry()
    FOUND["unloaded"] = registry.providerById("dpsort") is None
    titles = [action.text().replace("&", "") for action in iface.vectorMenu().actions()]
    FOUND["menu gone"] = "Private points" not in titles
    shot("unloaded")
    FOUND["loads again"] = loadPlugin("dpsort_qgis") and startPlugin("dpsort_qgis")
    yield 1000
    keys("alt+o")
    yield 600
    text("p")
    yield 600
    FOUND["reloaded"] = registry.providerById("dpsort") is not None
    shot("reloaded")


def step(tour):
    """Go on with the tour until its next pause."""
    try:
        pause = next(tour)
    except StopIteration:
        finish()
        return
    except Exception:
        FOUND["error"] = traceback.format_exc()
        shot("error")
        finish()
        return
    QTimer.singleShot(pause, lambda: step(tour))


def finish():
    """Write down what was found and leave without asking anything."""
    FOUND["open dialogs"] = [
        type(widget).__name__
        for widget in QApplication.topLevelWidgets()
        if isinstance(widget, QDialog) and widget.isVisible()
    ]
    (OUT / "tour.json").write_text(json.dumps(FOUND, indent=1), encoding="utf-8")
    os._exit(0)


QTimer.singleShot(3000, lambda: step(visit()))
