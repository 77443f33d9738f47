"""Publish where PROJ may read grids from the web; prints with which sentence it was refused."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import city

APPLICATION, PLUGIN = city.start()

import processing
from dpsort_qgis import datasets
from osgeo import osr
from qgis.core import (
    QgsFeature,
    QgsGeometry,
    QgsProcessingException,
    QgsVectorLayer,
)

FOLDER = Path(os.environ["DPSORT_FOLDER"])


def points(crs, x, y):
    layer = QgsVectorLayer(f"Point?crs={crs}", f"points in {crs}", "memory")
    for number in range(50):
        feature = QgsFeature()
        at = f"Point ({x + 300 * (number % 10)} {y + 300 * (number // 10)})"
        feature.setGeometry(QgsGeometry.fromWkt(at))
        layer.dataProvider().addFeatures([feature])
    layer.updateExtents()
    return layer


def outcome(layer, extent):
    parameters = {"INPUT": layer, "EXTENT": extent, "EPSILON": 1, "OUTPUT": "TEMPORARY_OUTPUT"}
    parameters.update(RELEASE=str(FOLDER / "web.release.json"), DATASET=layer.name())
    try:
        processing.run("dpsort:publishpoints", parameters)
    except QgsProcessingException as error:
        return str(error)
    return "published"


london, germany = points("EPSG:27700", 530000, 180000), points("EPSG:31467", 3450000, 5400000)
told = {
    "network": osr.GetPROJEnableNetwork(),
    "points": outcome(london, "-0.6,0.4,51.2,51.8 [EPSG:4326]"),
    "extent": outcome(london, "500000,560000,155000,205000 [EPSG:32630]"),
    "grid on this machine": outcome(germany, "8,9,48,49.5 [EPSG:4326]"),
    "spent": len(datasets.ledger().entries(london.name())),
}
print(json.dumps(told))
sys.stdout.flush()
# QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
os._exit(0)
