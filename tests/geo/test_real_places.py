"""Real places, from the table of cities in the package: read, published and counted."""

from __future__ import annotations

from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.cli.residents import cities, land_domain
from dpsort_geo.geo.private import files

LON, LAT, POPULATION = cities()
HALVES = gpd.GeoSeries(
    [shapely.box(-130, 20, -95, 55), shapely.box(-95, 20, -50, 55)], crs="EPSG:4326"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cities")
    frame = gpd.GeoDataFrame(
        {"population": POPULATION}, geometry=gpd.points_from_xy(LON, LAT), crs="EPSG:4326"
    )
    frame.to_parquet(folder / "cities.parquet")
    for ending in ("gpkg", "geojson", "fgb", "shp"):
        frame.to_file(folder / f"cities.{ending}")
    table = frame.drop(columns="geometry").assign(lon=LON, lat=LAT)
    table.to_csv(folder / "cities.csv", index=False)
    return folder


@pytest.mark.parametrize("ending", ["parquet", "gpkg", "geojson", "fgb", "shp", "csv"])
def test_real_places_are_read_where_they_are(folder: Path, ending: str) -> None:
    stream = files.batches(folder / f"cities.{ending}")
    assert stream.total_rows in (LON.size, None)
    found = np.concatenate([np.column_stack([x, y]) for x, y, *_ in stream])
    wanted = np.column_stack([LON, LAT])
    # FlatGeobuf keeps its rows in an order of its own
    np.testing.assert_allclose(
        found[np.lexsort(found.T)], wanted[np.lexsort(wanted.T)], atol=1e-9, rtol=0
    )


@pytest.mark.filterwarnings("ignore:Epsilon 1000 promises little")
def test_a_release_of_real_places_counts_them_where_they_are(folder: Path) -> None:
    """With so much epsilon the noise moves a count by less than one city."""
    release = dp.publish(folder / "cities.parquet", 1000, land_domain(), neighbours="add-remove")
    counted = release.count_within(HALVES)
    truth = [np.sum(LON < -95), np.sum(LON > -95)]
    assert np.abs(counted["estimate"] - truth).max() < 0.01 * LON.size
    assert abs(release.n - LON.size) <= 1
