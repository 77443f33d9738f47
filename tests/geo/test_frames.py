"""Public tables carry the privacy statement, and GeoJSON follows its standard."""

import json

import geopandas as gpd
import pytest
import shapely

from dpsort_geo.errors import BadInput
from dpsort_geo.geo.frames import write_frame
from dpsort_geo.geo.write import read_statement

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
    with pytest.raises(BadInput, match="should end in"):
        write_frame(tmp_path / "a.xyz", zones, STATEMENT)
    assert not list(tmp_path.iterdir())
