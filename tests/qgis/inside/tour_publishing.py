"""The tour's stops at publishing: the area, the question, the card, cancelling, what and when."""

import os
import time
from pathlib import Path

from qgis.core import (
    QgsProject,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QDate
from qgis.PyQt.QtWidgets import (
    QAction,
    QLineEdit,
    QPushButton,
    QTextBrowser,
)
from qgis.utils import iface
from tour_hands import FOUND, OUT, drag, keys, pay, shot, text, until, window


def choose_extent(dialog, points):
    """An empty field, the private layer's own extent, and a box that is drawn on the map."""
    extent = dialog.area.extent
    found = {"empty": [line.text() for line in extent.findChildren(QLineEdit)]}
    dialog.area.by_extent.setChecked(True)
    yield 300
    found["empty when chosen"] = [line.text() for line in extent.findChildren(QLineEdit)]
    found["waits"] = not dialog.run_button.isEnabled()
    actions = {action.text().replace("&", ""): action for action in extent.findChildren(QAction)}
    found["menu"] = sorted(actions)
    own = next(name for name in actions if name.startswith("Use Current Layer"))
    actions[own].trigger()
    yield 800
    shot("refused")
    found["own extent"] = [edges(box) for box in (extent.outputExtent(), points.extent())]
    found["own extent is refused"] = [dialog.run_button.isEnabled(), dialog.card.hint.text()]
    other = QgsVectorLayer("Point?crs=EPSG:4326", "other points", "memory")
    QgsProject.instance().addMapLayer(other)
    iface.setActiveLayer(other)
    next(actions[name] for name in actions if name.startswith("Draw on")).trigger()
    yield 800
    found["hidden while drawing"] = not dialog.isVisible()
    shot("drawing")
    canvas = iface.mapCanvas()
    corner = canvas.mapToGlobal(canvas.rect().topLeft())
    drag((corner.x() + 10, corner.y() + 50), (corner.x() + 960, corner.y() + 640))
    yield from until(dialog.isVisible, 20)
    yield 800
    shot("drawn")
    found["drawn"] = edges(extent.outputExtent())
    found["holds the points"] = extent.outputExtent().contains(points.extent())
    found["still the private layer"] = dialog.points.current() is points
    found["goes on"] = [dialog.run_button.isEnabled(), dialog.card.notes.text()]
    QgsProject.instance().removeMapLayer(other.id())
    yield 300
    return found


def edges(box):
    """A box as numbers, with as many digits as QGIS shows."""
    every = box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum()
    return [round(edge, 6) for edge in every]


def confirm(dialog):
    """Return in a field does not ask, Return in the question does not pay, and then we pay."""
    keys("alt+e", "Return")
    yield 600
    asked_by_return = window("Confirmation") is not None or dialog.active is not None
    keys("alt+p")
    yield from until(lambda: window("Confirmation"), 40, "alt+p")
    yield 500
    shot("confirmation")
    question = window("Confirmation").text.text()
    keys("Return")
    yield 800
    paid_by_return = dialog.active is not None or (OUT / "calls.release.json").exists()
    yield from pay(dialog)
    return {
        "return in a field asks": asked_by_return,
        "return in the question pays": paid_by_return,
        "question": question,
    }


def watch_card(dialog, points):
    """What the window shows when the layer changes under it."""

    def seen():
        card, box = dialog.card, dialog.points
        return {
            "count": box.count.value(),
            "figure": card.figure.text(),
            "notes": card.notes.text(),
            "spent": box.spent.text(),
        }

    dialog.show()
    yield 500
    found = {"all": seen()}
    points.setSubsetString("who < 400")
    yield 500
    found["filter"] = seen()
    points.setSubsetString("")
    points.selectByIds(list(points.allFeatureIds())[:10])
    yield 300
    dialog.points.selected.setChecked(True)
    yield 500
    found["selection"] = seen()
    points.removeSelection()
    yield 300
    points.startEditing()
    points.deleteFeatures(list(points.allFeatureIds())[:1000])
    yield 500
    found["edit"] = seen()
    points.rollBack()
    yield 300
    other = QgsVectorLayer("Point?crs=EPSG:4326", "other", "memory")
    QgsProject.instance().addMapLayer(other)
    dialog.points.layer.setLayer(other)
    yield 300
    found["memory"] = {**seen(), "can run": dialog.run_button.isEnabled()}
    query = QgsVectorLayer("?query=select * from calls", "query", "virtual")
    QgsProject.instance().addMapLayer(query)
    dialog.points.layer.setLayer(query)
    dialog.points.name.setText("a new name")
    yield 500
    found["query"] = {**seen(), "can run": dialog.run_button.isEnabled()}
    QgsProject.instance().removeMapLayer(query.id())
    hidden = [*dialog.points.layer.exceptedLayerList(), points]
    dialog.points.layer.setExceptedLayerList(hidden)
    QgsProject.instance().removeMapLayer(other.id())
    dialog.points.layer.setLayer(None)
    yield 500
    found["removed"] = seen()
    dialog.refresh()
    dialog.points.layer.setLayer(points)
    yield 300
    keys("Escape")
    yield 300
    return found


def cancel(dialog, points):
    """Start again and press cancel at once; QGIS must be free within a second."""
    from dpsort_qgis import private_points as reading

    chunk, real = reading.CHUNK, reading._next_features

    def slow(features, readers):
        time.sleep(0.2)
        return real(features, readers)

    reading.CHUNK, reading._next_features = 100, slow
    before = len(QgsProject.instance().mapLayers())
    iface.mainWindow().activateWindow()
    dialog.show()
    dialog.activateWindow()
    yield 800
    yield from pay(dialog)
    yield 700
    shot("cancel")
    start = time.time()
    keys("alt+c")
    yield from until(lambda: dialog.active is None, 20)
    seconds = time.time() - start
    reading.CHUNK, reading._next_features = chunk, real
    unchanged = len(QgsProject.instance().mapLayers()) == before
    said = [words.toPlainText() for words in dialog.messages.findChildren(QTextBrowser)]
    cancelled = any("Cancelled" in words for words in said)
    keys("Escape")
    yield 500
    return {
        "cancel seconds": round(seconds, 2),
        "cancel leaves no layer": unchanged,
        "cancelled": cancelled,
    }


def fill_in(dialog, area):
    """An area and an epsilon, typed."""
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
    FOUND["suggested"] = Path(dialog.output.release.filePath()).name
    keys("alt+r", "ctrl+a")
    text(str(OUT / "calls.release.json"))
    keys("Tab")
    yield 800


def publish(dialog, points):
    """Pay, wait, and look at what was made."""
    before = set(QgsProject.instance().mapLayers())
    FOUND.update((yield from confirm(dialog)))
    yield 300
    shot("running")
    yield from until(lambda: dialog.active is None)
    yield 1500
    made = [layer for key, layer in QgsProject.instance().mapLayers().items() if key not in before]
    FOUND["layers made"] = [layer.name() for layer in made]
    FOUND["report written"] = (OUT / "calls.report.html").is_file()
    FOUND["abstract"] = made[0].metadata().abstract() if made else ""
    FOUND["message bar"] = iface.messageBar().currentItem() is not None
    FOUND["groups"] = [group.name() for group in QgsProject.instance().layerTreeRoot().findGroups()]
    FOUND["buttons"] = [
        button.text() for button in iface.messageBar().currentItem().findChildren(QPushButton)
    ]
    FOUND["offered as private"] = [
        dialog.points.layer.layer(row).name() for row in range(dialog.points.layer.count())
    ]
    FOUND["spent shown"] = dialog.points.spent.text()
    keys("Escape")
    yield 300
    QgsProject.instance().layerTreeRoot().findLayer(points.id()).setItemVisibilityChecked(False)
    yield 2500
    shot("result")


def remember_name():
    """A layer without a lasting place, named before, that is chosen when the window opens."""
    from dpsort_qgis.gui.publish_dialog import PublishDialog

    layer = QgsVectorLayer("Point?crs=EPSG:4326", "a first layer", "memory")
    layer.setCustomProperty("dpsort/dataset", "thefts 2026")
    QgsProject.instance().addMapLayer(layer)
    iface.setActiveLayer(layer)
    dialog = PublishDialog()
    FOUND["chosen at once"] = dialog.points.current() is layer
    dialog.present()
    yield 300
    FOUND["remembered name"] = dialog.points.name.text()
    dialog.close()
    QgsProject.instance().removeMapLayer(layer.id())
    yield 300


def publish_what_and_when(area):
    """Publish with a category and a time; gives the layer."""
    from dpsort_qgis.gui.publish_dialog import PublishDialog

    calls = QgsVectorLayer(os.environ["DPSORT_TOUR_DATED"], "emergency calls")
    QgsProject.instance().addMapLayer(calls)
    iface.setActiveLayer(calls)
    dialog = PublishDialog()
    dialog.present()
    yield 500
    FOUND["preselected"] = dialog.points.current() is calls
    dialog.area.layer.setLayer(area)
    dialog.axes.setCollapsed(False)
    dialog.axes.category.setField("type")
    dialog.axes.values.setText("burglary, theft, other")
    dialog.axes.time.setField("day")
    dialog.axes.start.setDate(QDate(2026, 1, 1))
    dialog.axes.stop.setDate(QDate(2026, 7, 1))
    without = dialog.card.figure.text()
    dialog.axes.zones.setLayer(area)
    FOUND["price of zones"] = [without, dialog.card.figure.text(), dialog.card.words.text()]
    dialog.output.release.setFilePath(str(OUT / "what_and_when.release.json"))
    dialog.output.target.setFilePath(str(OUT / "points"))
    (OUT / "points.gpkg").write_text("an older file")
    calls.setSubsetString('"who" >= 0')  # which is worth a note, and lets all through
    yield 800
    shot("what_and_when")
    dialog.activateWindow()
    iface.messageBar().clearWidgets()
    before = set(QgsProject.instance().mapLayers())

    def look():
        FOUND["question about a filter"] = window("Confirmation").text.text()

    yield from pay(dialog, look)
    dialog.epsilon.set_value(2)  # as a plan does that is handed on meanwhile
    yield from until(lambda: dialog.active is None)
    yield 1500
    FOUND["said after paying"] = [item.text() for item in iface.messageBar().items()]
    FOUND["next file for points"] = Path(dialog.output.target.filePath()).name
    dialog.close()
    (made,) = set(QgsProject.instance().mapLayers()) - before
    layer = QgsProject.instance().mapLayer(made)
    root = QgsProject.instance().layerTreeRoot()
    for node in root.findLayers():
        node.setItemVisibilityChecked(node.layerId() in (made, area.id()))
        node.setExpanded(node.layerId() == made)
    return layer
