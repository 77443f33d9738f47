"""What the algorithms promise, tried in real QGIS. Run by ``test_algorithms.py``, not by pytest."""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import city

APPLICATION, PLUGIN = city.start()

import numpy as np  # noqa: E402
import processing  # noqa: E402
from dpsort_qgis import releases  # noqa: E402
from dpsort_qgis._vendor.dpsort_geo.budget import NEIGHBOURS  # noqa: E402
from dpsort_qgis._vendor.dpsort_geo.errors import BadInput  # noqa: E402
from dpsort_qgis._vendor.dpsort_geo.publisher.measure import METHODS  # noqa: E402
from dpsort_qgis._vendor.dpsort_geo.reader.density import pixel_area  # noqa: E402
from dpsort_qgis._vendor.dpsort_geo.release import load  # noqa: E402
from dpsort_qgis.algorithms import ALGORITHMS  # noqa: E402
from dpsort_qgis.algorithms import publish as publishing  # noqa: E402
from dpsort_qgis.area import (  # noqa: E402
    area_of_box,
    area_of_polygons,
    crs_of,
    crs_text,
    square_metres,
    transformed,
)
from dpsort_qgis.gui.runner import Run  # noqa: E402
from osgeo import gdal  # noqa: E402
from qgis.core import (  # noqa: E402
    QgsApplication,
    QgsCoordinateTransform,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingParameterFeatureSource,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsReferencedRectangle,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QEventLoop, QLocale, QTimer  # noqa: E402

FOLDER = Path(os.environ["DPSORT_FOLDER"])
CONTEXT = QgsCoordinateTransformContext()
BOX = "13.1,13.7,52.3,52.7 [EPSG:4326]"


def publish(layer, feedback=None, context=None, **parameters):
    """Publish with the city limit as the public area, unless told otherwise."""
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "calls.release.json"
    given = {"INPUT": layer, "EPSILON": 1.0, "OUTPUT": "TEMPORARY_OUTPUT", "RELEASE": str(path)}
    if not {"AREA", "EXTENT"} & set(parameters):
        given["AREA"] = city.boundary()
    given.update(parameters)
    return processing.run("dpsort:publishpoints", given, feedback=feedback, context=context)


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
    """Estimates of a layer of zones."""
    parameters = {"RELEASE": release, "ZONES": zones, "OUTPUT": "TEMPORARY_OUTPUT"}
    layer = processing.run("dpsort:countinpolygons", parameters)["OUTPUT"]
    return [feature["estimate"] for feature in layer.getFeatures()]


def rectangle(west, south, east, north):
    return (
        f"Polygon (({west} {south}, {east} {south}, {east} {north}, {west} {north}, "
        f"{west} {south}))"
    )


def coordinates(layer):
    points = [feature.geometry().asPoint() for feature in layer.getFeatures()]
    return [(point.x(), point.y()) for point in points]


class Publishing(unittest.TestCase):
    def test_gives_as_many_points_as_went_in_without_attributes_and_inside_the_area(self):
        results = publish(city.calls(1500))
        layer = results["OUTPUT"]
        self.assertEqual(layer.featureCount(), 1500)
        self.assertEqual(layer.fields().count(), 0)
        self.assertEqual(layer.crs().authid(), "EPSG:4326")
        near = QgsGeometry.fromWkt(city.limit_wkt()).buffer(0.001, 8)
        self.assertTrue(all(near.contains(f.geometry()) for f in layer.getFeatures()))

    def test_no_published_point_is_a_private_one(self):
        layer = city.calls(1500)
        self.assertFalse(set(coordinates(layer)) & set(coordinates(publish(layer)["OUTPUT"])))

    def test_two_runs_differ(self):
        layer = city.calls(500)
        first, second = publish(layer), publish(layer)
        self.assertNotEqual(coordinates(first["OUTPUT"]), coordinates(second["OUTPUT"]))

    def test_every_method_and_relation_publishes_points_and_persons(self):
        layer = city.calls(800, persons=200)
        for method in range(3):
            for relation in range(2):
                for person, unit in ((None, "point"), ("who", "person")):
                    with self.subTest(method=method, relation=relation, unit=unit):
                        results = publish(layer, METHOD=method, NEIGHBOURS=relation, PERSON=person)
                        release = load(results["RELEASE"])
                        self.assertEqual(release.kind, METHODS[method])
                        self.assertEqual(release.neighbours, NEIGHBOURS[relation])
                        self.assertEqual(release.unit, unit)
                        self.assertTrue(release.private)
                        self.assertTrue(release.verify())
                        self.assertEqual(results["OUTPUT"].featureCount(), release.size)

    def test_group_size_is_the_one_that_was_asked_for(self):
        release = publish(city.calls(1000), METHOD=1, GROUP_SIZE=100)["RELEASE"]
        self.assertEqual(load(release).settings["groups"], 10)

    def test_points_in_another_crs_than_the_area_land_in_the_same_place(self):
        layer = city.calls(1000)
        for other in ("EPSG:3857", "EPSG:25833"):
            moved = city.reprojected(layer, city.crs(other))
            got = publish(moved, EPSILON=100.0)["OUTPUT"].extent()
            true = layer.extent()
            for edge in ("xMinimum", "xMaximum", "yMinimum", "yMaximum"):
                self.assertAlmostEqual(getattr(got, edge)(), getattr(true, edge)(), delta=0.02)

    def test_a_projected_area_keeps_its_crs(self):
        area = city.reprojected(city.boundary(), city.crs("EPSG:25833"))
        release = load(publish(city.calls(500), AREA=area)["RELEASE"])
        self.assertEqual((release.crs, release.working_crs), ("EPSG:25833", "EPSG:25833"))

    def test_an_extent_serves_as_the_area(self):
        release = load(publish(city.calls(500), EXTENT=BOX)["RELEASE"])
        self.assertEqual(release.crs, "EPSG:4326")
        self.assertIn("+proj=laea", release.working_crs)

    def test_points_with_heights_and_single_multipoints_are_points(self):
        for kind in ("PointZ", "PointM", "PointZM", "MultiPoint"):
            self.assertEqual(publish(city.calls(300, kind))["OUTPUT"].featureCount(), 300)

    def test_the_report_and_the_layer_carry_the_privacy_statement(self):
        page = str(FOLDER / "report.html")
        context = QgsProcessingContext()
        context.setProject(QgsProject.instance())
        target = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", QgsProject.instance())
        results = publish(city.calls(500), context=context, OUTPUT=target, REPORT=page)
        statement = results["STATEMENT"]
        self.assertIn("epsilon = 1", statement)
        self.assertIn("epsilon = 1", Path(page).read_text(encoding="utf-8"))
        details, *_ = context.layersToLoadOnCompletion().values()
        layer = results["OUTPUT"]
        details.postProcessor().postProcessLayer(layer, context, city.Listener())
        self.assertEqual(layer.metadata().abstract(), statement)
        self.assertEqual(details.name, "Private points")

    def test_selected_features_only_is_a_warning(self):
        layer = city.in_project(city.calls(400))
        layer.selectByIds(list(range(1, 101)))
        listener = city.Listener()
        source = QgsProcessingFeatureSourceDefinition(layer.id(), selectedFeaturesOnly=True)
        self.assertEqual(publish(source, listener)["OUTPUT"].featureCount(), 100)
        self.assertTrue(any("selected" in text for text in listener.warned))

    def test_a_filter_and_a_large_epsilon_are_warnings(self):
        layer = QgsVectorLayer(str(city.saved(city.calls(400), FOLDER / "filter.gpkg")))
        layer.setSubsetString("who < 100")
        listener = city.Listener()
        publish(layer, listener, EPSILON=5)
        self.assertEqual(len(listener.warned), 2)

    def test_nothing_that_is_said_tells_a_hidden_number_of_points(self):
        # what is said has other numbers in it, and the noise can be zero: by chance the number is
        # in one run in a few hundred, so in all of four runs less often than in one of a million
        page, told = FOLDER / "hidden.html", []
        for _ in range(4):
            listener = city.Listener()
            publish(city.calls(1237), listener, NEIGHBOURS=1, EPSILON=0.1, REPORT=str(page))
            said = "\n".join(listener.said) + page.read_text(encoding="utf-8")
            told.append(bool(re.search(r"1,?237\b", re.sub(r"base64,[^\"]*", "", said))))
        self.assertFalse(all(told))

    def test_a_large_file_is_published_from_its_path(self):
        path = city.saved(city.calls(12000), FOLDER / "large.gpkg")
        self.assertEqual(publish(str(path))["OUTPUT"].featureCount(), 12000)

    def test_a_geopackage_carries_points_and_statement(self):
        target = FOLDER / "private.gpkg"
        statement = publish(city.calls(600), OUTPUT=str(target))["STATEMENT"]
        layer = QgsVectorLayer(str(target))
        self.assertEqual(layer.featureCount(), 600)
        self.assertEqual(layer.metadata().abstract(), statement)


class Refusing(unittest.TestCase):
    def test_a_missing_area(self):
        self.assertIn("boundary layer", refusal(city.calls(50), AREA=None))

    def test_two_areas(self):
        self.assertIn("once", refusal(city.calls(50), AREA=city.boundary(), EXTENT=BOX))

    def test_the_private_layer_as_the_extent_however_it_is_named(self):
        layer = city.in_project(city.calls(300, seed=11))
        path = str(city.saved(layer, FOLDER / "named.gpkg"))
        for source, name in ((layer, layer), (layer, layer.id()), (layer, layer.name())):
            self.assertIn("outermost", refusal(source, EXTENT=name))
        self.assertIn("outermost", refusal(path, EXTENT=path))

    def test_the_bounding_box_of_the_private_layer(self):
        layer = city.calls(300)
        box = layer.extent()
        edges = (box.xMinimum(), box.xMaximum(), box.yMinimum(), box.yMaximum())
        typed = ",".join(f"{edge:.9f}" for edge in edges) + " [EPSG:4326]"
        for extent in (box, QgsReferencedRectangle(box, layer.crs()), typed):
            parameters = {"EXTENT": extent}
            if isinstance(extent, QgsRectangle) and not isinstance(extent, QgsReferencedRectangle):
                QgsProject.instance().setCrs(layer.crs())
            self.assertIn("outermost", refusal(layer, **parameters))

    def test_the_bounding_box_in_another_crs(self):
        layer = city.calls(300)
        other = city.crs("EPSG:3857")
        box = city.reprojected(layer, other).extent()
        self.assertIn("outermost", refusal(layer, EXTENT=QgsReferencedRectangle(box, other)))

    def test_the_map_canvas_after_zoom_to_layer(self):
        layer = city.calls(300)
        box = QgsRectangle(layer.extent())
        box.scale(1.05)
        box = QgsRectangle(
            box.xMinimum(), box.yMinimum() - 0.05, box.xMaximum(), box.yMaximum() + 0.05
        )
        self.assertIn("outermost", refusal(layer, EXTENT=QgsReferencedRectangle(box, layer.crs())))

    def test_the_hull_of_the_private_points(self):
        layer = city.calls(300)
        together = {"INPUT": layer, "TYPE": 3, "OUTPUT": "TEMPORARY_OUTPUT"}
        hull = processing.run("qgis:minimumboundinggeometry", together)["OUTPUT"]
        self.assertIn("outermost", refusal(layer, AREA=hull))

    def test_a_box_that_merely_holds_the_points_is_welcome(self):
        layer = city.calls(300)
        box = layer.extent().buffered(0.01)
        box = QgsRectangle(box.xMinimum(), box.yMinimum(), box.xMaximum() + 0.01, box.yMaximum())
        publish(layer, EXTENT=QgsReferencedRectangle(box, layer.crs()))

    def test_wrong_layers_and_values_in_one_clear_sentence(self):
        empty = city.calls(20)
        empty.dataProvider().addFeatures([QgsFeature(empty.fields())])
        nobody = city.calls(20)
        nobody.dataProvider().changeAttributeValues({1: {0: None}})
        several = city.calls(20, "MultiPoint")
        feature = QgsFeature(several.fields())
        feature.setGeometry(QgsGeometry.fromWkt("MultiPoint ((13.4 52.5), (13.5 52.5))"))
        several.dataProvider().addFeatures([feature])
        nowhere = city.calls(20)
        nowhere.setCrs(city.crs(""))
        cases = [
            ("empty ones", empty, {}),
            ("fill in", nobody, {"PERSON": "who"}),
            ("no such field", city.calls(20), {"PERSON": "whom"}),
            ("several points", several, {}),
            ("no points", city.calls(0), {}),
            ("reference system", nowhere, {}),
            ("adaptive", city.calls(20), {"GROUP_SIZE": 5}),
            ("EPSILON", city.calls(20), {"EPSILON": 0}),
            ("EPSILON", city.calls(20), {"EPSILON": -1}),
            ("no polygon", city.calls(20), {"AREA": QgsVectorLayer("Polygon?crs=EPSG:4326")}),
        ]
        for words, layer, parameters in cases:
            with self.subTest(words):
                sentence = refusal(layer, **parameters)
                self.assertIn(words.lower(), sentence.lower())
                self.assertNotIn("13.", sentence)
                self.assertNotIn("Traceback", sentence)

    def test_an_unexpected_failure_shows_nothing_of_the_data(self):
        def fail(*_):
            raise RuntimeError("a coordinate: 13.37 52.51")

        real, publishing.gathered = publishing.gathered, fail
        try:
            sentence = refusal(city.calls(20), EXTENT=BOX)
        finally:
            publishing.gathered = real
        self.assertNotIn("13.37", sentence)

    def test_several_points_of_one_feature_are_welcome_when_the_person_is_named(self):
        several = city.calls(20, "MultiPoint")
        feature = QgsFeature(several.fields())
        feature.setGeometry(QgsGeometry.fromWkt("MultiPoint ((13.4 52.5), (13.5 52.5))"))
        feature.setAttributes([1])
        several.dataProvider().addFeatures([feature])
        publish(several, PERSON="who")

    def test_no_algorithm_has_a_seed(self):
        for kind in ALGORITHMS:
            algorithm = PLUGIN.provider.algorithm(kind.NAME)
            names = " ".join(p.name() + p.description() for p in algorithm.parameterDefinitions())
            self.assertNotIn("seed", names.lower())


class Transforming(unittest.TestCase):
    """Where a point goes depends on that point alone."""

    def test_a_point_far_away_does_not_move_the_others(self):
        # QGIS tries another operation for all points of a call when one of them fails
        source, target = crs_of("EPSG:31467"), crs_of("EPSG:2056")
        x, y = np.linspace(3.43e6, 3.5e6, 500), np.linspace(5.29e6, 5.35e6, 500)
        alone = transformed(x, y, source, target, CONTEXT)
        far = np.append(x, 2388000.0), np.append(y, 8000.0)
        try:
            both = transformed(*far, source, target, CONTEXT)
        except BadInput as refusal:
            self.assertIn("cannot be transformed", str(refusal))
            return
        for one, other in zip(alone, both):
            np.testing.assert_array_equal(one, other[:-1])


class Bookkeeping(unittest.TestCase):
    def entries(self, layer):
        return releases.ledger().entries(releases.ledger_name(layer))

    def test_every_publish_is_in_the_ledger_of_the_profile_before_it_is_drawn(self):
        layer = city.calls(101, seed=21)
        publish(layer, EPSILON=0.3)
        publish(layer, EPSILON=0.6, METHOD=1, PERSON="who")
        kept = [(float(e.epsilon), e.unit, e.method) for e in self.entries(layer)]
        self.assertEqual(kept, [(0.3, "point", "adaptive"), (0.6, "person", "sort")])
        self.assertTrue(str(releases.ledger().path).startswith(os.environ["HOME"]))

    def test_a_refused_run_costs_nothing(self):
        layer = city.calls(102, seed=22)
        refusal(layer, AREA=None)
        self.assertEqual(self.entries(layer), [])

    def test_what_cannot_be_published_or_written_costs_nothing(self):
        nowhere = str(FOLDER / "no such folder" / "x.release.json")
        corner = "13.4 52.5, 13.4000001 52.5, 13.4000001 52.5000001, 13.4 52.5"
        cases = [
            (city.calls(0, seed=31), {}),
            (city.calls(0, seed=32), {"NEIGHBOURS": 1}),
            (city.calls(0, seed=33), {"PERSON": "who"}),
            (city.calls(50, seed=34), {"AREA": city.boundary(f"Polygon (({corner}))")}),
            (city.calls(50, seed=35), {"RELEASE": nowhere}),
            (city.calls(50, seed=36), {"RELEASE": str(FOLDER)}),
            (city.calls(50, seed=37), {"REPORT": nowhere}),
            (city.calls(50, seed=38), {"OUTPUT": nowhere + ".gpkg"}),
            (city.calls(50, seed=39), {"PERSON": "whom"}),
        ]
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        self.addCleanup(gdal.PopErrorHandler)
        for layer, parameters in cases:
            with self.subTest(name=layer.name()):
                self.assertNotIn("unexpected", refusal(layer, **parameters))
                self.assertEqual(self.entries(layer), [])

    def test_once_it_is_paid_for_a_run_is_finished_although_it_is_cancelled(self):
        layer = city.calls(50000, seed=24)
        target = FOLDER / "late.release.json"
        listener = city.Listener(cancel_at=52)
        results = publish(layer, listener, RELEASE=str(target), REPORT=str(FOLDER / "late.html"))
        self.assertTrue(listener.isCanceled())
        self.assertEqual(results["OUTPUT"].featureCount(), 50000)
        self.assertTrue(target.exists())
        self.assertEqual(len(self.entries(layer)), 1)
        self.assertIn("too late", listener.warned[-1])

    def test_the_window_does_not_cancel_what_is_paid_for(self):
        layer = city.in_project(city.calls(50000, seed=25))
        area = city.in_project(city.boundary())
        run = Run(
            "dpsort:publishpoints",
            {
                "INPUT": layer.id(),
                "AREA": area.id(),
                "EPSILON": 1.0,
                "RELEASE": str(FOLDER / "window.release.json"),
                "OUTPUT": "TEMPORARY_OUTPUT",
            },
        )
        loop, ends = QEventLoop(), []
        run.progressed.connect(lambda percent: run.cancel() if percent >= 52 else None)
        run.finished.connect(lambda results, why: (ends.append((results, why)), loop.quit()))
        QTimer.singleShot(60_000, loop.quit)
        run.start()
        loop.exec()
        ((results, why),) = ends
        self.assertEqual(why, "")
        self.assertTrue(load(results["RELEASE"]).verify())
        self.assertEqual(len(self.entries(layer)), 1)

    def test_a_cancelled_run_costs_nothing_and_leaves_no_file(self):
        layer = city.calls(12000, seed=23)
        target = FOLDER / "cancelled.release.json"
        results = publish(layer, city.Listener(cancel_at=10), RELEASE=str(target))
        self.assertNotIn("OUTPUT", results)
        self.assertFalse(target.exists())
        self.assertEqual(self.entries(layer), [])

    def test_selected_features_are_debited_to_their_layer_and_guarded(self):
        layer = city.in_project(city.calls(200, seed=61))
        layer.selectAll()
        chosen = QgsProcessingFeatureSourceDefinition(layer.id(), True)
        publish(chosen, EPSILON=0.25)
        self.assertEqual([float(e.epsilon) for e in self.entries(layer)], [0.25])
        releases.ledger().limit(releases.ledger_name(layer), "0.3")
        refusal(chosen, EPSILON=0.25)
        for extent in (layer.id(), layer.extent()):
            refusal(chosen, EPSILON=0.01, AREA=None, EXTENT=extent)
        self.assertEqual(len(self.entries(layer)), 1)

    def test_outputs_that_would_replace_the_input_or_each_other_are_refused(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = city.saved(city.calls(50, seed=62), folder / "calls.gpkg")
        before = path.read_bytes()
        layer = QgsVectorLayer(str(path), "calls", "ogr")
        for outputs in (
            {"OUTPUT": str(path)},
            {"RELEASE": str(path)},
            {"RELEASE": str(folder / "a.json"), "REPORT": str(folder / "a.json")},
        ):
            refusal(layer, **outputs)
        self.assertEqual(self.entries(layer), [])
        del layer
        self.assertEqual(path.read_bytes()[100:], before[100:])

    def test_persons_in_a_decimal_field_are_told_apart_or_refused(self):
        layer = QgsVectorLayer("Point?crs=EPSG:4326&field=who:double", "numbers", "memory")
        for number in (2.0**53, 2.0**53 + 2, 5.0):
            feature = QgsFeature(layer.fields())
            feature.setGeometry(QgsGeometry.fromWkt("Point (13.4 52.45)"))
            feature.setAttributes([number])
            layer.dataProvider().addFeatures([feature])
        self.assertIn("decimal column", refusal(layer, PERSON="who"))

    def test_a_file_has_one_name_in_the_ledger_however_it_is_opened(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = city.saved(city.calls(10), folder / "calls.gpkg")
        (folder / "sub").mkdir()
        names = set()
        for way in (
            "calls.gpkg",
            "sub/../calls.gpkg",
            "calls.gpkg|layername=calls",
            'calls.gpkg|layername=calls|subset="who" >= 0',
        ):
            layer = QgsVectorLayer(f"{folder}/{way}", "calls", "ogr")
            self.assertTrue(layer.isValid())
            names.add(releases.ledger_name(layer))
            layer.setSubsetString('"who" < 100')
            names.add(releases.ledger_name(layer))
            del layer
        self.assertEqual(names, {str(path.resolve())})

    def test_a_password_does_not_get_into_the_ledger(self):
        uri = "dbname='city' host=db user='u' password='secret' table=\"calls\" (geom)"
        layer = QgsVectorLayer(uri, "calls", "postgres")
        self.assertNotIn("secret", releases.ledger_name(layer))


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = publish(city.calls(3000), EPSILON=2.0)
        cls.release = cls.results["RELEASE"]

    def run_on_release(self, name, **parameters):
        return processing.run(f"dpsort:{name}", {"RELEASE": self.release, **parameters})

    def test_points_from_the_release_are_the_published_points(self):
        layer = self.run_on_release("pointsfromrelease", OUTPUT="TEMPORARY_OUTPUT")["OUTPUT"]
        self.assertEqual(coordinates(layer), coordinates(self.results["OUTPUT"]))

    def test_points_that_are_not_spread_lie_on_each_other(self):
        parameters = {"SPREAD": False, "OUTPUT": "TEMPORARY_OUTPUT"}
        layer = self.run_on_release("pointsfromrelease", **parameters)["OUTPUT"]
        self.assertEqual(layer.featureCount(), 3000)
        self.assertLess(len(set(coordinates(layer))), 2000)

    def test_the_density_adds_up_to_the_number_of_points(self):
        target = str(FOLDER / "density.tif")
        self.run_on_release("densityfromrelease", CELL=500, OUTPUT=target)
        raster = QgsRasterLayer(target)
        block = raster.dataProvider().block(1, raster.extent(), raster.width(), raster.height())
        pixel = raster.rasterUnitsPerPixelX() * raster.rasterUnitsPerPixelY() / 1e6
        grid = load(self.release).grid
        share = pixel_area(grid, raster.width().bit_length() - 1)[::-1]
        rows, columns = range(raster.height()), range(raster.width())
        empty = [[block.isNoData(row, column) for column in columns] for row in rows]
        np.testing.assert_array_equal(np.array(empty), share == 0)
        total = sum(block.value(*place) * share[place] for place in zip(*np.nonzero(share)))
        self.assertAlmostEqual(total * pixel, 3000, delta=5)
        self.assertTrue(0 < share[share > 0].min() < 1 and (share == 0).any())
        self.assertLess(abs(raster.rasterUnitsPerPixelX() - 500), 200)

    def test_the_density_is_where_the_points_are(self):
        target = str(FOLDER / "where.tif")
        self.run_on_release("densityfromrelease", OUTPUT=target)
        raster = QgsRasterLayer(target)
        crs, working = releases.crs_pair(load(self.release))
        # one pixel is empty now and then, a few dozen of them around a centre never are
        lattice = [(0.005 * i, 0.005 * j) for i in range(-3, 4) for j in range(-3, 4)]
        means = []
        for lon, lat in ((13.3, 52.47), (13.58, 52.42)):
            move = QgsGeometry.fromMultiPointXY([QgsPointXY(lon + a, lat + b) for a, b in lattice])
            move.transform(QgsCoordinateTransform(crs, working, QgsProject.instance()))
            found = [raster.dataProvider().sample(point, 1) for point in move.asMultiPoint()]
            means.append(np.mean([value for value, known in found if known]))
        self.assertGreater(means[0], 3 * max(means[1], 0.1))

    def test_counts_in_two_halves_add_up_and_lie_between_their_limits(self):
        zones = QgsVectorLayer("Polygon?crs=EPSG:4326&field=name:string", "zones", "memory")
        for west, east in ((13.0, 13.4), (13.4, 13.8)):
            feature = QgsFeature(zones.fields())
            feature.setGeometry(QgsGeometry.fromRect(QgsRectangle(west, 52.2, east, 52.8)))
            feature.setAttributes([f"from {west}"])
            zones.dataProvider().addFeatures([feature])
        zones = city.reprojected(zones, city.crs("EPSG:25833"))
        for method in range(3):
            results = publish(city.calls(3000), EPSILON=2.0, METHOD=method)
            parameters = {"RELEASE": results["RELEASE"], "ZONES": zones}
            parameters["OUTPUT"] = "TEMPORARY_OUTPUT"
            layer = processing.run("dpsort:countinpolygons", parameters)["OUTPUT"]
            rows = [f.attributes() for f in layer.getFeatures()]
            self.assertEqual([row[0] for row in rows], ["from 13.0", "from 13.4"])
            self.assertAlmostEqual(sum(row[1] for row in rows), 3000, delta=60)
            for _, estimate, low, high in rows:
                self.assertTrue(low <= estimate <= high)

    def test_repeated_points_of_a_sort_release_lie_in_one_place_a_group_at_most(self):
        release = publish(city.calls(1000), METHOD=1, GROUP_SIZE=100)["RELEASE"]
        parameters = {"RELEASE": release, "SPREAD": False, "OUTPUT": "TEMPORARY_OUTPUT"}
        layer = processing.run("dpsort:pointsfromrelease", parameters)["OUTPUT"]
        self.assertEqual(layer.featureCount(), 1000)
        self.assertLessEqual(len(set(coordinates(layer))), 10)

    def test_invalid_zones_are_repaired_and_what_their_parts_share_counts_once(self):
        west, east = rectangle(13.0, 52.2, 13.4, 52.8), rectangle(13.4, 52.2, 13.8, 52.8)
        bow = "Polygon ((13 52.2, 13.8 52.8, 13.8 52.2, 13 52.8, 13 52.2))"
        left = "Polygon ((13 52.2, 13.4 52.5, 13 52.8, 13 52.2))"
        right = "Polygon ((13.8 52.8, 13.4 52.5, 13.8 52.2, 13.8 52.8))"
        spike = west.replace("13.4 52.8", "13.4 52.8, 13.4 53, 13.4 52.8")
        twice = "Multi" + west.replace("((", "(((").replace("))", ")), ") + west[8:] + ")"
        got = counts(self.release, zones_of(west, east, bow, left, right, spike, twice))
        self.assertAlmostEqual(got[0] + got[1], 3000, delta=1)
        self.assertAlmostEqual(got[2], got[3] + got[4], delta=5)
        self.assertAlmostEqual(got[5], got[0], delta=1)
        self.assertAlmostEqual(got[6], got[0], delta=1)
        self.assertTrue(0 < got[2] < 3000)

    def test_a_zone_without_geometry_is_refused_and_an_empty_one_counts_nothing(self):
        with self.assertRaises(QgsProcessingException) as caught:
            counts(self.release, zones_of(rectangle(13, 52, 14, 53), None))
        self.assertIn("needs a polygon", str(caught.exception))
        self.assertEqual(counts(self.release, zones_of("MultiPolygon EMPTY")), [0])

    def test_the_inspection_tells_the_statement_and_the_checks(self):
        page = str(FOLDER / "inspect.html")
        results = self.run_on_release("inspectrelease", REPORT=page)
        words = Path(page).read_text(encoding="utf-8")
        self.assertIn("epsilon = 2", results["STATEMENT"])
        self.assertIn("What the file proves", words)
        self.assertIn("data:image/png", words)

    def test_a_file_that_is_no_release_is_refused_in_a_sentence(self):
        broken = FOLDER / "broken.release.json"
        for content in ("", "{}", "[1, 2", '{"format": "dpsort-geo release", "version": 1}'):
            broken.write_text(content, encoding="utf-8")
            for name in ("pointsfromrelease", "densityfromrelease", "inspectrelease"):
                output = {"OUTPUT": "TEMPORARY_OUTPUT", "REPORT": str(FOLDER / "x.html")}
                with self.assertRaises(QgsProcessingException) as caught:
                    processing.run(f"dpsort:{name}", {"RELEASE": str(broken), **output})
                self.assertIn("release", str(caught.exception).lower())

    def test_a_release_that_was_tampered_with_is_refused(self):
        document = json.loads(Path(self.release).read_text(encoding="utf-8"))
        document["epsilon"] = "0.5"
        false = FOLDER / "false.release.json"
        false.write_text(json.dumps(document), encoding="utf-8")
        parameters = {"RELEASE": str(false), "REPORT": str(FOLDER / "false.html")}
        with self.assertRaises(QgsProcessingException) as caught:
            processing.run("dpsort:inspectrelease", parameters)
        self.assertIn("changed", str(caught.exception))


class Zones(unittest.TestCase):
    """Far away from the area, or all around it."""

    def spread(self, west, south, east, north, crs="EPSG:4326"):
        """A release of 400 points on a lattice that fills a box."""
        layer = QgsVectorLayer(f"Point?crs={crs}", f"lattice {west} {south}", "memory")
        features = []
        for number in range(400):
            u, v = (number % 20 + 0.5) / 20, (number // 20 + 0.5) / 20
            at = f"Point ({west + u * (east - west)} {south + v * (north - south)})"
            features.append(QgsFeature())
            features[-1].setGeometry(QgsGeometry.fromWkt(at))
        layer.dataProvider().addFeatures(features)
        box = QgsReferencedRectangle(QgsRectangle(west, south, east, north), city.crs(crs))
        return publish(layer, EXTENT=box, EPSILON=100)["RELEASE"]

    def assert_counts(self, release, expected, *shapes, crs="EPSG:4326"):
        got = counts(release, zones_of(*shapes, crs=crs))
        np.testing.assert_allclose(got, expected, atol=4)

    def test_the_world_holds_all_points_and_the_other_side_of_it_none(self):
        world, zealand = rectangle(-180, -90, 180, 90), rectangle(166, -48, 179, -34)
        antipode, north = rectangle(170, -45, 180, -35), rectangle(-180, 0, 180, 90)
        whole, m = [400, 0, 0, 400, 400], 20037508.34
        city_box = self.spread(-3.9, 40.3, -3.5, 40.6)
        utm = self.spread(430000, 4462000, 460000, 4490000, "EPSG:25830")
        for release in (city_box, utm):
            around = rectangle(0, -90, 360, 90)
            self.assert_counts(release, whole, world, zealand, antipode, north, around)
            self.assert_counts(release, [400], rectangle(-m, -m, m, m), crs="EPSG:3857")

    def test_zones_across_the_antimeridian_in_every_way_to_write_them(self):
        release = self.spread(178, -3, 183, 3)
        shapes = [
            rectangle(-180, -90, 180, 90),
            rectangle(178, -3, 180, 3),
            rectangle(-180, -3, -177, 3),
            rectangle(178, -3, 183, 3),
            rectangle(-182, -3, -177, 3),
            rectangle(-10, -10, 10, 10),
        ]
        self.assert_counts(release, [400, 160, 240, 400, 400, 0], *shapes)
        m = 20037508.34
        self.assert_counts(release, [400], rectangle(-m, -m, m, m), crs="EPSG:3857")

    def test_areas_around_a_pole_and_of_half_the_globe(self):
        south = self.spread(-2.5e6, -2.5e6, 2.5e6, 2.5e6, "EPSG:3031")
        world, east = rectangle(-180, -90, 180, 90), rectangle(0, -90, 180, 90)
        self.assert_counts(south, [400, 200, 0], world, east, rectangle(-180, 0, 180, 90))
        half = self.spread(-20, -40, 150, 80)
        self.assert_counts(half, [400, 400], world, rectangle(-100, -89, 190, 89))

    def test_the_whole_world_can_be_counted_in_halves(self):
        release = self.spread(-180, -80, 180, 80)
        halves = rectangle(-180, -90, 0, 90), rectangle(0, -90, 180, 90)
        self.assert_counts(release, [400, 200, 200], rectangle(-180, -90, 180, 90), *halves)


class Areas(unittest.TestCase):
    def test_the_whole_world_is_an_area(self):
        world = "-180,180,-90,90 [EPSG:4326]"
        release = load(publish(city.calls(300), EXTENT=world)["RELEASE"])
        self.assertEqual(release.working_crs, "EPSG:6933")

    def test_an_area_across_the_antimeridian_stays_small(self):
        islands = city.boundary("Polygon ((178 -19, 180 -19, 180 -16, 178 -16, 178 -19))")
        feature = QgsFeature()
        feature.setGeometry(
            QgsGeometry.fromWkt("Polygon ((-180 -19, -178 -19, -178 -16, -180 -16, -180 -19))")
        )
        islands.dataProvider().addFeatures([feature])
        area = area_of_polygons(islands.getFeatures(), islands.crs(), CONTEXT)
        self.assertLess(area.side, 500_000)
        layer = city.calls(100)
        east = [QgsGeometry.fromWkt(f"Point ({-179.9 + i / 100} -17)") for i in range(100)]
        layer.dataProvider().changeGeometryValues(dict(zip(range(1, 101), east)))
        layer.updateExtents()
        points = coordinates(publish(layer, AREA=islands, EPSILON=100)["OUTPUT"])
        self.assertGreater(sum(x < -178 for x, _ in points), 80)

    def test_an_invalid_area_is_repaired_and_what_its_parts_share_counts_once(self):
        box = rectangle(13, 52, 14, 53)
        spike = box.replace("14 53", "14 53, 14 54, 14 53")
        bow = "Polygon ((13 52, 14 53, 14 52, 13 53, 13 52))"
        twice = "Multi" + box.replace("((", "(((").replace("))", ")), ") + box[8:] + ")"
        sizes = []
        for shape in (box, spike, bow, twice):
            release = publish(city.calls(100), AREA=zones_of(shape))["RELEASE"]
            grid = load(release).grid
            sizes.append(grid.n_cells * grid.cell**2)
        np.testing.assert_allclose(sizes[1:], np.array([1, 0.5, 1]) * sizes[0], rtol=0.01)

    def test_feet_and_other_datums_are_understood(self):
        metres = area_of_box(QgsRectangle(0, 0, 10_000, 10_000), city.crs("EPSG:25833"), CONTEXT)
        feet = area_of_box(QgsRectangle(0, 0, 32808, 32808), city.crs("EPSG:2263"), CONTEXT)
        self.assertAlmostEqual(metres.side * metres.metres, feet.side * feet.metres, delta=1)
        self.assertEqual(metres.grid().order, feet.grid().order)
        old = area_of_box(QgsRectangle(13, 52, 14, 53), city.crs("EPSG:4314"), CONTEXT)
        new = area_of_box(QgsRectangle(13, 52, 14, 53), city.crs("EPSG:4326"), CONTEXT)
        self.assertAlmostEqual(old.side, new.side, delta=50)
        for area in (metres, feet, old, new):
            text = crs_text(area.working_crs)
            self.assertEqual(crs_of(text), area.working_crs, text)

    def test_web_mercator_is_measured_on_the_ground(self):
        degrees = area_of_box(QgsRectangle(13, 52, 14, 52.6), city.crs("EPSG:4326"), CONTEXT)
        x, y = transformed(
            np.array([13.0, 14.0]),
            np.array([52.0, 52.6]),
            city.crs("EPSG:4326"),
            city.crs("EPSG:3857"),
            CONTEXT,
        )
        box = QgsRectangle(x[0], y[0], x[1], y[1])
        mercator = area_of_box(box, city.crs("EPSG:3857"), CONTEXT)
        ratio = mercator.side * mercator.metres / (degrees.side * degrees.metres)
        self.assertAlmostEqual(ratio, 1, delta=0.02)

    def test_areas_in_web_mercator_are_those_on_the_ground_in_the_north_and_in_the_south(self):
        lat = np.array([0.0, 38.0, 60.0])
        mercator = city.crs("EPSG:3857")
        x, y = transformed(np.full(3, 10.0), lat, city.crs("EPSG:4326"), mercator, CONTEXT)
        square = square_metres(mercator, x, y, side=1e6)
        np.testing.assert_allclose(square, np.cos(np.radians(lat)) ** 2, rtol=0.01)

    def test_a_hole_in_the_area_stays_empty(self):
        outer = "(13 52, 14 52, 14 53, 13 53, 13 52)"
        ring = f"Polygon ({outer}, (13.2 52.2, 13.8 52.2, 13.8 52.8, 13.2 52.8, 13.2 52.2))"
        points = coordinates(publish(city.calls(500), AREA=city.boundary(ring))["OUTPUT"])
        inside = [1 for x, y in points if 13.21 < x < 13.79 and 52.21 < y < 52.79]
        self.assertEqual(inside, [])


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

    def test_the_same_inputs_make_the_grid_that_geopandas_users_get(self):
        """Writes what ``test_same_release.py`` compares with the other face of the library."""
        area = city.boundary()
        results = publish(city.calls(700), AREA=area)
        Path(FOLDER / "same.release.json").write_text(Path(results["RELEASE"]).read_text())
        (FOLDER / "same.points.json").write_text(json.dumps(coordinates(results["OUTPUT"])))
        density = {"RELEASE": results["RELEASE"], "OUTPUT": str(FOLDER / "same.tif"), "CELL": 200}
        processing.run("dpsort:densityfromrelease", density)
        ranks = publish(city.calls(700), AREA=area, METHOD=1)["RELEASE"]
        Path(FOLDER / "repeated.release.json").write_text(Path(ranks).read_text())
        parameters = {"RELEASE": ranks, "SPREAD": False, "OUTPUT": "TEMPORARY_OUTPUT"}
        layer = processing.run("dpsort:pointsfromrelease", parameters)["OUTPUT"]
        (FOLDER / "repeated.points.json").write_text(json.dumps(coordinates(layer)))
        box = publish(city.calls(700), EXTENT=BOX)
        Path(FOLDER / "box.release.json").write_text(Path(box["RELEASE"]).read_text())
        (FOLDER / "box.points.json").write_text(json.dumps(coordinates(box["OUTPUT"])))


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=2).result
    sys.stdout.flush()
    sys.stderr.flush()
    # QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
    os._exit(0 if outcome.wasSuccessful() else 1)
