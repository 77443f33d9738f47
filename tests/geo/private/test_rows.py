"""Which rows `publish` takes, which ledger it debits, and what it refuses before it does."""

from __future__ import annotations

import shutil

import geopandas as gpd
import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.core.private.ledger_file import default_path

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

DOMAIN = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857", order=5)
RNG = np.random.default_rng(1)
FRAME = gpd.GeoDataFrame(
    {"rider": RNG.integers(0, 50, 300), "card": RNG.integers(0, 3, 300).astype(str)},
    geometry=gpd.points_from_xy(RNG.uniform(10, 990, 300), RNG.uniform(20, 980, 300)),
    crs="EPSG:3857",
)


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSORT_GEO_LEDGER", str(tmp_path / "own.sqlite"))
    return dp.Ledger(default_path())


def test_true_is_the_users_own_ledger_and_nothing_is_written_unasked(own):
    assert dp.publish(FRAME, 1, DOMAIN).release.ledger is False
    assert not own.path.exists()
    assert dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips").release.ledger is True
    assert own.spent("TRIPS") == 1


def test_a_release_without_a_ledger_says_so_in_its_repr_and_statement(own):
    bare = dp.publish(FRAME, 1, DOMAIN)
    assert "no ledger" in repr(bare) and "No ledger was debited" in str(bare)
    kept = dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips")
    assert "ledger" not in repr(kept) and "ledger" not in str(kept)


def test_a_copy_under_another_name_is_refused_unless_told(own, tmp_path):
    first, copy = tmp_path / "trips.gpkg", tmp_path / "rides.gpkg"
    FRAME.to_file(first)
    shutil.copy(first, copy)
    dp.publish(first, 1, DOMAIN, ledger=True)
    with pytest.raises(dp.AnotherNameError, match="or a copy of them, as 'trips': publish with"):
        dp.publish(copy, 1, DOMAIN, ledger=True)
    assert len(own.entries()) == 1
    dp.publish(copy, 1, DOMAIN, ledger=True, dataset="Trips")
    dp.publish(copy, 1, DOMAIN, ledger=True, another_name=True)
    assert (own.spent("trips"), own.spent("rides")) == (2, 1)


@pytest.mark.parametrize("name", ["trips.geojson", "trips.gpkg", "trips"])
def test_a_release_is_not_saved_under_the_name_of_something_else(own, tmp_path, name):
    with pytest.raises(dp.BadInputError, match="should end in .json"):
        dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips", save=tmp_path / name)
    assert not own.entries() and not list(tmp_path.glob("trips*"))


def test_a_release_is_saved_at_once_and_the_ledger_tells_where(own, tmp_path):
    out = tmp_path / "trips.release.json"
    made = dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips", save=out)
    assert dp.read_release(out).release == made.release
    assert own.entries()[0].release == str(out)


def test_a_release_that_cannot_be_saved_costs_nothing(own, tmp_path):
    points = tmp_path / "trips.parquet"
    FRAME.to_parquet(points)
    before = points.read_bytes()
    for source, out in ((FRAME, tmp_path / "nowhere" / "a.json"), (points, points)):
        with pytest.raises(dp.BadInputError):
            dp.publish(source, 1, DOMAIN, ledger=True, dataset="trips", save=out)
    assert points.read_bytes() == before and own.entries() == []


def test_a_population_is_written_down(own):
    dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips", population="riders")
    dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="cards", population="Riders")
    assert own.spent("riders", population=True) == 2


def test_what_is_refused_about_rows_costs_nothing(own):
    for bad in (
        {"outside": "drop"}, {"outside": "clip"}, {"max_points": 4},
        {"max_points": 4, "person": "rider"}, {"window": ("2026-01-01", "2026-02-01")},
        {"date": "rider"}, {"window": ("b", "a"), "date": "rider"},
        {"person": ["rider", "nobody"]}, {"person": ["rider", "rider"]},
        {"max_points": 0, "person": "rider", "neighbours": "add-remove"},
        {"max_points": 1.5, "person": "rider", "neighbours": "add-remove"},
        {"person": "rider", "client": object()},
        {"outside": "drop", "neighbours": "add-remove", "client": object()},
    ):  # fmt: skip
        with pytest.raises(dp.BadInputError):
            dp.publish(FRAME, 1, DOMAIN, ledger=True, dataset="trips", **bad)
    cells = dp.count_cells(FRAME, DOMAIN)
    with pytest.raises(dp.BadInputError, match="give the points themselves"):
        dp.publish(cells, 1, DOMAIN, outside="drop", neighbours="add-remove", ledger=True,
                   dataset="trips")  # fmt: skip
    assert own.entries() == []


def test_a_list_of_names_beside_an_array_is_one_name_a_point():
    at = np.c_[FRAME.geometry.x, FRAME.geometry.y]
    names = [str(name) for name in FRAME["rider"]]
    assert dp.publish(at, 1, DOMAIN, person=names).n == FRAME["rider"].nunique()
    assert dp.publish(at[:2], 1, DOMAIN, person=["rider", "card"]).n == 2
    assert dp.publish(FRAME, 1, DOMAIN, person=names).n == FRAME["rider"].nunique()
    assert dp.publish(FRAME, 1, DOMAIN, person=["rider"]).n == FRAME["rider"].nunique()
    both = dp.publish(FRAME, 1, DOMAIN, person=["rider", "card"])
    assert both.n == FRAME.groupby(["rider", "card"]).ngroups


def test_points_with_axes_and_up_to_m_points_a_person():
    by = {"card": ["0", "1", "2"]}
    few = dp.publish(FRAME, "900", DOMAIN, by=by, person="rider", max_points=3,
                     neighbours="add-remove")  # fmt: skip
    assert few.n == FRAME.groupby("rider").size().clip(upper=3).sum()
    assert few.release.kind == "views" and few.release.version == 3
    assert len(few.verify()) > 3 and set(few.points().columns) == {"geometry", "card"}


def test_the_plan_compares_what_to_protect_and_tells_what_add_remove_costs():
    plan = dp.plan(50_000, 1, DOMAIN, persons=9_000, max_points=4, person_days=30_000)
    point, person, few, day = plan.choices
    assert (point.n, person.n, few.n, day.n) == (50_000, 9_000, 36_000, 30_000)
    assert point.expected_error < day.expected_error < person.expected_error
    assert "max_points=4" in str(plan) and "2 % of epsilon" in str(plan)
    fine = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    one = dp.plan(50_000, 1, fine).expected_error
    half = dp.plan(50_000, "0.5", fine, neighbours="add-remove")
    assert 1.005 < half.expected_error / one < 1.02
    assert "not been there" in str(half)
    found = dp.plan(50_000, domain=DOMAIN, target_error=5, neighbours="add-remove")
    assert dp.plan(50_000, found.epsilon, DOMAIN, neighbours="add-remove").expected_error <= 5
    for bad in ({"max_points": 4}, {"persons": 0}, {"persons": 60_000}):
        with pytest.raises(dp.BadInputError):
            dp.plan(50_000, 1, DOMAIN, **bad)


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_release_tells_the_error_that_its_plan_told(method, neighbours):
    options = {"method": method, "neighbours": neighbours}
    # many, so that n under add-remove is never below one, of which no plan is made
    many = gpd.points_from_xy(RNG.uniform(10, 990, 5_000), RNG.uniform(20, 980, 5_000))
    made = dp.publish(gpd.GeoSeries(many, crs="EPSG:3857"), 1, DOMAIN, **options)
    plan = dp.plan(made.n, 1, DOMAIN, **options)
    assert made.expected_error == pytest.approx(plan.expected_error)
