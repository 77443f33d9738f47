"""Build every window of the plugin on Qt 6, use it, and print what was seen.

python qt6_windows.py PLUGINS FOLDER
"""

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]
folder = Path(sys.argv[2])
import qt6_shim as shim

shim.install(folder)

import numpy as np
from PyQt6.QtCore import (
    QT_VERSION_STR,
    QLocale,
    QMimeData,
    QObject,
    QPoint,
    QPointF,
    Qt,
    QUrl,
    pyqtSignal,
)  # fmt: skip
from PyQt6.QtGui import QDragEnterEvent, QDropEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QDialog, QPushButton

application = QApplication(["windows"])
seen = {"qt": QT_VERSION_STR, "modules": []}
gui = Path(sys.argv[1], "dpsort_qgis", "gui")
for path in sorted(gui.glob("*.py")):
    seen["modules"].append(importlib.import_module(f"dpsort_qgis.gui.{path.stem}").__name__)

from dpsort_qgis.datasets import ledger
from dpsort_qgis.gui.confirmation import Confirmation
from dpsort_qgis.gui.drop import ReleaseDrop
from dpsort_qgis.gui.ledger_window import LedgerWindow
from dpsort_qgis.gui.plan_dialog import PlanDialog
from dpsort_qgis.gui.publish_dialog import PublishDialog
from dpsort_qgis.gui.release_dialog import ReleaseDialog
from dpsort_qgis.report import _png

square = np.array([[0, 0], [20000, 0], [20000, 20000], [0, 20000], [0, 0]], float)
AREA = SimpleNamespace(
    side=20000.0, metres=1.0, rings=[square], box=(0, 0, 20000, 20000), order=lambda metres=None: 11
)


class Layer(QObject):
    """A private layer as the window sees it."""

    featureAdded = pyqtSignal(int)

    def __init__(self):
        super().__init__()
        self.rows = 5000
        answers = {"name": "calls", "id": "calls", "selectedFeatureCount": 0, "subsetString": ""}
        answers.update(providerType="memory", customProperty="calls 2026", source="")
        answers.update(extent=shim.Anything(), crs=shim.Anything(), geometryType=0)
        for name, value in answers.items():
            setattr(self, name, lambda *_, value=value: value)

    def featureCount(self):
        return self.rows


publish = PublishDialog()
publish.area.area = lambda: AREA
private = Layer()
publish.points.layer.setLayer(private)
publish.output.release.setFilePath(str(folder / "calls.release.json"))
publish.refresh()
publish.show()
seen["figure"] = publish.card.figure.text()
private.rows = 50
private.featureAdded.emit(1)
application.processEvents()
seen["figure of fewer"] = publish.card.figure.text()
private.rows = 5000
private.featureAdded.emit(1)
application.processEvents()
publish.epsilon.set_value(4.0)
seen["figure at 4"], seen["notes at 4"] = publish.card.figure.text(), publish.card.notes.text()
seen["can run"] = publish.run_button.isEnabled()
seen["typed"] = []
for mark, language in ((".", "en_US"), (",", "de_DE")):
    publish.epsilon.spin.setLocale(QLocale(language))
    for text in ("0.5", "0,5", "12"):
        publish.epsilon.spin.selectAll()
        QTest.keyClicks(publish.epsilon.spin, text)
        publish.epsilon.spin.interpretText()  # as when the field is left
        shown = publish.epsilon.spin.text() == f"{publish.epsilon.value():.3f}".replace(".", mark)
        seen["typed"].append([publish.epsilon.value(), shown])
