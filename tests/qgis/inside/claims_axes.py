"""What and when in QGIS, boundaries and resolution, tried in real QGIS. Run by ``claims.py``."""

import os
import time
import unittest
from collections import Counter
from pathlib import Path

import city
import processing
from asked import BOX, CONTEXT, FOLDER, coordinates, loaded, publish, rectangle, refusal, zones_of
from dpsort_qgis._vendor.dpsort_geo.planning import plan_side
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from dpsort_qgis._vendor.dpsort_geo.rules.time_axis import TimeAxis
from dpsort_qgis.area import area_of_box
from dpsort_qgis.axis_fields import end_of, slice_values
from dpsort_qgis.planner import cell_of
from dpsort_qgis.results import Styler, set_clock, set_project_times, set_times
from qgis.core import (
    Qgis,
    QgsDateTimeRange,
    QgsExpressionContext,
    QgsExpressionContextScope,
    QgsFeature,
    QgsFeatureRequest,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsRectangle,
    QgsTemporalNavigationObject,
    QgsVectorLayer,
    QgsVectorLayerTemporalContext,
)
from qgis.PyQt.QtCore import QDate, QDateTime, QTime

WHAT = {"CATEGORY": "type", "CATEGORIES": "burglary, theft; other"}
MIDNIGHT = QDateTime(QDate(2021, 1, 1), QTime(0, 0))
WHEN = {"TIME": "day", "TIME_START": QDate(2026, 1, 1), "TIME_STOP": QDate(2026, 7, 1)}


def shown_in(layer, frame, field="day"):
    """The days of what a layer shows while a frame is played."""
    times = layer.temporalProperties()
    chosen = times.createFilterString(QgsVectorLayerTemporalContext(), frame)
    request = QgsFeatureRequest().setFilterExpression(chosen)
    return {feature[field].date() for feature in layer.getFeatures(request)}


