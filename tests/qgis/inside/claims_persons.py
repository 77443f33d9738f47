"""Who is who follows from each row alone, tried in real QGIS. Run by ``claims.py``."""

import sqlite3
import tempfile
import unittest
from pathlib import Path

import city
from asked import (
    FOLDER,
    name_of,
    publish,
    refusal,
)
from doors import DOORS
from dpsort_qgis import datasets
from dpsort_qgis._vendor.dpsort_geo.release import load
from osgeo import gdal
from qgis.core import (
    QgsField,
    QgsVectorLayer,
    QgsVectorLayerJoinInfo,
)


def written(names, kind, folder):
    """A layer of points whose field ``who`` has the given names, as a provider of QGIS reads it."""
    return DOORS[kind].open([(name, 13.4, 52.5) for name in names], folder)


class Persons(unittest.TestCase):
    """Who is who follows from each row alone."""

    def setUp(self):
        gdal.PushErrorHandler("CPLQuietErrorHandler")  # it warns of whole numbers beyond 64 bits
        self.addCleanup(gdal.PopErrorHandler)

    def test_guessed_fields_are_refused_and_the_sentence_says_what_to_do(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        cases = [
            ("GeoJSON", ["2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"], "GeoPackage"),
            ("GeoJSON", [0, 0.5], "GeoPackage"),
            ("GeoJSON", [True, 1, 5], "GeoPackage"),
            # newer GDAL does not read such a file at all, and keeps 007 as text
            ("GeoJSON", [2**63 + 1, 2**63 + 2], ""),
            ("CSV by GDAL, types guessed", ["8", "7"], "GeoPackage"),
            ("delimited text, types guessed", ["007", "7"], "Detect field types"),
            ("delimited text, types guessed", ["ann", "bob"], "Detect field types"),
        ]
        for kind, names, words in cases:
            with self.subTest(kind=kind, names=names):
                layer = written(names, kind, folder)
                layer.setCrs(city.crs("EPSG:4326"))
                self.assertIn(words, refusal(layer, PERSON="who"))
                self.assertEqual(datasets.ledger().entries(name_of(layer)), [])

    def test_what_the_providers_declare_or_give_raw_is_welcome(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        names = ["ann", "bob", "007", "7", "7"] * 4
        for kind in (
            "memory, text",
            "GeoPackage, text",
            "GeoJSON",
            "CSV by GDAL",
            "delimited text",
        ):
            with self.subTest(kind=kind):
                layer = written(names, kind, folder)
                layer.setCrs(city.crs("EPSG:4326"))
                self.assertEqual(load(publish(layer, PERSON="who")["RELEASE"]).size, 4)

    def test_fields_of_joins_expressions_and_unsaved_edits_are_refused(self):
        layer, other = city.in_project(city.calls(30)), city.in_project(city.calls(30))
        layer.addExpressionField('maximum("who")', QgsField("most", layer.fields()[0].type()))
        join = QgsVectorLayerJoinInfo()
        join.setJoinLayer(other)
        join.setJoinFieldName("who")
        join.setTargetFieldName("who")
        join.setPrefix("joined_")
        layer.addJoin(join)
        other.addExpressionField("1", QgsField("one", layer.fields()[0].type()))
        layer.startEditing()
        self.assertTrue(layer.addAttribute(QgsField("added", layer.fields()[0].type())))
        for name in ("most", "joined_one", "added"):
            with self.subTest(name):
                self.assertGreaterEqual(layer.fields().lookupField(name), 0)
                self.assertIn("join, an expression", refusal(layer, PERSON=name))
        layer.rollBack()

    def test_values_of_another_type_than_their_field_are_refused(self):
        layer = city.calls(30)
        path = city.saved(layer, Path(tempfile.mkdtemp(dir=FOLDER)) / "days.gpkg")
        with sqlite3.connect(path) as db:
            db.execute("ALTER TABLE days ADD COLUMN day DATE")
        layer = QgsVectorLayer(str(path), "days", "ogr")
        self.assertIn("numbers or text", refusal(layer, PERSON="day"))
        edited = city.calls(30)
        edited.startEditing()
        edited.changeAttributeValue(1, 0, True)
        edited.changeAttributeValue(2, 0, "bob")
        self.assertIn("type", refusal(edited, PERSON="who"))
        edited.rollBack()
