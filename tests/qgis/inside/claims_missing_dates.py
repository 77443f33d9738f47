"""A stretch of its own for dates that are missing, tried in real QGIS. Run by ``claims.py``."""

import unittest

import city
import processing
from asked import BOX, FOLDER, loaded, publish, rectangle, refusal, zones_of
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from dpsort_qgis._vendor.dpsort_geo.rules.time_axis import TimeAxis
from dpsort_qgis.compat import is_null
from dpsort_qgis.style import points_style
from qgis.core import QgsExpressionContext, QgsExpressionContextScope, QgsFeatureRequest
from qgis.PyQt.QtCore import QDate, QDateTime, QTime

RANGE = {"TIME_START": QDate(2026, 1, 1), "TIME_STOP": QDate(2026, 7, 1)}
WHEN = {"TIME": "day", "TIME_OTHER": True, **RANGE}
WHAT = {"CATEGORY": "type", "CATEGORIES": "burglary, theft, other"}
#: so much that all that is missing is seen
SURE = {"EPSILON": 20.0}
HALF_YEAR = TimeAxis("day", "2026-01-01", "2026-07-01", other=True)


def undated():
    """Calls of which each tenth has no day."""
    layer = city.dated(600)
    column = layer.fields().lookupField("day")
    without = {one.id(): {column: None} for one in layer.getFeatures() if one.id() % 10 == 0}
    layer.dataProvider().changeAttributeValues(without)
    return layer


def drawn(layer, playing):
    """What a layer's rules let through, with a clock that plays or without one."""
    scope, context = QgsExpressionContextScope(), QgsExpressionContext()
    if playing:
        scope.setVariable("map_start_time", QDateTime(QDate(2026, 1, 1), QTime(0, 0)))
    context.appendScope(scope)
    found = []
    for rule in layer.renderer().rootRule().children():
        request = QgsFeatureRequest().setFilterExpression(rule.filterExpression())
        request.setExpressionContext(context)
        found += layer.getFeatures(request)
    return found


class Missing(unittest.TestCase):
    def test_missing_dates_are_refused_or_get_a_stretch_of_their_own(self):
        layer = undated()
        sentence = refusal(layer, **{**WHEN, "TIME_OTHER": False})
        self.assertIn("allow a stretch for missing dates", sentence)
        results = publish(layer, **SURE, **WHEN)
        self.assertEqual(load(results["RELEASE"]).axes, (HALF_YEAR,))
        days = [feature["day"] for feature in results["OUTPUT"].getFeatures()]
        self.assertTrue(20 < sum(is_null(day) for day in days) < 120)
        week = publish(layer, TIME="day", TIME_STEP=6, TIME_OTHER=True)["RELEASE"]
        self.assertEqual(load(week).axes[0].labels[-1], "other")

    def test_points_without_a_date_are_not_shown_while_others_are_played(self):
        kinds = CategoryAxis("type", ("burglary", "theft", "other"))
        for more, axis, labels in (({}, None, [""]), (WHAT, kinds, list(kinds.labels))):
            layer = publish(undated(), **SURE, **WHEN, **more)["OUTPUT"]
            points_style(axis, HALF_YEAR)(layer)
            self.assertEqual(len(drawn(layer, False)), layer.featureCount())
            missing = [is_null(feature["day"]) for feature in drawn(layer, True)]
            self.assertTrue(missing and not any(missing))
            rules = layer.renderer().rootRule().children()
            self.assertEqual([rule.label() for rule in rules], labels)

    def test_counts_without_a_date_do_not_lie_upon_those_that_are_played(self):
        release = publish(undated(), **SURE, **WHEN)["RELEASE"]
        zones = zones_of(rectangle(13.0, 52.2, 13.4, 52.8), rectangle(13.4, 52.2, 13.8, 52.8))
        target = str(FOLDER / "undated.gpkg")
        layer = loaded("countinpolygons", RELEASE=release, ZONES=zones, BY_TIME=True, OUTPUT=target)
        self.assertEqual(layer.featureCount(), 2 * 7)
        first = [feature["day"].date() for feature in drawn(layer, False)]
        self.assertEqual(first, [QDate(2026, 1, 1)] * 2)
        played = drawn(layer, True)
        self.assertEqual(len(played), 2 * 6)
        self.assertFalse([row for row in played if is_null(row["day"])])

    def test_a_plan_knows_the_stretch_of_missing_dates(self):
        page = FOLDER / "plan of missing dates.html"
        given = {"EXTENT": BOX, "N": 3000, "EPSILON": 1.0, "TIME_STEP": 0, "REPORT": str(page)}
        processing.run("dpsort:plan", {**given, **RANGE, "TIME_OTHER": True})
        self.assertIn("2026-06, other", page.read_text(encoding="utf-8"))