class Slicing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = publish(city.dated(), EPSILON=5.0, **WHAT, **WHEN)

    def test_points_have_a_public_category_and_a_month(self):
        layer = self.results["OUTPUT"]
        self.assertEqual([field.name() for field in layer.fields()], ["type", "day"])
        self.assertEqual(layer.featureCount(), 1500)
        rows = [(feature["type"], feature["day"]) for feature in layer.getFeatures()]
        what, when = (Counter(column) for column in zip(*rows))
        self.assertLessEqual(set(what), {"burglary", "theft", "other"})
        self.assertGreater(what["theft"], 300)
        days = {day.date().toString("yyyy-MM-dd") for day in when}
        self.assertEqual(days, {f"2026-0{month}-01" for month in range(1, 7)})
        release = load(self.results["RELEASE"])
        self.assertEqual([axis.name for axis in release.axes], ["type", "day"])
        self.assertTrue(release.verify())

    def test_thefts_lie_in_the_east(self):
        layer = self.results["OUTPUT"]
        request = QgsFeatureRequest().setFilterExpression("\"type\" = 'theft'")
        east = [f.geometry().asPoint().x() > city.CENTRE[0] for f in layer.getFeatures(request)]
        self.assertGreater(sum(east) / len(east), 0.8)

    def test_every_kind_of_date_field_and_every_unit_can_be_published(self):
        for kind in ("datetime", "string"):
            release = load(publish(city.dated(300, kind=kind), **WHEN, PERSON="who")["RELEASE"])
            self.assertEqual((release.unit, release.axes[0].size), ("person", 6))
        week = load(publish(city.dated(300), TIME="day", TIME_STEP=6, NEIGHBOURS=1)["RELEASE"])
        self.assertEqual((week.axes[0].cycle, week.axes[0].size), ("week", 7))

    def test_an_hour_that_this_machine_s_clock_skips_is_read_as_it_was_written(self):
        layer = city.dated(300, kind="datetime")
        night = QDateTime(QDate(2026, 3, 29), QTime(2, 30))
        layer.dataProvider().changeAttributeValues({1: {2: night}})
        path = city.saved(layer, FOLDER / "skipped.gpkg")
        zone = os.environ.get("TZ")
        self.addCleanup(time.tzset)
        self.addCleanup(os.environ.__setitem__ if zone else os.environ.pop, "TZ", zone)
        os.environ["TZ"] = "Europe/Berlin"
        time.tzset()
        release = load(publish(str(path), **WHEN)["RELEASE"])
        self.assertEqual(release.axes[0].size, 6)

    def test_the_published_layer_can_be_played(self):
        context = QgsProcessingContext()
        context.setProject(QgsProject.instance())
        target = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", QgsProject.instance())
        # so much that no month comes out empty
        results = publish(city.dated(), EPSILON=5.0, context=context, OUTPUT=target, **WHAT, **WHEN)
        details, *_ = context.layersToLoadOnCompletion().values()
        styler, layer = details.postProcessor(), results["OUTPUT"]
        self.assertIsInstance(styler, Styler)
        styler.postProcessLayer(layer, context, city.Listener())
        times = layer.temporalProperties()
        self.assertTrue(times.isActive())
        self.assertEqual(
            times.mode(), Qgis.VectorTemporalMode.FeatureDateTimeStartAndEndFromExpressions
        )
        self.assertIn('"day"', times.startExpression())
        self.assertEqual(
            {category.value() for category in layer.renderer().categories()},
            {"burglary", "theft", "other"},
        )
        set_project_times(styler.axis)
        clock = QgsTemporalNavigationObject()
        set_clock(styler.axis, clock)
        for month in range(6):
            frame = clock.dateTimeRangeForFrameNumber(month)
            ends = [end.date() for end in (frame.begin(), frame.end())]
            self.assertEqual(ends, [QDate(2026, month + 1, 1), QDate(2026, month + 2, 1)])
            self.assertEqual(shown_in(layer, frame), {QDate(2026, month + 1, 1)})
        clock.setNavigationMode(QgsTemporalNavigationObject.NavigationMode.Animated)
        clock.setTemporalExtents(QgsDateTimeRange(QDateTime(QDate(2020, 1, 1), QTime()), MIDNIGHT))
        set_clock(styler.axis, clock)  # what plays is left alone
        self.assertEqual(clock.temporalExtents().end(), MIDNIGHT)
        span = QgsProject.instance().timeSettings().temporalRange()
        self.assertEqual(span.begin().date(), QDate(2026, 1, 1))
        self.assertEqual(span.end().date(), QDate(2026, 7, 1))

    def test_a_frame_shows_its_own_stretch_and_no_other_however_long_it_is(self):
        layer = QgsVectorLayer("Point?crs=EPSG:4326&field=at:datetime", "stretches", "memory")
        for unit, last in (("year", 2029), ("month", 2025), ("week", 2025), ("day", 2025)):
            axis = TimeAxis("at", "2024-01-01", f"{last}-01-01", every=f"1 {unit}")
            layer.dataProvider().truncate()
            for start in slice_values(axis):
                feature = QgsFeature(layer.fields())
                feature.setAttributes([start])
                layer.dataProvider().addFeatures([feature])
            set_times(layer, axis)
            clock = QgsTemporalNavigationObject()
            set_clock(axis, clock)
            for number, start in enumerate(slice_values(axis)):
                frame = clock.dateTimeRangeForFrameNumber(number)
                self.assertEqual(shown_in(layer, frame, "at"), {start.date()}, (unit, number))

    def test_a_frame_of_a_file_shows_its_own_stretch_too(self):
        axis = TimeAxis("day", "2026-01-01", "2026-07-01")
        layer = city.dated(12, kind="datetime")
        for number, feature in enumerate(layer.getFeatures()):
            start = slice_values(axis)[number % axis.size]
            layer.dataProvider().changeAttributeValues({feature.id(): {2: start}})
        path = city.saved(layer, FOLDER / "stretches.gpkg")
        saved = QgsVectorLayer(str(path), "stretches", "ogr")
        set_times(saved, axis)
        clock = QgsTemporalNavigationObject()
        set_clock(axis, clock)
        for number, start in enumerate(slice_values(axis)):
            frame = clock.dateTimeRangeForFrameNumber(number)
            self.assertEqual(shown_in(saved, frame), {start.date()}, number)

    def test_the_last_stretch_ends_when_the_release_says(self):
        axis = TimeAxis("at", "2026-01-01", "2026-01-01T18:00", every="6 hours")
        self.assertEqual(end_of(axis), QDateTime(QDate(2026, 1, 1), QTime(18, 0)))
        project = QgsProject()
        set_project_times(axis, project)
        span = project.timeSettings().temporalRange()
        self.assertEqual((span.begin(), span.end()), (slice_values(axis)[0], end_of(axis)))
        clock = QgsTemporalNavigationObject()
        set_clock(axis, clock)
        self.assertEqual(clock.totalFrameCount(), axis.size)
        whole = TimeAxis("at", "2026-01-01", "2026-07-01")
        self.assertEqual(end_of(whole), QDateTime(QDate(2026, 7, 1), QTime(0, 0)))

    def test_values_are_typed_and_never_read_from_the_layer(self):
        layer = city.dated(100)
        self.assertIn("everybody may see", refusal(layer, CATEGORY="type"))
        self.assertIn("begins", refusal(layer, TIME="day"))
        sentence = refusal(layer, CATEGORY="type", CATEGORIES="burglary,theft")
        self.assertIn("other", sentence)
        self.assertNotIn("secret", sentence)
        self.assertIn("adaptive", refusal(layer, METHOD=1, **WHAT))
        self.assertIn("must hold dates", refusal(layer, **{**WHEN, "TIME": "who"}))

    def test_two_categories_are_published_and_counted_together(self):
        other = {"CATEGORY_2": "who", "CATEGORIES_2": "1, 2, other"}
        results = publish(city.dated(), EPSILON=5.0, **WHAT, **other)
        release = load(results["RELEASE"])
        self.assertEqual([axis.name for axis in release.axes], ["type", "who"])
        self.assertTrue(release.verify())
        self.assertEqual([field.name() for field in results["OUTPUT"].fields()], ["type", "who"])
        zones = zones_of(rectangle(13.0, 52.2, 13.4, 52.8), rectangle(13.4, 52.2, 13.8, 52.8))
        context = QgsProcessingContext()
        context.setProject(QgsProject.instance())
        target = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", QgsProject.instance())
        parameters = {"RELEASE": results["RELEASE"], "ZONES": zones, "BY_CATEGORY": True}
        parameters["OUTPUT"] = target
        layer = processing.run("dpsort:countinpolygons", parameters, context=context)["OUTPUT"]
        rows = [(f["type"], f["who"], f["estimate"]) for f in layer.getFeatures()]
        self.assertEqual(len(rows), 2 * 3 * 3)
        self.assertAlmostEqual(sum(estimate for *_, estimate in rows), 1500, delta=150)
        details, *_ = context.layersToLoadOnCompletion().values()
        details.postProcessor().postProcessLayer(layer, context, city.Listener())
        branches = layer.renderer().rootRule().children()
        self.assertEqual({branch.label() for branch in branches}, {f"{a}, {b}" for a, b, _ in rows})
        for branch in branches:  # each shows each polygon once
            request = QgsFeatureRequest().setFilterExpression(branch.filterExpression())
            self.assertEqual(len(list(layer.getFeatures(request))), 2)
        self.assertEqual([branch.active() for branch in branches], [True] + [False] * 8)

    def test_more_axes_than_a_release_can_pay_for_are_refused(self):
        other = {"CATEGORY_2": "who", "CATEGORIES_2": "1, 2, other"}
        self.assertIn("up to three", refusal(city.dated(100), **WHAT, **other, **WHEN))

    def test_counts_come_as_a_long_layer_and_as_a_table(self):
        zones = zones_of(rectangle(13.0, 52.2, 13.4, 52.8), rectangle(13.4, 52.2, 13.8, 52.8))
        table = FOLDER / "long.csv"
        parameters = {
            "RELEASE": self.results["RELEASE"], "ZONES": zones, "BY_CATEGORY": True,
            "BY_TIME": True, "OUTPUT": "TEMPORARY_OUTPUT", "TABLE": str(table),
        }  # fmt: skip
        layer = processing.run("dpsort:countinpolygons", parameters)["OUTPUT"]
        rows = list(layer.getFeatures())
        self.assertEqual(len(rows), 2 * 3 * 6)
        self.assertAlmostEqual(sum(row["estimate"] for row in rows), 1500, delta=150)
        east = [r["estimate"] for r in rows[18:] if r["type"] == "theft"]
        west = [r["estimate"] for r in rows[:18] if r["type"] == "theft"]
        self.assertGreater(sum(east), 3 * sum(west))
        for row in rows:
            self.assertTrue(row["low"] <= row["estimate"] <= row["high"])
        self.assertTrue(rows[0].hasGeometry())
        self.assertEqual(len(table.read_text().splitlines()), 37)
        plain = publish(city.calls(100))["RELEASE"]
        with self.assertRaisesRegex(QgsProcessingException, "no times"):
            processing.run("dpsort:countinpolygons", {**parameters, "RELEASE": plain,
                                                      "BY_CATEGORY": False})  # fmt: skip

    def test_stretches_of_time_do_not_lie_upon_each_other_before_they_are_played(self):
        zones = zones_of(rectangle(13.0, 52.2, 13.4, 52.8), rectangle(13.4, 52.2, 13.8, 52.8))
        for more, rows in (({}, 2), ({"BY_CATEGORY": True}, 6)):
            layer = loaded(
                "countinpolygons", RELEASE=self.results["RELEASE"], ZONES=zones, BY_TIME=True,
                OUTPUT=str(FOLDER / f"stretches{rows}.gpkg"), **more,
            )  # fmt: skip
            self.assertEqual(layer.featureCount(), 6 * rows)
            self.assertTrue(layer.temporalProperties().isActive())
            (branch,) = layer.renderer().rootRule().children()
            self.assertEqual(branch.label(), "2026-01, or as played")
            request = QgsFeatureRequest().setFilterExpression(branch.filterExpression())
            shown = [f["day"].date() for f in layer.getFeatures(request)]
            self.assertEqual(shown, [QDate(2026, 1, 1)] * rows)
            scope, context = QgsExpressionContextScope(), QgsExpressionContext()
            scope.setVariable("map_start_time", MIDNIGHT)
            context.appendScope(scope)
            request.setExpressionContext(context)
            self.assertEqual(len(list(layer.getFeatures(request))), 6 * rows)

    def test_one_row_does_not_change_what_others_say(self):
        folder = FOLDER / "guessed"
        folder.mkdir()
        path = folder / "a.csv"
        path.write_text("type,day,X,Y\n" + "theft,2026-01-05,13.4,52.5\n" * 20)
        uri = f"file://{path}?type=csv&xField=X&yField=Y&crs=EPSG:4326"
        layer = QgsVectorLayer(uri + "&detectTypes=yes", "guessed", "delimitedtext")
        for axis in (WHAT, WHEN):
            self.assertIn("Detect field types", refusal(layer, **axis))
        layer = QgsVectorLayer(uri + "&detectTypes=no", "text", "delimitedtext")
        publish(layer, **WHAT, **WHEN)


