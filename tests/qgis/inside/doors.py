"""One row decides its own person, place, category and bin behind every provider, and no other's.

Run by ``test_doors.py`` in QGIS's own Python. Names of doors may be given; ``trusting`` and
``shifting`` put in a bug that must be noticed. The last line says what was seen behind each door.

A round draws rows whose names look alike, so that a reader that guesses gives them one type, and
then its neighbours: one odd row changed, added or removed. All other rows must be read as before,
or the layer is refused, which is told to the publisher alone.
"""

import csv
import json
import os
import random
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable
from urllib.parse import urlsplit

import city

if __name__ == "__main__":
    APPLICATION, PLUGIN = city.start()  # QGIS ends when nobody holds it

import numpy as np
from dpsort_qgis import private_points, row_fields
from dpsort_qgis._vendor.dpsort_geo.errors import BadInputError
from dpsort_qgis._vendor.dpsort_geo.private.persons import joined_names, names_of, number_persons
from dpsort_qgis._vendor.dpsort_geo.private.slices import joint_slices
from dpsort_qgis._vendor.dpsort_geo.rules.category_axis import CategoryAxis
from dpsort_qgis._vendor.dpsort_geo.rules.time_axis import TimeAxis
from dpsort_qgis.inputs import take
from dpsort_qgis.private_points import RowWords, read_points
from dpsort_qgis.row_fields import CATEGORY, PERSON, TIME, RowField
from osgeo import gdal, ogr, osr
from qgis.core import (
    QgsDataSourceUri,
    QgsFeature,
    QgsGeometry,
    QgsProcessingContext,
    QgsVectorLayer,
    QgsVirtualLayerDefinition,
)

#: rounds of each door, with four neighbours each; the audit takes more
ROUNDS = min(100, int(os.environ.get("DPSORT_GEO_DOORS", "30")))
#: the address of a database, if there is one
DATABASE = os.environ.get("DPSORT_DATABASE", "")
PLACES = [(13.4, 52.5), (13.400000000000002, 52.5), (-179.5, 0.0), (13.25, 52.25), (10.0, 52.0)]
#: where another operation, or none, would be wanted
FAR = [(-73.9, 40.7), (200.0, 52.5), (-170.0, -52.0), (13.4, 90.0), (1e9, 1e9), (5e-324, -0.0)]
#: the last has several operations to the CRS of the area, of which each is good somewhere
SYSTEMS = [city.crs(f"EPSG:{code}") for code in (*[4326] * 7, 4314)]
AREA = city.crs("EPSG:3035")

#: names that look alike to somebody who guesses: a round takes all but one from the same line
TEXTS = [
    ["7", "07", "007", "7.0", "8", "1e3", "1000", "-0", "0"],
    ["9223372036854775807", "9223372036854775808", "9223372036854775809", "18446744073709551616"],
    ["9007199254740992", "9007199254740993", "9007199254740992.0", "1e16", "10000000000000000"],
    ["0.1", "0.10", ".1", "1e-1", "NaN", "nan", "inf", "-inf"],
    ["2020-01-01", "2020/01/01", "2020-1-1", "20200101", "2020-02-30"],
    ["2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01 00:00:00", "2020-01-01T00"],
    ["12:00:00", "12:00", "12:00:00.000", "24:00:00", "12:00:00Z"],
    ["true", "false", "TRUE", "t", "yes", "no", "1", "0"],
    ["bob", "Bob", " bob", "bob ", "b\u00f6b", "bo\u0308b", "NULL", "null", "None", "-"],
    ["[1]", "[1.0]", '{"a": 1}', '{ "a": 1 }', "a,b", "a;b", 'a"b', "a'b", "a\\b"],
]
WHOLE = [
    [0, 1, 2, 3, -1, 7],
    [2**31, 2**31 - 1, -(2**31), 2**32],
    [2**53, 2**53 + 1, 2**62, 2**62 + 1, 2**63 - 1, -(2**63)],
]
SMALL = [[0, 1, 2, 3, -1, 7], [10**8, 10**8 + 1, -(10**8)]]
DECIMAL = [
    [0.0, -0.0, 1.0, 2.0],
    [0.1, 0.5, 1e-300],
    [2.0**53, 1e16, 1e300],
    [2.0**24, 2.0**24 + 1],
]
JSON = [
    [0, 1, 1.0, 2, 2.0, -0.0, 0.5],
    [2**53, 2**53 + 1, 2**63 - 1, 2**63 + 1, 2**63 + 2, 2**65],
    [True, False, 0, 1],
    ["a", ["a"], {"a": 1}, '{ "a": 1 }', None, "null"],
    *TEXTS,
]
FAMILIES = {"text": TEXTS, "whole": WHOLE, "small": SMALL, "decimal": DECIMAL, "json": JSON}
AXES = {
    CATEGORY: CategoryAxis("who", ("bob", "0", "1", "07", "7", "1000", "2020-01-01", "other")),
    TIME: TimeAxis("who", "1900", "2100", every="1 year", other=True),
}


