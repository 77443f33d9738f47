"""The tour's stops at reading: a release, counts, the ledger, a legend to print."""

from qgis.core import (
    QgsDateTimeRange,
    QgsFeature,
    QgsFeatureRequest,
    QgsGeometry,
    QgsLayoutExporter,
    QgsLayoutItemLegend,
    QgsLayoutItemMap,
    QgsLayoutPoint,
    QgsPrintLayout,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
    QgsVectorLayerTemporalContext,
)
from qgis.PyQt.QtCore import QMimeData, QPoint, QPointF, QRectF, Qt, QUrl
from qgis.PyQt.QtGui import QColor, QDragEnterEvent, QDropEvent
from qgis.PyQt.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QDockWidget,
)
from qgis.utils import iface
from tour_hands import FOUND, OUT, keys, shot, text, until, window
from tour_windows import without_tip


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
        if "published" in layer.name():
            root.findLayer(layer.id()).setItemVisibilityChecked(False)
    yield 2500
    shot("density")
    node = root.findLayer(density_layer().id())
    legend = iface.layerTreeView().layerTreeModel().layerLegendNodes(node)
    FOUND["legend of the density"] = legend[0].data(Qt.ItemDataRole.DisplayRole)


def ledger_and_drop():
    """The ledger's window, and a release that is dropped onto the map."""
    iface.mainWindow().activateWindow()
    yield 500
    keys("alt+o")
    yield 600
    text("p")
    yield 600
    text("d")
    yield from until(lambda: window("LedgerWindow"), 20)
    ledger = window("LedgerWindow")
    yield 800
    shot("ledger")
    FOUND["ledger rows"] = [
        [ledger.sets.item(row, column).text() for column in range(5)]
        for row in range(ledger.sets.rowCount())
    ]
    FOUND["ledger releases"] = [
        ledger.entries.item(row, 5).text() for row in range(ledger.entries.rowCount())
    ]
    keys("Escape")
    yield 500
    carried = QMimeData()
    carried.setUrls([QUrl.fromLocalFile(str(OUT / "calls.release.json"))])
    rest = Qt.DropAction.CopyAction, carried, Qt.MouseButton.LeftButton
    rest += (Qt.KeyboardModifier.NoModifier,)
    for event in (QDragEnterEvent(QPoint(700, 400), *rest), QDropEvent(QPointF(700, 400), *rest)):
        QApplication.sendEvent(iface.mainWindow(), event)
    yield from until(lambda: window("ReleaseDialog"), 20)
    FOUND["dropped"] = window("ReleaseDialog").file.filePath()
    keys("Escape")
    yield 500
    for key in ("alt+o", "p", "c"):
        keys(key)
        yield 600
    yield from until(lambda: window("ReleaseDialog"), 20)
    release = window("ReleaseDialog")
    FOUND["count chosen in the menu"] = [
        box.text().replace("&", "") for box in release.findChildren(QCheckBox) if box.isChecked()
    ]
    FOUND["without a tip"]["release"] = without_tip(release)
    keys("Escape")
    yield 500


def zones(box):
    """A layer of twenty rectangles."""
    layer = QgsVectorLayer("Polygon?crs=EPSG:4326", "zones", "memory")
    for i in range(5):
        for j in range(4):
            west = box.xMinimum() + i * box.width() / 5
            south = box.yMinimum() + j * box.height() / 4
            cell = QgsRectangle(west, south, west + box.width() / 5, south + box.height() / 4)
            feature = QgsFeature()
            feature.setGeometry(QgsGeometry.fromRect(cell))
            layer.dataProvider().addFeatures([feature])
    QgsProject.instance().addMapLayer(layer)
    return layer


def density_layer():
    """The density that was opened from a release."""
    layers = QgsProject.instance().mapLayers().values()
    return next(layer for layer in layers if isinstance(layer, QgsRasterLayer))


