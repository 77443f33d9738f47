"""Ways to ask the algorithms for things, shared by the claims; the plugin is started here."""

import os
import tempfile
from pathlib import Path

import city

APPLICATION, PLUGIN = city.start()

import processing
from dpsort_qgis import datasets
from qgis.core import (
    NULL,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsGeometry,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
)

HERE = Path(__file__).parent
FOLDER = Path(os.environ["DPSORT_FOLDER"])
CONTEXT = QgsCoordinateTransformContext()
BOX = "13.1,13.7,52.3,52.7 [EPSG:4326]"


def publish(layer, feedback=None, context=None, **parameters):
    """Publish with the city limit as the public area, unless told otherwise."""
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "calls.release.json"
    given = {"INPUT": layer, "EPSILON": 1.0, "OUTPUT": "TEMPORARY_OUTPUT", "RELEASE": str(path)}
    if isinstance(layer, QgsVectorLayer):
        given["DATASET"] = name_of(layer)
    if not {"AREA", "EXTENT"} & set(parameters):
        given["AREA"] = city.boundary()
    given.update(parameters)
    return processing.run("dpsort:publishpoints", given, feedback=feedback, context=context)


def name_of(layer):
    """The name of a layer's data set; a layer without a lasting place goes by its own."""
    return datasets.dataset_of(layer) or layer.name()


def refusal(layer, **parameters):
    """The sentence with which a publish is refused."""
    try:
        publish(layer, **parameters)
    except QgsProcessingException as error:
        return str(error)
    raise AssertionError("it was not refused")


def zones_of(*shapes, crs="EPSG:4326"):
    """A layer of polygons from texts; None gives a feature without geometry."""
    layer = QgsVectorLayer(f"MultiPolygon?crs={crs}", "zones", "memory")
    for shape in shapes:
        feature = QgsFeature()
        if shape:
            feature.setGeometry(QgsGeometry.fromWkt(shape))
        layer.dataProvider().addFeatures([feature])
    layer.updateExtents()
    return layer


def counts(release, zones):
    """Estimates of a layer of zones; 0 where a zone lies elsewhere, whose estimate is null."""
    parameters = {"RELEASE": release, "ZONES": zones, "OUTPUT": "TEMPORARY_OUTPUT"}
    layer = processing.run("dpsort:countinpolygons", parameters)["OUTPUT"]
    found = [feature["estimate"] for feature in layer.getFeatures()]
    return [0 if one == NULL else one for one in found]


def loaded(name, **parameters):
    """The layer of an algorithm as QGIS would load it, with its looks."""
    context = QgsProcessingContext()
    context.setProject(QgsProject.instance())
    target = parameters.pop("OUTPUT", "TEMPORARY_OUTPUT")
    output = QgsProcessingOutputLayerDefinition(target, QgsProject.instance())
    results = processing.run(f"dpsort:{name}", {**parameters, "OUTPUT": output}, context=context)
    ((target, details),) = context.layersToLoadOnCompletion().items()
    layer = results["OUTPUT"]
    if not isinstance(layer, QgsVectorLayer):
        kind = QgsRasterLayer if target.endswith(".tif") else QgsVectorLayer
        layer = kind(target)
    layer.setName(details.name)
    details.postProcessor().postProcessLayer(layer, context, city.Listener())
    return layer


def rectangle(west, south, east, north):
    return (
        f"Polygon (({west} {south}, {east} {south}, {east} {north}, {west} {north}, "
        f"{west} {south}))"
    )


def coordinates(layer):
    points = [feature.geometry().asPoint() for feature in layer.getFeatures()]
    return [(point.x(), point.y()) for point in points]
