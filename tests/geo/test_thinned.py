"""GeoJSON of a size that is said beforehand, and the statement beside or in every file."""

from __future__ import annotations

import json
import subprocess
import sys

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.geo.statement import read_statement

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

BOX = (-74.3, 40.5, -73.7, 40.95)
DOMAIN = dp.Domain.from_bounds(BOX, crs="EPSG:4326", order=8)
RNG = np.random.default_rng(1)
POINTS = np.column_stack([RNG.normal(-74.0, 0.08, 20_000), RNG.normal(40.72, 0.06, 20_000)])
ZONES = gpd.GeoDataFrame(
    {"name": ["a", "b"]},
    geometry=[shapely.box(-74.3, 40.5, -74, 40.95), shapely.box(-74, 40.5, -73.7, 40.95)],
    crs="EPSG:4326",
)


@pytest.fixture(scope="module")
def release():
    return dp.publish(POINTS, 1, DOMAIN)


@pytest.mark.parametrize("limit", [3000, 50_000, 1_000_000])
def test_a_thinned_file_is_as_large_as_allowed_and_says_so(release, tmp_path, limit):
    path = tmp_path / "p.geojson"
    release.to_geojson(path, most_bytes=limit)
    assert limit - 200 < path.stat().st_size <= limit
    read = gpd.read_file(path)
    said = json.loads(path.read_text())["privacy_statement"]
    assert said["thinned"].startswith(f"{len(read):,} of 20,000 points")
    # the same points as the first of all
    first = release.points().geometry[: len(read)]
    assert shapely.equals_exact(read.geometry, first, tolerance=1e-6).all()


def test_a_file_that_has_room_for_all_keeps_all(release, tmp_path):
    release.to_geojson(tmp_path / "a.geojson", most_bytes=10**9)
    release.to_geojson(tmp_path / "b.geojson")
    one, two = (json.loads((tmp_path / f"{x}.geojson").read_text()) for x in "ab")
    assert one["features"] == two["features"]
    assert one["privacy_statement"]["thinned"].endswith(": 100 %")
    assert "thinned" not in two["privacy_statement"]


def test_points_with_columns_are_thinned_too(tmp_path):
    frame = gpd.GeoDataFrame(
        {"kind": np.where(POINTS[:, 0] < -74, "w", "e")}, geometry=shapely.points(POINTS), crs=4326
    )
    release = dp.publish(frame, 3, DOMAIN, by={"kind": ["w", "e"]})
    path = tmp_path / "p.geojson"
    release.to_geojson(path, most_bytes=100_000)
    assert 99_000 < path.stat().st_size <= 100_000
    read = gpd.read_file(path)
    # labels follow their points: nearly all of the west is west
    west = read.geometry.x < -74.02
    assert (read["kind"][west] == "w").mean() > 0.9 and 0.3 < west.mean() < 0.6


def test_no_room_for_a_point_is_refused_and_nothing_is_written(release, tmp_path):
    with pytest.raises(dp.BadInputError, match="Not even one point"):
        release.to_geojson(tmp_path / "p.geojson", most_bytes=100)
    assert not list(tmp_path.iterdir())


def test_the_shell_takes_sizes_for_geojson_alone(release, tmp_path):
    release.save(tmp_path / "r.json")
    command = [sys.executable, "-m", "dpsort_geo", "points", "r.json"]
    small = [*command, "p.geojson", "--max-size", "20kB"]
    done = subprocess.run(small, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "of 20,000 points as many as fit" in done.stdout  # not: 20,000 points
    assert (tmp_path / "p.geojson").stat().st_size <= 20_000
    for bad in (["p.gpkg", "--max-size", "1MB"], ["q.geojson", "--max-size", "much"]):
        done = subprocess.run([*command, *bad], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.geojson", "r.json"]


@pytest.mark.parametrize("ending", ["csv", "gpkg", "geojson", "parquet"])
def test_counts_carry_the_statement_in_every_format(release, tmp_path, ending):
    release.save(tmp_path / "r.json")
    ZONES.to_file(tmp_path / "zones.gpkg")
    out = tmp_path / f"counts.{ending}"
    command = [sys.executable, "-m", "dpsort_geo"]
    files = [tmp_path / "r.json", tmp_path / "zones.gpkg", out]
    subprocess.run([*command, "count", *files], check=True)
    assert read_statement(out) == release.statement()
    shown = subprocess.run(
        [*command, "inspect", out, "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(shown.stdout)["epsilon"] == "1"
    if ending == "csv":  # opens as a table, with no line before the names
        assert pd.read_csv(out).columns.tolist()[0] == "name"
        assert (tmp_path / "counts.csv.statement.json").is_file()


def test_rasters_carry_the_statement(release, tmp_path):
    release.density(1000).to_raster(tmp_path / "d.tif")
    assert read_statement(tmp_path / "d.tif") == release.statement()
