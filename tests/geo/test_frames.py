"""Public tables carry the privacy statement, and GeoJSON follows its standard."""

import csv
import json

import geopandas as gpd
import pandas as pd
import pytest
import shapely

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.statement import read_statement
from dpsort_geo.geo.tables import write_frame

STATEMENT = {"epsilon": "1", "summary": "private"}


@pytest.fixture
def zones():
    # clockwise, which RFC 7946 does not want, and not in degrees
    ring = shapely.Polygon([(500000, 200000), (500000, 210000), (510000, 210000), (510000, 200000)])
    return gpd.GeoDataFrame({"estimate": [12.5]}, geometry=[ring], crs="EPSG:27700")


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "parquet"])
def test_a_table_carries_the_statement_and_comes_back(zones, tmp_path, ending):
    path = tmp_path / f"counts.{ending}"
    write_frame(path, zones, STATEMENT)
    assert read_statement(path) == STATEMENT
    read = gpd.read_parquet if ending == "parquet" else gpd.read_file
    back = read(path).to_crs(27700)
    assert back["estimate"].tolist() == [12.5]
    assert back.geometry[0].symmetric_difference(zones.geometry[0]).area < 100
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_geojson_is_rfc_7946(zones, tmp_path):
    write_frame(tmp_path / "a.geojson", zones, STATEMENT)
    document = json.loads((tmp_path / "a.geojson").read_text())
    assert "crs" not in document and "name" not in document
    ring = shapely.LinearRing(document["features"][0]["geometry"]["coordinates"][0])
    assert ring.is_ccw and abs(ring.coords[0][0]) < 180


def test_an_unknown_ending_is_refused_and_leaves_nothing(zones, tmp_path):
    with pytest.raises(BadInputError, match="should end in"):
        write_frame(tmp_path / "a.xyz", zones, STATEMENT)
    assert not list(tmp_path.iterdir())


def test_no_text_in_a_csv_is_a_formula_and_numbers_stay_numbers(zones, tmp_path):
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", "plain = text", None]
    table = gpd.GeoDataFrame(
        {
            "name": texts,
            "category": pd.Categorical(texts),
            "=HYPERLINK(1)": -1.5,
            "mixed": [-2, "=2", *[3] * 7],
        },
        geometry=[zones.geometry[0]] * len(texts),
        crs=zones.crs,
    )
    write_frame(tmp_path / "a.csv", table, STATEMENT)
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["name", "category", "'=HYPERLINK(1)", "mixed"]
    shown = [f"'{text}" for text in texts[:7]] + ["plain = text", ""]
    assert [row[0] for row in rows] == [row[1] for row in rows] == shown
    assert {row[2] for row in rows} == {"-1.5"}
    assert [row[3] for row in rows[:2]] == ["-2", "'=2"]
    assert table["name"].tolist()[:8] == texts[:8]  # the caller's table stays as it is


def test_a_table_of_any_columns_comes_back_from_geoparquet(zones, tmp_path):
    odd = zones.assign(
        name=["Nöise"],
        kind=pd.Categorical(["ward"]),
        since=pd.to_datetime(["2026-03-01"]),
        centre=gpd.GeoSeries(zones.centroid, crs=zones.crs).to_crs(4326),
        high=gpd.GeoSeries([shapely.Point(1, 2, 3)], crs=zones.crs),
    )
    write_frame(tmp_path / "a.parquet", odd, STATEMENT)
    back = gpd.read_parquet(tmp_path / "a.parquet")
    assert list(back.columns) == list(odd.columns) and back.geometry.name == "geometry"
    assert back.crs == zones.crs and back["centre"].crs.to_epsg() == 4326
    assert back["high"][0].z == 3 and back["since"][0] == odd["since"][0]
    assert (back["name"][0], back["kind"][0]) == ("Nöise", "ward")
    assert back.geometry[0].equals(zones.geometry[0])


def test_an_empty_table_is_written_and_read_back(zones, tmp_path):
    for ending, read in (("parquet", gpd.read_parquet), ("gpkg", gpd.read_file)):
        write_frame(tmp_path / f"a.{ending}", zones[:0], STATEMENT)
        assert len(read(tmp_path / f"a.{ending}")) == 0
        assert read_statement(tmp_path / f"a.{ending}") == STATEMENT


def test_what_a_geopackage_cannot_hold_gets_one_sentence_and_leaves_nothing(zones, tmp_path):
    twice = zones.assign(fid=["not a number"])
    with pytest.raises(BadInputError, match="cannot be written as a GeoPackage"):
        write_frame(tmp_path / "a.gpkg", twice, STATEMENT)
    assert not list(tmp_path.iterdir())
