"""A dry run sees what would cost epsilon, shows it to the publisher alone, and touches nothing."""

from __future__ import annotations

from functools import partial

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.private.extent import is_elsewhere
from dpsort_geo.geo.private.report import PRIVATE

BOX = (-74.3, 40.5, -73.7, 40.95)
CITY = dp.Domain.from_bounds(BOX, crs="EPSG:4326")
PARIS = dp.Domain.from_bounds((2.2, 48.8, 2.5, 48.95), crs="EPSG:4326")
N = 400
XY = np.random.default_rng(5).normal((-73.95, 40.72), 0.03, (N, 2))


def frame(**columns):
    return pd.DataFrame({"lon": XY[:, 0], "lat": XY[:, 1], **columns})


def test_honest_points_are_described_and_nothing_is_wrong():
    found = dp.check(frame(), CITY)
    assert (found.rows, found.missing, found.outside, found.problems) == (N, 0, 0, ())
    assert "'lon' and 'lat' in EPSG:4326" in found.read
    assert found.plan.n == N and found.plan.expected_error == dp.plan(N, 1, CITY).expected_error
    assert found.picture.sum() == N


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        ("parquet", "Parquet, col"), ("geoparquet", "GeoParquet, geom"), ("kml", "KML, point"),
        ("gpkg", "GeoPackage, point"), ("shp", "Shapefile, point"), ("geojson", "GeoJSON, point"),
        ("fgb", "FlatGeobuf, point"), ("csv", "CSV, col"),
    ],
)  # fmt: skip
def test_a_format_is_called_what_its_users_call_it(tmp_path, ending, name):
    path = tmp_path / f"calls.{ending}"
    placed = gpd.GeoDataFrame({"k": 1}, geometry=shapely.points(XY), crs=4326, index=range(N))
    write = {
        "csv": frame().to_csv,
        "parquet": frame().to_parquet,
        "geoparquet": placed.to_parquet,
        "kml": partial(placed.to_file, driver="KML"),
    }
    write.get(ending, placed.to_file)(path)
    assert dp.check(path, CITY).read.startswith(name)


def test_rows_without_a_place_and_points_outside_are_counted_by_side():
    points = frame()
    points.loc[:2, "lat"] = np.nan
    points.loc[3, "lon"] = -80.0
    points.loc[4:5, "lat"] = 45.0
    points.loc[6:8, "lon"] = -70.0
    found = dp.check(points, CITY)
    assert (found.missing, found.outside) == (3, 6)
    assert found.sides == {"west": 1, "south": 0, "east": 3, "north": 2, "beside": 0}
    assert "no place" in found.problems[0]
    half = gpd.GeoSeries(
        [shapely.Polygon([(-74.3, 40.5), (-73.7, 40.5), (-74.3, 40.95)])], crs=4326
    )
    beside = dp.check(frame(), half)
    assert beside.sides["beside"] == beside.outside > 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "gpkg", "geojson", "frame"])
def test_missing_places_are_counted_in_every_kind_of_input(tmp_path, kind):
    points = gpd.GeoDataFrame(
        {"who": [f"p{i % 7}" for i in range(N)]}, geometry=shapely.points(XY), crs=4326
    )
    points.loc[:4, "geometry"] = None
    points.loc[9, "who"] = None
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        table = points.drop(columns="geometry").assign(lon=XY[:, 0], lat=XY[:, 1])
        table.loc[:4, "lon"] = np.nan
        table.to_csv(path, index=False)
    elif kind == "parquet":
        points.to_parquet(path)
    elif kind != "frame":
        points.to_file(path)
    found = dp.check(points if kind == "frame" else path, CITY, person="who")
    assert (found.rows, found.missing, found.nobody) == (N, 5, 1)
    assert (found.persons, found.most_points) == (7, 57)
    assert len(found.problems) == 2


def test_numbers_that_are_none_are_counted_as_rows_without_a_place(tmp_path):
    (tmp_path / "a.csv").write_text("lon,lat\n-73.9,40.7\n-73.8,n/a\n,40.7\n")
    assert dp.check(tmp_path / "a.csv", CITY).missing == 2


# mistakes that cost epsilon today -----------------------------------------------------------------


def test_swapped_axes_are_seen():
    (problem,) = dp.check(frame().rename(columns={"lon": "lat", "lat": "lon"}), CITY).problems
    assert "axes are swapped" in problem


@pytest.mark.parametrize("crs", [32618, 3857])
def test_a_wrong_crs_is_seen_and_the_right_one_named(crs):
    projected = gpd.GeoSeries(shapely.points(XY), crs=4326).to_crs(crs).get_coordinates()
    for said in (None, 27700):
        (problem,) = dp.check(projected, CITY, points_crs=said).problems
        assert "CRS is wrong" in problem and f"EPSG:{crs}" in problem
    assert dp.check(projected, CITY, points_crs=crs).problems == ()
    (degrees,) = dp.check(XY, dp.Domain.from_bounds((0, 0, 9, 9), crs=4326)).problems
    assert "domain is elsewhere" in degrees


