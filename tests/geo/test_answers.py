"""What a reader asks of a release: counts on land, rates, comparisons, what is outside."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp

N = 6000
#: an island of odd shape, and its two counties
LAND = shapely.Polygon(
    [(-3.9, 40.12), (-3.2, 40.07), (-3.11, 40.4), (-3.4, 40.55), (-3.3, 40.9), (-3.85, 40.83)],
    [[(-3.6, 40.3), (-3.5, 40.3), (-3.52, 40.4)]],
)
HALVES = shapely.box(-5, 39, -3.5, 42), shapely.box(-3.5, 39, -2, 42)


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rng = np.random.default_rng(8)
    at = rng.uniform((-4, 40), (-3, 41), (4 * N, 2))
    return at[shapely.contains_xy(LAND, *at.T)][:N]


@pytest.fixture(scope="module")
def release(points):
    domain = dp.Domain.from_bounds((-4, 40, -3, 41), crs="EPSG:4326")
    return dp.publish(points, 1, domain)


@pytest.fixture
def counties() -> gpd.GeoDataFrame:
    shapes = [shapely.intersection(LAND, half) for half in HALVES]
    people = {"name": ["west", "east"], "population": [20_000, 0]}
    return gpd.GeoDataFrame(people, geometry=shapes, crs="EPSG:4326")


def inside(frame: gpd.GeoDataFrame) -> np.ndarray:
    return shapely.contains_xy(LAND, frame.geometry.x, frame.geometry.y)


def test_points_within_a_boundary_lie_in_the_polygon_itself(release):
    assert not inside(release.points()).all()
    land = release.within(LAND, crs="EPSG:4326")
    assert len(land.points()) == N and inside(land.points()).all()
    assert inside(land.points(diffuse=False)).all()


@pytest.mark.parametrize("order", [6, None])
@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_points_of_a_polygon_domain_lie_in_the_polygon(points, method, order):
    domain = dp.Domain.from_polygon(LAND, crs="EPSG:4326", order=order)
    assert inside(dp.publish(points, 1, domain, method=method).points()).all()


@pytest.mark.parametrize("order", [7, None])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_polygon_of_a_domain_holds_n_exactly_and_a_smaller_one_does_not(points, order):
    domain = dp.Domain.from_polygon(LAND, crs="EPSG:4326", order=order)
    less = LAND.buffer(-0.4 * domain.cell_size / 111_000) if order else LAND.buffer(-0.002)
    zones = gpd.GeoSeries([LAND, shapely.box(-5, 39, -2, 42), less], crs="EPSG:4326")
    counted = dp.publish(points, 1, domain).count_within(zones)
    same, around, smaller = counted[["estimate", "low", "high"]].to_numpy().tolist()
    assert same == around == [N, N, N]
    assert smaller[0] < N and smaller[1] < N


def test_a_boundary_holds_n_exactly(release):
    zones = gpd.GeoSeries([LAND], crs="EPSG:4326")
    counted = release.within(LAND, crs="EPSG:4326").count_within(zones)
    assert counted[["estimate", "low", "high"]].to_numpy().tolist() == [[N, N, N]]


def test_a_boundary_loses_no_points_to_the_water(release, counties):
    # every point is on land; the box does not know
    before = release.count_within(counties).estimate.sum()
    after = release.within(counties).count_within(counties).estimate.sum()
    assert before < 0.995 * N and after == pytest.approx(N, rel=2e-3)


def test_all_reading_follows_a_boundary(release, tmp_path):
    land = release.within(gpd.GeoSeries([LAND], crs="EPSG:4326"))
    cells = land.density(5000)
    assert cells["count"].sum() == pytest.approx(N)
    assert len(cells) < 0.8 * len(release.density(5000))
    land.save(tmp_path / "r.json")
    assert dp.read_release(tmp_path / "r.json").to_json() == release.to_json()
    land.to_map(tmp_path / "map.html")


def test_a_zone_outside_has_no_count_and_one_that_reaches_out_says_so(release):
    shapes = [
        shapely.box(10, 10, 11, 11),
        shapely.box(-4.5, 40, -3.5, 41),
        shapely.box(-3.8, 40.1, -3.2, 40.5),
        shapely.box(-20, 30, 10, 50),
    ]
    found = release.count_within(gpd.GeoSeries(shapes, crs="EPSG:4326"))
    assert found.loc[0, ["estimate", "low", "high"]].isna().all() and not found.reliable[0]
    assert found.covered.tolist()[:3] == pytest.approx([0, 0.5, 1], abs=0.002)
    assert 0 < found.covered[3] < 0.003
    assert found.loc[3, ["estimate", "low", "high"]].tolist() == [N, N, N]


def test_a_zone_in_another_crs_is_covered_as_much(release):
    half = gpd.GeoSeries([shapely.box(-4.5, 40, -3.5, 41)], crs="EPSG:4326")
    for crs in ("EPSG:3857", "EPSG:25830"):
        found = release.count_within(half.to_crs(crs))
        assert found.covered[0] == pytest.approx(0.5, abs=0.01)


def test_reliable_is_half_an_interval_within_a_share(release, counties):
    found = release.count_within(counties, reliable=0.05)
    half = (found.high - found.low) / 2
    assert (found.reliable == (half <= 0.05 * found.estimate)).all()
    assert release.count_within(counties).reliable.all()
    assert not release.count_within(counties, reliable=1e-4).reliable.any()
    with pytest.raises(dp.BadInputError, match="reliable"):
        release.count_within(counties, reliable=0)


def test_rates_have_the_limits_of_their_counts(release, counties):
    found = release.count_within(counties, per="population")
    assert found.rate[0] == found.estimate[0] / 20_000
    assert (found.low_rate[0], found.high_rate[0]) == (found.low[0] / 2e4, found.high[0] / 2e4)
    assert np.isnan(found.rate[1])  # nobody lives there
    for column in ("name", "nothing"):
        with pytest.raises(dp.BadInputError, match="column of numbers"):
            release.count_within(counties, per=column)


def test_zones_are_compared_by_label_or_by_name(release, counties):
    found = release.compare(counties, "west", "east")
    assert found.equals(release.compare(counties, 0, 1))
    count = release.count_within(counties).estimate
    assert found.loc["difference", "estimate"] == pytest.approx(count[0] - count[1])
    assert found.loc["ratio", "estimate"] == pytest.approx(count[0] / count[1])
    assert (found.low < found.estimate).all() and (found.estimate < found.high).all()
    with pytest.raises(dp.BadInputError, match="names no zone"):
        release.compare(counties, "west", "north")
    with pytest.raises(dp.BadInputError, match="overlap"):
        release.compare(counties, 0, 0)


def test_the_release_says_how_wrong_it_is(release):
    assert f"{release.expected_error:.0f}"[:2] in repr(release)
    assert release.error_words() in str(release)
    assert release.error_words() in release._repr_html_()
    assert release.error_words() in release.map_page().html()
    plan = dp.plan(N, 1, release.domain)
    assert release.expected_error == plan.expected_error


def test_a_boundary_elsewhere_is_refused(release):
    with pytest.raises(dp.BadInputError):
        release.within(shapely.box(50, 50, 51, 51), crs="EPSG:4326")


@pytest.fixture(scope="module")
def sliced(points):
    kind = np.repeat(["theft", "noise", "other"], [3000, 2000, N - 5000])
    frame = gpd.GeoDataFrame({"type": kind}, geometry=gpd.points_from_xy(*points.T), crs=4326)
    domain = dp.Domain.from_polygon(LAND, crs="EPSG:4326")
    return dp.publish(frame, 20, domain, by={"type": ["theft", "noise", "other"]})


def test_categories_in_one_zone_are_compared(sliced):
    zones = gpd.GeoDataFrame({"name": ["all"]}, geometry=[LAND], crs="EPSG:4326")
    found = sliced.compare(zones, ("all", {"type": "theft"}), ("all", {"type": "noise"}))
    assert found.estimate["difference"] == pytest.approx(1000, abs=60)
    assert found.estimate["ratio"] == pytest.approx(1.5, abs=0.05)
    assert (found.low < found.estimate).all() and (found.estimate < found.high).all()


def test_the_intervals_of_slices_are_added_with_what_one_takes_from_the_other(sliced):
    zones = gpd.GeoDataFrame({"name": ["all"]}, geometry=[LAND], crs="EPSG:4326")
    theft, noise = (
        sliced.select(type=kind).count_within(zones).iloc[0] for kind in ("theft", "noise")
    )
    found = sliced.compare(zones, ("all", {"type": "theft"}), ("all", {"type": "noise"}))
    up, down = theft.high - theft.estimate, noise.estimate - noise.low
    above = found.high["difference"] - found.estimate["difference"]
    assert above == pytest.approx(np.sqrt(up**2 + down**2 + up * down))  # one half between three


def test_slices_of_two_zones_are_compared(sliced, counties):
    west, east = ("west", {"type": "theft"}), ("east", {"type": "noise"})
    found = sliced.compare(counties, west, east)
    one = sliced.select(type="theft").count_within(counties).estimate[0]
    two = sliced.select(type="noise").count_within(counties).estimate[1]
    assert found.estimate["difference"] == pytest.approx(one - two, rel=1e-3)
    alike = sliced.compare(counties, west, ("east", {"type": "theft"}))
    plain = sliced.select(type="theft").compare(counties, "west", "east")
    assert alike.equals(plain)


@pytest.mark.parametrize(
    "a, b",
    [
        ({"type": "theft"}, {"type": "noise"}),
        (("west", {"type": "theft"}), "west"),
        (("west", {"type": "theft"}), ("west", {"type": ["theft", "noise"]})),
    ],
)
def test_slices_that_share_points_or_have_no_zone_are_not_compared(sliced, counties, a, b):
    with pytest.raises(dp.BadInputError, match="slice"):
        sliced.compare(counties, a, b)