class Planning(unittest.TestCase):
    """A plan knows what categories and times cost, and reads no layer of points."""

    def plan(self, **parameters):
        given = {"EXTENT": BOX, "N": 50000, "EPSILON": 1.0, **parameters}
        return processing.run("dpsort:plan", given)

    def test_categories_and_times_cost_what_the_library_says(self):
        page = FOLDER / "plan.html"
        axes = {"CATEGORIES": "burglary, theft, other", "TIME_STEP": 0, **WHEN}
        axes.pop("TIME")
        planned = self.plan(REPORT=str(page), RESOLUTION=200, **axes)["EXPECTED_ERROR"]
        box = area_of_box(QgsRectangle(13.1, 52.3, 13.7, 52.7), city.crs("EPSG:4326"), CONTEXT)
        declared = (
            CategoryAxis("what", ("burglary", "theft", "other")),
            TimeAxis("when", "2026-01-01", "2026-07-01", every="1 month"),
        )
        wanted = plan_side(
            50000, box.side * box.metres, epsilon=1.0, axes=declared, cell=cell_of(box, 200)
        )
        self.assertAlmostEqual(planned, wanted.expected_error)
        self.assertGreater(planned, 1.1 * self.plan()["EXPECTED_ERROR"])
        text = page.read_text(encoding="utf-8")
        cells = "170\u00a0m (5.4\u00a0m when no resolution is stated)"
        for words in ("burglary, theft, other", "2026-06", "as good as at epsilon", cells):
            self.assertIn(words, text)

    def test_the_epsilon_for_an_error_grows_with_the_axes(self):
        plain, other = (
            self.plan(TARGET_ERROR=150.0, **axes)["PLANNED_EPSILON"]
            for axes in ({}, {"CATEGORIES": "a, b, other", "CATEGORIES_2": "c, d, other"})
        )
        self.assertGreater(other, 1.2 * plain)

    def test_a_plan_with_axes_is_for_the_adaptive_method(self):
        with self.assertRaisesRegex(QgsProcessingException, "adaptive"):
            self.plan(METHOD=1, CATEGORIES="a, b, other")


