"""Maps of zones, opened in a real browser."""

import re
import subprocess
import sys

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.webmap.sheet import choose_sheet

HOSTILE = '<img src=x onerror="window.ran=1">'


@pytest.fixture(scope="module")
def wards():
    """Sixteen squares over the city, the last one far away, one with a hostile name."""
    west, south, size = -74.2, 40.5, 0.1
    boxes = [
        shapely.box(
            west + i * size, south + j * size, west + (i + 1) * size, south + (j + 1) * size
        )
        for i in range(5)
        for j in range(4)
    ]
    boxes.append(shapely.box(10, 10, 11, 11))
    names = [f"Ward {i}" for i in range(len(boxes))]
    names[1] = HOSTILE
    people = np.linspace(1000, 90_000, len(boxes)).astype(int)
    return gpd.GeoDataFrame({"name": names, "people": people}, geometry=boxes, crs="EPSG:4326")


@pytest.fixture(scope="module")
def counted(release, wards):
    return release.count_within(wards)


@pytest.fixture(scope="module")
def zones_file(release, wards, tmp_path_factory):
    path = tmp_path_factory.mktemp("zones") / "zones.html"
    release.to_map(path, title="Wards", zones=wards, label="name")
    return path


def place_of(release, wards, i):
    middle = wards.geometry[i].centroid
    u, v = choose_sheet(release.domain).place_lonlat(np.array([middle.x]), np.array([middle.y]))
    return float(u[0]), float(v[0])


def test_pointing_at_a_zone_tells_its_name_number_and_limits(
    open_page, zones_file, release, wards, counted
):
    visit = open_page(zones_file)
    row = counted.iloc[10]
    text = visit.point_at(*place_of(release, wards, 10))
    said = re.search(r"about ([\d,]+) points \(([\d,]+) to ([\d,]+)\)", text)
    numbers = [int(part.replace(",", "")) for part in said.groups()]
    np.testing.assert_allclose(numbers, row[["estimate", "low", "high"]].astype(float), rtol=1e-3)
    assert text.startswith("Ward 10")
    assert visit.said == [] and visit.outside() == []


def test_zones_that_are_not_reliable_are_hatched(open_page, zones_file, release, wards, counted):
    visit = open_page(zones_file)
    known = counted["estimate"].notna()
    poor = known & ~counted["reliable"]
    assert 0 < poor.sum() < known.sum()
    assert visit.run("dpsort.hatched()") == poor.sum()
    # on the screen: lines make the pixels of a zone differ from each other
    for i, hatched in ((int(np.flatnonzero(poor)[0]), True), (10, False)):
        u, v = place_of(release, wards, i)
        colours = {tuple(visit.colour_at(u + k * 2e-3, v)) for k in range(8)}
        assert (len(colours) > 1) == hatched


def test_the_table_is_sorted_by_any_column_and_unknown_zones_come_last(
    open_page, zones_file, counted
):
    visit = open_page(zones_file)
    table = visit.page.locator("#dp-table")

    def column(number):
        return table.locator(f"tbody tr > :nth-child({number})").all_inner_texts()

    def numbers():
        return [float(text.replace(",", "")) for text in column(2) if text != "–"]

    assert numbers() == sorted(numbers(), reverse=True) and column(2)[-1] == "–"
    np.testing.assert_allclose(sorted(numbers()), sorted(counted["estimate"].dropna()), atol=0.51)
    table.get_by_role("button", name="Estimate").click()
    assert numbers() == sorted(numbers()) and column(2)[-1] == "–"
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("Estimate")
    table.get_by_role("button", name="Zone").click()
    names = column(1)
    assert names == sorted(names, key=str.lower)
    table.get_by_role("button", name="Reliable").click()
    assert column(5)[0] == "yes"


