"""A slice of a release is read like a release, and says that it is a slice."""

from __future__ import annotations

import datetime

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

DOMAIN = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
WEST = shapely.box(0, 0, 500, 1000)
HALVES = gpd.GeoDataFrame(
    {"name": ["west", "east"]}, geometry=[WEST, shapely.box(500, 0, 1000, 1000)], crs="EPSG:3857"
)


def published(n=3000, **options) -> dp.Release:
    rng = np.random.default_rng(1)
    when = np.datetime64("2026-01-01") + rng.integers(0, 365, n) * np.timedelta64(1, "D")
    frame = gpd.GeoDataFrame(
        {"ward": rng.choice([1, 2, 3], n), "when": when},
        geometry=shapely.points(rng.uniform(0, 1000, (n, 2))),
        crs="EPSG:3857",
    )
    year = dp.TimeAxis("when", "2026-01-01", "2027-01-01", **options)
    return dp.publish(frame, 1, DOMAIN, by={"ward": [1, 2, 3]}, time=year)


RELEASE = published()
MARCH = RELEASE.select(time="2026-03")


def test_a_boundary_is_the_same_before_and_after_a_slice_is_chosen():
    before = RELEASE.within(WEST, "EPSG:3857").select(ward=1)
    after = RELEASE.select(ward=1).within(WEST, "EPSG:3857")
    assert before.n == after.n < 0.5 * RELEASE.n
    west, east = zip(*(read.count_within(HALVES).estimate for read in (before, after)))
    assert west[0] == west[1] > 0
    assert np.isnan(east).all()  # outside of what is read


def test_points_of_a_slice_within_a_boundary_lie_inside_of_it():
    creek = shapely.difference(WEST, shapely.box(300.001, 0, 300.04, 900))
    points = RELEASE.within(creek, "EPSG:3857").select(ward=[1, 2, 3]).points()
    assert len(points) == RELEASE.n
    assert points.within(creek).all()


def test_a_slice_of_a_release_read_against_a_prior_is_read_against_it():
    against = RELEASE.against(published())
    assert against.select(ward=1).prior is against.prior


@pytest.mark.parametrize(
    "asked",
    [
        pd.Timestamp("2026-03-01"), datetime.date(2026, 3, 9), datetime.datetime(2026, 3, 9, 12),
        np.datetime64("2026-03-31"), pd.Period("2026-03"), ["2026-03"],
        pd.DatetimeIndex(["2026-03-01"]),
        MARCH.points()["when"].iloc[0],
    ],
    ids=str,
)  # fmt: skip
def test_dates_of_any_kind_choose_their_bin(asked):
    assert RELEASE.select(time=asked).n == MARCH.n


@pytest.mark.parametrize("asked", [2, "2", 2.0, np.int64(2), [2], pd.Series([2]), {"2"}], ids=str)
def test_numbers_of_any_kind_choose_their_category(asked):
    assert RELEASE.select(ward=asked).n == RELEASE.select(ward="2").n


def test_every_value_of_a_published_column_chooses_its_slice():
    points = RELEASE.points()
    for value, many in points["ward"].value_counts().items():
        assert abs(RELEASE.select(ward=value).n - many) <= 1
    assert sum(RELEASE.select(time=own).n for own in points["when"].unique()) == pytest.approx(
        RELEASE.n, abs=12
    )


def test_a_missing_date_chooses_the_bin_of_missing_ones():
    release = published(other=True)
    assert release.select(time=pd.NaT).n == release.select(time="other").n


@pytest.mark.parametrize(
    "asked",
    [
        {"time": "2026-03", "when": "2026-04"}, {"ward": 7}, {"ward": True}, {"ward": None},
        {"ward": []}, {"ward": object()}, {"time": 3}, {"time": pd.NaT}, {"time": b"2026-03"},
        {"time": []},
    ],
)  # fmt: skip
def test_what_no_slice_is_called_is_refused_in_one_sentence(asked):
    with pytest.raises(dp.BadInputError, match=r"^[^\n]+\.$"):
        RELEASE.select(**asked)


def test_a_slice_says_that_it_is_one_and_no_error_that_is_not_its_own(tmp_path):
    one = RELEASE.select(ward=2, time="2026-03")
    said = one.statement()
    assert said["slice"] == "ward: 2; when: 2026-03"
    assert one.size == one.n == len(one.points())
    assert said["expected_error"] is None
    assert RELEASE.statement()["expected_error"] > 0
    assert "off by about" not in repr(one)
    assert "further off" in str(one)
    page = tmp_path / "slice.html"
    one.to_map(page)
    text = page.read_text()
    assert "<title>Protected points: 2; 2026-03</title>" in text
    assert "typically" not in text
    one.to_geojson(tmp_path / "slice.geojson")
    assert '"slice": "ward: 2; when: 2026-03"' in (tmp_path / "slice.geojson").read_text()


def test_a_slice_is_called_by_its_first_and_last_month():
    assert RELEASE.select(time="2026").slice_words() == "when: 2026-01 to 2026-12"
    odd = RELEASE.select(time=["2026-01", "2026-02", "2026-05"], ward=[1, 3])
    assert odd.slice_words() == "ward: 1, 3; when: 2026-01, 2026-02, 2026-05"
    many = RELEASE.select(time=[f"2026-{month:02d}" for month in (1, 2, 3, 4, 5, 6, 8, 9)])
    assert many.slice_words().endswith("2026-06 and 2 more")
    undated = published(other=True).select(time=["2026-11", "2026-12", "other"])
    assert undated.slice_words() == "when: 2026-11, 2026-12, other"


def test_a_release_says_how_it_is_read():
    assert "read within a boundary" in repr(RELEASE.within(WEST, "EPSG:3857"))
    assert "read against a prior" in repr(RELEASE.against(published()))
    assert "read" not in repr(RELEASE)


def test_values_to_count_by_belong_to_select():
    with pytest.raises(dp.BadInputError, match="select"):
        RELEASE.count_within(HALVES, by={"ward": [1]})


@pytest.mark.parametrize("confidence", ["a", None, 0, 1, np.nan])
def test_a_confidence_that_is_no_share_is_refused(confidence):
    with pytest.raises(dp.BadInputError, match="confidence"):
        RELEASE.count_within(HALVES, confidence=confidence)
