"""Categories and dates on the geopandas face and in the shell."""

from __future__ import annotations

import json
import traceback

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.cli import main
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.private.axes import count_with_axes
from dpsort_geo.geo.private.cluster import count_points
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.rows import Choice

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

DOMAIN = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326", order=8)
YEAR = dp.TimeAxis("when", start="2026-01-01", stop="2027-01-01", every="1 month")
BY = {"type": ["theft", "arson", "other"]}
AXES = make_axes(BY, YEAR)


def calls(n=4000, seed=3):
    """Theft in the west, arson in the east, something else everywhere."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["theft", "arson", "a secret kind"], n, p=[0.5, 0.3, 0.2])
    lon = np.select(
        [kind == "theft", kind == "arson"],
        [rng.normal(-74.15, 0.03, n), rng.normal(-73.85, 0.03, n)],
        rng.uniform(-74.3, -73.7, n),
    )
    hours = rng.integers(0, 365 * 24, n)
    when = pd.Timestamp("2026-01-01 00:30") + pd.to_timedelta(hours, unit="h")
    return gpd.GeoDataFrame(
        {"who": np.arange(n) // 2, "type": kind, "when": when},
        geometry=shapely.points(lon, rng.normal(40.7, 0.05, n)),
        crs="EPSG:4326",
    )


FRAME = calls()
HALVES = gpd.GeoDataFrame(
    {"zone": ["west", "east"]},
    geometry=[shapely.box(-74.3, 40.5, -74, 40.95), shapely.box(-74, 40.5, -73.7, 40.95)],
    crs="EPSG:4326",
)
RELEASE = dp.publish(FRAME, 3, DOMAIN, by=BY, time=YEAR)


def counted(points, values=None, **options):
    return count_with_axes(points, DOMAIN, AXES, Choice(**options), None, values, None)[0]


TABLE = counted(FRAME)


def same(cells):
    return np.array_equal(cells.index, TABLE.index) and np.array_equal(cells.count, TABLE.count)


def test_points_have_a_category_and_a_date_and_lie_where_they_would_without():
    points = RELEASE.points()
    assert list(points.columns) == ["type", "when", "geometry"] and len(points) == RELEASE.n
    assert set(points["type"]) <= set(BY["type"])
    assert points["when"].min() == pd.Timestamp("2026-01-01") and points["when"].dt.day.max() == 1
    x, y = RELEASE.coordinates()
    lon, lat = DOMAIN.unproject(x, y)
    assert np.array_equal(points.geometry.x, lon) and np.array_equal(points.geometry.y, lat)
    west = points[points["type"] == "theft"].geometry.x.mean()
    assert abs(west + 74.15) < 0.03


def test_a_slice_reads_like_a_release(tmp_path):
    march = RELEASE.select(type="theft", time="2026-03")
    truth = ((FRAME["type"] == "theft") & (FRAME["when"].dt.month == 3)).sum()
    assert abs(march.n - truth) < 60 and len(march.points()) == march.n
    assert set(march.points()["when"]) == {pd.Timestamp("2026-03-01")}
    count = march.count_within(HALVES)
    assert np.all((count["low"] <= count["estimate"]) & (count["estimate"] <= count["high"]))
    assert abs(march.density(2000)["count"].sum() - count["estimate"].sum()) < 0.01 * march.n
    march.to_map(tmp_path / "march.html")
    march.to_geojson(tmp_path / "march.geojson")
    assert len(gpd.read_file(tmp_path / "march.geojson")) == march.n
    assert "2026-03" in str(march)
    for wrong in (lambda: march.save(tmp_path / "a.json"), lambda: march.select(type="arson")):
        with pytest.raises(BadInputError):
            wrong()
    spring = RELEASE.select(when=["2026-03", "2026-04"])
    assert abs(spring.n - FRAME["when"].dt.month.isin([3, 4]).sum()) < 150


def test_a_long_table_has_a_row_for_each_zone_and_slice():
    table = RELEASE.count_within(HALVES, by=["type", "time"])
    answers = ["estimate", "low", "high", "reliable", "covered"]
    assert list(table.columns) == ["zone", "geometry", "type", "when", *answers]
    assert len(table) == 2 * 3 * 12
    assert abs(table["estimate"].sum() - RELEASE.count_within(HALVES)["estimate"].sum()) < 1
    theft = RELEASE.count_within(HALVES, by=["type"]).set_index(["zone", "type"])["estimate"]
    assert abs(theft["west", "theft"] - (FRAME["type"] == "theft").sum()) < 150
    assert theft["east", "theft"] < 150


def test_a_long_table_says_what_is_reliable_covered_and_a_rate_as_a_short_one_does():
    reaching_out = shapely.box(-74.6, 40.5, -74.0, 40.95)  # half of it lies in the domain
    zones = HALVES.assign(people=[5_000, 0], geometry=[reaching_out, HALVES.geometry.iloc[1]])
    table = RELEASE.count_within(zones, by=["type"], per="people", reliable=0.1)
    short = RELEASE.count_within(zones)
    np.testing.assert_array_equal(table["covered"], np.repeat(short["covered"], 3))
    assert short["covered"].iloc[0] == pytest.approx(0.5, abs=0.01)
    half = (table["high"] - table["low"]) / 2
    assert (table["reliable"] == (half <= 0.1 * table["estimate"])).all()
    assert table["reliable"].any() and not table["reliable"].all()
    np.testing.assert_allclose(table["rate"][:3], table["estimate"][:3] / 5_000)
    assert table["low_rate"].iloc[0] < table["rate"].iloc[0] < table["high_rate"].iloc[0]
    assert table["rate"][3:].isna().all()  # nobody lives there
    with pytest.raises(BadInputError, match="per="):
        RELEASE.count_within(zones, by=["type"], per="nobody")


def test_a_zone_outside_of_the_domain_has_no_count_of_any_slice_and_no_plot():
    afar = gpd.GeoDataFrame(
        {"zone": ["afar"]}, geometry=[shapely.box(2, 48, 3, 49)], crs="EPSG:4326"
    )
    zones = pd.concat([HALVES, afar])
    table = RELEASE.count_within(zones, by=["type"]).set_index("zone")
    assert table.loc["afar", ["estimate", "low", "high"]].isna().all(axis=None)
    assert table.loc[["west", "east"], ["estimate", "low", "high"]].notna().all(axis=None)
    assert RELEASE.series(zones)._repr_html_().count("<svg") == 2


def test_what_was_decoded_without_axes_has_no_slices():
    decoded = dp.publish(FRAME, 3, DOMAIN).decoded
    for ask in (decoded.labels, lambda: decoded.select({0: [0]})):
        with pytest.raises(BadInputError, match="no categories"):
            ask()


def test_a_series_has_a_row_a_bin_and_a_plot_a_zone():
    series = RELEASE.series(HALVES)
    assert len(series) == 24 and list(series["when"][:2].dt.month) == [1, 2]
    assert series._repr_html_().count("<svg") == 2


def test_a_release_with_axes_is_saved_and_read(tmp_path):
    RELEASE.save(tmp_path / "calls.release.json")
    again = dp.read_release(tmp_path / "calls.release.json")
    assert again.axes == AXES and again.verify()
    assert again.points().equals(RELEASE.points())


@pytest.mark.parametrize("ending", ["geojson", "parquet", "gpkg"])
def test_published_files_carry_the_columns_and_the_statement(tmp_path, ending):
    from dpsort_geo.geo.statement import read_statement

    path = tmp_path / f"calls.{ending}"
    write = {"geojson": "to_geojson", "parquet": "to_geoparquet", "gpkg": "to_gpkg"}[ending]
    getattr(RELEASE, write)(path)
    read = gpd.read_parquet(path) if ending == "parquet" else gpd.read_file(path)
    assert set(read.columns) == {"type", "when", "geometry"} and len(read) == RELEASE.n
    assert read_statement(path)["epsilon"] == "3"


@pytest.mark.parametrize("ending", ["parquet", "gpkg", "fgb", "geojson", "csv"])
def test_every_format_gives_the_same_counts(tmp_path, ending):
    path = tmp_path / f"calls.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path)
    elif ending == "csv":
        table = FRAME.drop(columns="geometry")
        table.assign(lon=FRAME.geometry.x, lat=FRAME.geometry.y).to_csv(path, index=False)
    else:
        options = {"COORDINATE_PRECISION": 17} if ending == "geojson" else {}
        FRAME.to_file(path, **options)
    assert same(counted(path))


def test_arrays_tables_features_and_dask_give_the_same_counts():
    at = np.column_stack([FRAME.geometry.x, FRAME.geometry.y])
    assert same(counted(at, values={name: FRAME[name].to_numpy() for name in ("type", "when")}))
    text = FRAME.assign(when=FRAME["when"].dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert same(counted(json.loads(text.to_json())))
    zone = FRAME.assign(when=FRAME["when"].dt.tz_localize("Asia/Tokyo"))
    assert same(counted(zone)) and same(
        counted(FRAME.assign(type=FRAME["type"].astype("category")))
    )
    dask = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(FRAME.drop(columns="geometry")).assign(lon=at[:, 0], lat=at[:, 1])
    work = Work(DOMAIN, None, AXES, method="views")
    assert same(count_points(dask.from_pandas(table, npartitions=5), work, None, None)[0])


def test_persons_spread_over_places_kinds_and_dates():
    release = dp.publish(FRAME, 1, DOMAIN, by=BY, time=YEAR, person="who", neighbours="add-remove")
    assert release.unit == "person" and release.verify()
    assert counted(FRAME, person="who").n == 2000 * 2**20


SECRETS = ("a secret kind", "1999-09-09")


@pytest.mark.parametrize("ending", ["frame", "parquet", "csv", "geojson"])
def test_an_undeclared_kind_is_refused_without_a_word_about_it(tmp_path, ending):
    points = FRAME
    if ending != "frame":
        points = tmp_path / f"calls.{ending}"
        table = FRAME.drop(columns="geometry").assign(lon=FRAME.geometry.x, lat=FRAME.geometry.y)
        if ending == "csv":
            table.to_csv(points, index=False)
        else:
            (FRAME.to_parquet if ending == "parquet" else FRAME.to_file)(points)
    with pytest.raises(BadInputError) as refused:
        dp.publish(points, 1, DOMAIN, by={"type": ["theft", "arson"]}, ledger=None)
    said = "".join(traceback.format_exception(refused.value))
    assert "public list" in said and not any(secret in said for secret in SECRETS)


@pytest.mark.parametrize("bad", [None, "soon"])
def test_a_missing_date_is_refused_or_other(bad):
    when = FRAME["when"].dt.strftime("%Y-%m-%d %H:%M").astype(object)
    when[7] = bad
    frame = FRAME.assign(when=when)
    with pytest.raises(BadInputError, match="date"):
        dp.publish(frame, 1, DOMAIN, time=YEAR)
    axis = dp.TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
    points = dp.publish(frame, 1, DOMAIN, time=axis).points()
    assert points["when"].isna().sum() < 200


@pytest.mark.parametrize(
    "options, word",
    [
        ({"by": BY, "method": "sort"}, "adaptive"),
        ({"by": {"colour": ["a", "b"]}}, "colour"),
        ({"by": ["type"]}, "by="),
        ({"time": "when"}, "TimeAxis"),
        ({"by": {c: ["a", "b"] for c in "pqrs"}}, "third of epsilon"),
    ],
)
def test_wrong_axes_get_one_sentence_and_spend_nothing(tmp_path, options, word):
    ledger = dp.Ledger(tmp_path / "ledger.db")
    with pytest.raises(BadInputError, match=word):
        dp.publish(FRAME, 1, DOMAIN, ledger=ledger, dataset="calls", **options)
    assert ledger.spent("calls") == 0


def test_the_plan_says_the_price():
    plan = dp.plan(4000, 1, DOMAIN, by=BY, time=YEAR)
    assert "0.67 epsilon" in str(plan)
    assert plan.expected_error > dp.plan(4000, 1, DOMAIN).expected_error
    target = dp.plan(4000, domain=DOMAIN, target_error=500, by=BY, time=YEAR)
    assert target.expected_error <= 500


def test_a_release_without_axes_says_so_when_asked_for_slices():
    release = dp.publish(FRAME, 1, DOMAIN)
    for ask in (
        lambda: release.select(type="theft"),
        lambda: release.count_within(HALVES, by=["time"]),
        lambda: release.series(HALVES),
    ):
        with pytest.raises(BadInputError):
            ask()


def test_declared_zones_have_a_table_of_their_own_and_cost_a_third(tmp_path):
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    options = {"by": BY, "time": YEAR, "ledger": book, "dataset": "calls"}
    release = dp.publish(FRAME, 3, DOMAIN, zones=HALVES, **options)
    assert "2 declared zones" in str(release) and release.verify()
    assert release.expected_error > RELEASE.expected_error
    counts = release.count_within(HALVES, by=["type", "time"])
    assert len(counts) == 2 * 36 and (counts["low"] <= counts["estimate"]).all()
    release.save(tmp_path / "calls.release.json")
    again = dp.read_release(tmp_path / "calls.release.json")
    assert again.count_within(HALVES, by=["type", "time"]).equals(counts)
    assert (counts["estimate"] >= 0).all()
    assert len(release.points()) == release.n
    for wrong, word in (
        ({"zones": HALVES, "by": None, "time": None}, "by= or time="),
        ({"zones": HALVES.to_crs(3857).set_crs(4326, allow_override=True)}, "CRS"),
        ({"zones": pd.concat([HALVES, HALVES])}, "overlap"),
        ({"zones": HALVES.set_geometry(HALVES.boundary)}, "polygons"),
    ):
        with pytest.raises(BadInputError, match=word):
            dp.publish(FRAME, 3, DOMAIN, **{**options, **wrong})
    with pytest.raises(BadInputError, match="it would be noise"):
        dp.publish(FRAME, "0.01", DOMAIN, zones=HALVES, **options)
    assert float(book.spent("calls")) == 3  # nothing was spent on what was refused


def test_where_n_is_noisy_it_decides_about_the_table_of_zones():
    options = {"by": BY, "time": YEAR, "neighbours": "add-remove", "zones": HALVES}
    rich, poor = (dp.publish(FRAME, epsilon, DOMAIN, **options) for epsilon in (3, "0.001"))
    assert (rich.measured.view == 4).any() and not (poor.measured.view == 4).any()
    assert rich.verify() and poor.verify()


def test_the_plan_says_what_a_table_of_zones_would_cost():
    rich = str(dp.plan(400_000, 1, DOMAIN, by=BY, time=YEAR, zones=HALVES))
    assert "zones= of publish" in rich and "0.4" in rich.split("zones= of publish")[1]
    assert "would be noise" in str(dp.plan(100, "0.1", DOMAIN, by=BY, time=YEAR, zones=HALVES))
    assert "zones= of publish" not in str(dp.plan(4000, 1, DOMAIN, by=BY, time=YEAR))


def shell(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert (ended.value.code or 0) == code


def test_the_shell_says_what_and_when(tmp_path, capsys):
    points, zones = tmp_path / "calls.parquet", tmp_path / "wards.gpkg"
    FRAME.to_parquet(points)
    HALVES.to_file(zones)
    area = ["--bounds", -74.3, 40.5, -73.7, 40.95, "--crs", "EPSG:4326", "--order", 8]
    release, counts = tmp_path / "calls.release.json", tmp_path / "counts.csv"
    axes = ["--by", "type=theft,arson,other", "--time", "when:2026-01-01:2027-01-01:1month"]
    shell("publish", points, release, "-e", 1, *area, *axes, "--no-ledger")
    assert dp.read_release(release).axes == AXES
    shell("count", release, zones, counts, "--by", "type,time")
    answers = ["estimate", "low", "high", "reliable", "covered"]
    assert list(pd.read_csv(counts).columns) == ["zone", "type", "when", *answers]
    shell("plan", "--n", 4000, "-e", 1, *area, *axes)
    assert "0.67 epsilon" in capsys.readouterr().out
    declared = tmp_path / "zones.release.json"
    shell("publish", points, declared, "-e", 3, *area, *axes, "--no-ledger", "--zones", zones)
    assert dp.read_release(declared).release.zones.size == 2
    other = tmp_path / "other.release.json"
    shell("publish", points, other, "-e", 3, *area, "--no-ledger", "--zones", zones, code=2)
    assert "--by or --time" in capsys.readouterr().err
    for wrong in (["--by", "type"], ["--time", "when"], ["--time", "when:a:b:c"]):
        shell("plan", "--n", 4000, "-e", 1, *area, *wrong, code=2)
    shell("publish", points, release, "-e", 1, *area, "--by", "type=theft,arson", code=2)
    assert "secret" not in capsys.readouterr().err