def test_a_zone_that_is_chosen_gets_a_bar_with_its_interval(open_page, zones_file):
    for size in ("desktop", "phone"):
        visit = open_page(zones_file, size)
        assert visit.page.locator("#dp-card").is_hidden()
        visit.page.locator("#dp-table tr", has_text="Ward 10").locator("button").click()
        card = visit.page.locator("#dp-card")
        assert "Ward 10" in card.inner_text() and "likely" in card.inner_text()
        fill, span = (
            card.locator(f".dp-bar-row >> nth=0 >> .dp-bar-{part}").bounding_box()
            for part in ("fill", "range")
        )
        end = fill["x"] + fill["width"]
        assert span["x"] <= end + 1 and end <= span["x"] + span["width"] + 1
        assert visit.page.locator("#dp-table tr.dp-chosen").count() == 1


def test_names_of_zones_cannot_smuggle_in_markup(open_page, zones_file, release, wards):
    visit = open_page(zones_file)
    assert HOSTILE in visit.page.locator("#dp-table").inner_text()
    assert visit.page.locator("#dp-table img, .dp-readout img").count() == 0
    visit.point_at(*place_of(release, wards, 1))
    visit.run("dpsort.chooseZone(1)")
    assert visit.run("window.ran") is None and visit.page.locator("img[src=x]").count() == 0
    assert "<img src=x" not in zones_file.read_text()


def test_without_scripts_the_table_is_there(open_page, zones_file):
    visit = open_page(zones_file, java_script_enabled=False)
    rows = visit.page.locator("#dp-table tbody tr").all_inner_texts()
    assert len(rows) == 21 and "not in the area covered" in rows[-1] and " and " in rows[10]


def test_rates_are_told_for_so_many_of_a_column(open_page, release, wards, tmp_path):
    path = tmp_path / "rates.html"
    release.to_map(path, zones=wards, label="name", per="people")
    visit = open_page(path)
    each = visit.run("dpsort.data.zones.per.each")
    row = release.count_within(wards, per="people").iloc[10]
    told = visit.run("dpsort.zoneAnswer(10)")
    assert told["estimate"] == pytest.approx(row["rate"] * each, rel=2e-3)
    assert told["high"] == pytest.approx(row["high_rate"] * each, rel=2e-3)
    assert "people" in visit.page.locator("#dp-legend").inner_text()
    assert visit.said == []


def test_what_is_wrong_about_zones_is_said_in_a_sentence(release, wards, tmp_path):
    for more, words in (
        ({"label": "nobody"}, "column"),
        ({"per": "name"}, "numbers"),
        ({"zones": wards.centroid}, "polygons"),
        ({"zones": None}, "zones="),
        ({"zones": wards.iloc[:0]}, "1 to"),
    ):
        given = {"zones": wards, "label": "name", **more}
        with pytest.raises(dp.BadInputError, match=words):
            release.to_map(tmp_path / "u.html", **given)
        assert not (tmp_path / "u.html").exists()


def test_the_command_writes_the_same_page(release, wards, tmp_path):
    release.save(tmp_path / "r.json")
    wards.to_file(tmp_path / "wards.gpkg")
    command = [sys.executable, "-m", "dpsort_geo", "map"]
    options = ["--zones", tmp_path / "wards.gpkg", "--label", "name", "--source", "us"]
    done = subprocess.run(
        [*command, tmp_path / "r.json", tmp_path / "m.html", *options], capture_output=True
    )
    assert done.returncode == 0 and done.stderr == b""
    text = (tmp_path / "m.html").read_text()
    assert "Ward 10" in text and "<dd>us</dd>" in text
    for wrong in (["--label", "name"], ["--zones", tmp_path / "wards.gpkg", "--per", "name"]):
        done = subprocess.run(
            [*command, tmp_path / "r.json", tmp_path / "n.html", *wrong], capture_output=True
        )
        assert done.returncode == 2 and done.stderr.decode().count("\n") == 1
        assert b"--" in done.stderr and not (tmp_path / "n.html").exists()
