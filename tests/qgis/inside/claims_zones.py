"""Counts far away from the area, or all around it, tried in real QGIS. Run by ``claims.py``."""

import unittest

import city
import numpy as np
from asked import counts, publish, rectangle, zones_of
from qgis.core import (
    QgsFeature,
    QgsGeometry,
    QgsRectangle,
    QgsReferencedRectangle,
    QgsVectorLayer,
)


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
