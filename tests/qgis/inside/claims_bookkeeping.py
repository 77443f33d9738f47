"""The ledger, and what is paid for, tried in real QGIS. Run by ``claims.py``."""

import os
import tempfile
import unittest
from pathlib import Path

import city
import processing
from asked import FOLDER, name_of, publish, refusal
from dpsort_qgis import datasets
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.private.ledger import Ledger
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis.gui.runner import Run
from dpsort_qgis.origins import marks_of, tables_in
from osgeo import gdal
from qgis.core import (
    QgsApplication,
    QgsFeature,
    QgsGeometry,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsVectorLayer,
    QgsVirtualLayerDefinition,
)
from qgis.PyQt.QtCore import QEventLoop, QTimer


class Bookkeeping(unittest.TestCase):
    def entries(self, layer):
        return datasets.ledger().entries(name_of(layer))

    def test_every_publish_is_in_the_ledger_before_it_is_drawn(self):
        layer = city.calls(101, seed=21)
        publish(layer, EPSILON=0.3)
        publish(layer, EPSILON=0.6, METHOD=1, PERSON="who")
        kept = [(float(e.epsilon), e.unit, e.method) for e in self.entries(layer)]
        self.assertEqual(kept, [(0.3, "point", "adaptive"), (0.6, "person", "sort")])

    def test_the_ledger_is_the_one_of_the_shell_and_an_earlier_one_is_taken_over(self):
        place = Path(os.environ["HOME"]) / ".local" / "share" / "dpsort-geo" / "ledger.sqlite"
        self.assertEqual(datasets.ledger().path, place)
        before = Path(QgsApplication.qgisSettingsDirPath()) / "dpsort" / "ledger.sqlite"
        Ledger(before).debit("kept in the profile", "0.25")
        Ledger(before).limit("kept in the profile", "0.5")
        self.assertEqual(float(datasets.spent("kept in the profile")), 0.25)
        self.assertFalse(before.exists())
        self.assertEqual(float(datasets.ledger().left("kept in the profile")), 0.25)

    def test_a_table_of_a_database_is_known_again_under_another_name(self):
        uri = "dbname='city' host=Db user='u' password='secret' table=\"calls\" (geom)"
        table = marks_of(QgsVectorLayer(uri, "calls", "postgres"))
        self.assertEqual(table, ["database:db 5432 city public calls"])
        datasets.ledger().debit("calls of the city", "0.1", source=table)
        datasets.check_files(table, "Calls of the City")
        with self.assertRaisesRegex(BadInputError, "calls of the city"):
            datasets.check_files(table, "other calls")
        queried = '(select c.* from /* all */ public.calls as c join \\"Old Calls\\" using (id))'
        uri = f"dbname='city' host=Db key='id' table=\"{queried}\" (geom)"
        with self.assertRaisesRegex(BadInputError, "calls of the city"):
            datasets.check_files(marks_of(QgsVectorLayer(uri, "q", "postgres")), "a query")

    def test_the_tables_that_a_query_takes_its_rows_from_are_found(self):
        for query, tables in (
            ("select * from calls", ["calls"]),
            ("SELECT a.x, b FROM town.calls a, \"Old Calls\" WHERE x IN (1, 2)",
             ["calls", "Old Calls"]),
            ("with t as (select 1 from calls -- from nowhere\n) select * from t left join u on 1",
             ["calls", "t", "u"]),
        ):  # fmt: skip
            self.assertEqual([table for _, table in tables_in(query)], tables)

    def virtual(self, query, *sources):
        """A virtual layer on layers of the project, or on files of its own."""
        definition = QgsVirtualLayerDefinition()
        for name, place in sources:
            definition.addSource(name, place, "ogr")
        definition.setQuery(query)
        layer = QgsVectorLayer(definition.toString(), "a query", "virtual")
        self.assertTrue(layer.isValid())
        return layer

    def test_a_virtual_layer_or_a_query_is_known_by_the_file_behind_it(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = str(city.saved(city.calls(60, seed=64), folder / "spent.gpkg"))
        layer = city.in_project(QgsVectorLayer(path, "spent64", "ogr"))
        publish(path, EPSILON=0.5)
        (name,) = {entry.dataset for entry in datasets.ledger().entries() if path in entry.dataset}
        first = city.in_project(self.virtual("select * from spent64"))
        first.setName("first64")
        for again in (
            first,
            self.virtual("select * from first64 where who > 1"),
            self.virtual("select * from t", ("t", path)),
            QgsVectorLayer(f"{path}|subset=SELECT * FROM spent WHERE who > 1", "q", "ogr"),
        ):
            listener = city.Listener()
            self.assertIn(name, refusal(again, DATASET="a new name", EPSILON=0.1))
            results = publish(again, listener, DATASET=name, EPSILON=0.1)
            self.assertTrue(load(results["RELEASE"]).verify())
            self.assertIn("is a query", " ".join(listener.warned))
        self.assertEqual(datasets.ledger().entries("a new name"), [])
        self.assertEqual(float(datasets.spent(name)), 0.9)
        said = refusal(first, DATASET=name, OUTPUT=path)
        self.assertIn("different files", said)
        for one in (first, layer):
            QgsProject.instance().removeMapLayer(one.id())

    def test_what_a_virtual_layer_spent_is_known_where_the_file_is_published(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = str(city.saved(city.calls(60, seed=65), folder / "behind.gpkg"))
        zones = city.in_project(city.boundary())
        zones.setName("zones65")
        query = "select t.* from t, zones65 where st_within(t.geometry, zones65.geometry)"
        publish(self.virtual(query, ("t", path)), DATASET="by a query", EPSILON=0.1)
        self.assertIn("by a query", refusal(path))
        # the polygons that points are joined with are nobody's points
        other = str(city.saved(city.calls(60, seed=66), folder / "other.gpkg"))
        publish(self.virtual(query, ("t", other)), DATASET="another by a query", EPSILON=0.1)
        QgsProject.instance().removeMapLayer(zones.id())

    def test_a_memory_layer_keeps_its_name_and_those_on_top_of_it_have_the_same(self):
        layer = city.in_project(city.calls(60, seed=67))
        layer.setName("calls67")
        above = self.virtual("select * from calls67")
        publish(above, DATASET="calls of 67", EPSILON=0.1)
        self.assertEqual(datasets.dataset_of(layer), "calls of 67")
        for one in (layer, above):
            for _ in range(2):  # a refusal does not change the name that is kept
                self.assertIn("calls of 67", refusal(one, DATASET="others"))
        QgsProject.instance().removeMapLayer(layer.id())

    def several_tables(self):
        """A GeoPackage with the tables "one" and "two"."""
        path = Path(tempfile.mkdtemp(dir=FOLDER)) / "several.gpkg"
        layers = [city.calls(40), city.calls(40)]
        for layer, table in zip(layers, ("one", "two")):
            layer.setName(table)
        parameters = {"LAYERS": layers, "OUTPUT": str(path), "SAVE_STYLES": False}
        processing.run("native:package", parameters)
        return path.resolve()

    def test_a_query_in_a_file_of_several_tables_is_known_by_its_table(self):
        path = self.several_tables()
        publish(f"{path}|layername=two", DATASET="the second", EPSILON=0.1)
        queries = [f"{path}|subset=SELECT * FROM {table} WHERE who > 0" for table in ("one", "two")]
        publish(QgsVectorLayer(queries[0], "q1", "ogr"), DATASET="the first", EPSILON=0.1)
        said = refusal(QgsVectorLayer(queries[1], "q2", "ogr"), DATASET="the first", EPSILON=0.1)
        self.assertIn("the second", said)

    def test_a_refused_run_costs_nothing(self):
        layer = city.calls(102, seed=22)
        refusal(layer, AREA=None)
        self.assertEqual(self.entries(layer), [])

    def test_what_cannot_be_published_or_written_costs_nothing(self):
        nowhere = str(FOLDER / "no such folder" / "x.release.json")
        corner = "13.4 52.5, 13.4000001 52.5, 13.4000001 52.5000001, 13.4 52.5"
        cases = [
            (city.calls(0, seed=31), {}),
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

    def test_that_a_layer_is_empty_is_not_told_where_its_number_is_hidden(self):
        for more in ({}, {"PERSON": "who"}):
            layer = city.calls(0, seed=32 + 9 * len(more))
            results = publish(layer, NEIGHBOURS=1, REPORT=str(FOLDER / "empty.html"), **more)
            self.assertTrue(Path(results["REPORT"]).is_file())
            self.assertEqual(len(self.entries(layer)), 1)

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
                "DATASET": layer.name(),
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
        publish(chosen, EPSILON=0.25, DATASET=layer.name())
        self.assertEqual([float(e.epsilon) for e in self.entries(layer)], [0.25])
        datasets.ledger().limit(name_of(layer), "0.3")
        refusal(chosen, EPSILON=0.25)
        for extent in (layer.id(), layer.extent()):
            refusal(chosen, EPSILON=0.01, AREA=None, EXTENT=extent)
        self.assertEqual(len(self.entries(layer)), 1)

    def test_a_limit_is_checked_before_the_points_are_read_and_says_what_is_left(self):
        layer = city.calls(50, seed=63)
        layer.dataProvider().addFeatures([QgsFeature(layer.fields())])  # reading would refuse it
        name = name_of(layer)
        datasets.ledger().limit(name, "1")
        datasets.ledger().debit(name, "0.7", "point", "replace", "", "adaptive")
        self.assertIn("leaves 0.3", refusal(layer, EPSILON=0.5))
        # beside replacement, an add-remove release counts twice
        self.assertIn("cost epsilon 0.4", refusal(layer, EPSILON=0.2, NEIGHBOURS=1))
        self.assertIn("empty ones", refusal(layer, EPSILON=0.15, NEIGHBOURS=1))

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
        area = city.saved(city.boundary(), folder / "city.gpkg")
        outline = area.read_bytes()
        sentence = refusal(layer, AREA=str(area), OUTPUT=str(area))
        self.assertIn("different files", sentence)
        self.assertEqual(area.read_bytes()[100:], outline[100:])
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
            names.add(name_of(layer))
            layer.setSubsetString('"who" < 100')
            names.add(name_of(layer))
            del layer
        self.assertEqual(names, {str(path.resolve())})

    def test_each_table_of_a_file_has_one_name_however_it_is_opened(self):
        path = self.several_tables()
        named = [
            QgsVectorLayer(f"{path}|layername={table}", "t", "ogr") for table in ("one", "two")
        ]
        first = QgsVectorLayer(str(path), "first", "ogr")
        names = [name_of(layer) for layer in (*named, first)]
        self.assertEqual(names, [f"{path} one", f"{path} two", f"{path} one"])
        # the shell knows a table of a file by the same mark
        self.assertEqual(marks_of(named[1]), [f"{path}|layername=two"])
        datasets.ledger().debit("all of the file", "0.1", source=str(path))
        self.assertIn("all of the file", refusal(named[1]))

    def test_a_password_does_not_get_into_the_ledger(self):
        uri = "dbname='city' host=db user='u' password='secret' table=\"calls\" (geom)"
        layer = QgsVectorLayer(uri, "calls", "postgres")
        self.assertNotIn("secret", name_of(layer))
