"""Files and frames as they come from offices, clinics and databases."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
import uuid
import warnings
from pathlib import Path

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.private import delimited
from dpsort_geo.geo.private.points import point_stream
from dpsort_geo.geo.private.table import Reading

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

#: a city in degrees, and the same points in UTM zone 18 N
CITY = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326", order=8)
LON, LAT = np.random.default_rng(3).uniform((-74.2, 40.6), (-73.8, 40.9), (40, 2)).T
EAST, NORTH = (
    gpd.GeoSeries(shapely.points(LON, LAT), crs=4326).to_crs(32618).get_coordinates().to_numpy().T
)
EWKB = shapely.to_wkb(shapely.set_srid(shapely.points(LON, LAT), 4326), include_srid=True)


def places(points, **said):
    """Curve index of every point, as `publish` would count it, and the persons."""
    person, columns = said.pop("person", None), said.pop("columns", None)
    stream = point_stream(points, CITY, person, columns, how=Reading(**said))
    parts = list(stream)
    x, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return CITY.grid.curve_index(*CITY.project(x, y, stream.crs)).tolist()


WHERE = places(np.column_stack([LON, LAT]))


# a CRS said beside the points ---------------------------------------------------------------------


@pytest.mark.parametrize("names", [("x", "y"), ("easting", "northing"), ("rechts", "hoch")])
def test_two_columns_in_utm_are_the_same_points_in_every_table(tmp_path, names):
    columns = None if names[0] != "rechts" else names
    frame = pd.DataFrame({"id": [uuid.uuid4() for _ in EAST], names[0]: EAST, names[1]: NORTH})
    table = pa.table({names[0]: EAST, names[1]: NORTH})
    frame.to_csv(tmp_path / "a.csv", index=False)
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    lazy = pl.scan_parquet(tmp_path / "a.parquet")
    for points in (
        tmp_path / "a.csv", tmp_path / "a.parquet", tmp_path / "a.feather", frame, table, lazy,
        lazy.collect(), duckdb.sql(f"from '{tmp_path / 'a.parquet'}'"),
    ):  # fmt: skip
        assert places(points, columns=columns, crs="EPSG:32618") == WHERE


def test_a_shapefile_without_prj_needs_to_be_told_its_crs(tmp_path):
    frame = gpd.GeoDataFrame(geometry=shapely.points(EAST, NORTH), crs=32618)
    frame.to_file(tmp_path / "a.shp")
    (tmp_path / "a.prj").unlink()
    with pytest.raises(BadInputError, match="points_crs"):
        places(tmp_path / "a.shp")
    assert places(tmp_path / "a.shp", crs="EPSG:32618") == WHERE


def test_a_crs_that_contradicts_the_points_is_refused_and_not_named(tmp_path):
    frame = gpd.GeoDataFrame(geometry=shapely.points(EAST, NORTH), crs=32618)
    frame.to_file(tmp_path / "a.gpkg")
    for points in (frame, tmp_path / "a.gpkg"):
        assert places(points, crs=32618) == WHERE
        with pytest.raises(BadInputError, match="leave points_crs= out") as refused:
            places(points, crs=27700)
        assert "32618" not in str(refused.value)


def test_publish_and_count_cells_take_the_crs_and_a_polygon_as_the_domain():
    frame = pd.DataFrame({"x": EAST, "y": NORTH})
    city = gpd.GeoDataFrame(geometry=[shapely.box(-74.3, 40.5, -73.7, 40.95)], crs=4326)
    cells = dp.count_cells(frame, city, points_crs="EPSG:32618")
    assert cells.count.sum() == 40
    assert (cells.index == np.unique(dp.count_cells(np.column_stack([LON, LAT]), city).index)).all()
    assert dp.publish(frame, 1, city, points_crs=32618).release.n == 40
    outline = shapely.set_srid(city.geometry.iloc[0], 4326)
    assert dp.plan(40, 1, outline).expected_error == dp.plan(40, 1, city).expected_error
    with pytest.raises(BadInputError, match="from_polygon"):
        dp.publish(frame, 1, city.geometry.iloc[0])


# layers -------------------------------------------------------------------------------------------


def test_the_domain_may_be_a_file_of_polygons_and_never_one_of_points(tmp_path):
    city = gpd.GeoDataFrame(geometry=[shapely.box(-74.3, 40.5, -73.7, 40.95)], crs=4326)
    for name in ("city", "harbour"):
        city.to_file(tmp_path / "a.gpkg", layer=name)
    points = gpd.GeoDataFrame(geometry=shapely.points(LON, LAT), crs=4326)
    points.to_file(tmp_path / "points.gpkg")
    found = dp.count_cells(points, f"{tmp_path / 'a.gpkg'}|layername=city")
    assert (found.index == dp.count_cells(points, city).index).all()
    for path, why in (
        (tmp_path / "a.gpkg", "'city', 'harbour'"),
        (tmp_path / "points.gpkg", "polygon"),
        (tmp_path / "nothing.gpkg", "cannot be read as polygons"),
    ):
        with pytest.raises(BadInputError, match=why):
            dp.publish(points, 1, path)


def test_a_file_with_several_layers_lists_them_and_takes_one(tmp_path):
    frame = gpd.GeoDataFrame(geometry=shapely.points(LON, LAT), crs=4326)
    for name in ("night", "day"):
        frame.to_file(tmp_path / "a.gpkg", layer=name)
    with pytest.raises(BadInputError, match="'night', 'day'"):
        places(tmp_path / "a.gpkg")
    with pytest.raises(BadInputError, match="no layer 'dusk'; it has 'night', 'day'"):
        places(tmp_path / "a.gpkg", layer="dusk")
    assert places(tmp_path / "a.gpkg", layer="day") == WHERE
    assert places(f"{tmp_path / 'a.gpkg'}|layername=day") == WHERE
    with pytest.raises(BadInputError, match="another layer"):
        places(f"{tmp_path / 'a.gpkg'}|layername=day", layer="night")
    with pytest.raises(BadInputError, match="no layers"):
        places(frame, layer="day")


# text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pyarrow", [True, False])
def test_text_from_an_office_has_semicolons_commas_and_marks(
    tmp_path, monkeypatch, encoding, pyarrow
):
    monkeypatch.setattr(delimited, "have", lambda module: pyarrow)
    rows = [
        f"Ä{i};{x!r};{y!r}".replace(".", ",")
        for i, (x, y) in enumerate(zip(LON.tolist(), LAT.tolist()))
    ]
    (tmp_path / "a.csv").write_text("\n".join(["Straße;lon;lat", *rows]), encoding=encoding)
    assert places(tmp_path / "a.csv", person="Straße", decimal=",") == WHERE
    with pytest.raises(BadInputError, match="decimal comma"):
        places(tmp_path / "a.csv")


@pytest.mark.parametrize("pyarrow", [True, False])
def test_the_letters_of_windows_are_read_where_the_header_has_them(tmp_path, monkeypatch, pyarrow):
    monkeypatch.setattr(delimited, "have", lambda module: pyarrow)
    rows = [f"Ä{i % 4},{x!r},{y!r}" for i, (x, y) in enumerate(zip(LON.tolist(), LAT.tolist()))]
    (tmp_path / "a.csv").write_text("\n".join(["Straße,lon,lat", *rows]), encoding="cp1252")
    assert dp.publish(tmp_path / "a.csv", 1, CITY, person="Straße").release.n == 4
    assert dp.check(tmp_path / "a.csv", CITY, by={"Straße": ["Ä0", "other"]}).axes[0].declared == {
        "Ä0": 10,
        "other": 30,
    }
    # a row does not decide how the others are read, and other columns may hold what they like
    (tmp_path / "a.csv").write_text("\n".join(["street,lon,lat", *rows]), encoding="cp1252")
    assert places(tmp_path / "a.csv") == WHERE
    assert dp.check(tmp_path / "a.csv", CITY).rows == 40
    for look in (dp.publish, dp.check):
        with pytest.raises(BadInputError, match="as UTF-8") as refused:
            look(tmp_path / "a.csv", epsilon=1, domain=CITY, person="street")
        assert refused.value.__context__ is None


@pytest.mark.parametrize("pyarrow", [True, False])
@pytest.mark.parametrize("value", ["n/a", "-", "40.7N", "1_000", "40,7"])
def test_text_among_numbers_is_named_for_what_it_is_and_not_quoted(
    tmp_path, monkeypatch, pyarrow, value
):
    monkeypatch.setattr(delimited, "have", lambda module: pyarrow)
    (tmp_path / "a.csv").write_text(f"lon;lat\n1;2\n-73.9;{value}\n")
    with pytest.raises(BadInputError, match="'lon' and 'lat' must hold numbers") as refused:
        places(tmp_path / "a.csv")
    assert value not in str(refused.value).replace("decimal=','", "").replace("-73", "")
    assert refused.value.__context__ is None


def test_well_known_text_and_the_hexadecimal_of_a_database_are_geometries(tmp_path):
    wkt = [f"POINT ({x!r} {y!r})" for x, y in zip(LON.tolist(), LAT.tolist())]
    written = {
        "wkt.csv": ("WKT", wkt),
        "ewkt.csv": ("geom", [f"SRID=4326;{text}" for text in wkt]),
        "hex.csv": ("the_geom", [one.hex().upper() for one in EWKB]),
        "qgis.csv": ("wkt_geom", wkt),
        "portal.csv": ("Location", wkt),
    }
    for name, (column, values) in written.items():
        frame = pd.DataFrame({"id": range(40), column: values})
        frame.to_csv(tmp_path / name, index=False)
        assert places(tmp_path / name) == WHERE
        assert places(frame) == WHERE
        assert places(pa.table({column: values}), crs="EPSG:4326") == WHERE
    with pytest.raises(BadInputError, match="leave points_crs= out"):
        places(tmp_path / "hex.csv", crs="EPSG:27700")


# bytes, and types of types ------------------------------------------------------------------------


def test_ewkb_says_its_crs_and_plain_wkb_must_be_told(tmp_path):
    plain = shapely.to_wkb(shapely.points(LON, LAT))
    for column in ("geom", "st_asbinary", "wkb"):
        assert places(pa.table({column: EWKB})) == WHERE
        with pytest.raises(BadInputError, match="no CRS"):
            places(pa.table({column: plain}))
        assert places(pa.table({column: plain}), crs=4326) == WHERE
    pq.write_table(pa.table({"geom": EWKB}), tmp_path / "a.parquet")
    assert places(tmp_path / "a.parquet") == WHERE


@pytest.mark.parametrize("which", [0, 20, 39])
@pytest.mark.parametrize("srid", [0, 27700])
def test_geometries_of_different_srids_are_refused(which, srid):
    mixed = EWKB.copy()
    other = shapely.set_srid(shapely.Point(LON[0], LAT[0]), srid)
    mixed[which] = shapely.to_wkb(other, include_srid=srid > 0)
    for crs in (None, 4326):
        with pytest.raises(BadInputError, match="SRID|points_crs"):
            places(pa.table({"geom": mixed}), crs=crs)


def test_types_that_somebody_made_of_others_may_stand_in_any_column(tmp_path):
    ids = pa.array([uuid.UUID(int=i // 4).bytes for i in range(40)], pa.uuid())
    opaque = pa.opaque(pa.binary(), "circle", "PostgreSQL")
    table = pa.table(
        {
            "lon": LON,
            "lat": LAT,
            "id": ids,
            "doc": pa.array([f'{{"a": {i % 7}}}' for i in range(40)], pa.json_()),
            "yes": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1] * 40, pa.int8())),
            "odd": pa.ExtensionArray.from_storage(opaque, pa.array([b"%d" % i for i in range(40)])),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    for points in (table, tmp_path / "a.parquet"):
        assert places(points) == WHERE
        for person, persons in (("id", 10), ("doc", 7), ("odd", 40)):
            assert dp.publish(points, 1, CITY, person=person).release.n == persons
        with pytest.raises(BadInputError, match="by text or by numbers"):
            places(points, person="yes")


def test_a_column_that_can_be_no_axis_is_refused_and_not_published_as_other(tmp_path):
    table = pa.table(
        {
            "lon": LON,
            "lat": LAT,
            "id": pa.array([uuid.UUID(int=i // 4).bytes for i in range(40)], pa.uuid()),
            "yes": [i % 2 == 0 for i in range(40)],
            "flag": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1] * 40, pa.int8())),
            "raw": [b"a"] * 40,
            "clock": pa.array([0] * 40, pa.time32("s")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    for points in (table, tmp_path / "a.parquet"):
        for name in ("yes", "flag", "raw", "clock"):
            with pytest.raises(BadInputError, match=f"{name!r} is of a type that no axis takes"):
                dp.publish(points, 1, CITY, by={name: ["true", "other"]})
        first = {"id": [str(uuid.UUID(int=0)), "other"]}
        assert list(dp.check(points, CITY, by=first).axes[0].declared.values()) == [4, 36]
    with pytest.raises(BadInputError, match="true or false"):
        dp.publish(table.select(["lon", "lat", "yes"]).to_pandas(), 1, CITY, by={"yes": ["a", "b"]})


def test_parquet_of_duckdb_with_uuids_and_with_its_own_geometries(tmp_path):
    connection = duckdb.connect()
    connection.register("t", pa.table({"lon": LON, "lat": LAT, "wkt": shapely.to_wkt(
        shapely.points(LON, LAT), rounding_precision=-1)}))  # fmt: skip
    to = f"to '{tmp_path / 'a.parquet'}'"
    connection.execute(f"copy (select uuid() as id, lon, lat from t) {to}")
    assert places(tmp_path / "a.parquet", person="id") == WHERE
    for version in ("NONE", "V1", "V2"):
        connection.execute(
            f"copy (select uuid() as id, wkt::geometry as place from t) {to} "
            f"(format parquet, geoparquet_version '{version}')"
        )
        assert places(tmp_path / "a.parquet") == WHERE
    kind = pq.ParquetFile(tmp_path / "a.parquet").schema.column(1).logical_type
    assert str(kind).startswith("Geometry")


class Wkb(pa.ExtensionType):
    """GeoArrow's type, with which pyarrow writes Parquet's own."""

    def __init__(self, told: bytes) -> None:
        self.told = told
        super().__init__(pa.binary(), "geoarrow.wkb")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.told


def test_the_crs_of_a_native_geometry_is_used(tmp_path):
    column = pa.array(shapely.to_wkb(shapely.points(EAST, NORTH)))
    for crs in ("EPSG:32618", "srid:32618"):
        kind = Wkb(b'{"crs": "%s"}' % crs.encode())
        table = pa.table({"place": pa.ExtensionArray.from_storage(kind, column)})
        pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
        assert places(tmp_path / "a.parquet") == WHERE


# frames and results -------------------------------------------------------------------------------


def test_lists_of_points_and_the_results_of_queries_are_points():
    assert places([shapely.Point(*xy) for xy in zip(LON, LAT)]) == WHERE
    assert places([shapely.Point(*xy) for xy in zip(EAST, NORTH)], crs=32618) == WHERE
    with pytest.raises(BadInputError, match="Only points"):
        places([shapely.box(0, 0, 1, 1)])
    with pytest.raises(BadInputError, match="Every row must have a point"):
        places([shapely.Point(LON[0], LAT[0]), None])
    connection = duckdb.connect()
    connection.register("t", pa.table({"lon": LON, "lat": LAT}))
    assert places(connection.sql("from t")) == WHERE
    assert places(connection.execute("from t")) == WHERE
    cursor = connection.cursor()
    cursor.register("t", pa.table({"lon": LON, "lat": LAT}))
    cursor.execute("from t")
    assert places(cursor) == WHERE
    with pytest.raises(BadInputError, match="run a query first"):
        places(duckdb.connect())


@pytest.mark.parametrize("how", ["csv", "cast", "relation"])
def test_a_frame_or_a_query_that_fails_quotes_no_value(tmp_path, how):
    (tmp_path / "a.csv").write_text("lon,lat\n-73.9,40.7\n-73.9,Bob lives here\n")
    words = pl.LazyFrame({"lon": ["-73.9"], "lat": ["Bob lives here"]})
    query = "select -73.9 as lon, cast(v as double) as lat from (values ('Bob lives here')) t(v)"
    points = {
        "csv": lambda: pl.scan_csv(
            tmp_path / "a.csv", schema={"lon": pl.Float64, "lat": pl.Float64}
        ),
        "cast": lambda: words.select(pl.all().cast(pl.Float64)),
        "relation": lambda: duckdb.connect().sql(query),
    }
    with pytest.raises(BadInputError) as refused:
        dp.publish(points[how](), 1, CITY)
    assert "Bob" not in str(refused.value) and refused.value.__context__ is None


def test_a_frame_may_have_columns_of_anything_beside():
    odd = [object() for _ in LON]
    assert places(pd.DataFrame({"lon": LON, "lat": LAT, "odd": odd})) == WHERE
    frame = pl.DataFrame({"lon": LON, "lat": LAT, "odd": pl.Series(odd, dtype=pl.Object)})
    assert places(frame) == places(frame.lazy()) == WHERE


def test_kml_is_read_and_its_persons_are_refused(tmp_path):
    frame = gpd.GeoDataFrame({"who": ["a"] * 40}, geometry=shapely.points(LON, LAT), crs=4326)
    frame.to_file(tmp_path / "a.kml", driver="KML")
    assert places(tmp_path / "a.kml") == WHERE
    with pytest.raises(BadInputError, match="GeoPackage"):
        places(tmp_path / "a.kml", person="who")


# the base install ---------------------------------------------------------------------------------

WITHOUT = """
import sys
for name in ("pyarrow", "adbc_driver_postgresql"):
    sys.modules[name] = None  # as if it were not there
