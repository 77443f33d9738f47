"""The page of a series, opened in a real browser."""

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.webmap.sheet import choose_sheet

MONTHS = ("2026-01", "2026-02", "2026-03")
WEST, EAST = (-74.05, 40.7), (-73.85, 40.7)
#: points in the west and in the east, by month
MANY = {"2026-01": (4000, 500), "2026-02": (3000, 1500), "2026-03": (1000, 6000)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """They move from west to east."""
    domain = dp.Domain.from_bounds((-74.2, 40.55, -73.7, 40.85), crs="EPSG:4326")
    rng = np.random.default_rng(2)
    made = dp.Series(tmp_path_factory.mktemp("s") / "moves", domain, epsilon=1, date="when")
    for month in MONTHS:
        at = np.repeat([WEST, EAST], MANY[month], axis=0)
        at = at + rng.normal(0, 0.02, at.shape)
        frame = gpd.GeoDataFrame(
            {"when": [f"{month}-10"] * len(at)},
            geometry=gpd.points_from_xy(*at.T), crs="EPSG:4326",
        )  # fmt: skip
        made.append(frame, month)
    return made.folder


@pytest.fixture(scope="module")
def page_file(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("series") / "moves.html"
    dp.read_series(folder).to_map(path, title="Moves & <b>more</b>")
    return path


def place(folder, lonlat):
    domain = dp.read_series(folder).releases[MONTHS[0]].domain
    u, v = choose_sheet(domain).place_lonlat(*np.array(lonlat)[:, None])
    return float(u[0]), float(v[0])


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_one_page_has_all_windows_and_a_slider_that_steps_plays_and_shows_all(
    open_page, page_file, folder, size
):
    visit = open_page(page_file, size)
    when = visit.page.locator(".dp-when")
    assert when.inner_text() == "January to March 2026"
    whole = visit.colour_at(*place(folder, EAST))
    visit.page.locator(".dp-on").click()
    assert when.inner_text() == "January 2026"
    early = visit.colour_at(*place(folder, EAST))
    visit.page.locator(".dp-back").click()
    assert when.inner_text() == "March 2026"
    late = visit.colour_at(*place(folder, EAST))
    assert sum(late[:3]) < sum(early[:3]) - 60  # darker: more of them
    visit.page.locator(".dp-play").click()
    visit.page.wait_for_function(
        "() => document.querySelector('.dp-when').innerText === 'February 2026'", timeout=10_000
    )
    visit.page.locator(".dp-all").click()
    assert visit.colour_at(*place(folder, EAST)) == whole
    assert visit.page.locator("iframe").count() == 0
    # reading colours off the canvas is what the test does, not the page
    assert [line for line in visit.said if "getImageData" not in line] == []
    assert visit.outside() == []


def test_pointing_tells_about_the_window_that_is_shown_with_its_limits(
    open_page, page_file, folder
):
    visit = open_page(page_file)
    at, found = place(folder, EAST), []
    for number in range(4):
        visit.run("(n) => dpsort.choose(0, n)", number)
        text = visit.point_at(*at)
        assert "(" in text and " to " in text
        found.append(visit.run(_ANSWER, [*at, number]))
    alone = dp.read_series(folder, chained=False)
    for number, (estimate, low, high, km2) in enumerate(found):
        assert low <= estimate <= high and km2 > 0
        if number:
            n = alone.releases[MONTHS[number - 1]].size
            assert estimate < n
    assert found[3][0] / found[3][3] > 3 * found[1][0] / found[1][3]


#: what the page knows about the square at a place
_ANSWER = """([u, v, n]) => { const own = n ? dpsort.data.slices.windows[n - 1] : dpsort.data;
  const r = own.regions, [l, t, right, b] = r.window, [w, h] = r.size;
  const row = Math.floor((v - t) / (b - t) * h), column = Math.floor((u - l) / (right - l) * w);
  const i = r.owner[row * w + column] - 1;
  return [r.estimate[i], r.low[i], r.high[i], r.km2[i]]; }"""


def test_all_windows_together_are_their_sum_with_limits_that_hold_it(open_page, page_file):
    visit = open_page(page_file)
    sums = visit.run(
        """() => ["estimate", "low", "high"].map((name) =>
             dpsort.data.regions[name].reduce((a, b) => a + b, 0))"""
    )
    many = sum(map(sum, MANY.values()))
    assert abs(sums[0] - many) < 200 and sums[1] < many < sums[2]
    assert visit.run("dpsort.data.slices.totals[0]") == pytest.approx(many, abs=200)


def test_dots_are_those_of_the_window_and_the_table_says_how_many_there_are(open_page, page_file):
    visit = open_page(page_file)
    visit.zoom(3)
    every = visit.run("dpsort.canvas.drawn")
    visit.run("() => dpsort.choose(0, 1)")
    visit.settle()
    assert 0 < visit.run("dpsort.canvas.drawn") < every
    assert visit.page.locator("h1 b").count() == 0
    rows = visit.page.locator("#dp-summary tbody tr")
    assert rows.count() == 3 and "January 2026" in rows.nth(0).text_content()


def test_windows_on_different_areas_are_refused_in_a_sentence(folder, tmp_path):
    copy = tmp_path / "mixed"
    copy.mkdir()
    for path in folder.glob("*.json"):
        (copy / path.name).write_text(path.read_text())
    other = dp.Domain.from_polygon(shapely.box(-74.2, 40.55, -73.6, 40.85), crs="EPSG:4326")
    frame = gpd.GeoDataFrame(
        {"when": ["2026-04-10"] * 100}, geometry=[shapely.Point(WEST)] * 100, crs="EPSG:4326"
    )
    dp.Series(copy, other, epsilon=1, date="when").append(frame, "2026-04")
    with pytest.raises(dp.BadInputError, match="different domains"):
        dp.read_series(copy).to_map(tmp_path / "map.html")
    assert not (tmp_path / "map.html").exists()