class Bounding(unittest.TestCase):
    """A public boundary given afterwards, and the smallest detail stated beforehand."""

    @classmethod
    def setUpClass(cls):
        box = "13.1,13.7,52.3,52.7 [EPSG:4326]"
        # so little that more than half of the published points lie outside of the limit
        cls.release = publish(city.calls(3000), EXTENT=box, EPSILON=0.005)["RELEASE"]
        cls.limit = QgsGeometry.fromWkt(city.limit_wkt())

    def run_within(self, name, within, **parameters):
        given = {"RELEASE": self.release, "OUTPUT": "TEMPORARY_OUTPUT", **parameters}
        if within:
            given["WITHIN"] = city.boundary()
        return processing.run(f"dpsort:{name}", given)["OUTPUT"]

    def test_all_points_lie_in_the_boundary(self):
        outside = []
        for within in (False, True):
            layer = self.run_within("pointsfromrelease", within)
            self.assertEqual(layer.featureCount(), 3000)
            places = [f.geometry().asPoint() for f in layer.getFeatures()]
            places += [QgsPointXY(round(at.x(), 7), round(at.y(), 7)) for at in places]
            points = [QgsGeometry.fromPointXY(at) for at in places]
            outside.append(sum(not self.limit.contains(at) for at in points))
        self.assertGreater(outside[0], 100)
        self.assertEqual(outside[1], 0)

    def test_no_point_lies_in_a_creek_narrower_than_a_cell(self):
        """QGIS asks of each point by itself; only those that can be outside are asked."""
        box, line = "13.2 52.35, 13.6 52.35, 13.6 52.65, 13.2 52.65", "13.21 52.4, 13.59 52.6001"
        creek = QgsGeometry.fromWkt(f"LineString ({line})").buffer(2e-5, 2)
        land = QgsGeometry.fromWkt(f"Polygon (({box}, 13.2 52.35))").difference(creek)
        along = [creek.interpolate(creek.length() * share / 4000) for share in range(4000)]
        points = city.calls(0)
        features = [QgsFeature(points.fields()) for _ in along]
        for feature, at in zip(features, along):
            feature.setGeometry(at)
        points.dataProvider().addFeatures(features)
        release = publish(points, EXTENT="13.1,13.7,52.3,52.7 [EPSG:4326]", EPSILON=20)["RELEASE"]
        given = {"RELEASE": release, "WITHIN": city.boundary(land.asWkt(15))}
        for spread in (True, False):
            layer = processing.run(
                "dpsort:pointsfromrelease",
                {**given, "SPREAD": spread, "OUTPUT": "TEMPORARY_OUTPUT"},
            )["OUTPUT"]
            places = [f.geometry().asPoint() for f in layer.getFeatures()]
            self.assertEqual(len(places), 4000)
            places += [QgsPointXY(round(at.x(), 7), round(at.y(), 7)) for at in places]
            wet = [1 for at in places if not land.contains(QgsGeometry.fromPointXY(at))]
            self.assertEqual(len(wet), 0)

    def test_counts_and_density_follow(self):
        zone = {"ZONES": zones_of(city.limit_wkt())}
        found = [
            next(self.run_within("countinpolygons", within, **zone).getFeatures())["estimate"]
            for within in (False, True)
        ]
        # some of the box's mass lies outside; within, only parts of cells along the outline do
        self.assertLess(found[0], 2950)
        self.assertLess(3000 - found[1], (3000 - found[0]) / 10)
        target = str(FOLDER / "within.tif")
        self.run_within("densityfromrelease", True, OUTPUT=target)
        self.assertTrue(Path(target).is_file())

    def test_a_resolution_makes_cells_of_about_that_size(self):
        fine, coarse = (
            load(publish(city.calls(300), RESOLUTION=metres)["RELEASE"]).grid
            for metres in (None, 500)
        )
        self.assertTrue(350 < coarse.cell < 710 and fine.cell < 50)
        self.assertEqual(fine.side, coarse.side)


