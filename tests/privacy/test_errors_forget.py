"""An error says what is wrong, and neither it nor what it remembers holds a private value."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.private import coordinates, files

DOMAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)


def geojson(*geometries, **more):
    features = [{"type": "Feature", "properties": {}, "geometry": one} for one in geometries]
    return {"type": "FeatureCollection", "features": features, **more}


def with_metadata(metadata: bytes) -> pa.Table:
    table = pa.table({"geometry": [shapely.to_wkb(shapely.Point(1, 2))]})
    return table.replace_schema_metadata({b"geo": metadata})


UNKNOWN_CRS = {
    "primary_column": "geometry",
    "columns": {"geometry": {"encoding": "WKB", "crs": "secret 777.123"}},
}

WRONG = {
    "text": [["secret 777.123", 1.0]],
    "features": geojson({"type": "Point", "coordinates": ["secret 777.123", 1]}),
    "a CRS in GeoJSON": geojson(crs={"properties": {"name": "secret 777.123"}}),
    "a CRS in GeoParquet": with_metadata(json.dumps(UNKNOWN_CRS).encode()),
    "metadata": with_metadata(b'{"secret 777.123'),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_error_about_points_remembers_nothing(kind):
    with pytest.raises(BadInputError) as refusal:
        dp.count_cells(WRONG[kind], DOMAIN)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__context__ is None and refusal.value.__cause__ is None


def test_an_error_about_text_in_a_frame_of_dask_remembers_nothing():
    frame = pytest.importorskip("dask.dataframe").from_pandas(
        pd.DataFrame({"x": ["secret 777.123"], "y": ["1"]}), npartitions=1
    )
    with pytest.raises(BadInputError, match="numbers") as refusal:
        dp.count_cells(frame, DOMAIN)
    assert refusal.value.__context__ is None and refusal.value.__cause__ is None


def test_an_error_about_broken_binary_remembers_nothing():
    with pytest.raises(BadInputError, match="well-known binary") as refusal:
        coordinates.from_objects([b"\x01\x63secret 777.123"])
    assert refusal.value.__context__ is None and refusal.value.__cause__ is None


def test_a_crs_that_is_not_known_is_not_quoted_from_a_file(tmp_path):
    pq.write_table(WRONG["a CRS in GeoParquet"], tmp_path / "a.parquet")
    with pytest.raises(BadInputError, match="EPSG:4326") as refusal:
        files.batches(tmp_path / "a.parquet")
    assert "secret" not in str(refusal.value)


POINT = {"type": "Point", "coordinates": [1, 2]}


@pytest.mark.parametrize(
    "points",
    [
        geojson({"type": "GeometryCollection", "geometries": [POINT] * 1000}),
        geojson(geojson(POINT, POINT)),
        {"type": "FeatureCollection", "features": [geojson(POINT, POINT)]},
        shapely.GeometryCollection([shapely.Point(1, 2)] * 1000),
        shapely.MultiPoint([(1, 2), (3, 4)]),
    ],
)
def test_one_record_is_one_point(points):
    with pytest.raises(BadInputError, match="explode|Only points"):
        dp.count_cells(points, DOMAIN)
    assert dp.count_cells(geojson(POINT, POINT, crs=None), DOMAIN).n == 2
    assert dp.count_cells(np.array([[1, 2], [1, 2]]), DOMAIN).n == 2