def print_legends(layers):
    """A page with a map and the legends of published layers, as a reader gets it."""
    layout = QgsPrintLayout(QgsProject.instance())
    layout.initializeDefaults()
    sheet = QgsLayoutItemMap(layout)
    sheet.attemptSetSceneRect(QRectF(10, 10, 190, 140))
    sheet.setExtent(iface.mapCanvas().extent())
    sheet.setLayers([layers[0]])
    legend = QgsLayoutItemLegend(layout)
    legend.setAutoUpdateModel(False)
    group = legend.model().rootGroup()
    group.clear()
    root = QgsProject.instance().layerTreeRoot()
    for layer in layers:
        group.addChildNode(root.findLayer(layer.id()).clone())
    legend.attemptMove(QgsLayoutPoint(205, 10))
    for item in (sheet, legend):
        layout.addLayoutItem(item)
    legend.adjustBoxSize()
    layout.renderContext().setDpi(110)
    settings = QgsLayoutExporter.ImageExportSettings()
    done = QgsLayoutExporter(layout).exportToImage(str(OUT / "print.png"), settings)
    nodes = [legend.model().layerLegendNodes(node) for node in group.findLayers()]
    texts = [[node.data(Qt.ItemDataRole.DisplayRole) for node in some] for some in nodes]
    return {"done": done == QgsLayoutExporter.ExportResult.Success, "texts": texts}


def play(layer):
    """A month of the published points."""
    span = QgsProject.instance().timeSettings().temporalRange()
    month = QgsDateTimeRange(span.begin(), span.begin().addMonths(1), True, False)
    FOUND["months"] = len({feature["day"] for feature in layer.getFeatures()})
    shown = layer.temporalProperties().createFilterString(QgsVectorLayerTemporalContext(), month)
    request = QgsFeatureRequest().setFilterExpression(shown)
    FOUND["shown in all"] = layer.featureCount()
    FOUND["shown in a month"] = len(list(layer.getFeatures(request)))
    iface.mainWindow().activateWindow()
    yield 600
    iface.messageBar().clearWidgets()
    dock = iface.mainWindow().findChild(QDockWidget, "Temporal Controller")
    dock.show()
    yield 500
    frames = []
    dock.findChild(QAbstractButton, "mNavigationAnimated").click()  # and nothing else is set
    for step in range(2):
        if step:
            iface.mapCanvas().temporalController().next()
        yield 1000
        frame = iface.mapCanvas().mapSettings().temporalRange()
        frames.append([end.toString("yyyy-MM-dd HH:mm") for end in (frame.begin(), frame.end())])
    FOUND["frames played"] = frames
    yield 3000
    shot("played")
    dock.findChild(QAbstractButton, "mNavigationOff").click()
    dock.hide()


def count(area, layer):
    """Counts in rectangles, a page with all legends, and points on a dark map."""
    import processing

    root = QgsProject.instance().layerTreeRoot()
    quarters = zones(area.extent())
    parameters = {"RELEASE": str(OUT / "calls.release.json"), "ZONES": quarters}
    parameters.update(OUTPUT="TEMPORARY_OUTPUT")
    before = set(QgsProject.instance().mapLayers())
    processing.runAndLoadResults("dpsort:countinpolygons", parameters)
    yield 1000
    (made,) = set(QgsProject.instance().mapLayers()) - before
    counted = QgsProject.instance().mapLayer(made)
    FOUND["counts"] = counted.name()
    for node in root.findLayers():
        node.setItemVisibilityChecked(node.layerId() in (counted.id(), area.id()))
        for shown in (False, node.layerId() == counted.id()):
            node.setExpanded(shown)
    iface.messageBar().clearWidgets()
    yield 2500
    shot("counts")
    FOUND["printed"] = print_legends([counted, layer, density_layer()])
    iface.mapCanvas().setCanvasColor(QColor(30, 34, 38))
    for node in root.findLayers():
        node.setItemVisibilityChecked(node.layerId() == layer.id())
    yield 2000
    shot("points_on_dark")
