"""What publishing refuses, tried in real QGIS. Run by ``claims.py``."""

import dataclasses
import unittest

import city
import processing
from asked import BOX, FOLDER, PLUGIN, coordinates, name_of, publish, refusal, zones_of
from dpsort_qgis import datasets
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis.algorithms import ALGORITHMS
from dpsort_qgis.algorithms import publish as publishing
from dpsort_qgis.inputs import refuse_entangled, take
from qgis.core import (
    QgsFeature,
    QgsGeometry,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsRectangle,
    QgsReferencedRectangle,
    QgsVectorLayer,
)


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

    def test_the_bounding_box_rounded_or_with_a_margin(self):
        layer = city.calls(300, seed=31)
        box = layer.extent()
        rounded = [round(edge, 7) for edge in (box.xMinimum(), box.yMinimum(), box.xMaximum())]
        boxes = (
            QgsRectangle(*rounded, round(box.yMaximum(), 7)),
            box.buffered(box.width() / 1000),
            box.buffered(0.01),
        )
        for near in boxes:
            with self.subTest(near.toString(9)):
                extent = QgsReferencedRectangle(near, layer.crs())
                self.assertIn("outermost", refusal(layer, EXTENT=extent))
                area = zones_of(near.asWktPolygon())
                self.assertIn("outermost", refusal(layer, AREA=area))
        self.assertEqual(datasets.ledger().entries(name_of(layer)), [])

    def test_one_edge_that_is_the_coordinate_of_a_point(self):
        layer = city.calls(300, seed=32)
        west = min(x for x, _ in coordinates(layer))
        box = QgsReferencedRectangle(QgsRectangle(west, 52.1, 14, 53), layer.crs())
        self.assertIn("outermost", refusal(layer, EXTENT=box))
        self.assertEqual(datasets.ledger().entries(name_of(layer)), [])

    def test_the_bounding_box_of_the_selected_points(self):
        layer = city.calls(300)
        layer.selectByIds(list(range(1, 150)))
        box = layer.boundingBoxOfSelected()
        some = QgsProcessingFeatureSourceDefinition(city.in_project(layer).id(), True)
        extent = QgsReferencedRectangle(box, layer.crs())
        self.assertIn("outermost", refusal(some, EXTENT=extent, DATASET="selected"))

    def test_a_part_in_which_one_row_decides_about_another(self):
        layer = city.in_project(city.calls(50))
        some = QgsProcessingFeatureSourceDefinition(layer.id(), False, 20)
        self.assertIn("limit", refusal(some, DATASET="some"))
        whole = take(layer, None)
        for expression in ("who < mean(who)", "array_contains(array_agg($id), $id)", "eval('1')"):
            with self.subTest(expression), self.assertRaises(BadInputError):
                refuse_entangled(dataclasses.replace(whole, expression=expression))
        for expression in ("", "who < 5 and $x > 13", "upper(to_string(who)) = '7'"):
            refuse_entangled(dataclasses.replace(whole, expression=expression))

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
            ("no area", city.calls(20), {"AREA": zones_of()}),
            ("could not load", city.calls(20), {"AREA": QgsVectorLayer("nothing.gpkg")}),
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

        real, publishing.count_points = publishing.count_points, fail
        try:
            sentence = refusal(city.calls(20), EXTENT=BOX)
        finally:
            publishing.count_points = real
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
