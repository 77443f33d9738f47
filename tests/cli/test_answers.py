"""The shell's side of boundaries, rates, resolutions and plans for zones."""

from __future__ import annotations

import json

import geopandas as gpd
import numpy as np
import pytest
import shapely
from click.testing import CliRunner

from dpsort_geo.cli import cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("answers")
    rng = np.random.default_rng(2)
    at = rng.uniform((0, 0), (600, 1000), (5_000, 2))
    gpd.GeoSeries(shapely.points(at), crs="EPSG:27700").to_file(path / "p.gpkg")
    land = gpd.GeoDataFrame(geometry=[shapely.box(0, 0, 600, 1000)], crs="EPSG:27700")
    land.to_file(path / "land.gpkg")
    zones = gpd.GeoDataFrame(
        {"name": ["south", "north", "far"], "people": [1000, 2000, 10]},
        geometry=[
            shapely.box(0, 0, 600, 500),
            shapely.box(0, 500, 600, 1000),
            shapely.box(5000, 0, 6000, 100),
        ],
        crs="EPSG:27700",
    )
    zones.to_file(path / "zones.gpkg")
    done = run(path, "publish", "p.gpkg", "r.json", "-e", "1", "--no-ledger", *BOX)
    assert done.stdout.count("--polygon") == 1  # a box is advised against, once
    return path


BOX = ("--bounds", "0", "0", "1000", "1000", "--crs", "EPSG:27700")


def run(folder, *words):
    words = [str(folder / word) if word.endswith((".gpkg", "r.json")) else word for word in words]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    return done


def test_counts_within_a_boundary_lose_nothing(folder):
    plain, inside = (
        json.loads(run(folder, "count", "r.json", "zones.gpkg", "-", "--json", *more).stdout)
        for more in ((), ("--within", "land.gpkg"))
    )
    total = [sum(row["estimate"] or 0 for row in rows["zones"]) for rows in (plain, inside)]
    assert total[0] < 4990 and total[1] == pytest.approx(5000, abs=5)
    assert inside["zones"][2]["estimate"] is None and inside["zones"][2]["covered"] == 0


def test_a_table_is_printed_as_people_print_it(folder):
    text = run(folder, "count", "r.json", "zones.gpkg", "-", "--per", "people").stdout
    south = text.splitlines()[1].split()
    assert south[0] == "south" and south[2].replace(",", "").isdigit() and "," in south[2]
    assert "yes" in south and "100" in south
    assert "nan" not in text.lower()


def test_numbers_stand_in_tables_as_people_write_them(folder):
    zones = gpd.read_file(folder / "zones.gpkg")
    zones.assign(people=[1_250_000.0, np.nan, 10.0], year=[2026.0] * 3).to_file(folder / "y.gpkg")
    text = run(folder, "count", "r.json", "y.gpkg", "-", "--per", "people").stdout
    assert "1,250,000" in text and "2026" in text and "2026.0" not in text and "2,026" not in text
    assert "no" not in text.split()  # what has no count is neither reliable nor not
    assert "nan" not in text.lower()
    facts = run(folder, "inspect", "r.json").stdout
    assert ["n:", "5,000"] in [line.split() for line in facts.splitlines()]
    assert json.loads(run(folder, "inspect", "r.json", "--json").stdout)["n"] == 5000


def test_points_density_and_map_follow_a_boundary(folder):
    for command, out in (("points", "o.gpkg"), ("density", "d.gpkg")):
        run(folder, command, "r.json", out, "--within", "land.gpkg")
    points = gpd.read_file(folder / "o.gpkg")
    assert points.geometry.x.max() <= 600 and len(points) == 5_000
    assert gpd.read_file(folder / "d.gpkg")["count"].sum() == pytest.approx(5_000)
    assert "<html" in run(folder, "map", "r.json", "-", "--within", "land.gpkg").stdout


def test_what_inspect_tells_stands_in_one_column(folder):
    lines = run(folder, "inspect", "r.json").stdout.splitlines()
    starts = {len(line) - len(line.partition(":")[2].lstrip()) for line in lines}
    assert len(lines) > 8 and len(starts) == 1


def test_a_release_tells_its_error_when_inspected(folder):
    assert "off by about" in run(folder, "inspect", "r.json").stdout


def test_a_plan_tells_what_to_expect_in_zones(folder):
    words = ("plan", "--n", "5000", "-e", "1", *BOX, "--resolution", "50", "--zones", "zones.gpkg")
    assert "half_width" in run(folder, *words).stdout
    facts = json.loads(run(folder, *words, "--json").stdout)
    assert facts["cell"] == 62.5 and facts["default_cell"] < 10
    assert facts["zones"][0]["half_width"] > 1 and facts["zones"][2]["half_width"] is None


def test_a_resolution_sets_the_cells(folder):
    run(folder, "publish", "p.gpkg", "fine_r.json", "-e", "1", "--no-ledger", *BOX,
        "--resolution", "50")  # fmt: skip
    assert "cells of 62.5 m" in run(folder, "inspect", "fine_r.json").stdout


def test_order_and_resolution_together_are_refused(folder):
    words = ["plan", "--n", "10", "-e", "1", *BOX, "--order", "5", "--resolution", "9"]
    done = CliRunner().invoke(cli, words)
    assert "either --order or --resolution" in str(done.exception)


@pytest.mark.parametrize(("share", "wanted"), [("0.000001", [False, False]), ("5", [True, True])])
def test_how_wide_a_reliable_interval_may_be_is_the_readers_choice(folder, share, wanted):
    words = ("count", "r.json", "zones.gpkg", "-", "--json", "--reliable", share)
    zones = json.loads(run(folder, *words).stdout)["zones"]
    assert [zone["reliable"] for zone in zones][:2] == wanted


def test_a_file_of_points_is_inspected_in_the_same_words_as_its_release(folder):
    run(folder, "points", "r.json", "inspected.gpkg")
    lines = dict(
        line.split(":", 1) for line in run(folder, "inspect", "inspected.gpkg").stdout.splitlines()
    )
    assert lines["ledger"].strip() == "not debited"
    assert lines["expected_error"].strip().startswith("about ")
    assert lines["expected_error"].strip().endswith(" m")
    facts = json.loads(run(folder, "inspect", "inspected.gpkg", "--json").stdout)
    assert facts["ledger"] is False and facts["expected_error"] > 0
