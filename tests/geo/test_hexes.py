"""Counts in H3 hexagons."""

from __future__ import annotations

import json
import subprocess
import sys

import geopandas as gpd
import h3
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.frame import zones as frames
from dpsort_geo.core.frame.rings import cut_rings
from dpsort_geo.geo.host import all_polygons, polygons_of
from dpsort_geo.geo.statement import read_statement

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

BOX = (-74.3, 40.5, -73.7, 40.95)
ANSWERS = ["estimate", "low", "high", "reliable", "covered"]


def city(n=20_000, seed=1):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(-74.0, 0.08, n), rng.normal(40.72, 0.06, n)])


@pytest.fixture(scope="module")
def release():
    return dp.publish(city(), 1, dp.Domain.from_bounds(BOX, crs="EPSG:4326"))


@pytest.mark.parametrize("resolution", [6, 8])
def test_hexagons_are_counted_as_the_same_polygons_are(release, resolution):
    hexes = release.hexes(resolution)
    shapes = [shapely.Polygon([p[::-1] for p in h3.cell_to_boundary(c)]) for c in hexes["h3"]]
    assert shapely.equals_exact(shapes, hexes.geometry, tolerance=1e-9).all()
    by_hand = release.count_within(gpd.GeoSeries(shapes, crs="EPSG:4326"))
    pd.testing.assert_frame_equal(
        pd.DataFrame(hexes[ANSWERS]), pd.DataFrame(by_hand[ANSWERS]), rtol=1e-9
    )


def test_no_hexagon_that_meets_the_domain_is_left_out(release):
    hexes = release.hexes(7)
    assert hexes["estimate"].sum() == pytest.approx(release.n, rel=1e-6)
    assert (hexes["h3"].map(h3.get_resolution) == 7).all()
    assert hexes["h3"].is_monotonic_increasing and hexes["h3"].is_unique
    lon, lat = np.meshgrid(np.linspace(*BOX[::2], 80), np.linspace(*BOX[1::2], 80))
    there = {h3.latlng_to_cell(y, x, 7) for x, y in zip(lon.flat, lat.flat)}
    assert there <= set(hexes["h3"])


def test_a_mask_a_boundary_and_the_antimeridian_keep_all_points(release):
    park = shapely.Point(-74.0, 40.72).buffer(0.1)
    inside = release.within(gpd.GeoSeries([park], crs="EPSG:4326"))
    found = inside.hexes(7)
    assert found["estimate"].sum() == pytest.approx(release.n, rel=1e-6)
    assert found.intersects(park.buffer(0.01)).all()
    domain = dp.Domain.from_bounds((177, -20, -178, -15), crs="EPSG:4326")
    rng = np.random.default_rng(3)
    points = np.column_stack([rng.uniform(177, 182, 3000), rng.uniform(-20, -15, 3000)])
    fiji = dp.publish(points, 1, domain).hexes(4)
    assert fiji["estimate"].sum() == pytest.approx(3000, rel=1e-6)
    assert (fiji.bounds.maxx - fiji.bounds.minx).max() < 2


def test_a_hexagon_around_the_pole_is_counted():
    domain = dp.Domain.from_bounds((-1e6, -1e6, 1e6, 1e6), crs="EPSG:3413")
    points = np.random.default_rng(3).normal(0, 2e5, (5000, 2))
    hexes = dp.publish(points, 5, domain).hexes(1).set_index("h3")
    pole = hexes.loc[h3.latlng_to_cell(90, 0, 1)]
    lon, lat = domain.unproject(*points.T, "EPSG:4326")
    inside = [h3.latlng_to_cell(y, x, 1) == pole.name for x, y in zip(lon, lat)]
    assert hexes["estimate"].sum() == pytest.approx(5000, rel=1e-3)
    assert pole.geometry.is_valid
    assert pole["estimate"] == pytest.approx(np.sum(inside), rel=0.05)


def test_slices_of_a_release_have_hexagons():
    rng = np.random.default_rng(4)
    points = gpd.GeoDataFrame(
        {"kind": rng.choice(["a", "b"], 4000)}, geometry=shapely.points(city(4000)), crs=4326
    )
    domain = dp.Domain.from_bounds(BOX, crs="EPSG:4326", order=8)
    release = dp.publish(points, 2, domain, by={"kind": ["a", "b"]})
    table = release.hexes(6, by=["kind"])
    assert len(table) == 2 * len(release.hexes(6))
    chosen = release.select(kind="a").hexes(6)
    own = table[table["kind"] == "a"]
    assert own["h3"].tolist() == chosen["h3"].tolist()
    np.testing.assert_allclose(own["estimate"], chosen["estimate"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("resolution", [-1, 16, 8.5, "8", 15])
def test_a_resolution_that_makes_no_sense_is_refused_in_one_sentence(release, resolution):
    with pytest.raises(dp.BadInputError, match="resolution"):
        release.hexes(resolution)


def test_the_shell_writes_hexagons_with_the_statement(release, tmp_path):
    release.save(tmp_path / "r.json")
    command = [sys.executable, "-m", "dpsort_geo", "hexes", tmp_path / "r.json"]
    out = tmp_path / "h.geojson"
    subprocess.run([*command, out, "--resolution", "7"], check=True)
    read = json.loads(out.read_text())["features"][0]["properties"]
    assert {"h3", *ANSWERS} <= set(read)
    assert read_statement(out)["epsilon"] == "1"
    bad = subprocess.run(
        [*command, tmp_path / "x.gpkg", "--resolution", "99"], capture_output=True, text=True
    )
    assert bad.returncode == 2 and "0 to 15" in bad.stderr and bad.stderr.count("\n") == 1
    assert not (tmp_path / "x.gpkg").exists()


def test_many_zones_are_bent_as_finely_as_each_alone(release, monkeypatch):
    hexes = release.hexes(6)
    shapes = list(hexes.geometry)
    together = release.domain.zone_rings(shapes, "EPSG:4326")
    monkeypatch.setattr(frames, "_PIECES", 1 << 20)
    finest = release.domain.zone_rings(shapes, "EPSG:4326")
    cell = release.domain.grid.cell
    for (coarse,), (fine,) in zip(together, finest):
        assert len(coarse) < len(fine)
        off = shapely.hausdorff_distance(shapely.Polygon(coarse), shapely.Polygon(fine))
        assert off < 1e-3 * cell


def test_rings_cut_together_are_those_cut_alone():
    rng = np.random.default_rng(5)
    rings = [rng.uniform(0, 9, (k, 2)) for k in (4, 7, 5)]
    rings = [np.vstack([ring, ring[:1]]) for ring in rings]
    step = np.array([0.3, 5.0, 1.0])
    alone = [cut_rings([ring], step[k : k + 1])[0] for k, ring in enumerate(rings)]
    for one, two in zip(cut_rings(rings, step), alone):
        np.testing.assert_array_equal(one, two)


def test_polygons_read_together_are_those_read_alone():
    ring = shapely.Point(0, 0).buffer(2).difference(shapely.Point(0, 0).buffer(1))
    bow = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    shapes = [shapely.box(0, 0, 1, 1), ring, bow, shapely.MultiPolygon([ring]), shapely.Polygon()]
    for shape, found in zip(shapes, all_polygons(shapes)):
        alone = polygons_of(shape)
        assert [len(polygon) for polygon in found] == [len(polygon) for polygon in alone]
        for one, two in zip(sum(found, []), sum(alone, [])):
            np.testing.assert_array_equal(one, two)