publish.epsilon.set_value(4.0)
asked = []
publish.run = lambda: asked.append("asked")
publish.epsilon.spin.setFocus()
QTest.keyClick(publish.epsilon.spin, Qt.Key.Key_Return)
QTest.keyClick(publish, Qt.Key.Key_Return)
seen["return asks"] = bool(asked)
seen["rows"] = publish.rows()
seen["pixels"] = not publish.grab().isNull()
publish.axes.category.currentField = lambda: "type"
publish.axes.values.setText("burglary, theft, other")
seen["zones can be chosen"] = publish.axes.zones.isEnabled()
publish.axes.zones.number = lambda *_: 3
publish.update_card()
seen["price of zones"] = publish.card.words.text()
publish.axes.values.clear()
publish.points.layer.setLayer(None)
seen["without a layer"] = publish.card.figure.text()

question = Confirmation([("Layer", "calls")], ["a note"])
question.show()
QTest.keyClick(question, Qt.Key.Key_Return)
seen["return pays"] = question.result() == QDialog.DialogCode.Accepted.value
question = Confirmation([("Layer", "calls")], [])
question.show()
QTest.mouseClick(question.pay, Qt.MouseButton.LeftButton)
seen["the button pays"] = question.result() == QDialog.DialogCode.Accepted.value

handed = []
plan = PlanDialog(lambda *planned: handed.append(planned))
plan.area.area = lambda: AREA
plan.refresh()
plan.target.setValue(400.0)
seen["planned"] = plan.card.figure.text()
without = plan.epsilon.value()
plan.axes.values.setText("burglary, theft, other")
plan.axes.timed.setChecked(True)
seen["stretches"] = [axis.labels[-1] for axis in plan.axes.axes()]
plan.axes.undated.setChecked(True)
seen["stretches with missing dates"] = [axis.labels[-1] for axis in plan.axes.axes()]
seen["axes need more epsilon"] = plan.epsilon.value() > 1.2 * without
seen["price of axes"] = plan.card.words.text()
QTest.mouseClick(plan.findChild(QPushButton, "publish"), Qt.MouseButton.LeftButton)
seen["handed on"] = handed == [(plan.epsilon.value(), plan.area, plan.axes)]
publish.take(*handed[0])
seen["taken"] = [publish.epsilon.value() == plan.epsilon.value(), publish.axes.values.text()]
publish.axes.time.currentField = lambda: "day"
publish.axes.refresh()
seen["missing dates"] = [
    publish.axes.undated.isEnabled(), publish.axes.parameters()["TIME_OTHER"],
    publish.axes.words(),
]  # fmt: skip

book = ledger()
book.debit("calls", "0.5", release=str(folder / "a.release.json"))
window = LedgerWindow()
window.refresh()
window.limit("calls", "2")
table = window.sets
seen["ledger"] = [table.item(0, column).text() for column in range(table.columnCount())]
window.export(str(folder / "ledger.json"))
seen["exported"] = json.loads((folder / "ledger.json").read_text())["entries"][0]["dataset"]

release = ReleaseDialog()
release.count_only()
release.open_file(str(folder / "nothing.release.json"))
seen["release"] = [release.statement.text(), release.run_button.isEnabled()]
dropped = QMimeData()
dropped.setUrls([QUrl.fromLocalFile(str(folder / "dropped.release.json"))])
rest = Qt.DropAction.CopyAction, dropped, Qt.MouseButton.LeftButton
rest += (Qt.KeyboardModifier.NoModifier,)
entered = QDragEnterEvent(QPoint(5, 5), *rest)
entered.ignore()
release.dragEnterEvent(entered)
release.dropEvent(QDropEvent(QPointF(5, 5), *rest))
seen["dropped"] = [entered.isAccepted(), Path(release.file.filePath()).name]
opened = []
handler = ReleaseDrop(opened.append)
seen["drops"] = [handler.handleFileDrop(name) for name in ("a.release.json", "b.gpkg")]
seen["drop key"], seen["opened"] = handler.customUriProviderKey(), opened
for shown in (plan, window, release):
    shown.show()
    shown.grab()
seen["png"] = _png(np.array([[0.0, 1.0], [2.0, 3.0]]), 3.0)[1:4].decode("ascii")
print(json.dumps(seen))
sys.stdout.flush()
