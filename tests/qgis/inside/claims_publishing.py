"""What publishing gives, tried in real QGIS. Run by ``claims.py``."""

import re
import unittest
from pathlib import Path

import city
import numpy as np
from asked import BOX, CONTEXT, FOLDER, coordinates, name_of, publish, rectangle
from dpsort_qgis import datasets, reading
from dpsort_qgis._vendor.dpsort_geo.accuracy import expected_error, terms_of
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.private.packed import Packed, pack
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis._vendor.dpsort_geo.rules import METHODS
from dpsort_qgis._vendor.dpsort_geo.rules.budget import NEIGHBOURS
from dpsort_qgis.host import crs_of, transformed
from dpsort_qgis.i18n import length
from dpsort_qgis.reading import Reading
from qgis.core import (
    QgsApplication,
    QgsCoordinateTransformContext,
    QgsGeometry,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsVectorLayer,
)


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

    def test_the_error_to_expect_is_that_of_the_other_face_for_both_relations(self):
        for relation in range(2):
            with self.subTest(relation=relation):
                listener = city.Listener()
                release = load(publish(city.calls(800), listener, NEIGHBOURS=relation)["RELEASE"])
                side = reading.Reading(release, CONTEXT).frame.side
                error = expected_error(release.size, *terms_of(release, side))
                wanted = f"Typical error to expect: about {length(error)}"
                self.assertIn(wanted, listener.said)

    def test_the_defaults_are_those_of_the_other_faces(self):
        def default(algorithm, name):
            known = QgsApplication.processingRegistry().algorithmById(f"dpsort:{algorithm}")
            return known.parameterDefinition(name).defaultValue()

        self.assertEqual(METHODS[default("publishpoints", "METHOD")], "adaptive")
        self.assertEqual(NEIGHBOURS[default("publishpoints", "NEIGHBOURS")], "replace")
        self.assertEqual(default("countinpolygons", "LEVEL"), 90)
        self.assertFalse(default("densityfromrelease", "CELL"))

    def test_that_nobody_is_there_is_not_told_where_n_is_not_public(self):
        page = FOLDER / "nobody.html"
        for parameters in ({}, {"METHOD": 1}, {"PERSON": "who"}):
            with self.subTest(**parameters):
                results = publish(city.calls(0), NEIGHBOURS=1, REPORT=str(page), **parameters)
                self.assertTrue(load(results["RELEASE"]).verify())

    def test_a_dense_table_of_cells_is_the_same_under_this_numpy(self):
        key = np.arange(1_000, 66_500, 4)
        found, _ = Packed(pack(key, np.ones(key.size, np.int64))).pairs()
        np.testing.assert_array_equal(found, key)

    def test_group_size_is_the_one_that_was_asked_for(self):
        release = publish(city.calls(1000), METHOD=1, GROUP_SIZE=100)["RELEASE"]
        self.assertEqual(load(release).measured.settings()["groups"], 10)

    def test_points_in_another_crs_than_the_area_land_in_the_same_place(self):
        layer = city.calls(1000)
        for other in ("EPSG:3857", "EPSG:25833"):
            moved = city.reprojected(layer, city.crs(other))
            back = city.reprojected(publish(moved, EPSILON=100.0)["OUTPUT"], layer.crs())
            got = back.extent()
            true = layer.extent()
            for edge in ("xMinimum", "xMaximum", "yMinimum", "yMaximum"):
                self.assertAlmostEqual(getattr(got, edge)(), getattr(true, edge)(), delta=0.02)

    def test_a_projected_area_keeps_its_crs(self):
        area = city.reprojected(city.boundary(), city.crs("EPSG:25833"))
        release = load(publish(city.calls(500), AREA=area)["RELEASE"])
        self.assertEqual((release.crs, release.working_crs), ("EPSG:25833", "EPSG:25833"))

    def test_an_area_in_a_crs_without_a_code_survives_its_release(self):
        own = crs_of("+proj=lcc +lat_1=52 +lat_2=53 +lat_0=52 +lon_0=13 +ellps=intl +units=m")
        release = load(
            publish(city.calls(500), AREA=city.reprojected(city.boundary(), own))["RELEASE"]
        )
        self.assertEqual(release.crs, release.working_crs)
        at, context = (np.array([1e4]), np.array([2e4])), QgsCoordinateTransformContext()
        there, here = (
            np.ravel(transformed(*at, one, city.crs("EPSG:4326"), context))
            for one in (own, crs_of(release.crs))
        )
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-9)

    def test_a_crs_that_no_reader_would_read_is_refused_before_anything_is_spent(self):
        shifted = crs_of(
            "+proj=lcc +lat_1=52 +lat_2=53 +lon_0=13 +ellps=intl +towgs84=-80,-90,-121 +units=m"
        )
        area, layer = city.reprojected(city.boundary(), shifted), city.calls(500)
        layer.setName("shifted")
        with self.assertRaisesRegex(QgsProcessingException, "has a code"):
            publish(layer, AREA=area)
        self.assertEqual(datasets.ledger().spent(name_of(layer)), 0)

    def test_more_points_than_qgis_can_show_are_refused_unless_they_are_paid_for(self):
        read = Reading(load(publish(city.calls(500))["RELEASE"]), CONTEXT)
        most, reading.MOST_UNASKED = reading.MOST_UNASKED, 499
        try:
            with self.assertRaisesRegex(BadInputError, "50 million"):
                read.points(True, read.frame.crs)
            paid = list(read.points(True, read.frame.crs, paid=True))
        finally:
            reading.MOST_UNASKED = most
        self.assertEqual(sum(x.size for x, _, _ in paid), 500)

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
        self.assertEqual(details.name, "calls 7 500, published (eps 1)")
        self.assertTrue(details.forceName)

    def test_selected_features_only_is_a_warning(self):
        layer = city.in_project(city.calls(400))
        layer.selectByIds(list(range(1, 101)))
        listener = city.Listener()
        source = QgsProcessingFeatureSourceDefinition(layer.id(), selectedFeaturesOnly=True)
        self.assertEqual(
            publish(source, listener, DATASET="selected")["OUTPUT"].featureCount(), 100
        )
        self.assertTrue(any("selected" in text for text in listener.warned))

    def test_a_filter_and_a_large_epsilon_are_warnings(self):
        layer = QgsVectorLayer(str(city.saved(city.calls(400), FOLDER / "filter.gpkg")))
        layer.setSubsetString("who < 100")
        listener = city.Listener()
        publish(layer, listener, EPSILON=5)
        self.assertEqual(len(listener.warned), 2)

    def test_points_that_crowd_the_edge_are_a_warning(self):
        # the area touches the box of the points, but holds hardly any of them
        beside = rectangle(13.0, 52.2, 13.22, 52.6)
        for area, warned in ((city.limit_wkt(), 0), (beside, 1)):
            listener = city.Listener()
            publish(city.calls(2000), listener, AREA=city.boundary(area))
            self.assertEqual(len(listener.warned), warned)
        self.assertIn("edge of the public area", listener.warned[0])

    def test_nothing_that_is_said_tells_a_hidden_number_of_points(self):
        # what is said has other numbers in it, and the noise can be zero: by chance the number is
        # in one run in a few hundred, so in all of four runs less often than in one of a million
        page, told = FOLDER / "hidden.html", []
        for _ in range(4):
            listener = city.Listener()
            layer = city.calls(1237)
            layer.setName("calls")
            publish(layer, listener, NEIGHBOURS=1, EPSILON=0.1, REPORT=str(page))
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
