"""`release.against`: earlier releases, weighted polygons and rasters, all read by one decoder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pytest
import rasterio
import shapely

import dpsort_geo as dp

DEGREES = "EPSG:4326"
BOX = (-74.3, 40.45, -73.65, 40.95)


def somewhere(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(-73.95, 0.05, n), rng.normal(40.7, 0.04, n)])


@pytest.fixture(scope="module")
def domain() -> dp.Domain:
    return dp.Domain.from_bounds(BOX, crs=DEGREES)


@pytest.fixture(scope="module")
def release(domain: dp.Domain) -> dp.Release:
    return dp.publish(somewhere(4000, 1), 1, domain)


@pytest.fixture(scope="module")
def wards() -> gpd.GeoDataFrame:
    boxes = [
        shapely.box(-74.05, 40.6, -73.85, 40.8),
        shapely.box(-74.3, 40.45, -74.05, 40.95),
        shapely.box(-73.85, 40.45, -73.45, 40.95),
    ]
    return gpd.GeoDataFrame({"population": [8, 1, 2]}, geometry=boxes, crs=DEGREES)


def map_of(read: dp.Release) -> Any:
    """F of its prior."""
    assert read.prior is not None
    return read.prior.on(read.domain)


def mass_in(f: Any, domain: dp.Domain, box: tuple) -> float:
    """What F has in a box of degrees, from points along the curve."""
    place = (np.arange(20_000) + 0.5) / 20_000 * f.total
    x, y = domain.grid.centres(f.at(place).astype(np.int64))
    lon, lat = domain.unproject(x, y)
    west, south, east, north = box
    return f.total * np.mean((lon > west) & (lon < east) & (lat > south) & (lat < north))


def test_polygons_lie_where_they_lie_and_weigh_what_they_weigh(
    release: dp.Release, domain: dp.Domain, wards: gpd.GeoDataFrame
) -> None:
    f = map_of(release.against(wards, weight="population"))
    # half of the third ward lies outside of the domain
    assert f.total == pytest.approx(8 + 1 + 2 / 2, rel=0.01)
    assert mass_in(f, domain, wards.geometry[0].bounds) == pytest.approx(8, rel=0.02)
    turned = map_of(release.against(wards.to_crs("EPSG:32618"), weight="population"))
    assert turned.total == pytest.approx(f.total, rel=0.01)


@pytest.mark.parametrize("step", [0.01, 0.0004])
def test_a_raster_keeps_its_weight_whatever_its_resolution(
    release: dp.Release, domain: dp.Domain, step: float
) -> None:
    at = somewhere(50_000, 2)
    rows, columns = round(0.8 / step), round(0.9 / step)
    edges = 40.3 + step * np.arange(rows + 1), -74.4 + step * np.arange(columns + 1)
    pixels = np.histogram2d(at[:, 1], at[:, 0], bins=edges)[0][::-1]
    transform = rasterio.Affine(step, 0, -74.4, 0, -step, 40.3 + step * rows)
    f = map_of(release.against(pixels, transform=transform, crs=DEGREES))
    box = (-74.0, 40.65, -73.9, 40.75)
    truth = np.sum((at > [box[0], box[1]]).all(axis=1) & (at < [box[2], box[3]]).all(axis=1))
    assert f.total == pytest.approx(50_000, rel=0.01)
    assert mass_in(f, domain, box) == pytest.approx(truth, rel=0.05)


def test_a_raster_file_is_what_its_pixels_are(
    release: dp.Release, domain: dp.Domain, tmp_path: Path
) -> None:
    pixels = np.random.default_rng(1).integers(0, 9, (50, 65)).astype(np.float32)
    transform = rasterio.Affine(0.01, 0, -74.3, 0, -0.01, 40.95)
    look: Any = {"driver": "GTiff", "height": 50, "width": 65, "count": 1, "dtype": "float32"}
    with rasterio.open(tmp_path / "p.tif", "w", crs=DEGREES, transform=transform, **look) as file:
        file.write(pixels, 1)
    by_file = map_of(release.against(tmp_path / "p.tif"))
    by_array = map_of(release.against(pixels, transform=transform, crs=DEGREES))
    assert np.array_equal(by_file.mass, by_array.mass)


def test_a_release_of_another_domain_is_resampled_by_area(
    release: dp.Release, domain: dp.Domain
) -> None:
    wider = dp.Domain.from_bounds((-74.5, 40.3, -73.4, 41.1), crs=DEGREES)
    other = dp.publish(somewhere(20_000, 3), 3, wider)
    read = release.against(other)
    assert map_of(read).total == pytest.approx(20_000, rel=0.02)
    assert read.decoded.against.trust > 0.99  # type: ignore[attr-defined]
    box = gpd.GeoSeries([shapely.box(-74.0, 40.65, -73.9, 40.75)], crs=DEGREES)
    there = float(other.count_within(box).estimate.iloc[0])
    assert mass_in(map_of(read), domain, box[0].bounds) == pytest.approx(there, rel=0.05)


def test_several_earlier_releases_count_half_as_much_as_the_one_after_each(
    release: dp.Release, domain: dp.Domain
) -> None:
    earlier = [dp.publish(somewhere(4000, 6) + east, 1, domain) for east in ([0.2, 0], [0, 0])]
    box = (-74.0, 40.65, -73.9, 40.75)
    first, second = (mass_in(each.decoded.cumulative, domain, box) / 4000 for each in earlier)
    blended = map_of(release.against(earlier))
    assert second > first + 0.2 and blended.total == pytest.approx(1)
    assert mass_in(blended, domain, box) == pytest.approx((first + 2 * second) / 3, abs=0.005)


def test_a_year_of_days_can_be_read_from_its_end(domain: dp.Domain) -> None:
    """Each day is read against those before it: that goes deeper than Python likes to go."""
    days = [dp.publish(somewhere(50, seed), 1, domain) for seed in (8, 9)]
    reading = days[0]
    for day in range(365):
        reading = days[day % 2].against(reading)
    assert len(reading.points()) == 50


def test_every_way_of_reading_follows(
    release: dp.Release, domain: dp.Domain, wards: gpd.GeoDataFrame, tmp_path: Path
) -> None:
    before = dp.publish(somewhere(4000, 4), 1, domain)
    read = release.against(before)
    assert len(read.points()) == release.n
    assert not read.points().geometry.equals(release.points().geometry)
    assert read.density(500)["count"].sum() == pytest.approx(release.n)
    counted = read.count_within(wards)
    assert (counted.low <= counted.estimate).all() and (counted.estimate <= counted.high).all()
    assert len(read.quantiles([0.5])) == 1
    read.to_map(tmp_path / "map.html")
    read.to_geojson(tmp_path / "points.geojson")
    read.save(tmp_path / "same.json")
    assert (tmp_path / "same.json").read_text() == release.to_json()


def test_boundary_and_prior_go_together_in_either_order(
    release: dp.Release, domain: dp.Domain, wards: gpd.GeoDataFrame
) -> None:
    before = dp.publish(somewhere(4000, 5), 1, domain)
    land = shapely.box(-74.05, 40.55, -73.8, 40.85)
    one = release.against(before).within(land, DEGREES)
    other = release.within(land, DEGREES).against(before)
    assert np.allclose(one.decoded.cumulative.mass, other.decoded.cumulative.mass)
    inside = one.points().to_crs(DEGREES).within(land)
    assert len(inside) == release.n and inside.all()


def test_slices_of_a_release_with_axes_follow_the_prior(domain: dp.Domain) -> None:
    at = somewhere(3000, 6)
    kind = np.where(at[:, 0] > -73.95, "east", "west")
    by = {"kind": ["east", "west"]}
    release = dp.publish(at, 1, domain, by=by, values={"kind": kind})
    read = release.against(dp.publish(somewhere(9000, 7), 3, domain))
    both = [read.select(kind=one).decoded.cumulative.total for one in ("east", "west")]
    assert sum(both) == pytest.approx(3000)
    assert len(read.points()) == 3000 and set(read.points()["kind"]) == {"east", "west"}
    with pytest.raises(dp.BadInputError, match="select"):
        read.select(kind="east").against(release)


@pytest.mark.parametrize(
    ("prior", "arguments", "sentence"),
    [
        (3, {}, "A prior is an earlier release"),
        (np.ones((3, 3)), {}, "needs transform= and crs="),
        (np.ones(3), {"transform": (1, 0, 0, 0, 1, 0), "crs": DEGREES}, "rows and columns"),
        (np.ones((3, 3)), {"transform": (0, 0, 0, 0, 0, 0), "crs": DEGREES}, "six numbers"),
        ("nowhere.tif", {}, "no raster can be read"),
    ],
)
def test_what_is_no_prior_is_refused_in_one_sentence(
    release: dp.Release, prior: Any, arguments: Any, sentence: str
) -> None:
    with pytest.raises(dp.BadInputError, match=sentence):
        release.against(prior, **arguments)


def test_weights_are_asked_for_and_checked(release: dp.Release, wards: gpd.GeoDataFrame) -> None:
    with pytest.raises(dp.BadInputError, match="weight='population'"):
        release.against(wards)
    with pytest.raises(dp.BadInputError, match="finite numbers, 0 or more"):
        release.against(wards.assign(population=[1, -1, 2]), weight="population")
    elsewhere = wards.set_geometry(wards.translate(100, 0))
    with pytest.raises(dp.BadInputError, match="no weight inside the domain"):
        release.against(elsewhere, weight="population").points()


def test_sort_releases_say_that_they_have_no_use_for_it(domain: dp.Domain) -> None:
    release = dp.publish(somewhere(9000, 8), 3, domain, method="sort")
    with pytest.raises(dp.BadInputError, match="Only adaptive releases"):
        release.against(release)


def test_reading_against_a_prior_loads_nothing_private(release: dp.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r.json")
    code = (
        "import sys, dpsort_geo as dp\n"
        f"r = dp.read_release({str(tmp_path / 'r.json')!r})\n"
        "r.against(r).points()\n"
        "bad = [m for m in sys.modules if m.startswith('dpsort_geo') and '.private' in m]\n"
        "sys.exit(', '.join(bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