import dpsort_geo as dp
domain = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
release = dp.publish(sys.argv[1], 1, domain, person="who")
assert release.release.n == 10, release.release.n
for source in (
    sys.argv[1].replace(".csv", ".parquet"),
    dp.PostGIS("postgresql://me@localhost/city", table="calls"),
):
    try:
        dp.publish(source, 1, domain)
    except dp.MissingPackageError as missing:
        print(missing)
"""


def test_the_base_install_reads_csv_and_says_what_parquet_and_databases_need(tmp_path):
    frame = pd.DataFrame({"lon": LON, "lat": LAT, "who": np.arange(40) // 4})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    environment = {**os.environ, "PYTHONPATH": str(Path(dp.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT, str(tmp_path / "a.csv")],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "pip install 'dpsort-geo[parquet]'" in done.stdout
    assert "pip install 'dpsort-geo[postgis]'" in done.stdout


# what is said -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "postgresql://ann:s3cret@host/calls",
        "postgresql://ann:s3c/re@t@host",
        "PG:host=h user=ann password=s3cret dbname=d",
        "https://host/calls.csv?token=s3cret&x=1",
        "s3cret-is-in://u:s3cret@host/calls.gpkg",
    ],
)
def test_a_path_with_a_password_is_never_echoed(path, tmp_path):
    with pytest.raises(BadInputError) as refused:
        dp.publish(path, 1, CITY, ledger=tmp_path / "ledger.sqlite")
    said = str(refused.value).replace("s3cret-is-in", "")
    assert "s3c" not in said and "re@t" not in said


def _each_way(path):
    """Everything that takes a path, by its name."""
    release = dp.publish(np.c_[LON, LAT], 1, CITY)
    return {
        "check": lambda: dp.check(path, CITY),
        "count_cells": lambda: dp.count_cells(path, CITY),
        "domain": lambda: dp.Domain.from_polygon(path),
        "publish": lambda: dp.publish(path, 1, CITY),
        "publish, saved": lambda: dp.publish(np.c_[LON, LAT], 1, CITY, save=path),
        "read_release": lambda: dp.read_release(path),
        "read_series": lambda: dp.read_series(path),
        "save": lambda: release.save(path),
        "to_geojson": lambda: release.to_geojson(path),
        "to_geoparquet": lambda: release.to_geoparquet(path),
        "to_gpkg": lambda: release.to_gpkg(path),
        "to_map": lambda: release.to_map(path),
        "to_postgis": lambda: release.to_postgis(path, "calls"),
    }


@pytest.mark.parametrize(
    "path",
    [
        "https://ann:s3cret@127.0.0.1:9/calls.gpkg",
        "/vsicurl/https://ann:s3cret@127.0.0.1:9/calls.gpkg",
        "nowhere/https://ann:s3cret@host/calls.json",
        "s3://ann:s3cret@bucket/calls.parquet",
        "postgresql://ann:s3cret@127.0.0.1:9/calls",
        "abfs://c@host/calls.parquet?sig=s3cret",
    ],
)
def test_whatever_takes_a_path_with_a_password_does_not_echo_it(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, use in _each_way(path).items():
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with pytest.raises(BadInputError) as refused:
                use()
        said = "".join(traceback.format_exception(refused.value))
        assert "s3cret" not in said + "".join(str(one.message) for one in warned), name
    assert list(tmp_path.rglob("*")) == []