def test_numbers_that_name_no_crs_are_said_to_be_taken_for_the_domains(tmp_path):
    projected = gpd.GeoSeries(shapely.points(XY), crs=4326).to_crs(32618).get_coordinates()
    projected.to_csv(tmp_path / "a.csv", index=False)
    for points in (projected, projected.to_numpy(), tmp_path / "a.csv"):
        assert "(that of the domain, because they name none" in dp.check(points, CITY).read
        with pytest.raises(BadInputError, match="name no CRS.*points_crs="):
            dp.publish(points, 1, CITY)
    assert "domain" not in dp.check(frame(), CITY).read


def test_a_domain_elsewhere_is_seen_with_its_side():
    (problem,) = dp.check(frame(), PARIS).problems
    assert "domain is elsewhere" in problem and "to its west" in problem


def test_bounds_that_are_those_of_the_points_are_seen():
    west, south = XY.min(axis=0)
    east, north = XY.max(axis=0)
    own = dp.Domain.from_bounds((west, south, east, north), crs="EPSG:4326")
    assert any("bounds of the points themselves" in one for one in dp.check(XY, own).problems)


def test_publish_refuses_before_the_debit_what_cannot_overlap(tmp_path):
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    points = gpd.GeoSeries(shapely.points([[530000.0, 180000.0]] * 9), crs=27700)
    with pytest.raises(BadInputError, match="another part of the world"):
        dp.publish(points, 1, CITY, ledger=book, dataset="calls")
    assert book.entries() == []
    assert is_elsewhere(points.crs, CITY) and not is_elsewhere(points.crs, PARIS)


@pytest.mark.parametrize("zone", [32617, 32618, 32619, 26918, 2263, 3857, 6933, 5070, 4269])
def test_a_crs_that_reaches_the_domain_is_never_refused(zone):
    import pyproj

    assert not is_elsewhere(pyproj.CRS(zone), CITY)


def test_a_domain_across_the_antimeridian_is_where_it_is():
    import pyproj

    fiji = dp.Domain.from_bounds((176, -20, -178, -15), crs="EPSG:4326")
    assert not is_elsewhere(pyproj.CRS(3460), fiji)
    assert is_elsewhere(pyproj.CRS(27700), fiji)


# what and when ------------------------------------------------------------------------------------


def test_categories_and_dates_are_held_against_those_declared():
    kinds = ["theft"] * 300 + ["arson"] * 90 + ["secret kind"] * 8 + [None] * 2
    when = pd.to_datetime("2025-12-30") + pd.to_timedelta(np.arange(N), "D")
    points = frame(kind=kinds, when=when)
    axis = dp.TimeAxis("when", "2026-01-01", "2027-01-01", every="1 month")
    found = dp.check(points, CITY, by={"kind": ["theft", "arson", "fire"]}, time=axis)
    what, dates = found.axes
    assert what.declared == {"theft": 300, "arson": 90, "fire": 0}
    assert (what.strange, what.missing) == ({"secret kind": 8}, 2)
    assert (dates.early, dates.late, dates.missing) == (2, 33, 0)
    assert sum("'kind'" in problem for problem in found.problems) == 2
    rest = dp.check(points, CITY, by={"kind": ["theft", "arson", "other"]}).axes[0]
    assert rest.takes_rest and rest.declared["other"] == 8


def test_an_axis_that_would_tell_nothing_is_seen():
    when = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(N) // 10, "D")
    points = frame(kind=["Theft"] * N, when=when)
    years = [dp.TimeAxis("when", *ends, every="1 week") for ends in (
        ("2025-01-01", "2026-01-01"), ("2026-04-15", "2026-07-01"), ("2026-01-01", "2026-04-01"),
    )]  # fmt: skip
    for axis, where in zip(years, ("after", "before", None)):
        found = dp.check(points, CITY, time=axis).problems
        assert [f"lie {where} the declared range" in one for one in found] == [True] * bool(where)
    (problem,) = dp.check(points, CITY, by={"kind": ["theft", "other"]}).problems
    assert "all become 'other'" in problem and "Theft" not in problem
    points.loc[0, "kind"] = "theft"
    assert dp.check(points, CITY, by={"kind": ["theft", "other"]}).problems == ()


def test_a_mark_before_decimals_that_is_not_there_is_not_asked_for_again(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    (problem,) = dp.check(tmp_path / "a.csv", CITY, decimal=",").problems
    assert "with a point, leave decimal=',' out" in problem


# private, and harmless ----------------------------------------------------------------------------


def test_the_first_line_says_that_it_is_private_and_the_repr_says_nothing():
    found = dp.check(frame(), CITY)
    assert str(found).splitlines()[0] == PRIVATE
    assert PRIVATE in found._repr_html_() and "<svg" in found._repr_html_()
    assert repr(found) == "<Check: private; print it to see it>"
    assert found.facts()["private"] == PRIVATE
    picture = [line for line in str(found).splitlines() if "█" in line]
    assert picture and max(map(len, picture)) <= 64


def test_a_card_of_a_plan_escapes_what_it_shows_and_is_no_dataclass():
    card = dp.plan(1, 1, CITY)._repr_html_()
    assert "<table>" in card and "Plan(" not in card
    with pytest.warns(dp.PrivacyWarning):
        assert str(dp.publish(XY[:1], 1, CITY)).startswith("adaptive release of exactly 1 point at")
    alone = dp.check(frame(who=range(N)), CITY, person="who")
    assert "400 persons: 1 point each by the median" in str(alone)
    assert "1 point," in str(dp.plan(1, 1, CITY)) and "2 points," in str(dp.plan(2, 1, CITY))
