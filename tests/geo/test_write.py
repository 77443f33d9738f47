"""What is written can be read back by others, says what it is, and is there whole or not at all."""

from __future__ import annotations

import json
import os

import geopandas as gpd
import numpy as np
import pyarrow.parquet as pq
import pyogrio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import CRS

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo import geojson, statement, write

STATEMENT = {"epsilon": "1", "summary": 'a "quoted" sentence, ünïcode', "private": True}
RNG = np.random.default_rng(3)
LON, LAT = RNG.uniform(-180, 180, 20_001), RNG.uniform(-90, 90, 20_001)

degrees = st.floats(-180, 180)


@settings(deadline=None)
@given(st.lists(st.tuples(degrees, st.floats(-90, 90)), max_size=30))
def test_geojson_numbers_are_the_coordinates_to_seven_decimals(points):
    lon, lat = np.array(points, float).reshape(-1, 2).T
    found = json.loads(b"".join(write.geojson([(lon, lat)], STATEMENT)))
    written = [feature["geometry"]["coordinates"] for feature in found["features"]]
    assert len(written) == len(points)
    for (a, b), (x, y) in zip(written, points):
        assert abs(a - x) <= 0.50001e-7 and abs(b - y) <= 0.50001e-7


def test_geojson_numbers_have_no_needless_characters():
    lon = [0.0, -0.0, 1e-8, -1e-8, 1e-7, -1e-7, 10.0, 100.5, -180.0, 179.9999999, 12.00001, 7.5]
    text = b"".join(write.geojson([(lon, np.zeros(len(lon)))], {})).decode()
    written = [line.split("[")[1].split(",")[0] for line in text.splitlines() if "Point" in line]
    assert written == [
        "0", "0", "0", "0", "0.0000001", "-0.0000001", "10", "100.5", "-180", "179.9999999",
        "12.00001", "7.5",
    ]  # fmt: skip


def test_geojson_follows_the_standard_and_carries_the_statement(tmp_path):
    path = tmp_path / "points.geojson"
    write.write_geojson(path, [(LON, LAT)], STATEMENT)
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["type"] == "FeatureCollection"
    assert "crs" not in found
    assert found[write.STATEMENT] == STATEMENT
    assert set(found["features"][0]) == {"type", "properties", "geometry"}
    back = gpd.read_file(path)
    assert back.crs.to_epsg() == 4326
    assert list(back.columns) == ["geometry"]
    np.testing.assert_allclose(back.geometry.x, LON, atol=0.5001e-7, rtol=0)
    np.testing.assert_allclose(back.geometry.y, LAT, atol=0.5001e-7, rtol=0)


@pytest.mark.parametrize("n", [0, 1, geojson.CHUNK, geojson.CHUNK + 1])
def test_geojson_of_any_length_is_valid(n):
    found = json.loads(b"".join(write.geojson([(LON[:n], LAT[:n])], {})))
    assert len(found["features"]) == n


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:27700", "EPSG:2263", None])
def test_geoparquet_is_read_back_exactly_with_its_crs(tmp_path, crs):
    path = tmp_path / "points.parquet"
    write.write_geoparquet(path, [(LON, LAT)], crs and CRS(crs), STATEMENT)
    back = gpd.read_parquet(path)
    assert back.crs == crs
    assert list(back.columns) == ["geometry"]
    np.testing.assert_array_equal(back.geometry.x, LON)
    np.testing.assert_array_equal(back.geometry.y, LAT)
    geo = json.loads(pq.read_metadata(path).metadata[b"geo"])
    assert geo["version"] == "1.1.0"
    column = geo["columns"]["geometry"]
    assert column["geometry_types"] == ["Point"]
    assert column["bbox"] == [LON.min(), LAT.min(), LON.max(), LAT.max()]


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:27700"])
def test_geopackage_is_read_back_exactly_with_its_crs(tmp_path, crs):
    path = tmp_path / "points.gpkg"
    write.write_gpkg(path, [(LON, LAT)], CRS(crs), STATEMENT)
    assert pyogrio.list_layers(path).tolist() == [["points", "Point"]]
    back = gpd.read_file(path)
    assert back.crs == crs
    np.testing.assert_array_equal(back.geometry.x, LON)
    np.testing.assert_array_equal(back.geometry.y, LAT)


def write_each(folder, name="points"):
    write.write_geojson(folder / f"{name}.geojson", [(LON, LAT)], STATEMENT)
    write.write_geoparquet(folder / f"{name}.parquet", [(LON, LAT)], CRS(4326), STATEMENT)
    write.write_gpkg(folder / f"{name}.gpkg", [(LON, LAT)], CRS(4326), STATEMENT)
    return [folder / f"{name}.{suffix}" for suffix in ("geojson", "parquet", "gpkg")]


def test_every_file_gives_its_statement_back(tmp_path):
    for path in write_each(tmp_path):
        assert statement.read_statement(path) == STATEMENT


def test_a_statement_after_the_features_is_found_too(tmp_path):
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps({"features": [], write.STATEMENT: STATEMENT}))
    assert statement.read_statement(path) == STATEMENT