@dataclass(frozen=True)
class Door:
    """A provider, or a driver of one: ``open`` writes rows of (name, x, y) and opens a layer."""

    open: Callable
    names: str = "text"
    field: str = "who"


# each way to write rows and to open them --------------------------------------------------------


def in_json(lines):
    def opened(rows, folder):
        features = [
            {
                "type": "Feature",
                "properties": {"who": name},
                "geometry": {"type": "Point", "coordinates": [x, y]},
            }
            for name, x, y in rows
        ]
        whole = {"type": "FeatureCollection", "features": features}
        text = "\n".join(map(json.dumps, features)) if lines else json.dumps(whole)
        path = folder / ("who.geojsonl" if lines else "who.geojson")
        path.write_text(text + "\n")
        return QgsVectorLayer(str(path), "who", "ogr")

    return opened


def in_memory(kind):
    def opened(rows, folder):
        layer = QgsVectorLayer(f"Point?crs=EPSG:4326&field=who:{kind}", "who", "memory")
        features = []
        for name, x, y in rows:
            feature = QgsFeature(layer.fields())
            feature.setGeometry(QgsGeometry.fromWkt(f"Point ({x!r} {y!r})"))
            feature.setAttributes([name])
            features.append(feature)
        layer.dataProvider().addFeatures(features)
        return layer

    return opened


_KINDS = {"text": ogr.OFTString, "whole": ogr.OFTInteger64, "decimal": ogr.OFTReal}


def by_ogr(driver, name, kind="text", options=(), query=""):
    """Written by GDAL with a declared type, and opened as a whole or by a query."""

    def opened(rows, folder):
        path = folder / name
        known = ogr.GetDriverByName(driver)
        if known is None:
            raise RuntimeError(f"GDAL here does not write {driver}")
        source = known.CreateDataSource(str(path))
        system = osr.SpatialReference()
        system.ImportFromEPSG(4326)
        system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        table = source.CreateLayer("who", system, ogr.wkbPoint, list(options))
        table.CreateField(ogr.FieldDefn("who", _KINDS[kind]))
        table.StartTransaction()
        for value, x, y in rows:
            row = ogr.Feature(table.GetLayerDefn())
            row.SetField("who", value)
            row.SetGeometry(ogr.CreateGeometryFromWkt(f"POINT ({x!r} {y!r})"))
            table.CreateFeature(row)
        table.CommitTransaction()
        table = source = None
        if not path.exists():
            raise RuntimeError(f"GDAL wrote no {name}")
        return QgsVectorLayer(f"{path}{query}", "who", "ogr")

    return opened


#: names of digits as numbers, all others as text: what a query gives has the type of its first row
_NUMBERS = "case when who glob '*[a-z]*' then who else who + 0 end as who"


def in_virtual(column):
    """A query of a layer that is in the project."""

    def opened(rows, folder):
        layer = city.in_project(in_memory("string")(rows, folder))
        made = QgsVirtualLayerDefinition()
        made.addSource("rows", layer.id())
        made.setQuery(f"select geometry, {column} from rows")
        return QgsVectorLayer(made.toString(), "who", "virtual")

    return opened


def in_columns(options, provider="delimitedtext"):
    """A table of text: by the provider of delimited text, or by GDAL."""

    def opened(rows, folder):
        path = folder / "who.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow(["who", "X", "Y", "WKT"])
            writer.writerows([n, repr(x), repr(y), f"POINT ({x!r} {y!r})"] for n, x, y in rows)
        if provider == "ogr":
            return QgsVectorLayer(f"{path}{options}", "who", "ogr")
        return QgsVectorLayer(f"file://{path}?type=csv&crs=EPSG:4326&{options}", "who", provider)

    return opened


