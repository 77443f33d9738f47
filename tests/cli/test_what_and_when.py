"""Categories and dates in the shell: the words for axes, slices of a release, what inspect says."""

from __future__ import annotations

import json

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.cli.arguments import make_axes
from dpsort_geo.cli.words import speak_shell
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.release import load
from tests.cli.test_command import one_line, own_ledger, run

__all__ = ["own_ledger"]
BOX = ("--bounds", 0, 0, 1000, 1000, "--crs", "EPSG:27700")
MONTHS = "when:2026-01-01:2026-07-01:1month"
BY = ("--by", "type=burglary,theft,other")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("axes")
    rng = np.random.default_rng(2)
    at = rng.normal((400, 500), (150, 200), (4000, 2)).clip(0, 599)
    days = rng.integers(0, 181, len(at)) * np.timedelta64(1, "D")
    calls = gpd.GeoDataFrame(
        {
            "type": rng.choice(["theft", "burglary", "noise"], len(at), p=[0.5, 0.3, 0.2]),
            "when": np.datetime64("2026-01-01", "s") + days,
        },
        geometry=shapely.points(at),
        crs="EPSG:27700",
    )
    calls.to_parquet(made / "calls.parquet")
    calls.loc[:99, "when"] = None
    calls.to_parquet(made / "undated.parquet")
    land = gpd.GeoDataFrame(geometry=[shapely.box(0, 0, 600, 1000)], crs="EPSG:27700")
    land.to_file(made / "land.gpkg")
    halves = [shapely.box(0, 0, 600, 500), shapely.box(0, 500, 600, 1000)]
    zones = gpd.GeoDataFrame({"name": ["south", "north"]}, geometry=halves, crs="EPSG:27700")
    zones.to_file(made / "zones.gpkg")
    publish(made, "calls.parquet", "r.json", *BY, "--time", MONTHS)
    publish(made, "calls.parquet", "plain.json")
    return made


def publish(folder, points, out, *words, code=0):
    return run(
        "publish", folder / points, folder / out, "-e", 1, *BOX, "--no-ledger", *words, code=code
    )


# axes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        (MONTHS, dp.TimeAxis("when", "2026-01-01", "2026-07-01", every="1 month")),
        (f"{MONTHS}:other", dp.TimeAxis("when", "2026-01-01", "2026-07-01", other=True)),
        ("when:week:1hour", dp.TimeAxis("when", every="1 hour", cycle="week")),
        ("when:day:2 hours:other", dp.TimeAxis("when", every="2 hours", cycle="day", other=True)),
        (
            "when:2026-01-01T06:00:2026-01-02T06:00:1hour",
            dp.TimeAxis("when", "2026-01-01T06:00", "2026-01-02T06:00", every="1 hour"),
        ),
        (
            "when:2026-01-01T06:00:30:2026-01-02:10minutes:other",
            dp.TimeAxis(
                "when", "2026-01-01T06:00:30", "2026-01-02", every="10 minutes", other=True
            ),
        ),
        (
            "at: when:2026-01-01:2026-01-02 20:26:1hour",
            dp.TimeAxis("at: when", "2026-01-01", "2026-01-02T20:26", every="1 hour"),
        ),
        ("other:2026:2028:1year", dp.TimeAxis("other", "2026-01-01", "2028-01-01", every="1 year")),
    ],
)
def test_every_axis_of_time_has_words_in_the_shell(text, axis):
    assert make_axes((), (text,)) == {"by": None, "time": axis}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "when",
        "when:other",
        "when:2026-01-01:1month",
        "when:today:tomorrow:1hour",
        ":week:1hour",
    ],
)
def test_what_is_no_axis_of_time_is_told_how_one_is_written(text):
    with pytest.raises(BadInputError, match="COLUMN:START:STOP:EVERY.*COLUMN:week:EVERY.*:other"):
        make_axes((), (text,))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--time", MONTHS, "--time", "when:week:1hour"), "--time once"),
        (("--by", "type=a,b", "--by", "type=c,d"), "--by names 'type' twice"),
        (("--by", "type"), "such as type=burglary,theft,other"),
        (("--time", "when:2026-01-01:2026-07-01:often"), "EVERY in --time is 1month"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "publish"])
def test_an_axis_given_twice_or_wrongly_is_refused_in_one_sentence(
    folder, tmp_path, command, words, sentence
):
    first = {"plan": ("--n", 100), "publish": (folder / "calls.parquet", tmp_path / "r.json")}
    done = run(command, *first[command], "-e", 1, *BOX, *words, code=2)
    assert sentence in one_line(done)
    assert not (tmp_path / "r.json").exists()


def test_missing_dates_are_refused_with_the_words_that_give_them_a_bin(folder):
    done = publish(folder, "undated.parquet", "undated.json", "--time", MONTHS, code=2)
    assert "end --time with :other" in one_line(done)
    publish(folder, "undated.parquet", "undated.json", "--time", f"{MONTHS}:other")
    (axis,) = load(folder / "undated.json").axes
    assert axis.labels[-1] == "other" and axis.size == 7


# slices -------------------------------------------------------------------------------------------

THEFTS = ("--select", "type=theft", "--select", "time=2026-03")


@pytest.fixture(scope="module")
def thefts(folder):
    """What Python says of the same slice."""
    return dp.read_release(folder / "r.json").select(type="theft", time="2026-03")


