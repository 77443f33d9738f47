"""QGIS without a window, the installed plugin, and a made-up city to try things on."""

import os
import random
import sys
from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingFeedback,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QDate, QDateTime, QTime

CENTRE = 13.4, 52.5
#: a city limit around the centre, with a bay cut out of it
LIMIT = ((-0.2, -0.12), (0.2, -0.12), (0.22, 0.1), (0.05, 0.02), (-0.05, 0.12), (-0.21, 0.1))


def start():
    """Start QGIS and the plugin; the folder of plugins is in the environment."""
    sys.path.insert(0, os.environ["DPSORT_PLUGINS"])
    application = QgsApplication([], False)
    application.initQgis()
    from processing.core.Processing import Processing

    Processing.initialize()
    import dpsort_qgis

    plugin = dpsort_qgis.classFactory(None)
    plugin.initProcessing()
    return application, plugin


def limit_wkt():
    """The city limit as text."""
    corners = [(CENTRE[0] + x, CENTRE[1] + y) for x, y in (*LIMIT, LIMIT[0])]
    return "Polygon ((" + ", ".join(f"{x} {y}" for x, y in corners) + "))"


def boundary(wkt=None, crs="EPSG:4326"):
    """The city limit as a layer."""
    layer = QgsVectorLayer(f"Polygon?crs={crs}", "boundary", "memory")
    feature = QgsFeature()
    feature.setGeometry(QgsGeometry.fromWkt(wkt or limit_wkt()))
    layer.dataProvider().addFeatures([feature])
    layer.updateExtents()
    return layer


def calls(n=2000, kind="Point", crs="EPSG:4326", seed=7, persons=500):
    """Made-up calls around three centres; the field ``who`` names the caller."""
    draw = random.Random(seed)
    layer = QgsVectorLayer(f"{kind}?crs={crs}&field=who:integer", f"calls {seed} {n}", "memory")
    shape = QgsGeometry.fromWkt(limit_wkt())
    features = []
    while len(features) < n:
        x, y = draw.choice(((-0.1, -0.03), (0.12, 0.0), (0.03, -0.08)))
        at = QgsPointXY(CENTRE[0] + draw.gauss(x, 0.03), CENTRE[1] + draw.gauss(y, 0.02))
        if not shape.contains(at):
            continue
        feature = QgsFeature(layer.fields())
        geometry = QgsGeometry.fromPointXY(at)
        if kind.startswith("Multi"):
            geometry.convertToMultiType()
        feature.setGeometry(geometry)
        feature.setAttributes([draw.randrange(persons)])
        features.append(feature)
    layer.dataProvider().addFeatures(features)
    layer.updateExtents()
    return layer


def dated(n=1500, seed=3, kind="date"):
    """Calls with a type, of which one in ten is in no public list, and a day in half a year."""
    draw = random.Random(seed)
    fields = f"field=who:integer&field=type:string&field=day:{kind}"
    layer = QgsVectorLayer(f"Point?crs=EPSG:4326&{fields}", f"dated {kind}", "memory")
    features = []
    for source in calls(n, seed=seed).getFeatures():
        feature = QgsFeature(layer.fields())
        feature.setGeometry(source.geometry())
        east = source.geometry().asPoint().x() > CENTRE[0]
        what = "secret" if draw.random() < 0.1 else "theft" if east else "burglary"
        day = QDate(2026, 1, 1).addDays(draw.randrange(181))
        value = {"date": day, "datetime": QDateTime(day, QTime(13, 0))}.get(kind)
        feature.setAttributes([draw.randrange(300), what, value or day.toString("yyyy-MM-dd")])
        features.append(feature)
    layer.dataProvider().addFeatures(features)
    layer.updateExtents()
    return layer


def reprojected(layer, crs):
    """A copy of a layer in another CRS."""
    import processing

    parameters = {"INPUT": layer, "TARGET_CRS": crs, "OUTPUT": "TEMPORARY_OUTPUT"}
    return processing.run("native:reprojectlayer", parameters)["OUTPUT"]


def saved(layer, path):
    """A layer in a GeoPackage."""
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    context = QgsCoordinateTransformContext()
    QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), context, options)
    return Path(path)


def in_project(layer):
    """A layer that can be named by its id, as one in the project can."""
    QgsProject.instance().addMapLayer(layer)
    return layer


def crs(text):
    return QgsCoordinateReferenceSystem(text)


class Listener(QgsProcessingFeedback):
    """Keeps everything that a user would read."""

    def __init__(self, cancel_at=None):
        super().__init__(False)
        self.said, self.warned = [], []
        self.cancel_at = cancel_at
        self.progressChanged.connect(self._progress)

    def _progress(self, percent):
        if self.cancel_at is not None and percent >= self.cancel_at:
            self.cancel()

    def pushInfo(self, text):
        self.said.append(text)

    def pushWarning(self, text):
        self.said.append(text)
        self.warned.append(text)

    def reportError(self, text, fatal=False):
        self.said.append(text)