def in_gpx(rows, folder):
    path, points = folder / "who.gpx", []
    for name, x, y in rows:
        escaped = name.replace("&", "&amp;").replace("<", "&lt;")
        points.append(f'<wpt lat="{y!r}" lon="{x!r}"><name>{escaped}</name></wpt>')
    path.write_text(f'<gpx version="1.1" creator="us">{"".join(points)}</gpx>', encoding="utf-8")
    return QgsVectorLayer(f"{path}?type=waypoint", "who", "gpx")


def in_postgis(kind):
    def opened(rows, folder):
        import psycopg2  # comes with QGIS

        link = psycopg2.connect(DATABASE)
        with link, link.cursor() as cursor:
            cursor.execute(f"create table if not exists {folder.name} (id int primary key, "
                           f"who {kind}, geom geometry(Point, 4326))")  # fmt: skip
            for number, row in enumerate(rows):
                point = "ST_SetSRID(ST_MakePoint(%s, %s), 4326)"
                sql = f"insert into {folder.name} values (%s, %s, {point})"
                cursor.execute(sql, (number, *row))
        link.close()
        place = urlsplit(DATABASE)
        uri = QgsDataSourceUri()
        uri.setConnection(
            place.hostname, str(place.port), place.path[1:], place.username, place.password
        )
        uri.setDataSource("public", folder.name, "geom", "", "id")
        return QgsVectorLayer(uri.uri(False), "who", "postgres")

    return opened


_SELECT = f"|layername=who|subset=select fid, geom, {_NUMBERS} from who"
_GUESS, _PLAIN = "detectTypes=yes", "detectTypes=no"
DOORS = {
    "GeoJSON": Door(in_json(lines=False), "json"),
    "GeoJSON in lines": Door(in_json(lines=True), "json"),
    "memory, text": Door(in_memory("string")),
    "memory, whole": Door(in_memory("int8"), "whole"),
    "memory, decimal": Door(in_memory("double"), "decimal"),
    "GeoPackage, text": Door(by_ogr("GPKG", "who.gpkg")),
    "GeoPackage, whole": Door(by_ogr("GPKG", "who.gpkg", "whole"), "whole"),
    "GeoPackage, decimal": Door(by_ogr("GPKG", "who.gpkg", "decimal"), "decimal"),
    "GeoPackage, a query": Door(by_ogr("GPKG", "who.gpkg", query=_SELECT)),
    "Shapefile, text": Door(by_ogr("ESRI Shapefile", "who.shp", options=["ENCODING=UTF-8"])),
    "Shapefile, whole": Door(by_ogr("ESRI Shapefile", "who.shp", "whole"), "small"),
    "FlatGeobuf, text": Door(by_ogr("FlatGeobuf", "who.fgb", options=["SPATIAL_INDEX=NO"])),
    "FlatGeobuf, whole": Door(
        by_ogr("FlatGeobuf", "who.fgb", "whole", ["SPATIAL_INDEX=NO"]), "whole"
    ),
    "MapInfo, text": Door(by_ogr("MapInfo File", "who.tab", options=["ENCODING=UTF-8"])),
    "SQLite, text": Door(by_ogr("SQLite", "who.sqlite")),
    "KML": Door(by_ogr("LIBKML", "who.kml")),
    "GPX": Door(in_gpx, field="name"),
    "CSV by GDAL": Door(in_columns("", "ogr")),
    "CSV by GDAL, types guessed": Door(in_columns("|option:AUTODETECT_TYPE=YES", "ogr")),
    "delimited text": Door(in_columns(f"xField=X&yField=Y&{_PLAIN}")),
    "delimited text, WKT": Door(in_columns(f"wktField=WKT&{_PLAIN}")),
    "delimited text, types guessed": Door(in_columns(f"xField=X&yField=Y&{_GUESS}")),
    "virtual": Door(in_virtual("who")),
    "virtual, computed": Door(in_virtual(_NUMBERS)),
}
STORES = {
    "PostGIS, text": Door(in_postgis("text")),
    "PostGIS, whole": Door(in_postgis("bigint"), "whole"),
    "PostGIS, decimal": Door(in_postgis("double precision"), "decimal"),
}


