"""Pages of releases with categories and dates, opened in a real browser."""

import geopandas as gpd
import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.webmap import slices
from dpsort_geo.webmap.pack import unpack
from dpsort_geo.webmap.sheet import choose_sheet

KINDS = ["burglary", "theft", "other"]
MONTHS = 24
WEST, EAST = (-74.05, 40.7), (-73.85, 40.7)


@pytest.fixture(scope="module")
def monthly():
    """Burglaries in the west and early, thefts in the east and late."""
    rng = np.random.default_rng(3)
    n = 40_000
    kind = rng.integers(0, 3, n)
    month = np.minimum(rng.integers(0, MONTHS, n) // np.where(kind == 0, 2, 1), MONTHS - 1)
    month = np.where(kind == 1, MONTHS - 1 - month // 2, month)
    lon = np.where(kind == 0, WEST[0], np.where(kind == 1, EAST[0], -73.95))
    at = np.column_stack([lon, np.full(n, 40.7)]) + rng.normal(0, 0.03, (n, 2))
    when = np.datetime64("2025-01") + month
    frame = gpd.GeoDataFrame(
        {"type": np.array(KINDS)[kind], "when": when.astype("datetime64[D]").astype(str)},
        geometry=gpd.points_from_xy(*at.T), crs="EPSG:4326",
    )  # fmt: skip
    domain = dp.Domain.from_bounds((-74.2, 40.55, -73.7, 40.85), crs="EPSG:4326")
    time = dp.TimeAxis("when", "2025-01-01", "2027-01-01", every="1 month")
    return dp.publish(frame, 2, domain, by={"type": KINDS}, time=time)


@pytest.fixture(scope="module")
def monthly_file(monthly, tmp_path_factory):
    path = tmp_path_factory.mktemp("slices") / "monthly.html"
    monthly.to_map(path, title="By month")
    return path


def sheet_place(release, lon, lat):
    u, v = choose_sheet(release.domain).place_lonlat(np.array([lon]), np.array([lat]))
    return float(u[0]), float(v[0])


def picture_sum(visit):
    return visit.run(
        """() => { const c = dpsort.picture, pen = c.getContext("2d");
             const d = pen.getImageData(0, 0, c.width, c.height).data;
             let s = 0;
             for (let i = 0; i < d.length; i += 97) s = (s * 31 + d[i]) % 1000000007;
             return s; }"""
    )


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_slider_steps_plays_and_shows_all(open_page, monthly_file, size):
    visit = open_page(monthly_file, size)
    bar = visit.page.locator("#dp-time")
    chosen = lambda: visit.run("dpsort.state.chosen[1]")  # noqa: E731
    assert chosen() == 0 and (
        "January 2025 to December 2026" in bar.locator("output").text_content()
    )
    pictures = {picture_sum(visit)}
    bar.get_by_label("One step on").click()
    assert chosen() == 1 and "January 2025" in bar.locator("output").inner_text()
    pictures.add(picture_sum(visit))
    bar.get_by_label("One step back").click()
    assert chosen() == MONTHS and "December 2026" in bar.locator("output").inner_text()
    pictures.add(picture_sum(visit))
    assert len(pictures) == 3
    slider = bar.locator("input[type=range]")
    slider.focus()
    visit.page.keyboard.press("ArrowLeft")
    assert chosen() == MONTHS - 1
    assert slider.get_attribute("aria-valuetext") == "November 2026"
    bar.get_by_label("Play").click()
    visit.page.wait_for_function("() => dpsort.state.chosen[1] === 1")  # on and around
    bar.get_by_label("Pause").click()
    stood = chosen()
    visit.page.wait_for_timeout(900)
    assert chosen() == stood
    bar.get_by_role("button", name="All").click()
    assert chosen() == 0 and picture_sum(visit) in pictures
    assert [line for line in visit.said if "willReadFrequently" not in line] == []


def test_chips_choose_a_category_and_the_picture_follows(open_page, monthly_file, monthly):
    visit = open_page(monthly_file)
    west, east = sheet_place(monthly, *WEST), sheet_place(monthly, *EAST)
    dark = lambda at: -sum(visit.colour_at(*at)[:3])  # noqa: E731
    visit.page.get_by_role("button", name="burglary").click()
    assert dark(west) > dark(east) + 100
    assert "burglary" in visit.page.locator("#dp-legend").inner_text()
    visit.page.get_by_role("button", name="theft").click()
    assert dark(east) > dark(west) + 100
    assert visit.page.locator(".dp-chip[aria-pressed=true]", has_text="theft").count() == 1
    visit.zoom(2.5)
    some = visit.run("dpsort.canvas.drawn")
    visit.page.locator(".dp-chips").get_by_role("button", name="All").click()
    assert visit.run("dpsort.canvas.drawn") > some > 0


def test_a_slice_is_fainter_than_the_whole_where_less_is_known_of_it(open_page, monthly_file):
    visit = open_page(monthly_file)
    solid = """() => { const c = dpsort.picture, pen = c.getContext("2d");
        const d = pen.getImageData(0, 0, c.width, c.height).data;
        const found = [];
        for (let i = 3; i < d.length; i += 4 * 101) if (d[i - 1] || d[i]) found.push(d[i]);
        found.sort((a, b) => b - a);
        return found.slice(0, 1000).reduce((a, b) => a + b, 0) / 1000; }"""
    whole = visit.run(solid)
    visit.run("dpsort.choose(0, 3), dpsort.choose(1, 3)")  # few points of this kind and month
    assert visit.run(solid) < 0.9 * whole
    visit.run("dpsort.choose(0, 0), dpsort.choose(1, 0)")
    assert visit.run(solid) == whole


def test_pointing_at_a_place_tells_about_the_chosen_slice(open_page, monthly_file, monthly):
    visit = open_page(monthly_file)
    at = sheet_place(monthly, *WEST)
    everything = visit.point_at(*at)
    visit.run("dpsort.choose(0, 1), dpsort.choose(1, 3)")
    one = visit.point_at(*at)
    assert "burglary, March 2025" in one and "burglary" not in everything
    assert "per km² here" in one and one.splitlines()[0] != everything.splitlines()[0]


def test_answers_about_slices_are_those_of_count_within(monthly, open_page, tmp_path):
    zones = gpd.GeoDataFrame(
        {"name": ["west", "east"]},
        geometry=gpd.points_from_xy(*np.array([WEST, EAST]).T).buffer(0.05), crs="EPSG:4326",
    )  # fmt: skip
    monthly.to_map(tmp_path / "z.html", zones=zones)
    visit = open_page(tmp_path / "z.html")
    table = monthly.count_within(zones, by=["type", "time"])
    for kind, month, zone in ((0, 4, 0), (1, 20, 1), (2, 0, 0)):
        visit.run("([k, t]) => { dpsort.choose(0, k + 1); dpsort.choose(1, t + 1) }", [kind, month])
        told = visit.run("(z) => dpsort.zoneAnswer(z)", zone)
        row = table.iloc[zone * 3 * MONTHS + kind * MONTHS + month]
        for name in ("estimate", "low", "high"):
            assert told[name] == pytest.approx(row[name], rel=2e-3, abs=1e-3)
    visit.run("dpsort.choose(1, 0)")
    assert "theft" not in visit.page.locator("#dp-table caption").inner_text()
    assert "other" in visit.page.locator("#dp-table caption").inner_text()
    visit.run("dpsort.chooseZone(0)")
    assert visit.page.locator("#dp-card .dp-bar-row").count() == 3


def test_shares_in_the_page_are_those_of_the_release(monthly):
    """What the page multiplies gives the mass of a joint slice, block by block."""
    decoded, level = monthly.decoded, slices._LEVEL  # that of the page
    kept, shares, joint, factor = slices.block_shares(decoded, monthly.domain, level)
    packed = slices._pack_shares(shares[0])
    again = (unpack(packed["data"]) / 65535) ** 2 * packed["most"]
    np.testing.assert_allclose(again, shares[0].reshape(-1), atol=1e-4)
    np.testing.assert_allclose(shares[0].sum(axis=0), 1, atol=1e-6)
    assert factor is not None
    one = joint[0][0] * factor[0, 5] * joint[1][5]
    wanted = slices._on_blocks(decoded, decoded.share_of({0: [0], 1: [5]})[None], kept, level)[0]
    np.testing.assert_allclose(one, wanted, rtol=0.15, atol=2e-3)


def test_a_slice_of_a_release_has_a_page_without_chips(monthly, open_page, tmp_path):
    monthly.select(type="theft").to_map(tmp_path / "t.html")
    visit = open_page(tmp_path / "t.html")
    assert (
        visit.page.locator(".dp-chip").count() == 0 and visit.page.locator("#dp-time").is_hidden()
    )
    assert "about 13," in visit.page.locator(".dp-head").inner_text()
    assert visit.said == []


def test_small_multiples_show_each_category_where_it_is(monthly):
    shown = monthly.small_multiples("type")
    text = shown._repr_html_()
    assert (
        text.count("<img") == 3 and "burglary" in text and repr(shown) == "<3 small maps by type>"
    )
    middles = []
    for _, _, picture in shown.panels:
        dark = 255.0 - picture[..., :3].mean(axis=-1)
        dark = np.where(dark > np.quantile(dark, 0.97), dark, 0)
        middles.append(float((dark.sum(axis=0) @ np.arange(dark.shape[1])) / dark.sum()))
    assert middles[0] < middles[2] < middles[1]  # west, middle, east
    assert len(monthly.small_multiples("time").panels) == MONTHS
    with pytest.raises(dp.BadInputError, match="no axis"):
        monthly.small_multiples("colour")
    with pytest.raises(dp.BadInputError, match="itself"):
        monthly.select(type="theft").small_multiples("type")
