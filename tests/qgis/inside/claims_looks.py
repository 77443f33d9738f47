"""Legends, metadata, statements, languages of results, tried in real QGIS. Run by ``claims.py``."""

import re
import unittest
from pathlib import Path

import city
import processing
from asked import FOLDER, loaded, publish, rectangle, zones_of
from dpsort_qgis._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from dpsort_qgis.classes import class_limits, log_steps
from dpsort_qgis.style import CATEGORY_COLOURS, POINT_COLOUR, counts_style
from osgeo import gdal
from qgis.core import (
    QgsApplication,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QLocale


def contrast(one, other):
    """How far apart two colours are for the eye, as web pages measure it."""
    shades = []
    for colour in (one, other):
        parts = [part / 255 for part in colour]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        shades.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(shades) / min(shades)


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.release = publish(city.calls(3000))["RELEASE"]

    def test_how_wide_reliable_limits_may_be_is_the_readers_choice(self):
        zones = zones_of(rectangle(13.2, 52.38, 13.4, 52.62), rectangle(13.4, 52.38, 13.6, 52.62))
        for share, wanted in ((0.1, 0), (1000, 1)):
            layer = loaded("countinpolygons", RELEASE=self.release, ZONES=zones, RELIABLE=share)
            self.assertEqual([one["reliable"] for one in layer.getFeatures()], [wanted] * 2)

    def test_five_polygons_have_no_more_classes_than_five_with_round_limits_and_a_unit(self):
        edges = [13.2, 13.3, 13.35, 13.4, 13.5, 13.6]
        shapes = [rectangle(a, 52.38, b, 52.62) for a, b in zip(edges, edges[1:])]
        layer = loaded("countinpolygons", RELEASE=self.release, ZONES=zones_of(*shapes))
        labels = [rule.label() for rule in layer.renderer().rootRule().children()]
        classes = [label for label in labels if "per km²" in label]
        self.assertTrue(2 <= len(classes) <= 5, labels)
        self.assertTrue(any("not reliable" in label for label in labels))
        for label in classes:
            for number in re.findall(r"[\d.]+(?= )", label):
                self.assertLessEqual(len(number.replace(".", "").strip("0")), 3, label)
        shown = [rule.filterExpression() for rule in layer.renderer().rootRule().children()]
        counted = layer.getFeatures(" OR ".join(f"({text})" for text in shown[: len(classes)]))
        self.assertEqual(len(list(counted)), 5)  # every polygon falls into a class

    def test_a_rare_category_has_classes_of_its_own(self):
        layer, axis = zones_of(), CategoryAxis("what", ("rare", "frequent"))
        counts_style([[1.0, 2.0, 3.0], [100.0, 200.0, 300.0]], [axis])(layer)
        rare, frequent = (
            [rule.label() for rule in branch.children() if "per km²" in rule.label()]
            for branch in layer.renderer().rootRule().children()
        )
        self.assertTrue(rare[0].startswith("1 to") and "to 3 per" in rare[-1], rare)
        self.assertTrue(frequent[0].startswith("100 to") and "to 300 per" in frequent[-1], frequent)

    def test_the_density_s_legend_has_equal_factors_and_no_linear_band(self):
        layer = loaded("densityfromrelease", RELEASE=self.release, OUTPUT=str(FOLDER / "d.tif"))
        function = layer.renderer().shader().rasterShaderFunction()
        values = [item.value for item in function.colorRampItemList()][1:]
        factors = [b / a for a, b in zip(values, values[1:])]
        self.assertLess(max(factors) / min(factors), 1.2)
        self.assertTrue(all("per km²" in i.label for i in function.colorRampItemList()[1:]))
        self.assertFalse(function.legendSettings().useContinuousLegend())
        self.assertIn("per km²", layer.name())

    def test_dots_are_seen_on_white_and_on_black(self):
        colours = [(POINT_COLOUR.red(), POINT_COLOUR.green(), POINT_COLOUR.blue())]
        for colour in [*colours, *CATEGORY_COLOURS]:
            for ground in ((255, 255, 255), (20, 20, 20)):
                self.assertGreater(contrast(colour, ground), 3, (colour, ground))

    def test_limits_and_steps_are_round_rising_and_around_all_values(self):
        for values in ([1.0, 12.0, 55.0], [0.0, 0.0, 0.0], [3.3], [], [float("nan"), 2.0, 4.0]):
            limits = class_limits(values)
            known = [value for value in values if value == value]
            self.assertEqual(limits, sorted(set(limits)))
            self.assertTrue(all(limits[0] <= value <= limits[-1] for value in known))
        self.assertEqual(log_steps(1000.0, 3), [10.0, 100.0, 1000.0])


class Signing(unittest.TestCase):
    """Every output says what it is."""

    @classmethod
    def setUpClass(cls):
        cls.results = publish(city.calls(600))
        cls.release, cls.words = cls.results["RELEASE"], cls.results["STATEMENT"]
        cls.zones = zones_of(rectangle(13.0, 52.2, 13.4, 52.8))

    def count(self, target):
        parameters = {"RELEASE": self.release, "ZONES": self.zones, "OUTPUT": str(target)}
        processing.run("dpsort:countinpolygons", parameters)

    def test_counts_in_a_geopackage_and_in_csv_and_points_in_geojson(self):
        for name in ("counts.gpkg", "counts.csv"):
            self.count(FOLDER / name)
            layer = QgsVectorLayer(str(FOLDER / name), "counts", "ogr")
            if name.endswith(".csv"):
                layer.loadDefaultMetadata()  # which QGIS's window does for every file
            self.assertEqual(layer.metadata().abstract(), self.words, name)
        target = str(FOLDER / "signed.geojson")
        parameters = {"RELEASE": self.release, "OUTPUT": target}
        processing.run("dpsort:pointsfromrelease", parameters)
        layer = QgsVectorLayer(target)
        layer.loadDefaultMetadata()
        self.assertEqual(layer.metadata().abstract(), self.words)

    def test_a_tiff_says_it_and_what_its_band_holds(self):
        target = str(FOLDER / "signed.tif")
        parameters = {"RELEASE": self.release, "OUTPUT": target}
        processing.run("dpsort:densityfromrelease", parameters)
        opened = gdal.OpenEx(target, gdal.OF_RASTER)
        self.assertEqual(opened.GetMetadataItem("TIFFTAG_IMAGEDESCRIPTION"), self.words)
        self.assertEqual(opened.GetRasterBand(1).GetDescription(), "points per km²")

    def test_a_loaded_layer_has_rights_licence_history_and_attribution(self):
        layer = loaded("pointsfromrelease", RELEASE=self.release)
        told = layer.metadata()
        self.assertEqual(told.abstract(), self.words)
        self.assertTrue(told.rights() and told.licenses())
        self.assertIn("dpsort-geo", told.history()[0])
        said = layer.attribution() if hasattr(layer, "attribution") else ""
        said = said or layer.serverProperties().attribution()
        self.assertIn("dpsort-geo", said)


class Speaking(unittest.TestCase):
    """The report, and German."""

    def report(self, **parameters):
        page = FOLDER / "spoken.html"
        layer = city.calls(1500, seed=111)
        layer.setName("thefts")
        results = publish(layer, REPORT=str(page), EPSILON=0.5, DATASET="spoken", **parameters)
        text = re.sub(r"base64,[^\"]*", "", page.read_text(encoding="utf-8"))
        return re.sub(r"<style>.*</style>", "", text, flags=re.DOTALL), results

    def test_the_report_names_layer_day_area_file_total_and_legend(self):
        text, results = self.report()
        for words in (
            "thefts: what was published", "13.1", "52.6", Path(results["RELEASE"]).name,
            "Spent on the data set", "points per km²", 'class="legend"',
        ):  # fmt: skip
            self.assertIn(words, text)
        self.assertRegex(text, r"Report of \d{4}-\d\d-\d\d")

    def test_the_report_and_the_statement_are_german_to_germans(self):
        QgsApplication.setLocale(QLocale("de_DE"))
        self.addCleanup(QgsApplication.setLocale, QLocale("en_US"))
        for method in range(3):
            text, results = self.report(METHOD=method, NEIGHBOURS=method % 2)
            self.assertIn("Differenziell privat mit Epsilon = 0,5", results["STATEMENT"])
            self.assertRegex(text, r"\d\.\d{3} \(")
            for english in (" the ", " is ", " and ", " of ", "epsilon ", " points"):
                self.assertNotIn(english, text, method)
