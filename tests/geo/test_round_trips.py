"""Published points, written in every format and CRS that users have, and read back to the cell."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely

import dpsort_geo as dp

CITY = (-0.2, 51.45, 0.0, 51.55)  # London
BOXES = {
    "EPSG:4326": CITY,
    "EPSG:27700": (525_000, 175_000, 540_000, 186_000),
    "EPSG:3857": (-22_000, 6_700_000, 0, 6_718_000),
    "EPSG:2263": (980_000, 190_000, 1_010_000, 220_000),
}


def published(crs, deep=False):
    domain = dp.Domain.from_bounds(BOXES[crs], crs=crs)
    west, south, east, north = BOXES[crs]
    rng = np.random.default_rng(3)
    private = np.column_stack([rng.uniform(west, east, 800), rng.uniform(south, north, 800)])
    frame = dp.publish(private, 1, domain, neighbours="add-remove").points()
    if deep:
        frame = frame.set_geometry(shapely.force_3d(frame.geometry, 7.0))
    return domain, frame


def write(frame, path, encoding):
    if encoding == "csv":
        table = {"x": frame.geometry.x, "y": frame.geometry.y}
        pd.DataFrame(table).to_csv(path, index=False, float_format="%.17g")
    elif encoding in ("WKB", "geoarrow"):
        frame.to_parquet(path, geometry_encoding=encoding)
    else:
        frame.to_file(path, driver=encoding)


@pytest.mark.parametrize("deep", [False, True], ids=["2-D", "with Z"])
@pytest.mark.parametrize("crs", BOXES)
@pytest.mark.parametrize(
    "ending, encoding",
    [("gpkg", "GPKG"), ("shp", "ESRI Shapefile"), ("csv", "csv"),
     ("parquet", "WKB"), ("parquet", "geoarrow")],
)  # fmt: skip
def test_written_points_are_read_back_in_the_same_cells(tmp_path, crs, ending, encoding, deep):
    domain, frame = published(crs, deep and encoding != "csv")
    path = tmp_path / f"points.{ending}"
    write(frame, path, encoding)
    columns = ("x", "y") if encoding == "csv" else None
    read = dp.count_cells(path, domain, columns=columns)
    kept = dp.count_cells(frame, domain)
    assert np.array_equal(read.index, kept.index) and np.array_equal(read.count, kept.count)


def test_geojson_in_degrees_lands_where_pyproj_says_to_within_a_cell(tmp_path):
    domain, frame = published("EPSG:27700")
    frame.to_crs("EPSG:4326").to_file(tmp_path / "points.geojson", driver="GeoJSON", RFC7946="YES")
    back = gpd.read_file(tmp_path / "points.geojson")
    by_hand = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:27700", always_xy=True)
    x, y = by_hand.transform(back.geometry.x.to_numpy(), back.geometry.y.to_numpy())
    expected = dp.count_cells(np.column_stack([x, y]), domain)
    read = dp.count_cells(tmp_path / "points.geojson", domain)
    assert np.array_equal(read.index, expected.index) and np.array_equal(read.count, expected.count)
    assert np.abs(np.sort(x) - np.sort(frame.geometry.x)).max() < domain.cell_size
