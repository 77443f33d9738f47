"""Areas and transformations, tried in real QGIS. Run by ``claims.py``."""

import unittest

import city
import numpy as np
from asked import CONTEXT, coordinates, publish, rectangle, zones_of
from dpsort_qgis._vendor.dpsort_geo.curve.grid import Grid
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.frame.ground import Frame
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis.area import area_of_box, area_of_polygons
from dpsort_qgis.host import QgisHost, crs_of, crs_text, transformed
from dpsort_qgis.rasters import known_crs
from dpsort_qgis.releases import frame_of
from qgis.core import (
    QgsFeature,
    QgsGeometry,
    QgsRectangle,
)


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
        except BadInputError as refusal:
            self.assertIn("cannot be transformed", str(refusal))
            return
        for one, other in zip(alone, both):
            np.testing.assert_array_equal(one, other[:-1])


class Areas(unittest.TestCase):
    def test_the_whole_world_is_an_area(self):
        world = "-180,180,-90,90 [EPSG:4326]"
        release = load(publish(city.calls(300), EXTENT=world)["RELEASE"])
        self.assertEqual(release.working_crs, "EPSG:6933")

    def test_an_area_around_a_pole_is_seen_from_it_as_in_python(self):
        layer = city.calls(200)
        around = [QgsGeometry.fromWkt(f"Point ({1.8 * i - 180} {65 + i / 10})") for i in range(200)]
        layer.dataProvider().changeGeometryValues(dict(zip(range(1, 201), around)))
        layer.updateExtents()
        found = publish(layer, EXTENT="-180,180,60,90 [EPSG:4326]", EPSILON=100)
        release = load(found["RELEASE"])
        self.assertEqual(release.working_crs, "EPSG:6931")
        north = [y for _, y in coordinates(found["OUTPUT"])]
        self.assertGreater(min(north), 59.9)
        self.assertAlmostEqual(sum(y > 75 for y in north), 99, delta=3)
        self.assertEqual(known_crs(frame_of(release, CONTEXT)).authid(), "EPSG:6931")

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
        frame = Frame(Grid(x[0], y[0], (y[2] - y[0]) / 2, 1), mercator, mercator, QgisHost(CONTEXT))
        square = frame.square_metres(x[:1], y)[:, 0]
        np.testing.assert_allclose(square, np.cos(np.radians(lat)) ** 2, rtol=0.01)

    def test_a_hole_in_the_area_stays_empty(self):
        outer = "(13 52, 14 52, 14 53, 13 53, 13 52)"
        ring = f"Polygon ({outer}, (13.2 52.2, 13.8 52.2, 13.8 52.8, 13.2 52.8, 13.2 52.2))"
        points = coordinates(publish(city.calls(500), AREA=city.boundary(ring))["OUTPUT"])
        inside = [1 for x, y in points if 13.21 < x < 13.79 and 52.21 < y < 52.79]
        self.assertEqual(inside, [])
