"""Write the made-up city to files, and a model that publishes and reads; given the folder."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import city
from qgis.core import (
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterVectorLayer,
)


def publish_and_read():
    """A model, as the designer makes it: points and an area in, a release and all readings out."""
    model = QgsProcessingModelAlgorithm("publish and read", "tests")
    for name in ("points", "area"):
        model.addModelParameter(
            QgsProcessingParameterVectorLayer(name, name), QgsProcessingModelParameter(name)
        )
    source = QgsProcessingModelChildParameterSource
    release = {"RELEASE": source.fromChildOutput("publish", "RELEASE")}
    area = source.fromModelParameter("area")
    private = {"INPUT": source.fromModelParameter("points"), "AREA": area}
    for name, algorithm, wanted, given in (
        ("publish", "publishpoints", "RELEASE", private),
        ("points", "pointsfromrelease", "OUTPUT", release),
        ("density", "densityfromrelease", "OUTPUT", release),
        ("counts", "countinpolygons", "OUTPUT", {**release, "ZONES": area}),
        ("inspection", "inspectrelease", "REPORT", release),
    ):
        child = QgsProcessingModelChildAlgorithm(f"dpsort:{algorithm}")
        child.setChildId(name)
        for parameter, value in given.items():
            child.addParameterSources(parameter, [value])
        output = QgsProcessingModelOutput("result")
        output.setChildId(name)
        output.setChildOutputName(wanted)
        child.setModelOutputs({"result": output})
        model.addChildAlgorithm(child)
    return model


city.start()
folder = Path(sys.argv[1])
city.saved(city.calls(6000, persons=1500), folder / "calls.gpkg")
city.saved(city.boundary(), folder / "city.gpkg")
city.saved(city.dated(4000), folder / "dated.gpkg")
if not publish_and_read().toFile(str(folder / "publish_and_read.model3")):
    raise SystemExit("the model could not be written")
sys.stdout.flush()
# QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
os._exit(0)
