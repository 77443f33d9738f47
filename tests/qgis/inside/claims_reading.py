"""What is read from a release, tried in real QGIS. Run by ``claims.py``."""

import json
import unittest
from pathlib import Path

import city
import numpy as np
import processing
from asked import (
    CONTEXT,
    FOLDER,
    coordinates,
    counts,
    publish,
    rectangle,
    zones_of,
)
from dpsort_qgis._vendor.dpsort_geo.public.decode import decode
from dpsort_qgis._vendor.dpsort_geo.public.picture import picture
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis.host import crs_of
from dpsort_qgis.releases import frame_of
from qgis.core import (
    QgsCoordinateTransform,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingException,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)


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
        crs = crs_of(load(self.release).working_crs)
        self.run_on_release("densityfromrelease", CELL=500, CRS=crs, OUTPUT=target)
        raster = QgsRasterLayer(target)
        block = raster.dataProvider().block(1, raster.extent(), raster.width(), raster.height())
        pixel = raster.rasterUnitsPerPixelX() * raster.rasterUnitsPerPixelY() / 1e6
        release = load(self.release)
        share = picture(decode(release), frame_of(release, CONTEXT), 500).share[::-1]
        rows, columns = range(raster.height()), range(raster.width())
        empty = [[block.isNoData(row, column) for column in columns] for row in rows]
        np.testing.assert_array_equal(np.array(empty), share == 0)
        total = sum(block.value(*place) * share[place] for place in zip(*np.nonzero(share)))
        self.assertAlmostEqual(total * pixel, 3000, delta=5)
        self.assertTrue(0 < share[share > 0].min() < 1 and (share == 0).any())
        self.assertAlmostEqual(raster.rasterUnitsPerPixelX(), 500)

    def test_the_density_is_where_the_points_are(self):
        target = str(FOLDER / "where.tif")
        self.run_on_release("densityfromrelease", OUTPUT=target)
        raster = QgsRasterLayer(target)
        frame = frame_of(load(self.release), CONTEXT)
        # one pixel is empty now and then, a few dozen of them around a centre never are
        lattice = [(0.005 * i, 0.005 * j) for i in range(-3, 4) for j in range(-3, 4)]
        means = []
        for lon, lat in ((13.3, 52.47), (13.58, 52.42)):
            move = QgsGeometry.fromMultiPointXY([QgsPointXY(lon + a, lat + b) for a, b in lattice])
            move.transform(QgsCoordinateTransform(frame.crs, raster.crs(), QgsProject.instance()))
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
            for _, estimate, low, high, *_ in rows:
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
