"""Outputs in every way in which QGIS names them, tried in real QGIS. Run by ``claims.py``."""

import os
import tempfile
import unittest
from pathlib import Path

import city
from asked import FOLDER, name_of, publish, refusal
from dpsort_qgis import datasets
from dpsort_qgis.outputs import sign
from osgeo import gdal
from qgis.core import (
    QgsLayerMetadata,
    QgsProcessingOutputLayerDefinition,
    QgsVectorLayer,
)


def tables(path):
    """The tables of a GeoPackage with their descriptions."""
    opened = gdal.OpenEx(str(path), gdal.OF_VECTOR)
    layers = [opened.GetLayer(number) for number in range(opened.GetLayerCount())]
    return {layer.GetName(): layer.GetMetadataItem("DESCRIPTION") or "" for layer in layers}


class Writing(unittest.TestCase):
    """Outputs in every way in which QGIS names them."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self.words = QgsLayerMetadata()
        self.words.setAbstract("words")
        self.raw = city.saved(city.calls(40, seed=81), self.folder / "raw.gpkg")

    def test_a_table_of_a_geopackage_is_signed_and_its_neighbours_are_not(self):
        outputs = [f"ogr:dbname='{self.raw}' table=\"public\" (geom)"]
        outputs.append(QgsProcessingOutputLayerDefinition(outputs[0].replace("public", "again")))
        for output in outputs:
            results = publish(city.calls(60, seed=82), OUTPUT=output)
        words = tables(self.raw)
        self.assertEqual(words["raw"], "")
        self.assertEqual(words["public"], results["STATEMENT"])
        self.assertEqual(words["again"], results["STATEMENT"])

    def test_files_are_signed_however_they_are_named(self):
        for output in ("a.gpkg", "b"):
            results = publish(city.calls(60, seed=83), OUTPUT=str(self.folder / output))
            written = self.folder / f"{output[0]}.gpkg"
            self.assertEqual(tables(written), {output[0]: results["STATEMENT"]})
        results = publish(city.calls(60, seed=83), OUTPUT=f"ogr:{self.folder / 'c.gpkg'}")
        self.assertEqual(tables(self.folder / "c.gpkg"), {"c": results["STATEMENT"]})

    def test_no_name_of_the_private_file_gets_past_the_check(self):
        before, link = self.raw.read_bytes(), self.folder / "link.gpkg"
        os.link(self.raw, link)
        layer = QgsVectorLayer(str(self.raw), "raw", "ogr")
        for output in (
            str(self.raw),
            str(self.raw)[: -len(".gpkg")],
            str(link),
            f"ogr:{self.raw}",
            f"ogr:dbname='{self.raw}' table=\"raw\" (geom)",
            f"ogr:dbname='{self.folder}/../{self.folder.name}/raw.gpkg' table=\"other\" (geom)",
            QgsProcessingOutputLayerDefinition(f"ogr:dbname='{self.raw}' table=\"x\" (geom)"),
        ):
            with self.subTest(str(output)):
                self.assertIn("different files", refusal(layer, OUTPUT=output))
        self.assertEqual(datasets.ledger().entries(name_of(layer)), [])
        del layer
        self.assertEqual(list(tables(self.raw)), ["raw"])
        self.assertEqual(self.raw.read_bytes()[100:], before[100:])

    def test_what_cannot_be_signed_is_refused_before_it_is_paid_for(self):
        layer = city.calls(60, seed=84)
        for output in (
            f"{self.raw}|layername=public",
            f"ogr:dbname='{self.folder}/new.gpkg'",
            f"spatialite:dbname='{self.folder}/new.sqlite' table=\"public\" (geom)",
            "postgres:dbname='city' host=localhost table=\"public\" (geom)",
        ):
            with self.subTest(output):
                self.assertIn("to a file, to a table", refusal(layer, OUTPUT=output))
        self.assertEqual(datasets.ledger().entries(name_of(layer)), [])

    def test_signing_fails_quietly_where_gdal_raises(self):
        broken = self.folder / "broken.gpkg"
        broken.write_text("not a GeoPackage")
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        self.addCleanup(gdal.PopErrorHandler)
        self.assertFalse(sign(str(broken), self.words))
        gdal.UseExceptions()
        self.addCleanup(gdal.DontUseExceptions)
        self.assertFalse(sign(str(broken), self.words))
        self.assertFalse(sign(f"{self.raw}|layername=nobody", self.words))
        self.assertEqual(tables(self.raw), {"raw": ""})
        results = publish(city.calls(60, seed=85), OUTPUT=str(self.folder / "raises.gpkg"))
        self.assertEqual(tables(self.folder / "raises.gpkg"), {"raises": results["STATEMENT"]})