class Projecting(unittest.TestCase):
    """Results come in a CRS that people know."""

    def test_points_come_in_the_layer_s_crs_or_in_another(self):
        layer = city.reprojected(city.calls(300), city.crs("EPSG:25833"))
        layer.setName("projected")
        self.assertEqual(publish(layer)["OUTPUT"].crs().authid(), "EPSG:25833")
        other = publish(layer, CRS=city.crs("EPSG:3857"))
        self.assertEqual(other["OUTPUT"].crs().authid(), "EPSG:3857")
        self.assertTrue(all(1e6 < x < 2e6 for x, _ in coordinates(other["OUTPUT"])))

    def test_a_density_of_degrees_comes_in_the_utm_zone_and_adds_up(self):
        from qgis.core import QgsRasterLayer

        release = publish(city.calls(3000))["RELEASE"]
        target = str(FOLDER / "utm.tif")
        processing.run("dpsort:densityfromrelease", {"RELEASE": release, "OUTPUT": target})
        raster = QgsRasterLayer(target)
        self.assertEqual(raster.crs().authid(), "EPSG:32633")
        block = raster.dataProvider().block(1, raster.extent(), raster.width(), raster.height())
        cells = [
            block.value(row, column)
            for row in range(raster.height())
            for column in range(raster.width())
            if not block.isNoData(row, column)
        ]
        pixel = raster.rasterUnitsPerPixelX() * raster.rasterUnitsPerPixelY() / 1e6
        self.assertAlmostEqual(sum(cells) * pixel / 3000, 1, delta=0.05)
