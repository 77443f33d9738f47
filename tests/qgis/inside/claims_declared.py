"""Zones that are declared beforehand, tried in real QGIS. Run by ``claims.py``."""

import json
import unittest
from pathlib import Path

import city
import processing
from asked import FOLDER, name_of, publish, rectangle, refusal, zones_of
from claims_axes import WHAT, WHEN
from dpsort_qgis import datasets
from dpsort_qgis._vendor.dpsort_geo.release import load
from qgis.core import QgsCoordinateReferenceSystem

#: four quarters of the box around the city, which share their borders
QUARTERS = [
    rectangle(west, south, west + 0.25, south + 0.15)
    for west in (13.15, 13.4)
    for south in (52.35, 52.5)
]


class Declaring(unittest.TestCase):
    def test_declared_zones_get_the_table_that_geopandas_users_get(self):
        """Writes what ``test_same_release.py`` compares with the other face of the library."""
        points = city.dated(3000)
        listener = city.Listener()
        results = publish(
            points, listener, EPSILON=3.0, ZONES=zones_of(*QUARTERS), **WHAT, **WHEN,
            REPORT=str(FOLDER / "declared.html"),
        )  # fmt: skip
        release = load(results["RELEASE"])
        self.assertEqual(release.zones.size, 4)
        self.assertTrue(release.verify())
        page = (FOLDER / "declared.html").read_text(encoding="utf-8")
        self.assertIn("<td>Declared zones</td><td>4</td>", page)
        (FOLDER / "declared.release.json").write_text(Path(results["RELEASE"]).read_text())
        rows = [
            (one.geometry().asPoint().x(), one.geometry().asPoint().y(), one["type"],
             one["day"].toString("yyyy-MM-dd"))
            for one in points.getFeatures()
        ]  # fmt: skip
        counted = self.counted(results["RELEASE"])
        (FOLDER / "declared.json").write_text(json.dumps([QUARTERS, rows, counted]))
        # the typical error that is told knows that a third of epsilon went to the table
        plain = city.Listener()
        publish(city.dated(3000), plain, EPSILON=3.0, **WHAT, **WHEN)
        told = [
            next(one for one in who.said if "Typical error" in one) for who in (listener, plain)
        ]
        self.assertNotEqual(*told)

    def counted(self, release):
        parameters = {"BY_CATEGORY": True, "BY_TIME": True, "OUTPUT": "TEMPORARY_OUTPUT"}
        parameters.update(RELEASE=release, ZONES=zones_of(*QUARTERS))
        layer = processing.run("dpsort:countinpolygons", parameters)["OUTPUT"]
        return [[one["estimate"], one["low"], one["high"]] for one in layer.getFeatures()]

    def test_counts_in_declared_zones_are_nearer_to_the_truth(self):
        points = city.dated(3000, seed=8)
        true = dict.fromkeys(range(4 * 3 * 6), 0)
        for one in points.getFeatures():
            at, kind = one.geometry().asPoint(), one["type"]
            zone = 2 * (at.x() >= 13.4) + (at.y() >= 52.5)
            what = {"burglary": 0, "theft": 1}.get(kind, 2)
            true[(zone * 3 + what) * 6 + one["day"].month() - 1] += 1
        off = []
        for zones in ({}, {"ZONES": zones_of(*QUARTERS)}):
            release = publish(points, EPSILON=5.0, **WHAT, **WHEN, **zones)["RELEASE"]
            rows = self.counted(release)
            off.append(sum(abs(row[0] - true[at]) for at, row in enumerate(rows)))
        self.assertLess(off[1], 0.5 * off[0])

    def test_zones_that_cannot_be_declared_are_refused_and_cost_nothing(self):
        points = city.dated(400, seed=9)
        points.setName("zones that cannot be declared")
        private = points.extent()
        hull = private.xMinimum(), private.yMinimum(), private.xMaximum(), private.yMaximum()
        nowhere = zones_of(*QUARTERS)
        nowhere.setCrs(QgsCoordinateReferenceSystem())
        asked = {**WHAT, **WHEN, "EPSILON": 5.0}
        for zones, more, sentence in (
            (zones_of(*QUARTERS), {"EPSILON": 5.0}, "by category or time"),
            (zones_of(QUARTERS[0], *QUARTERS), asked, "must not overlap"),
            (zones_of(rectangle(2, 48, 3, 49)), asked, "None of the zones"),
            (zones_of(*QUARTERS), {**asked, "EPSILON": 0.1}, "would be noise"),
            (zones_of(*QUARTERS), {**asked, "EPSILON": 0.1, "PERSON": "who"}, "would be noise"),
            (zones_of(rectangle(*hull)), asked, "outermost person"),
            (zones_of(QUARTERS[0], None), asked, "remove empty ones"),
            (nowhere, asked, "no coordinate reference system"),
        ):
            with self.subTest(sentence=sentence):
                self.assertIn(sentence, refusal(points, ZONES=zones, **more))
        file = city.saved(zones_of(*QUARTERS), FOLDER / "declared.gpkg")
        said = refusal(points, ZONES=str(file), OUTPUT=str(file), **asked)
        self.assertIn("different files", said)
        self.assertEqual(datasets.ledger().entries(name_of(points)), [])

    def test_where_the_number_is_hidden_the_noisy_one_decides_on_the_table(self):
        cells = []
        for n, epsilon in ((60, 0.5), (3000, 5.0)):
            asked = {"ZONES": zones_of(*QUARTERS), "NEIGHBOURS": 1, "EPSILON": epsilon}
            release = load(publish(city.dated(n), **asked, **WHAT, **WHEN)["RELEASE"])
            self.assertTrue(release.verify())
            cells.append(int((release.measured.view == len(release.axes) + 2).sum()))
        self.assertEqual(cells, [0, 4 * 3 * 6])