def test_files_without_a_statement_say_so(tmp_path):
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy([1.0], [2.0]), crs=4326)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_file(tmp_path / "a.gpkg")
    frame.to_file(tmp_path / "a.geojson")
    for name in ("a.parquet", "a.gpkg", "a.geojson"):
        with pytest.raises(BadInputError, match="no privacy statement"):
            statement.read_statement(tmp_path / name)


def test_files_that_are_something_else_get_one_sentence(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "c.geojson").write_text('{"features": [')
    for name in ("a.bin", "b.parquet", "c.geojson", "absent"):
        with pytest.raises(BadInputError) as refusal:
            statement.read_statement(tmp_path / name)
        assert refusal.value.__cause__ is None


def test_writing_replaces_the_old_file_and_leaves_nothing_else(tmp_path):
    write_each(tmp_path)
    write_each(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["points.geojson", "points.gpkg", "points.parquet"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_else(tmp_path, monkeypatch):
    paths = write_each(tmp_path)
    before = [path.read_bytes() for path in paths]

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "ParquetWriter", full)
    monkeypatch.setattr(pyogrio, "write_arrow", full)
    monkeypatch.setattr(geojson, "_format_numbers", full)
    writers = (
        lambda: write.write_geojson(paths[0], [(LON, LAT)], {}),
        lambda: write.write_geoparquet(paths[1], [(LON, LAT)], CRS(4326), {}),
        lambda: write.write_gpkg(paths[2], [(LON, LAT)], CRS(4326), {}),
    )
    for writer in writers:
        with pytest.raises(BadInputError, match="No space left"):
            writer()
    assert [path.read_bytes() for path in paths] == before
    assert len(os.listdir(tmp_path)) == 3


@pytest.mark.parametrize("name", ["a.txt", "a[1].txt", "[a-z]*?.txt"])
def test_an_interrupt_in_the_middle_leaves_nothing(tmp_path, name):
    with pytest.raises(KeyboardInterrupt), write.replacing(tmp_path / name) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a.geojson", "a.parquet", "a.gpkg"])
def test_an_interrupt_while_points_are_written_is_no_failure(tmp_path, name):
    def chunks():
        yield LON, LAT
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        if name.endswith("geojson"):
            write.write_geojson(tmp_path / name, chunks(), {})
        elif name.endswith("gpkg"):
            write.write_gpkg(tmp_path / name, chunks(), CRS(4326), {})
        else:
            write.write_geoparquet(tmp_path / name, chunks(), CRS(4326), {})
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_gets_one_sentence(tmp_path):
    for name in ("a.geojson", "a.parquet", "a.gpkg"):
        path = tmp_path / "absent" / name
        with pytest.raises(BadInputError, match="cannot be written"):
            if name.endswith("geojson"):
                write.write_geojson(path, [(LON, LAT)], {})
            elif name.endswith("gpkg"):
                write.write_gpkg(path, [(LON, LAT)], CRS(4326), {})
            else:
                write.write_geoparquet(path, [(LON, LAT)], CRS(4326), {})


def test_geojson_takes_degrees_only():
    with pytest.raises(BadInputError, match="degrees"):
        list(write.geojson([([530_000.0], [180_000.0])], {}))
    with pytest.raises(BadInputError):
        list(write.geojson([([np.nan], [0.0])], {}))


def test_chunks_of_any_length_make_the_same_files(tmp_path):
    cuts = [0, 1, 1, 700, write.CHUNK + 3, LON.size]
    parts = [(LON[a:b], LAT[a:b]) for a, b in zip(cuts, cuts[1:])]
    write.write_geojson(tmp_path / "a.geojson", parts, STATEMENT)
    write.write_geojson(tmp_path / "b.geojson", [(LON, LAT)], STATEMENT)
    assert (tmp_path / "a.geojson").read_bytes() == (tmp_path / "b.geojson").read_bytes()
    write.write_geoparquet(tmp_path / "a.parquet", iter(parts), CRS(4326), STATEMENT)
    write.write_gpkg(tmp_path / "a.gpkg", iter(parts), CRS(4326), STATEMENT)
    for back in (gpd.read_parquet(tmp_path / "a.parquet"), gpd.read_file(tmp_path / "a.gpkg")):
        np.testing.assert_array_equal(back.geometry.x, LON)
        np.testing.assert_array_equal(back.geometry.y, LAT)


def test_files_of_no_points_are_valid(tmp_path):
    write.write_geojson(tmp_path / "a.geojson", [], STATEMENT)
    write.write_geoparquet(tmp_path / "a.parquet", [], CRS(4326), STATEMENT)
    write.write_gpkg(tmp_path / "a.gpkg", [], CRS(4326), STATEMENT)
    assert json.loads((tmp_path / "a.geojson").read_text())["features"] == []
    assert len(gpd.read_parquet(tmp_path / "a.parquet")) == 0
    assert len(gpd.read_file(tmp_path / "a.gpkg")) == 0
