"""Who is who follows from each row alone, tried in real QGIS. Run by ``claims.py``."""

import json
import os
import random
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
from dpsort_qgis import datasets
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.release import load
from dpsort_qgis.inputs import take
from dpsort_qgis.private_points import RowWords, read_points
from dpsort_qgis.row_fields import PERSON, safe_field
from osgeo import gdal
from qgis.core import (
    QgsFeature,
    QgsField,
    QgsGeometry,
    QgsProcessingContext,
    QgsVectorLayer,
    QgsVectorLayerJoinInfo,
)

#: pairs of inputs for each of twelve kinds of layers; the audit takes more
ROUNDS = min(100, int(os.environ.get("DPSORT_GEO_DOORS", "25")))
PLACES = [(13.4, 52.5), (13.400000000000002, 52.5), (-179.5, 0.0), (13.25, 52.25), (10.0, 52.0)]
#: where another operation, or none, would be wanted
FAR = [(-73.9, 40.7), (200.0, 52.5), (-170.0, -52.0), (13.4, 90.0), (1e9, 1e9)]


def written(names, kind, folder, places=None):
    """A layer of points whose field ``who`` has the given names, as a provider of QGIS reads it."""
    places = places or [(13.4, 52.5)] * len(names)
    if kind.startswith("geojson"):
        points = [{"type": "Point", "coordinates": place} for place in places]
        rows = [
            {"type": "Feature", "properties": {"who": name}, "geometry": point}
            for name, point in zip(names, points)
        ]
        path = folder / "who.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": rows}))
        return QgsVectorLayer(str(path), "who", "ogr")
    if kind in ("memory", "gpkg", "select", "virtual"):
        layer = QgsVectorLayer("Point?crs=EPSG:4326&field=who:string", "who", "memory")
        for name, (x, y) in zip(names, places):
            feature = QgsFeature(layer.fields())
            feature.setGeometry(QgsGeometry.fromWkt(f"Point ({x!r} {y!r})"))
            feature.setAttributes([str(name)])
            layer.dataProvider().addFeatures([feature])
        if kind == "memory":
            return layer
        path = city.saved(layer, folder / "who.gpkg")
        number = "case when who glob '*[a-z]*' then who else who + 0 end as who"
        query = {
            "gpkg": "",
            "select": f"|layername=who|subset=select fid, geom, {number} from who",
            "virtual": "",
        }[kind]
        layer = QgsVectorLayer(f"{path}{query}", "who", "ogr")
        if kind != "virtual":
            return layer
        city.in_project(layer)
        return QgsVectorLayer(f"?query=select geometry, {number} from who", "v", "virtual")
    path = folder / "who.csv"
    rows = "".join(
        f'"{name}",{x!r},{y!r},"POINT ({x!r} {y!r})"\n' for name, (x, y) in zip(names, places)
    )
    path.write_text("who,X,Y,WKT\n" + rows)
    if kind.startswith("csv"):
        detect = "|option:AUTODETECT_TYPE=YES" if kind == "csv detected" else ""
        return QgsVectorLayer(f"{path}{detect}", "who", "ogr")
    detect = "no" if kind == "text" else "yes"
    uri = f"file://{path}?type=csv&xField=X&yField=Y&crs=EPSG:4326&detectTypes={detect}"
    return QgsVectorLayer(uri, "who", "delimitedtext")


def understood(layer):
    """Place and person of each row, as the plugin reads them; None when it refuses."""
    context = QgsProcessingContext()
    layer.setCrs(city.crs("EPSG:4326"))
    try:
        words = RowWords(safe_field(layer, "who", PERSON))
        taken, crs = take(layer, None), city.crs("EPSG:3035")
        chunks = list(read_points(taken, crs, context, city.Listener(), words))
    except BadInputError:
        return None
    return [row for x, y, (owners,) in chunks for row in zip(x.tolist(), y.tolist(), owners)]


def apart(rows):
    """Place of each row, and which rows are the same person, whatever the persons are called."""
    names = [name for _, _, name in rows]
    return [(x, y, names.index(name)) for x, y, name in rows]


class Persons(unittest.TestCase):
    """Who is who follows from each row alone."""

    NAMES = {
        "geojson numbers": [0, 1, 1.0, 2, 2.0, True, False, 2**63 + 1, 2**63 + 2, 2**65, -0.0],
        "geojson text": ["1", "1.0", "bob", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"],
        "geojson days": ["2020-01-01", "2020/01/01", "12:00:00", "12:00:00.000", "bob"],
        "geojson all": [1, "1", 1.0, True, "true", None, ["a"], {"a": 1}, '{ "a": 1 }', "bob"],
    }
    TEXT = ["7", "007", "7.0", "07", "9223372036854775808", "1e3", "1000", "bob", "true", "1"]

    def setUp(self):
        gdal.PushErrorHandler("CPLQuietErrorHandler")  # it warns of whole numbers beyond 64 bits
        self.addCleanup(gdal.PopErrorHandler)

    def test_one_row_does_not_change_who_or_where_the_others_are(self):
        draw, folder = random.Random(5), Path(tempfile.mkdtemp(dir=FOLDER))
        others = ("memory", "gpkg", "select", "csv", "csv detected", "text", "text detected")
        accepted = set()
        for kind in (*self.NAMES, *others, "virtual"):
            pool = self.NAMES.get(kind, self.TEXT)
            for _ in range(ROUNDS):
                names = [draw.choice(pool) for _ in range(draw.randrange(2, 6))]
                places = [draw.choice(PLACES) for _ in names]
                # types are guessed from all rows, or from the first
                at, both = draw.choice((0, len(names))), []
                for odd in (draw.choice(pool), "bob"):
                    all_names = [*names[:at], odd, *names[at:]]
                    all_places = [*places[:at], draw.choice([*PLACES, *FAR]), *places[at:]]
                    read = understood(written(all_names, kind, folder, all_places))
                    both.append(read and apart(read[:at] + read[at + 1 :]))
                if None not in both:
                    self.assertEqual(*both, (kind, names, places))
                if any(both):
                    accepted.add(kind)
        self.assertLessEqual({"memory", "gpkg", "csv", "text", "geojson text"}, accepted)

    def test_guessed_fields_are_refused_and_the_sentence_says_what_to_do(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        cases = [
            ("geojson", ["2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"], "GeoPackage"),
            ("geojson", [0, 0.5], "GeoPackage"),
            ("geojson", [True, 1, 5], "GeoPackage"),
            # newer GDAL does not read such a file at all, and keeps 007 as text
            ("geojson", [2**63 + 1, 2**63 + 2], ""),
            ("csv detected", ["8", "7"], "GeoPackage"),
            ("text detected", ["007", "7"], "Detect field types"),
            ("text detected", ["ann", "bob"], "Detect field types"),
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
        for kind in ("memory", "gpkg", "geojson", "csv", "text"):
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