# what is understood of each row -----------------------------------------------------------------


def read(layer, field, kinds):
    """Place and person of each row, or place and slice; None when the layer is refused."""
    try:
        found = row_fields.safe_field(layer, field, kinds)
        axes = () if kinds is PERSON else (AXES[kinds],)
        words = RowWords(found if kinds is PERSON else None, axes, (found,) * len(axes))
        taken, context = take(layer, None), QgsProcessingContext()
        chunks = read_points(taken, AREA, context, city.Listener(), words)
        xs, ys, beside = [], [], []
        for x, y, (column,) in chunks:
            xs += x.tolist()
            ys += y.tolist()
            beside.append(joint_slices(axes, [column]) if axes else names_of(column))
        said = np.concatenate(beside) if axes else number_persons(joined_names(beside))
    except BadInputError:
        return None
    return list(zip(xs, ys, said.tolist()))


def without(rows, gone, kinds):
    """All rows but one; of persons only who is the same as whom."""
    kept = [row for at, row in enumerate(rows) if at != gone]
    if kinds is not PERSON:
        return kept
    said = [who for _, _, who in kept]
    return [(x, y, said.index(who)) for x, y, who in kept]


def neighbours(draw, families):
    """Rows, and four times the same rows but for one: (rows, which of them is not the same)."""
    family = draw.choice(families)

    def row(names, places):
        return (draw.choice(names), *draw.choice(places))

    kept = [row(family, PLACES) for _ in range(draw.randrange(2, 9))]
    # types are guessed from all rows, or from the first
    at = draw.choice((0, len(kept), draw.randrange(len(kept) + 1)))
    anything = [name for names in families for name in names]
    yield [*kept[:at], row(family, PLACES), *kept[at:]], at
    for names, places in ((family, FAR), (anything, PLACES), (anything, FAR)):
        yield [*kept[:at], row(names, places), *kept[at:]], at
    yield kept, None


def tried(door, seed, folder):
    """What one door did in all rounds: cases, those refused, and those in which others changed."""
    draw, seen = random.Random(seed), {"cases": 0, "read": 0, "changed": []}
    for number in range(ROUNDS):
        system, first = draw.choice(SYSTEMS), None
        kinds = (PERSON, CATEGORY, PERSON, TIME)[number % 4]
        for rows, gone in neighbours(draw, FAMILIES[door.names]):
            # a place of its own: some providers keep what they have read of a file
            own = Path(tempfile.mkdtemp(dir=folder))
            try:
                layer = door.open(rows, own)
            except RuntimeError:
                continue  # a newer GDAL writes less: no place beyond the earth, no MapInfo
            seen["cases"] += 1
            if not layer.isValid():
                continue  # a newer GDAL opens no such file: nothing is published
            layer.setCrs(system)
            found = read(layer, door.field, kinds)
            if found is None:
                continue  # nothing is published
            found = without(found, gone, kinds)
            if first is None:
                first = found
                continue
            seen["read"] += 1
            if first != found:
                seen["changed"].append([number, kinds])
        seen["cases"] -= 1  # the first has nothing to be compared with
    return seen


class Trusting(RowField):
    """A mutant: a value is what QGIS says that it is, whatever type it has found for its field."""

    def person(self, value):
        return str(value)

    category = moment = person


def trust(layer, name, kinds):
    return Trusting(layer.fields().lookupField(name), "text")


def shift(x, y, *_):
    """A mutant: places are moved by where the first of them is."""
    return x - x[0], y


if __name__ == "__main__":
    gdal.PushErrorHandler("CPLQuietErrorHandler")  # it warns of whole numbers beyond 64 bits
    if "trusting" in sys.argv:
        row_fields.safe_field = trust
    if "shifting" in sys.argv:
        private_points.transformed = shift
    private_points.CHUNK = 3  # rows meet each other in one chunk or in two
    asked = [name for name in (*DOORS, *STORES) if name in sys.argv] or DOORS
    told = {}
    for name in asked:
        with tempfile.TemporaryDirectory() as folder:
            told[name] = tried({**DOORS, **STORES}[name], zlib.crc32(name.encode()), folder)
    print(json.dumps(told))
    sys.stdout.flush()
    # QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
    os._exit(0)
