"""Public polygons are read at once from usual files, and as GDAL reads them."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.polygons import read_polygons, read_quickly

WARDS = gpd.GeoDataFrame(
    {"crs": ["a", "b"]},
    geometry=[
        shapely.Point(-73.9, 40.7).buffer(0.05),
        shapely.box(-74, 40.5, -73.95, 40.6) | shapely.box(-74, 40.7, -73.98, 41),
    ],
    crs=4326,
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "crs", "quick"),
    [
        ("a.gpkg", 4326, True),
        ("a.gpkg", 32618, True),
        ("a.gpkg", "ESRI:102003", False),
        ("a.geojson", 4326, False),  # a column is called crs, and the text says so twice
        ("b.geojson", 4326, True),
        ("b.geojson", 32618, False),
        ("b.fgb", 4326, False),
    ],
)
def test_the_domain_of_a_file_is_that_of_its_frame(tmp_path, name, crs, quick):
    wards = WARDS.to_crs(crs)
    frame = wards if name.startswith("a") else wards[["geometry"]]
    frame.to_file(tmp_path / name)
    assert (read_quickly(str(tmp_path / name), None) is not None) == quick
    wanted = dp.Domain.from_polygon(gpd.read_file(tmp_path / name))
    found = dp.Domain.from_polygon(read_polygons(str(tmp_path / name)))
    assert found.crs == wanted.crs
    np.testing.assert_array_equal(found.grid.runs, wanted.grid.runs)


def test_a_layer_is_found_by_its_name_whatever_is_in_it(tmp_path):
    path = str(tmp_path / "city.gpkg")
    WARDS.to_file(path, layer='the "old" wards; drop table x')
    WARDS[:1].to_file(path, layer="new")
    assert len(read_polygons(path, 'the "old" wards; drop table x').array) == 2
    assert len(read_polygons(f"{path}|layername=new").array) == 1
    with pytest.raises(BadInputError, match="several layers, 'the"):
        read_polygons(path)
    points = WARDS.set_geometry(WARDS.representative_point())[["geometry"]]
    points.to_file(tmp_path / "two.gpkg", layer="points")
    WARDS.to_file(tmp_path / "two.gpkg", layer="wards")
    assert len(read_polygons(str(tmp_path / "two.gpkg")).array) == 2


@pytest.mark.parametrize("name", ["a.geojson", "a.gpkg"])
def test_what_is_no_such_file_is_refused_in_one_sentence(tmp_path, name):
    (tmp_path / name).write_text("nothing of the kind")
    with pytest.raises(BadInputError, match="cannot be read as polygons"):
        read_polygons(str(tmp_path / name))
