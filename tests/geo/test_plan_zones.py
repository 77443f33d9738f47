"""What a plan says about zones and cells before anything is spent."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.geo.private.rehearsal import invent_cells, rehearse

DOMAIN = dp.Domain.from_bounds((0, 0, 51_200, 51_200), crs="EPSG:27700")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def wards() -> gpd.GeoDataFrame:
    edge = np.arange(0, 51_200, 12_800)
    shapes = [shapely.box(x, y, x + 12_800, y + 12_800) for x in edge for y in edge]
    return gpd.GeoDataFrame({"ward": range(16)}, geometry=shapes, crs="EPSG:27700")


def clumped(n: int) -> np.ndarray:
    rng = np.random.default_rng(4)
    town = rng.random((40, 2)) * 51_200
    at = town[rng.integers(0, 40, n)] + rng.normal(0, 3000, (n, 2))
    return np.clip(at, 0, 51_199)


@pytest.mark.parametrize(("n", "epsilon"), [(3_000, 1), (30_000, 0.3)])
def test_planned_half_widths_are_those_of_a_release(n, epsilon):
    planned = dp.plan(n, epsilon, DOMAIN, zones=wards()).zones
    found = dp.publish(clumped(n), epsilon, DOMAIN).count_within(wards())
    real = (found.high - found.low) / 2
    assert planned.half_width.mean() == pytest.approx(real.mean(), rel=0.35)
    assert planned.expected.sum() == pytest.approx(n)


def test_the_same_plan_twice_is_the_same():
    a, b = (dp.plan(2_000, 1, DOMAIN, zones=wards()).zones for _ in range(2))
    assert a.equals(b)


def test_more_epsilon_makes_intervals_narrower():
    wide, narrow = (dp.plan(5_000, e, DOMAIN, zones=wards()).zones for e in (0.1, 2))
    assert (narrow.half_width < 0.5 * wide.half_width).all()


def test_a_zone_outside_has_no_half_width():
    far = gpd.GeoSeries([shapely.box(90_000, 0, 99_000, 9_000)], crs="EPSG:27700")
    assert dp.plan(2_000, 1, DOMAIN, zones=far).zones.half_width.isna().all()


def test_invented_points_are_as_many_as_asked_and_on_allowed_cells():
    grid = Grid(0.0, 0.0, 1.0, 6, np.array([[5, 77], [1000, 3000]]))
    cells = invent_cells(grid, 5_000, np.random.default_rng(1))
    assert cells.n == 5_000 and grid.is_allowed(cells.index).all()
    assert (np.diff(cells.index) > 0).all()


def test_a_rehearsal_says_that_it_is_not_private():
    for method in ("adaptive", "sort", "hybrid"):
        release = rehearse(Grid(0.0, 0.0, 1.0, 6), 500, "0.5", method)
        assert not release.private and release.verify()


def test_a_resolution_sets_the_cells_of_plan_and_release():
    plan = dp.plan(5_000, 1, DOMAIN, resolution=250)
    assert (plan.cell, plan.default_cell) == (200.0, 6.25)
    assert "200 m" in str(plan) and "6.2 m" in str(plan)
    release = dp.publish(clumped(5_000), 1, DOMAIN, resolution=250)
    assert release.domain.cell_size == 200.0 and release.domain.side == DOMAIN.side
    assert len(release.points()) == 5_000


def test_nothing_is_spent_below_the_resolution():
    coarse = dp.publish(clumped(20_000), 1, DOMAIN, resolution=800)
    assert coarse.measured.level.max() <= coarse.domain.grid.order == 6


@pytest.mark.parametrize("resolution", [0, -5, float("nan"), 1e-9])
def test_a_resolution_that_is_no_length_is_refused(resolution):
    with pytest.raises(dp.BadInputError):
        dp.publish(clumped(100), 1, DOMAIN, resolution=resolution)


def test_half_widths_know_what_axes_and_a_noisy_n_cost():
    months = dp.TimeAxis("when", "2026-01-01", "2027-01-01")
    alone, with_axes, hidden, least = (
        float(dp.plan(20_000, epsilon, DOMAIN, zones=wards(), **more).zones.half_width.mean())
        for epsilon, more in (
            (1, {}),
            (1, {"by": {"type": ["a", "b", "c"]}, "time": months}),
            (0.5, {"neighbours": "add-remove"}),
            ("0.000001", {"time": months}),
        )
    )
    assert with_axes > 1.1 * alone
    assert hidden == pytest.approx(alone, rel=0.1)
    assert least <= 20_000


def test_a_plan_with_a_noisy_n_has_the_share_that_such_a_release_has():
    hours = dp.TimeAxis("when", every="1 hour", cycle="week")
    by = {"type": ["a", "b"]}
    plan = dp.plan(30_000, 1, DOMAIN, by=by, time=hours, neighbours="add-remove")
    assert plan.share == pytest.approx(0.72, abs=1e-6)
    kinds, when = np.array(["a", "b"])[np.arange(30_000) % 2], np.full(30_000, "2026-01-01")
    release = dp.publish(
        clumped(30_000), 1, DOMAIN, by=by, time=hours, neighbours="add-remove",
        values={"type": kinds, "when": when},
    )  # fmt: skip
    assert release.expected_error == pytest.approx(plan.expected_error, rel=0.01)


def test_the_error_to_expect_knows_how_coarse_the_cells_are():
    fine, coarse = (dp.plan(50_000, 1, DOMAIN, resolution=r) for r in (50, 10_000))
    assert coarse.expected_error > 10 * fine.expected_error
    usual = dp.plan(50_000, 1, DOMAIN)
    assert coarse.default_error == usual.expected_error and usual.default_error is None
    assert "without a resolution (a point is then off by about" in str(coarse)
    release = dp.publish(clumped(50_000), 1, DOMAIN, resolution=10_000)
    assert release.expected_error == pytest.approx(coarse.expected_error, rel=0.01)
    with pytest.raises(dp.BadInputError, match="as coarse as the whole domain"):
        dp.plan(50_000, 1, DOMAIN, resolution=80_000)


@pytest.mark.parametrize("epsilon", [0.3, 3])
def test_zones_of_a_town_at_a_shore_are_not_promised_narrower_intervals_than_they_get(epsilon):
    west = clumped(20_000) * [0.45, 1]  # all points in the west, and wards there only
    zones = wards()[wards().centroid.x < 0.45 * 51_200]
    planned = dp.plan(20_000, epsilon, DOMAIN, zones=zones).zones
    found = dp.publish(west, epsilon, DOMAIN).count_within(zones)
    real = (found.high - found.low) / 2
    assert planned.expected.sum() == pytest.approx(20_000, rel=0.15)
    assert 0.5 < (real / planned.half_width).median() < 1.3
