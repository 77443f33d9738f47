"""Plans, and what belongs to Processing, tried in real QGIS. Run by ``claims.py``."""

import json
import unittest
from pathlib import Path

import city
import processing
from asked import (
    BOX,
    CONTEXT,
    FOLDER,
    HERE,
    PLUGIN,
    coordinates,
    publish,
    refusal,
)
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.frame.area import ledger_text
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from dpsort_qgis._vendor.dpsort_geo.rules.views import check_zone_cells
from dpsort_qgis.algorithms import ALGORITHMS
from dpsort_qgis.area import area_of_box, area_of_polygons
from dpsort_qgis.host import crs_name, crs_of, crs_text, polygons_of
from dpsort_qgis.i18n import said
from dpsort_qgis.reading import Reading
from dpsort_qgis.zone_counts import count_rows
from qgis.core import (
    QgsApplication,
    QgsGeometry,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterFeatureSource,
    QgsProject,
    QgsRectangle,
)
from qgis.PyQt.QtCore import QLocale, QUrl


class Planning(unittest.TestCase):
    def plan(self, **parameters):
        return processing.run("dpsort:plan", {"EXTENT": BOX, "N": 10000, **parameters})

    def test_more_epsilon_means_less_error(self):
        self.assertLess(
            self.plan(EPSILON=2.0)["EXPECTED_ERROR"], self.plan(EPSILON=0.5)["EXPECTED_ERROR"]
        )

    def test_a_wanted_error_gives_the_epsilon_that_reaches_it(self):
        results = self.plan(TARGET_ERROR=500)
        again = self.plan(EPSILON=results["PLANNED_EPSILON"])
        self.assertLessEqual(again["EXPECTED_ERROR"], 500.001)
        self.assertGreater(again["EXPECTED_ERROR"], 450)

    def test_it_has_no_parameter_for_a_point_layer(self):
        algorithm = PLUGIN.provider.algorithm("plan")
        sources = [
            parameter.name()
            for parameter in algorithm.parameterDefinitions()
            if isinstance(parameter, QgsProcessingParameterFeatureSource)
        ]
        self.assertEqual(sources, ["AREA"])

    def test_the_page_compares_choices(self):
        page = self.plan(REPORT=str(FOLDER / "plan.html"))["REPORT"]
        self.assertIn("Other choices", Path(page).read_text(encoding="utf-8"))