@pytest.mark.parametrize("name", ["p.gpkg", "p.parquet", "p.geojson"])
def test_points_of_a_slice_are_those_of_python(folder, thefts, tmp_path, name):
    done = run("points", folder / "r.json", tmp_path / name, *THEFTS)
    assert f"{thefts.n:,} points".encode() in done.stdout
    read = gpd.read_parquet if name.endswith("parquet") else gpd.read_file
    points = read(tmp_path / name)
    assert len(points) == thefts.n and set(points["type"]) == {"theft"}


def test_counts_of_a_slice_are_those_of_python(folder, thefts):
    done = run("count", folder / "r.json", folder / "zones.gpkg", "-", "--json", *THEFTS)
    rows = json.loads(done.stdout)["zones"]
    wanted = thefts.count_within(gpd.read_file(folder / "zones.gpkg"))
    for name in ("estimate", "low", "high"):
        assert [row[name] for row in rows] == pytest.approx(wanted[name].tolist())


def test_a_slice_is_read_within_a_boundary(folder, tmp_path):
    within = ("--within", folder / "land.gpkg")
    several = ("--select", "type=theft,other")
    done = run("points", folder / "r.json", tmp_path / "p.gpkg", *several, *within)
    points = gpd.read_file(tmp_path / "p.gpkg")
    land = gpd.read_file(folder / "land.gpkg")
    release = dp.read_release(folder / "r.json").within(land)
    assert points.geometry.x.max() <= 600
    assert len(points) == release.select(type=["theft", "other"]).n
    assert f"{len(points):,} points".encode() in done.stdout


def test_every_reading_command_takes_a_slice(folder, thefts, tmp_path):
    release = folder / "r.json"
    run("density", release, tmp_path / "d.gpkg", *THEFTS)
    total = gpd.read_file(tmp_path / "d.gpkg")["count"].sum()
    assert total == pytest.approx(thefts.decoded.cumulative.total)
    run("hexes", release, tmp_path / "h.csv", "--resolution", 9, *THEFTS)
    found = run("quantiles", release, 0.5, "--json", *THEFTS).stdout
    (half,) = thefts.quantiles([0.5]).geometry
    assert json.loads(found)["quantiles"][0]["x"] == pytest.approx(half.x)
    done = run("map", release, tmp_path / "m.html", *THEFTS)
    assert f"a map of {thefts.n:,} points".encode() in done.stdout
    run("site", release, tmp_path / "site", *THEFTS)
    for name in ("m.html", "site/index.html"):
        assert "theft" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("release", "words", "sentence"),
    [
        ("plain.json", ("--select", "type=theft"), "no axis 'type'; it has none"),
        ("r.json", ("--select", "type=arson"), "burglary, theft, other"),
        ("r.json", ("--select", "time=2031"), "it has 2026-01, 2026-02"),
        ("r.json", ("--select", "theft"), "--select takes an axis and its values"),
        ("r.json", ("--select", "type=theft", "--select", "type=other"), "names 'type' twice"),
        ("r.json", ("--select", "type=theft", "--by", "time"), "Give --by or --select"),
    ],
)
def test_a_slice_that_is_not_there_is_refused_in_one_sentence(folder, release, words, sentence):
    done = run("count", folder / release, folder / "zones.gpkg", "-", *words, code=2)
    assert sentence in one_line(done)


# what inspect says --------------------------------------------------------------------------------


def test_inspect_says_the_axes_and_how_many_counts_there_are(folder):
    text = run("inspect", folder / "r.json").stdout.decode()
    assert "type (burglary, theft, other)" in text
    assert "when (2026-01-01 until 2026-07-01, every 1 month)" in text
    facts = json.loads(run("inspect", folder / "r.json", "--json").stdout)
    assert [axis["name"] for axis in facts["axes"]] == ["type", "when"]
    assert facts["axes"][0]["values"] == ["burglary", "theft", "other"]
    checks = json.loads(run("verify", folder / "r.json", "--json").stdout)["checks"]
    assert any(f"All {facts['measurements']} counts" in line for line in checks)


def test_inspect_says_cycles_bins_of_missing_dates_and_that_there_are_no_axes(folder):
    publish(folder, "undated.parquet", "week.json", "--time", "when:week:1hour:other")
    text = run("inspect", folder / "week.json").stdout.decode()
    assert "when (every 1 hour of the week, other for missing dates)" in text
    facts = json.loads(run("inspect", folder / "week.json", "--json").stdout)
    assert facts["axes"][0]["cycle"] == "week" and facts["axes"][0]["other"] is True
    assert "axes:" in run("inspect", folder / "plain.json").stdout.decode()
    assert json.loads(run("inspect", folder / "plain.json", "--json").stdout)["axes"] == []


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
def test_what_was_measured_is_counted_once(folder, method):
    out = f"{method}.json"
    publish(folder, "calls.parquet", out, "--method", method)
    measured = load(folder / out).measured
    noisy = [measured.arrays().get(name) for name in ("value", "counts", "sums")]
    facts = json.loads(run("inspect", folder / out, "--json").stdout)
    assert facts["measurements"] == sum(len(one) for one in noisy if one is not None) > 0


def test_what_python_says_of_axes_has_words_in_the_shell():
    """Sentences of the library that are made elsewhere, as the shell says them."""
    declared = "or declare the axis with other=True."
    assert speak_shell(declared) == "or end --time with :other."
    windowed = "A window holds points with a date only: declare the time axis without other."
    assert speak_shell(windowed).endswith("leave :other out of --time.")
