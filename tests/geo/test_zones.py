"""Counts in zones near and far: what lies elsewhere holds nothing, what lies around holds all."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp

# some tests want little noise
pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

#: west, south, east, north and CRS of domains near and far from the edges of the globe
DOMAINS = {
    "city": ((-4.0, 40.2, -3.4, 40.7), "EPSG:4326"),
    "utm": ((400_000, 4_400_000, 500_000, 4_500_000), "EPSG:32630"),
    "web mercator": ((-2e7, -1.5e7, 2e7, 1.5e7), "EPSG:3857"),
    "across the antimeridian": ((170, -50, -170, -10), "EPSG:4326"),
    "more than half the globe": ((120, -60, 310, 60), "EPSG:4326"),
    "nearly a hemisphere": ((-85, -80, 85, 80), "EPSG:4326"),
    "around the pole": ((-3e6, -3e6, 3e6, 3e6), "EPSG:3995"),
    "polar cap in degrees": ((-180, 60, 180, 90), "EPSG:4326"),
    "the world": ((-180, -90, 180, 90), "EPSG:4326"),
}
ZONES = {
    "world": shapely.box(-180, -90, 180, 90),
    "north": shapely.box(-180, 0, 180, 90),
    "south": shapely.box(-180, -90, 180, 0),
    "east": shapely.box(0, -90, 180, 90),
    "west": shapely.box(-180, -90, 0, 90),
    "beyond 180": shapely.box(160, -60, 200, 60),
    "new zealand": shapely.box(165, -48, 180, -33),
    "europe": shapely.box(-12, 34, 40, 72),
}


@pytest.fixture(scope="module", params=DOMAINS)
def published(request):
    """A release with next to no noise, its points in degrees, and their number."""
    bounds, crs = DOMAINS[request.param]
    rng = np.random.default_rng(5)
    west, south, east, north = bounds
    east += 360 * (west > east)
    x, y = rng.uniform(west, east, 4000), rng.uniform(south, north, 4000)
    domain = dp.Domain.from_bounds(bounds, crs=crs)
    release = dp.publish(np.column_stack([x, y]), 200, domain)
    at = gpd.GeoSeries(gpd.points_from_xy((x + 180) % 360 - 180 if crs == "EPSG:4326" else x, y))
    return release, at.set_crs(crs).to_crs("EPSG:4326")


def test_zones_of_any_size_hold_what_lies_in_them(published):
    release, at = published
    zones = gpd.GeoDataFrame({"zone": list(ZONES)}, geometry=list(ZONES.values()), crs="EPSG:4326")
    found = release.count_within(zones).set_index("zone").estimate
    x, y = at.x.to_numpy(), at.y.to_numpy()
    for name, shape in ZONES.items():
        west, south, east, north = shape.bounds
        inside = np.zeros(x.size, bool)
        for turn in (-360, 0, 360):
            inside |= (x + turn >= west) & (x + turn <= east)
        inside &= (y >= south) & (y <= north)
        count = 0 if np.isnan(found[name]) else found[name]  # none of it is in the domain
        assert count == pytest.approx(inside.sum(), abs=20), name


@pytest.mark.parametrize("crs", ["EPSG:3857", "EPSG:6933"])
def test_zones_on_a_cylinder_hold_the_same_as_in_degrees(published, crs):
    release, _ = published
    zones = gpd.GeoSeries([shapely.box(-179, -70, 179, 70), shapely.box(2, 62, 40, 80)], crs=4326)
    found = [release.count_within(zones.segmentize(0.5).to_crs(to)).estimate for to in (4326, crs)]
    np.testing.assert_allclose(found[0], found[1], atol=3)


def test_corners_that_are_nowhere_are_refused(published):
    release, _ = published
    with pytest.raises(dp.BadInputError, match="finite"):
        release.count_within(
            gpd.GeoSeries([shapely.Polygon([(0, 0), (1, np.inf), (1, 0)])], crs=4326)
        )


def test_domains_anywhere_on_the_globe_are_read_back_and_mapped(published, tmp_path):
    release, _ = published
    release.save(tmp_path / "r.json")
    again = dp.read_release(tmp_path / "r.json")
    assert again == release
    assert np.isfinite(again.domain.bounds).all()
    assert np.isfinite(again.points().total_bounds).all()
    assert np.isfinite(again.density().total_bounds).all()
    again.to_map(tmp_path / "m.html")


@pytest.fixture(scope="module")
def city():
    rng = np.random.default_rng(1)
    domain = dp.Domain.from_bounds((0, 0, 50_000, 50_000), crs="EPSG:32631")
    return dp.publish(rng.uniform(0, 50_000, (20_000, 2)), 10, domain)


def counted(release, *shapes):
    return release.count_within(gpd.GeoSeries(shapes, crs=release.domain.crs)).estimate.to_numpy()


def test_a_zone_has_the_same_answer_beside_large_ones(city):
    small, large = shapely.box(20_000, 20_000, 22_000, 22_000), shapely.box(-3e6, -3e6, 3e6, 3e6)
    alone, beside = counted(city, small)[0], counted(city, small, *[large] * 40)[0]
    assert alone > 0.5 and beside == pytest.approx(alone, rel=0.02)


def test_ten_thousand_zones_hold_everything_and_none_is_lost(city):
    x, y = (part.ravel() for part in np.meshgrid(np.arange(100) * 500.0, np.arange(100) * 500.0))
    found = counted(city, *shapely.box(x, y, x + 500, y + 500))
    assert found.sum() == pytest.approx(20_000, rel=1e-3)
    assert (found > 0).mean() > 0.5


def test_parts_that_overlap_count_once(city):
    one, two = shapely.box(5_000, 5_000, 20_000, 20_000), shapely.box(10_000, 5_000, 30_000, 20_000)
    twice = shapely.MultiPolygon([one, two])
    both, whole = counted(city, twice, shapely.union(one, two))
    assert both == pytest.approx(whole)


def test_a_bow_tie_counts_in_both_of_its_halves(city):
    tie = shapely.Polygon([(0, 0), (40_000, 40_000), (40_000, 0), (0, 40_000)])
    assert counted(city, tie)[0] == pytest.approx(20_000 * 0.32, rel=0.1)


def test_a_zone_in_the_working_crs_is_taken_as_it_is(city):
    triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
    (rings,) = city.domain.zone_rings([triangle], "EPSG:32631")
    assert len(rings) == 1 and len(rings[0]) == 4


def test_zones_without_a_geometry_column_are_refused_in_a_sentence(city):
    with pytest.raises(dp.BadInputError, match="set_geometry"):
        city.count_within(gpd.GeoDataFrame({"a": [1]}))


def test_more_confidence_gives_a_wider_interval(city):
    zone = gpd.GeoSeries([shapely.box(0, 0, 20_000, 20_000)], crs="EPSG:32631")
    narrow, wide = (city.count_within(zone, confidence=share).iloc[0] for share in (0.5, 0.99))
    assert wide.low < narrow.low <= narrow.high < wide.high


def test_the_old_name_of_confidence_still_works_and_says_so(city):
    zone = gpd.GeoSeries([shapely.box(0, 0, 20_000, 20_000)], crs="EPSG:32631")
    expected = city.count_within(zone, confidence=0.6)
    with pytest.warns(DeprecationWarning, match="confidence=") as caught:
        assert city.count_within(zone, level=0.6).equals(expected)
    assert caught[0].filename == __file__
    with pytest.raises(dp.BadInputError, match="confidence"):
        city.count_within(zone, confidence=1.5)


def test_web_mercator_is_measured_on_the_ground():
    box = gpd.GeoSeries([shapely.box(-74.2, 40.5, -73.8, 40.9)], crs="EPSG:4326")
    areas = [dp.Domain.from_polygon(box.to_crs(crs)).area for crs in (3857, 32618)]
    assert areas[0] == pytest.approx(areas[1], rel=0.01)