class Belonging(unittest.TestCase):
    """To Processing: help, icons, models, batch."""

    def test_every_algorithm_and_parameter_has_help_an_icon_and_tags(self):
        for kind in ALGORITHMS:
            algorithm = PLUGIN.provider.algorithm(kind.NAME)
            self.assertGreater(len(algorithm.shortHelpString()), 60)
            self.assertTrue(Path(algorithm.svgIconPath()).is_file())
            self.assertFalse(algorithm.icon().isNull())
            self.assertTrue(Path(QUrl(algorithm.helpUrl()).toLocalFile()).is_file())
            self.assertGreater(len(algorithm.tags()), 4)
            for parameter in algorithm.parameterDefinitions():
                self.assertGreater(len(parameter.help()), 15, parameter.name())

    def test_one_instance_runs_a_batch(self):
        algorithm = PLUGIN.provider.algorithm("publishpoints").create()
        made = []
        for seed in (1, 2):
            context = QgsProcessingContext()
            parameters = {
                "INPUT": city.calls(100, seed=seed),
                "AREA": city.boundary(),
                "EPSILON": 1.0,
                "DATASET": "batch",
                "RELEASE": str(FOLDER / f"batch{seed}.release.json"),
            }
            results, good = algorithm.run(parameters, context, city.Listener())
            self.assertTrue(good)
            made.append(Path(results["RELEASE"]).read_text(encoding="utf-8"))
        self.assertNotEqual(*made)

    def test_a_model_publishes_and_reads_its_own_release(self):
        model = QgsProcessingModelAlgorithm("private", "tests")
        for name, kind in (("points", 0), ("area", 2)):
            source = QgsProcessingParameterFeatureSource(name, name, [kind])
            model.addModelParameter(source, QgsProcessingModelParameter(name))
        first = QgsProcessingModelChildAlgorithm("dpsort:publishpoints")
        first.setChildId("publish")
        From = QgsProcessingModelChildParameterSource
        first.addParameterSources("INPUT", [From.fromModelParameter("points")])
        first.addParameterSources("AREA", [From.fromModelParameter("area")])
        first.addParameterSources("EPSILON", [From.fromStaticValue(1.0)])
        first.addParameterSources("DATASET", [From.fromStaticValue("made by a model")])
        model.addChildAlgorithm(first)
        second = QgsProcessingModelChildAlgorithm("dpsort:pointsfromrelease")
        second.setChildId("points")
        second.addParameterSources("RELEASE", [From.fromChildOutput("publish", "RELEASE")])
        final = QgsProcessingModelOutput("result")
        final.setChildId("points")
        final.setChildOutputName("OUTPUT")
        second.setModelOutputs({"result": final})
        model.addChildAlgorithm(second)
        parameters = {
            "points": city.in_project(city.calls(250)).id(),
            "area": city.in_project(city.boundary()).id(),
            "points:result": "TEMPORARY_OUTPUT",
        }
        context = QgsProcessingContext()
        context.setProject(QgsProject.instance())
        results, good = model.run(parameters, context, city.Listener())
        self.assertTrue(good)
        layer = context.takeResultLayer(results["points:result"])
        self.assertEqual(layer.featureCount(), 250)

    def test_german_is_spoken_to_germans(self):
        QgsApplication.setLocale(QLocale("de_DE"))
        self.addCleanup(QgsApplication.setLocale, QLocale("en_US"))
        self.assertEqual(PLUGIN.provider.algorithm("plan").create().displayName(), "Planen")
        broken = FOLDER / "kaputt.release.json"
        broken.write_text("{}", encoding="utf-8")
        parameters = {"RELEASE": str(broken), "REPORT": str(FOLDER / "kaputt.html")}
        with self.assertRaises(QgsProcessingException) as caught:
            processing.run("dpsort:inspectrelease", parameters)
        self.assertEqual(str(caught.exception), "Diese Datei ist kein dpsort-geo-Release.")
        # a sentence of the library with names in it
        sentence = refusal(city.dated(50), CATEGORY="type", CATEGORIES="burglary, theft")
        self.assertTrue(sentence.startswith("Ein Wert von 'type' fehlt oder steht nicht"), sentence)
        # and with a number, as Germans write it
        with self.assertRaises(BadInputError) as caught:
            check_zone_cells(10**9, [CategoryAxis("what", ("a", "b"))])
        self.assertRegex(said(caught.exception), r"hat bis zu \d{1,3}(\.\d{3})+ Zellen")

    def test_the_same_inputs_make_the_grid_that_geopandas_users_get(self):
        """Writes what ``test_same_release.py`` compares with the other face of the library."""
        area = city.boundary()
        results = publish(city.calls(700), AREA=area)
        Path(FOLDER / "same.release.json").write_text(Path(results["RELEASE"]).read_text())
        (FOLDER / "same.points.json").write_text(json.dumps(coordinates(results["OUTPUT"])))
        density = {"RELEASE": results["RELEASE"], "OUTPUT": str(FOLDER / "same.tif")}
        # geopandas users get the raster in the CRS that a release is worked on in
        density["CRS"] = crs_of(load(results["RELEASE"]).working_crs)
        processing.run("dpsort:densityfromrelease", density)
        density = {**density, "OUTPUT": str(FOLDER / "same200.tif"), "CELL": 200}
        processing.run("dpsort:densityfromrelease", density)
        release = load(results["RELEASE"])
        reading, found = Reading(release, CONTEXT), {}
        for name, (crs, wkt) in json.loads((HERE / "same_zones.json").read_text()).items():
            zones = [polygons_of(QgsGeometry.fromWkt(wkt))]
            rows = count_rows(reading, zones, city.crs(crs), 0.9)
            columns = (rows.estimate, rows.low, rows.high, rows.covered)
            found[name] = [float(column[0]) for column in columns]
        (FOLDER / "same.counts.json").write_text(json.dumps(found))
        ranks = publish(city.calls(700), AREA=area, METHOD=1)["RELEASE"]
        Path(FOLDER / "repeated.release.json").write_text(Path(ranks).read_text())
        parameters = {"RELEASE": ranks, "SPREAD": False, "OUTPUT": "TEMPORARY_OUTPUT"}
        layer = processing.run("dpsort:pointsfromrelease", parameters)["OUTPUT"]
        (FOLDER / "repeated.points.json").write_text(json.dumps(coordinates(layer)))
        box = publish(city.calls(700), EXTENT=BOX)
        Path(FOLDER / "box.release.json").write_text(Path(box["RELEASE"]).read_text())
        (FOLDER / "box.points.json").write_text(json.dumps(coordinates(box["OUTPUT"])))

    def test_the_same_areas_make_the_grids_that_geopandas_users_get(self):
        """Writes what ``test_same_release.py`` compares with the other face of the library."""
        found = {}
        for name, (crs, given) in json.loads((HERE / "same_areas.json").read_text()).items():
            if isinstance(given, str):
                layer = city.boundary(given, crs)
                area = area_of_polygons(layer.getFeatures(), layer.crs(), CONTEXT)
            else:
                area = area_of_box(QgsRectangle(*given), city.crs(crs), CONTEXT)
            grid = area.grid()
            found[name] = {
                "grid": [grid.x0, grid.y0, grid.cell, grid.order, grid.n_cells],
                "runs": None if grid.runs is None else grid.runs.tolist(),
                "metres": area.metres,
                "ledger": ledger_text(area.bounds, crs_name(area.crs), grid.order),
                "working": crs_text(area.working_crs),
            }
        (FOLDER / "same.grids.json").write_text(json.dumps(found))
        self.assertEqual(len(found), 9)
