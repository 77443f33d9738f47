"""A tour of the plugin inside QGIS's window, driven with real keystrokes; takes pictures.

Run by QGIS itself (``qgis --code tour.py``) under a virtual screen; see ``desktop.py``. What it
finds goes to ``tour.json`` in the folder ``DPSORT_TOUR``, beside the pictures.
"""

import json
import os
import subprocess
import time
import traceback
from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsFillSymbol,
    QgsProject,
    QgsSingleSymbolRenderer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import QApplication, QDialog
from qgis.utils import iface, loadPlugin, plugins, startPlugin, unloadPlugin

OUT = Path(os.environ["DPSORT_TOUR"])
POINTS = os.environ["DPSORT_TOUR_POINTS"]
AREA = os.environ["DPSORT_TOUR_AREA"]
FOUND = {}


def keys(*names):
    """Press keys, as a hand would."""
    subprocess.run(["xdotool", "key", "--delay", "60", *names], check=True)


def text(words):
    """Type a text."""
    subprocess.run(["xdotool", "type", "--delay", "30", words], check=True)


def shot(name):
    """Keep a picture of the whole screen."""
    QApplication.processEvents()
    QApplication.primaryScreen().grabWindow(0).save(str(OUT / f"{name}.png"))


def window(kind):
    """The plugin's visible window of a kind."""
    for widget in QApplication.topLevelWidgets():
        if type(widget).__name__ == kind and widget.isVisible():
            return widget
    return None


def until(done, seconds=60):
    """Wait, with QGIS alive, until something is so."""
    end = time.time() + seconds
    while not done() and time.time() < end:
        yield 100
    if not done():
        raise TimeoutError("the tour waited in vain")


def visit():
    """The tour; each yield gives QGIS that many milliseconds."""
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
    FOUND["plugin loaded"] = "dpsort_qgis" in plugins
    main.activateWindow()
    yield 500

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
    FOUND["a private extent is refused"] = yield from refuse_private_extent(dialog, points)

    dialog.area.by_layer.setChecked(True)
    dialog.area.layer.setFocus()
    text("city")
    yield 800
    FOUND["boundary chosen with a key"] = dialog.area.layer.currentLayer() is area
    keys("alt+e", "ctrl+a")
    text("0.5")
    keys("Tab")
    yield 800
    FOUND["epsilon typed"] = dialog.epsilon.value()
    strict = dialog.plan.expected_error
    keys("alt+e", "ctrl+a")
    text("2")
    keys("Tab")
    yield 800
    FOUND["error falls with epsilon"] = dialog.plan.expected_error < strict
    keys("alt+e", "ctrl+a")
    text("1")
    keys("Tab")
    yield 800
    shot("dialog")
    keys("alt+r")
    text(str(OUT / "calls.release.json"))
    keys("Tab")
    yield 800
    before = set(QgsProject.instance().mapLayers())
    keys("alt+p")
    yield from until(lambda: dialog.active is not None, 10)
    yield 300
    shot("running")
    yield from until(lambda: dialog.active is None)
    yield 1500
    made = [layer for key, layer in QgsProject.instance().mapLayers().items() if key not in before]
    FOUND["layers made"] = [layer.name() for layer in made]
    FOUND["report written"] = (OUT / "calls.report.html").is_file()
    FOUND["abstract"] = made[0].metadata().abstract() if made else ""
    FOUND["message bar"] = iface.messageBar().currentItem() is not None
    FOUND["spent shown"] = dialog.spent.text()
    keys("Escape")
    yield 300
    QgsProject.instance().layerTreeRoot().findLayer(points.id()).setItemVisibilityChecked(False)
    yield 2500
    shot("result")

    FOUND.update((yield from cancel(dialog, points)))
    yield from open_release()
    yield from plan_and_toolbox()

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


def refuse_private_extent(dialog, points):
    """The layer's own bounding box, as "calculate from layer" would give it."""
    dialog.area.by_extent.setChecked(True)
    dialog.area.extent.setOutputCrs(points.crs())
    dialog.area.extent.setOutputExtentFromUser(points.extent(), points.crs())
    yield 800
    shot("refused")
    return not dialog.run_button.isEnabled() and bool(dialog.card.hint.text())


def cancel(dialog, points):
    """Start again and press cancel at once; QGIS must be free within a second."""
    from dpsort_qgis import points as reading

    chunk, real = reading.CHUNK, reading._next_features

    def slow(features, column):
        time.sleep(0.2)
        return real(features, column)

    reading.CHUNK, reading._next_features = 100, slow
    before = len(QgsProject.instance().mapLayers())
    iface.mainWindow().activateWindow()
    dialog.show()
    dialog.activateWindow()
    yield 800
    dialog.run()
    yield from until(lambda: dialog.active is not None, 10)
    yield 700
    shot("cancel")
    start = time.time()
    keys("alt+c")
    yield from until(lambda: dialog.active is None, 20)
    seconds = time.time() - start
    reading.CHUNK, reading._next_features = chunk, real
    unchanged = len(QgsProject.instance().mapLayers()) == before
    keys("Escape")
    yield 500
    return {"cancel seconds": round(seconds, 2), "cancel leaves no layer": unchanged}


def open_release():
    """Vector > Private points > Open a release..., typed."""
    iface.mainWindow().activateWindow()
    yield 500
    keys("alt+o")
    yield 600
    text("p")
    yield 600
    text("o")
    yield from until(lambda: window("ReleaseDialog"), 20)
    dialog = window("ReleaseDialog")
    yield 500
    keys("alt+f")
    text(str(OUT / "calls.release.json"))
    keys("Tab")
    yield 1000
    shot("open_release")
    before = set(QgsProject.instance().mapLayers())
    keys("alt+o")
    yield from until(lambda: len(set(QgsProject.instance().mapLayers()) - before) == 2)
    yield from until(lambda: dialog.active is None)
    made = [layer for key, layer in QgsProject.instance().mapLayers().items() if key not in before]
    FOUND["opened"] = sorted(layer.name() for layer in made)
    keys("Escape")
    yield 300
    root = QgsProject.instance().layerTreeRoot()
    for layer in QgsProject.instance().mapLayers().values():
        if layer.name() == "Private points":
            root.findLayer(layer.id()).setItemVisibilityChecked(False)
    yield 2500
    shot("density")


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
    shot("plan")
    FOUND["plan"] = dialog.card.figure.text()
    keys("Escape")
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
    form.close()
    yield 300
    plugin.toolbox.close()
    yield 300


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
