"""Nothing paid is ever lost, tried in real QGIS. Run by ``claims.py``."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import city
import processing
from asked import FOLDER, name_of, publish, refusal
from dpsort_qgis import datasets, release_files
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis._vendor.dpsort_geo.statement import full_statement
from dpsort_qgis.algorithms import publish as publishing
from dpsort_qgis.doubts import doubts
from dpsort_qgis.promise import statement_text
from qgis.core import QgsProcessingException, QgsProject, QgsVectorLayer


def entries(layer):
    return datasets.ledger().entries(name_of(layer))


class Keeping(unittest.TestCase):
    """A release has a real place, which is told, and is never overwritten."""

    def test_a_release_without_a_name_gets_a_lasting_one_and_a_second_another(self):
        layer, folder = city.calls(60, seed=91), Path(tempfile.mkdtemp(dir=FOLDER))
        layer.setName("thefts: 2026/27")
        QgsProject.instance().setFileName(str(folder / "city.qgz"))
        self.addCleanup(QgsProject.instance().setFileName, "")
        listener, paths = city.Listener(), []
        for asked in ("TEMPORARY_OUTPUT", None):
            paths.append(Path(publish(layer, listener, RELEASE=asked)["RELEASE"]))
        self.assertEqual([path.parent for path in paths], [folder, folder])
        self.assertRegex(paths[0].name, r"^thefts_2026_27_eps1_\d{4}-\d\d-\d\d\.release\.json$")
        self.assertRegex(paths[1].name, r"^thefts_2026_27_eps1_\d{4}-\d\d-\d\d_2\.release\.json$")
        self.assertNotEqual(*(path.read_text() for path in paths))
        self.assertTrue(any(str(paths[1]) in words for words in listener.said))
        self.assertEqual([entry.release for entry in entries(layer)], [str(p) for p in paths])

    def test_without_a_project_it_lies_among_the_documents_and_not_with_temporary_files(self):
        path = publish(city.calls(60, seed=92), RELEASE="TEMPORARY_OUTPUT")["RELEASE"]
        self.assertTrue(path.startswith(os.environ["HOME"]))
        self.assertFalse(release_files.is_temporary(path, path))

    def test_an_existing_file_is_refused_before_the_debit_and_a_free_name_is_told(self):
        layer, folder = city.calls(60, seed=93), Path(tempfile.mkdtemp(dir=FOLDER))
        path = folder / "calls.release.json"
        publish(layer, RELEASE=str(path))
        before = path.read_bytes()
        self.assertIn(str(folder / "calls_2.release.json"), refusal(layer, RELEASE=str(path)))
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(len(entries(layer)), 1)

    def test_nothing_is_written_over_a_release(self):
        layer, folder = city.calls(60, seed=102), Path(tempfile.mkdtemp(dir=FOLDER))
        path, plain = folder / "calls.release.json", folder / "plain.json"
        publish(layer, RELEASE=str(path))
        shutil.copy(path, plain)
        before = path.read_bytes()
        for number, report in enumerate(({"REPORT": str(path)}, {"OUTPUT": str(path)})):
            other = str(folder / f"other{number}.release.json")
            self.assertIn("is a release", refusal(layer, RELEASE=other, **report))
        self.assertEqual(len(entries(layer)), 1)
        for file in (path, plain):  # whatever it is called, what is read is not written
            for name, outputs in (
                ("pointsfromrelease", ("OUTPUT",)),
                ("densityfromrelease", ("OUTPUT",)),
                ("countinpolygons", ("OUTPUT", "TABLE")),
                ("inspectrelease", ("REPORT",)),
            ):
                for output in outputs:
                    given = {"RELEASE": str(file), "ZONES": city.boundary()}
                    given["OUTPUT"] = "TEMPORARY_OUTPUT"
                    with (
                        self.subTest(name, output=output),
                        self.assertRaisesRegex(QgsProcessingException, "is a release"),
                    ):
                        processing.run(f"dpsort:{name}", {**given, output: str(file)})
                self.assertEqual(file.read_bytes(), before)

    def test_what_fails_after_the_debit_costs_a_warning_and_not_the_release(self):
        def fail(*_):
            raise RuntimeError("no")

        for name in ("write_report", "Reading", "crowds_edge", "expected"):
            with self.subTest(name):
                layer, listener = city.calls(60, seed=94), city.Listener()
                real = getattr(publishing, name)
                setattr(publishing, name, fail)
                try:
                    results = publish(layer, listener, REPORT=str(FOLDER / "x.html"))
                finally:
                    setattr(publishing, name, real)
                self.assertTrue(load(results["RELEASE"]).verify())
                self.assertTrue(any("is safe" in words for words in listener.warned))

    def test_a_folder_that_is_gone_after_the_debit_costs_another_place(self):
        release = load(publish(city.calls(60, seed=95))["RELEASE"])
        place = release_files.save_release(
            release, str(FOLDER / "gone" / "file" / "a.release.json")
        )
        self.assertEqual(load(place), release)
        (FOLDER / "blocked").write_text("a file where a folder should be")
        place = release_files.save_release(release, str(FOLDER / "blocked" / "a.release.json"))
        self.assertEqual(load(place), release)


class Placing(unittest.TestCase):
    """An area that cannot hold the layer is not paid for."""

    def test_an_area_in_another_place_is_refused_before_the_debit(self):
        layer = city.calls(60, seed=96)
        for extent in (
            "-74.3,-73.7,40.5,40.95 [EPSG:4326]",
            "0,700000,0,1200000 [EPSG:27700]",
        ):
            self.assertIn("different places", refusal(layer, EXTENT=extent))
        other = city.reprojected(layer, city.crs("EPSG:3857"))
        sentence = refusal(other, EXTENT="0,700000,0,1200000 [EPSG:27700]")
        self.assertIn("different places", sentence)
        self.assertEqual(entries(layer), [])

    def test_x_and_y_in_the_wrong_order_are_refused(self):
        swapped = {"INPUT": city.calls(60, seed=97), "OUTPUT": "TEMPORARY_OUTPUT"}
        swapped = processing.run("native:swapxy", swapped)["OUTPUT"]
        self.assertIn("different places", refusal(swapped))


class Naming(unittest.TestCase):
    """The ledger knows a data set again."""

    def publish_unnamed(self, layer, **parameters):
        path = Path(tempfile.mkdtemp(dir=FOLDER)) / "a.release.json"
        given = {"INPUT": layer, "AREA": city.boundary(), "EPSILON": 1, "RELEASE": str(path)}
        return processing.run("dpsort:publishpoints", {**given, **parameters})

    def test_a_layer_without_a_lasting_place_is_named_once(self):
        memory = city.calls(60, seed=98)
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = city.saved(city.calls(60, seed=98), folder / "v.gpkg")
        other = city.saved(city.calls(70, seed=98), folder / "w.gpkg")
        file = city.in_project(QgsVectorLayer(str(path), "v", "ogr"))
        virtual = QgsVectorLayer("?query=select * from v", "view", "virtual")
        query = QgsVectorLayer(f"{other}|subset=select * from w where who < 100", "query", "ogr")
        self.assertTrue(virtual.isValid() and query.isValid() and file.isValid())
        for layer in (memory, virtual, query):
            with self.subTest(layer.name()):
                with self.assertRaisesRegex(QgsProcessingException, "give its data set a name"):
                    self.publish_unnamed(layer)
                name = f"named {layer.name()}"
                self.publish_unnamed(layer, DATASET=name)
                self.publish_unnamed(layer)  # the layer keeps its name
                self.assertEqual(len(datasets.ledger().entries(name)), 2)

    def test_a_copy_of_a_file_cannot_start_from_nothing(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        path = city.saved(city.calls(60, seed=99), folder / "first.gpkg")
        shutil.copy(path, folder / "second.gpkg")
        self.publish_unnamed(str(path))
        with self.assertRaisesRegex(QgsProcessingException, "first.gpkg"):
            self.publish_unnamed(str(folder / "second.gpkg"))
        self.publish_unnamed(str(folder / "second.gpkg"), DATASET=str(path))
        self.assertEqual(len(datasets.ledger().entries(str(path))), 2)

    def test_a_published_layer_is_known_as_one_and_refused(self):
        target = FOLDER / "published_once.gpkg"
        publish(city.calls(60, seed=100), OUTPUT=str(target))
        again = QgsVectorLayer(str(target), "again", "ogr")
        self.assertTrue(datasets.is_published(again))
        self.assertFalse(datasets.is_published(city.calls(10)))
        self.assertIn("published one already", refusal(again))


class Telling(unittest.TestCase):
    def test_doubts_follow_the_total_of_the_data_set(self):
        self.assertEqual(doubts(epsilon=1, total=3), [])
        self.assertIn("in all", doubts(epsilon=1, total=3.5)[0])
        self.assertEqual(len(doubts(True, True, 4, 9)), 3)

    def test_the_statement_in_english_is_the_library_s_own(self):
        usual = {
            "private": True, "epsilon": "0.25", "kind": "adaptive", "n": 5, "axes": (),
            "window": None, "max_points": None, "outside": "nearest", "person": (), "ledger": True,
        }  # fmt: skip
        for unit in ("point", "person"):
            for neighbours in ("replace", "add-remove"):
                for more in (
                    {},
                    {"axes": (1,)},
                    {"window": ("2026-01-01", "2026-02-01")},
                    {"outside": "drop"},
                    {"ledger": False},
                    {"private": False},
                    *([{"person": ("rider", "date"), "max_points": 4}] * (unit == "person")),
                ):
                    made = {**usual, "unit": unit, "neighbours": neighbours, **more}
                    release = SimpleNamespace(**made)
                    self.assertEqual(statement_text(release), full_statement(release)["summary"])

    def test_the_ledger_s_export_has_every_release_and_where_it_is(self):
        layer = city.calls(60, seed=101)
        path = publish(layer)["RELEASE"]
        told = json.loads(datasets.ledger().export())
        self.assertIn(path, [entry["release"] for entry in told["entries"]])
