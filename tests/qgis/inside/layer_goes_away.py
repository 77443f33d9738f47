"""Publish as the window does, and take the layers away meanwhile; prints what came of it.

The first argument says how: ``remove`` takes the layers out of the project, ``new`` starts another.
The second says when: ``before`` the task has its thread, or while it is ``reading``. With
``virtual`` the layer that is published is made of another one, which goes away.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import city

APPLICATION, PLUGIN = city.start()

from dpsort_qgis.gui.runner import Run
from qgis.core import QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QEventLoop, QTimer

FOLDER = Path(os.environ["DPSORT_FOLDER"])
how, when, *virtual = sys.argv[1:]
layer, area = city.in_project(city.calls(60_000, seed=71)), city.in_project(city.boundary())
if virtual:
    layer.setName("behind")
    query = QgsVectorLayer("?query=select * from behind", "query", "virtual")
    layer = city.in_project(query)
    del query
run = Run(
    "dpsort:publishpoints",
    {
        "INPUT": layer.id(),
        "AREA": area.id(),
        "EPSILON": 1.0,
        "NEIGHBOURS": 1,
        "DATASET": " ".join(sys.argv[1:]),
        "RELEASE": str(FOLDER / f"{'_'.join(sys.argv[1:])}.release.json"),
        "OUTPUT": "TEMPORARY_OUTPUT",
    },
)
del layer, area
loop, told = QEventLoop(), {"gone": False, "results": None, "why": "it never ended"}


def take_away():
    if not told["gone"]:
        told["gone"] = True
        if how == "new":
            QgsProject.instance().clear()
        else:
            QgsProject.instance().removeAllMapLayers()


def finished(results, why):
    told.update(results=results and sorted(results), why=why)
    loop.quit()


run.finished.connect(finished)
QTimer.singleShot(60_000, loop.quit)
run.start()
if when == "before":
    take_away()
else:
    run.progressed.connect(lambda percent: take_away() if percent > 5 else None)
loop.exec()
print(json.dumps(told))
sys.stdout.flush()
# QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
os._exit(0)
