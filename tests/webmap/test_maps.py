"""The map page, opened in a real browser with the network refused."""

import functools
import html
import re
from dataclasses import replace

import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.curve import hilbert
from dpsort_geo.webmap import build, ground, page, regions, tiles, words
from dpsort_geo.webmap.dots import dots_layer
from dpsort_geo.webmap.sheet import choose_sheet

#: addresses of tiles that ran a script, or would open the page to one
SCRIPTS = (
    'https://a"><script>window.ran=1</script>/{z}/{x}/{y}',
    "https://a'><script>window.ran=1</script>/{z}/{x}/{y}",
    'https://a/"><script>window.ran=1</script>/{z}/{x}/{y}',
    "https://a script-src 'unsafe-inline'/{z}/{x}/{y}",
    "https://a/{z}/{x}/{y}</script><script>window.ran=1</script>",
    "https://user@a/{z}/{x}/{y}",
    "https://a/{z}/{x}/{y}/{onerror}",
    "https://a/{z}/{x}/{y}\\n",
)
TITLE = "Calls & <b>more</b>"
NEW_YORK = (-74.0, 40.72)


@pytest.fixture(scope="module")
def page_file(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "map.html"
    release.to_map(path, title=TITLE, when="all of <2026>", source="City & Sons")
    return path


@pytest.fixture(params=["desktop", "phone"])
def visit(request, open_page, page_file):
    return open_page(page_file, request.param)


def sheet_place(release, lon, lat):
    u, v = choose_sheet(release.domain).place_lonlat(np.array([lon]), np.array([lat]))
    return float(u[0]), float(v[0])


# one file, no network ----------------------------------------------------------------------------


def test_the_page_works_without_a_network(visit):
    visit.zoom(3)
    assert visit.said == []
    assert visit.outside() == []
    assert len([url for url in visit.asked if url.startswith("file:")]) == 1


def test_the_page_holds_no_address_that_it_would_ask(page_file):
    text = page_file.read_text()
    assert not re.search(r"""<(script|link|img|iframe)[^>]*(src|href)\s*=\s*["']?https?:""", text)
    assert "url(http" not in text and "sourceMappingURL" not in text
    assert "default-src 'none'" in html.unescape(text)


def test_the_closed_policy_is_kept_by_the_page_itself_and_stops_others(open_page, page_file):
    visit = open_page(page_file)
    visit.run("() => fetch('https://elsewhere.example/').catch(() => 0)")
    assert any("Content Security Policy" in line for line in visit.said)


# density first, points when one goes nearer -----------------------------------------------------


def test_density_comes_first_and_points_appear_and_grow_on_zooming_in(visit):
    assert visit.run("dpsort.canvas.drawn") == 0
    drawn, sizes = [], []
    for steps in (1.5, 2.5, 3.5):
        visit.zoom(steps)
        drawn.append(visit.run("dpsort.canvas.drawn"))
        sizes.append(visit.run("dpsort.dotsRadius()"))
    assert drawn[0] > 1000
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0]


def test_the_legend_has_round_numbers_and_says_what_a_dot_is_while_there_are_dots(
    open_page, page_file
):
    visit = open_page(page_file)
    legend = visit.page.locator("#dp-legend")
    ticks = visit.page.locator(".dp-ticks span").all_inner_texts()
    assert len(ticks) == 5 and ticks[0] == "0" and ticks[-1].endswith("+")
    for tick in ticks[1:-1]:
        assert len(tick.replace(",", "").replace(".", "").strip("0")) == 1
    assert "dot" not in legend.inner_text()
    visit.zoom(3)
    assert "none is a real place" in legend.inner_text()
    visit.zoom(0)
    assert "dot" not in legend.inner_text()


def test_zooming_ends_near_the_error_of_a_point(visit, release):
    visit.zoom(30)
    metres = visit.run("dpsort.data.sheet.metres / (256 * 2 ** dpsort.map.getZoom())")
    assert 40 < release.expected_error / metres < 200


def test_the_middle_of_a_city_is_darker_than_its_edge_and_nothing_has_the_colour_of_holes(
    open_page, page_file, release
):
    visit = open_page(page_file)
    centre = visit.colour_at(*sheet_place(release, *NEW_YORK))
    edge = visit.colour_at(*sheet_place(release, -73.98, 40.93))
    assert sum(centre[:3]) < sum(edge[:3]) - 200
    row = [visit.colour_at(*sheet_place(release, lon, 40.72)) for lon in np.linspace(-74, -73.9, 9)]
    light = [sum(colour[:3]) for colour in row]
    assert all(b > a - 60 for a, b in zip(light, light[1:]))  # outwards it only gets lighter


def test_colours_end_at_the_99th_percentile_and_both_ramps_have_even_steps():
    text = page._asset("colours.js")
    for name, sign in (("light", -1), ("dark", 1)):
        stops = re.findall(r"#[0-9a-f]{6}", re.search(rf"{name}: \[(.*?)\]", text)[1])
        lightness = np.array([_lightness(stop) for stop in stops])
        steps = sign * np.diff(lightness)
        assert (steps > 0).all() and steps.max() < 2.2 * steps.mean()
    assert "field.cap" in page._asset("density.js")


def _lightness(colour):
    """L* of CIELAB."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    y = float(linear @ [0.2126, 0.7152, 0.0722])
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_uncertain_places_are_fainter(release):
    found, answers = regions.find_regions(release.decoded, release.domain)
    solid = regions.fade(found, answers)
    doubt = (answers[2] - answers[1]) / 2 / np.maximum(answers[0], 1e-9)
    column, row = hilbert.decode(np.arange(4**found.finest), found.finest)
    inside = found.owner >= 0
    of = doubt[found.owner[inside]]
    shown = solid[row[inside], column[inside]]
    assert shown[of < 0.3].mean() > 0.9 > 0.75 > shown[of > 2].mean()
    assert (of < 0.3).sum() > 1000 < (of > 2).sum()


# what is known here ------------------------------------------------------------------------------


def test_pointing_anywhere_tells_the_density_with_its_limits(visit, release):
    text = visit.point_at(*sheet_place(release, *NEW_YORK))
    assert re.search(r"about [\d,]+ per km² here\s+\([\d,]+ to [\d,]+\)", text)
    assert visit.said == []


def test_the_limits_are_those_of_count_within(release):
    """The squares of the page, asked again as polygons."""
    found, (estimate, low, high) = regions.find_regions(release.decoded, release.domain)
    grid, side = release.domain.grid, release.domain.grid.side / 2.0**found.level
    column, row = build._middles(found)
    x, y = grid.x0 + column * grid.side - side / 2, grid.y0 + row * grid.side - side / 2
    some = np.argsort(-estimate)[:: max(1, estimate.size // 12)]
    import geopandas as gpd

    boxes = shapely.box(x[some], y[some], (x + side)[some], (y + side)[some])
    zones = gpd.GeoSeries(boxes, crs=release.domain.working_crs)
    counted = release.count_within(zones)
    np.testing.assert_allclose(counted["estimate"], estimate[some], rtol=0.02, atol=1)
    np.testing.assert_allclose(counted["low"], low[some], rtol=0.05, atol=3)
    np.testing.assert_allclose(counted["high"], high[some], rtol=0.05, atol=3)
    area = side[some] ** 2 / 1e6
    # cells are whole or not at all: along the outline half of each may miss
    along = 2 * side[some] * grid.cell / 1e6
    off = np.abs(found.km2()[some] - area * counted["covered"])
    assert (off <= 0.02 * area + along).all() and np.median(off / area) < 0.001


def test_outside_of_the_area_nothing_is_said(open_page, page_file, release):
    visit = open_page(page_file)
    left, top, right, bottom = choose_sheet(release.domain).window
    assert visit.point_at(left + 0.01 * (right - left), top + 0.01 * (bottom - top)) == ""


def test_the_keyboard_moves_zooms_and_asks(open_page, page_file):
    visit = open_page(page_file)
    visit.page.locator("#map").focus()
    visit.page.keyboard.press("Enter")
    assert "per km²" in visit.page.locator(".dp-readout").inner_text()
    before = visit.run("dpsort.map.getCenter().lng")
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_function("(was) => dpsort.map.getCenter().lng > was", arg=before)
    zoom = visit.run("dpsort.map.getZoom()")
    visit.page.keyboard.press("+")
    visit.page.wait_for_function("(was) => dpsort.map.getZoom() > was", arg=zoom)
    visit.page.keyboard.press("Escape")
    assert visit.said == []


# words -------------------------------------------------------------------------------------------


def test_the_title_block_says_what_when_who_and_how_far_off(visit, release):
    text = visit.page.locator(".dp-head").inner_text()
    for part in (TITLE, "200,000 protected points", "all of <2026>", "City & Sons", "typically"):
        assert part in text
    assert visit.page.title() == TITLE
    assert visit.page.locator("h1 b").count() == 0


def test_one_plain_sentence_comes_first_and_the_numbers_stand_behind_how(visit):
    about = visit.page.locator(".dp-about")
    assert "No dot is a real place" in about.inner_text()
    assert "ε = 1" not in about.inner_text()
    about.locator("summary", has_text="How?").click()
    assert "ε = 1" in about.inner_text() and "2.72 times" in about.inner_text()


def test_the_words_are_for_citizens(page_file):
    text = page_file.read_text()
    assert "private points" not in text and "Repeated points" not in text
    assert '"Area covered"' in text and '"Grid lines"' in text


def test_every_layer_can_be_switched(open_page, page_file, release):
    visit = open_page(page_file)
    at = sheet_place(release, *NEW_YORK)
    visit.page.locator("summary", has_text="What to show").click()
    before = visit.colour_at(*at)
    visit.page.get_by_label("Density").uncheck()
    assert visit.colour_at(*at) != before
    visit.page.get_by_label("Area covered").uncheck()
    assert visit.colour_at(*sheet_place(release, -73.9, 40.5))[3] == 0
    visit.zoom(3)
    visit.page.get_by_label("Points").uncheck()
    assert visit.run("dpsort.canvas.drawn") == 0


def test_a_release_that_is_not_private_says_so_on_the_map(release):
    said = words.promise_words(
        {**release.statement(), "private": False, "summary": "NOT PRIVATE: a"}
    )
    assert said.head == "NOT PRIVATE"


def test_names_of_cities_are_in_the_page(open_page, page_file):
    visit = open_page(page_file)
    names = [name for name, *_ in visit.run("dpsort.data.ground.names")]
    assert {"New York City", "Brooklyn"} <= set(names)


# panels, dark, print, frame, screen reader, no script --------------------------------------------


def test_panels_never_cover_the_data(visit, release):
    box = visit.page.locator("#map").bounding_box()
    for other in (".dp-head", ".dp-legend", ".dp-about"):
        over = visit.page.locator(other).bounding_box()
        apart = (
            over["x"] + over["width"] <= box["x"] + 1 or over["y"] + over["height"] <= box["y"] + 1
            or over["y"] >= box["y"] + box["height"] - 1
        )  # fmt: skip
        assert apart
    left, top, right, bottom = choose_sheet(release.domain).window
    for u, v in ((left, top), (right, bottom)):
        x, y = visit.run("([u, v]) => dpsort.pixel(u, v)", [u, v])
        assert 0 < x < box["width"] and 0 < y < box["height"]


def test_nothing_sticks_out_of_the_screen(visit):
    assert visit.run("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_dark_mode_has_a_dark_page_and_a_light_end_of_the_colours(open_page, page_file, release):
    at = sheet_place(release, *NEW_YORK)
    light, dark = (open_page(page_file, color_scheme=scheme) for scheme in ("light", "dark"))
    ground = [
        v.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        for v in (light, dark)
    ]
    assert sum(ground[0][:3]) > 700 and sum(ground[1][:3]) < 130
    assert sum(light.colour_at(*at)[:3]) < sum(dark.colour_at(*at)[:3])
    dark.page.emulate_media(color_scheme="light")
    assert dark.colour_at(*at) == light.colour_at(*at)  # without loading anew


def test_a_printed_page_is_light_and_has_no_buttons(open_page, page_file):
    visit = open_page(page_file, color_scheme="dark")
    visit.run("() => { window.dispatchEvent(new Event('beforeprint')) }")
    visit.page.emulate_media(media="print")
    assert visit.page.locator(".leaflet-control-zoom").is_hidden()
    assert visit.page.locator("#map").bounding_box()["height"] > 300
    colour = visit.run("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert visit.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_all_that_is_in_view_is_on_the_paper_and_comes_back_after_it(open_page, page_file, size):
    visit = open_page(page_file, size)
    corners = """() => { const [left, top, right, bottom] = dpsort.data.sheet.window;
        const {width, height} = document.getElementById("map").getBoundingClientRect();
        return [...dpsort.pixel(left, top), ...dpsort.pixel(right, bottom), width, height] }"""
    before = visit.run(corners)
    for _ in range(2):
        visit.run("() => { window.dispatchEvent(new Event('beforeprint')) }")
        visit.page.emulate_media(media="print")
        left, top, right, bottom, width, height = visit.run(corners)
        assert 0 < left < right < width and 0 < top < bottom < height
        assert width == pytest.approx(960, abs=1) and bottom - top > 0.8 * height
        visit.page.emulate_media(media="screen")
        visit.run("() => { window.dispatchEvent(new Event('afterprint')) }")
        assert visit.run(corners) == pytest.approx(before, abs=1)


def test_a_window_that_changes_its_size_twice_still_shows_all(open_page, page_file):
    visit = open_page(page_file)
    for width in (1000, 700, 1200):
        visit.page.set_viewport_size({"width": width, "height": 640})
        visit.page.wait_for_function("dpsort.map.getSize().x <= innerWidth")
        visit.page.wait_for_timeout(300)
        left, top, right, bottom = visit.run(
            """() => { const [left, top, right, bottom] = dpsort.data.sheet.window;
                return [...dpsort.pixel(left, top), ...dpsort.pixel(right, bottom)] }"""
        )
        size = visit.run("[dpsort.map.getSize().x, dpsort.map.getSize().y]")
        assert 0 < left and 0 < top and right < size[0] and bottom < size[1]
        assert max((right - left) / size[0], (bottom - top) / size[1]) > 0.8


def test_it_works_in_a_frame_of_another_page(browser, page_file, tmp_path, open_page, release):
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<body data-ready="yes"><iframe width="420" height="320" src="{page_file.as_uri()}">'
    )
    visit = open_page(outer)
    frame = visit.page.frames[1]
    frame.wait_for_selector("body[data-ready]")
    assert frame.evaluate("document.documentElement.scrollWidth") <= 420
    assert frame.locator("#map").bounding_box()["height"] > 120
    assert visit.said == [] and visit.outside() == []


def test_the_densest_places_are_those_that_are_sure_to_be_dense():
    """A sliver of the area, where nothing is known, would otherwise come first."""
    domain = dp.Domain.from_bounds((0, 0, 1024, 1024), crs="EPSG:3857", order=8)
    found = regions.even_regions(domain, 16)
    size = found.level.size
    estimate = np.arange(1.0, size + 1)
    low, high = estimate * 0.9, estimate * 1.1
    estimate[0], low[0], high[0] = 1000.0, 0.0, 9000.0
    unit = {"km2": 1, "text": ""}
    rows = build._densest(found, (estimate, low, high), choose_sheet(domain), unit)
    assert rows and not any(row[2].startswith("0 and") for row in rows)
    abouts = [float(row[1].replace(",", "")) for row in rows]
    assert abouts == sorted(abouts, reverse=True)


def test_a_screen_reader_finds_landmarks_a_status_and_a_table(visit):
    find = visit.page.get_by_role
    assert find("main").count() == 1 and find("banner").count() == 1
    assert "Arrow keys move" in find("application").get_attribute("aria-label")
    assert visit.page.locator(".dp-readout").get_attribute("role") == "status"
    assert find("region", name="Choose what the map shows").count() == 1
    visit.page.locator("summary", has_text="As a table").click()
    rows = find("table").get_by_role("row").all_inner_texts()
    assert len(rows) >= 4 and "Likely between" in rows[0]
    assert any(re.search(r"near [A-Z]", row) for row in rows)


def test_without_scripts_the_page_still_says_what_it_knows(open_page, page_file):
    visit = open_page(page_file, java_script_enabled=False)
    text = visit.page.locator("body").inner_text()
    assert "scripts are switched off" in text and "No dot is a real place" in text
    assert "200,000 protected points" in text
    rows = visit.page.locator("table tbody tr")
    assert rows.count() >= 3 and rows.first.is_visible()
    assert not visit.page.locator("#map").is_visible()  # an empty frame


# the plane ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("box", "crs", "at"),
    [
        ((-180, 60, 180, 90), "EPSG:4326", (20, 80)),
        ((-3e6, -3e6, 3e6, 3e6), "EPSG:3995", (100, 82)),
        ((-180, -90, 180, -60), "EPSG:4326", (-60, -75)),
        ((-30, 30, 50, 75), "EPSG:4326", (15, 70)),
        ((-3e6, 4e6, 5e6, 1.3e7), "EPSG:3857", (15, 70)),
    ],
)
def test_polar_and_wide_areas_are_not_stretched(box, crs, at):
    """A square of 20 km on the ground is about a square on the sheet, and of the right size."""
    sheet = choose_sheet(dp.Domain.from_bounds(box, crs=crs, order=8))
    lon, lat = at
    north = 20_000 / 111_200
    east = north / np.cos(np.radians(lat))
    u, v = sheet.place_lonlat(np.array([lon, lon + east, lon]), np.array([lat, lat, lat + north]))
    sides = np.hypot(np.diff(u[[0, 1]]), np.diff(v[[0, 1]])), np.hypot(u[2] - u[0], v[2] - v[0])
    assert 0.8 < float(sides[0][0] / sides[1]) < 1.25
    corner = abs((u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]))
    assert corner * sheet.metres**2 == pytest.approx(20_000**2, rel=0.1)


@pytest.mark.parametrize(("north", "holes"), [(90, 0), (85, 1)])
def test_a_pole_is_in_the_area_if_it_is_in_the_domain(north, holes):
    domain = dp.Domain.from_bounds((-180, 60, 180, north), crs="EPSG:4326")
    outline = choose_sheet(domain).outline
    assert len(outline.interiors) == holes
    u, v = choose_sheet(domain).place_lonlat(np.zeros(1), np.full(1, 90.0))
    assert outline.contains(shapely.Point(u[0], v[0])) == (not holes)


def test_continents_show_through_an_area_with_much_sea_and_not_through_one_of_land():
    box = functools.partial(dp.Domain.from_bounds, crs="EPSG:4326", order=9)
    pacific, inland = box((150, -60, 240, 65)), box((60, 40, 90, 60))
    assert ground.shows_sea(choose_sheet(pacific))
    assert not ground.shows_sea(choose_sheet(inland))


def test_a_world_keeps_areas_equal_everywhere():
    sheet = choose_sheet(dp.Domain.from_bounds((-180, -90, 180, 90), crs="EPSG:4326", order=8))
    areas = []
    for lat in (0, 40, 70):
        lon, lats = np.array([10, 11, 10]), np.array([lat, lat, lat + 1])
        u, v = sheet.place_lonlat(lon, lats)
        corner = abs((u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]))
        areas.append(corner / np.cos(np.radians(lat + 0.5)))
    assert max(areas) / min(areas) < 1.05


def test_a_polar_page_opens_and_its_cells_are_square_on_the_screen(open_page, tmp_path):
    rng = np.random.default_rng(2)
    domain = dp.Domain.from_bounds((-180, 60, 180, 90), crs="EPSG:4326", order=9)
    points = np.column_stack([rng.uniform(-180, 180, 3000), rng.uniform(60, 90, 3000)])
    dp.publish(points, 3, domain).to_map(tmp_path / "pole.html")
    visit = open_page(tmp_path / "pole.html")
    assert visit.said == []
    sheet = choose_sheet(domain)
    u, v = sheet.place_lonlat(np.array([0, 90, 180, -90]), np.full(4, 75.0))
    at = np.array([visit.run("([u, v]) => dpsort.pixel(u, v)", [a, b]) for a, b in zip(u, v)])
    assert np.ptp(at[:, 0]) == pytest.approx(np.ptp(at[:, 1]), rel=0.01)


def test_a_map_across_the_antimeridian_is_in_one_piece():
    domain = dp.Domain.from_bounds((177, -20, -177, -15), crs="EPSG:4326", order=9)
    for tiled in (False, True):
        sheet = choose_sheet(domain, tiled)
        u, _ = sheet.place_lonlat(np.array([179.0, -179.0]), np.array([-17.0, -17.0]))
        left, _, right, _ = sheet.window
        assert (u[1] - u[0]) / (right - left) == pytest.approx(2 / 6, abs=0.02)
        assert left < u[0] < u[1] < right


@pytest.fixture(scope="module")
def one_dot(release):
    """Makes pages with one dot at a known place; what lies below it is computed once."""

    @functools.cache
    def make_bare(has_tiles):
        return release.map_page("t", tiles=True if has_tiles else None)

    def make(tile=None):
        sheet = choose_sheet(release.domain, tile is not None)
        u, v = sheet.place_lonlat(np.array([-73.95]), np.array([40.7]))
        bare = make_bare(tile is not None)
        dot = dots_layer("one", u, v, sheet.window, id="one", colour="#ff0000")
        data = {**bare.data, "tiles": tile and tiles.tile_layer(tile)}
        return replace(bare, data=data).with_layers([dot])

    return make


@pytest.mark.parametrize("tile", [None, "https://t.example/{z}/{x}/{y}.png"])
def test_dots_lie_where_leaflet_puts_their_coordinates(open_page, one_dot, tmp_path, tile):
    (tmp_path / "one.html").write_text(one_dot(tile).html())
    visit = open_page(tmp_path / "one.html")
    visit.run("dpsort.state.hidden.density = true, dpsort.canvas.redraw()")
    found, wanted = visit.run(
        """() => { const c = document.querySelector(".dpsort-canvas");
             const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
             let x = 0, y = 0, n = 0;
             for (let i = 0; i < d.length / 4; i++)
               if (d[4 * i] > 200 && d[4 * i + 1] < 110 && d[4 * i + 2] < 110) {
                 x += i % c.width; y += Math.floor(i / c.width); n++; }
             const box = c.getBoundingClientRect(), layer = dpsort.data.layers[0];
             const m = dpsort.map.getContainer().getBoundingClientRect();
             const [l, t, r, b] = layer.window, [u, v] = [layer.u[0] / 65535, layer.v[0] / 65535];
             const p = dpsort.pixel(l + u * (r - l), t + v * (b - t));
             return [[box.x + x / n + 0.5, box.y + y / n + 0.5], [m.x + p[0], m.y + p[1]]]; }"""
    )
    assert np.abs(np.subtract(found, wanted)).max() < 1.6
    if tile:
        lat, lng = visit.run(
            "([x, y]) => { const m = dpsort.map.getContainer().getBoundingClientRect();"
            "const p = dpsort.map.containerPointToLatLng([x - m.x, y - m.y]);"
            "return [p.lat, p.lng] }",
            found,
        )
        assert (lat, lng) == pytest.approx((40.7, -73.95), abs=2e-3)


# tiles -------------------------------------------------------------------------------------------


def test_tiles_are_an_extra_that_must_be_asked_for(release, tmp_path):
    release.to_map(tmp_path / "t.html", tiles="https://{s}.tiles.example/{z}/{x}/{y}.png")
    assert "img-src data: https://*.tiles.example" in (tmp_path / "t.html").read_text()
    for bad in ("nonsense", "ftp://a/{z}/{x}/{y}", "https://a;script-src *//{z}/{x}/{y}", *SCRIPTS):
        with pytest.raises(dp.BadInputError):
            release.to_map(tmp_path / "u.html", tiles=bad)
        assert not (tmp_path / "u.html").exists()


@pytest.mark.parametrize("address", SCRIPTS[:5])
def test_no_script_in_an_address_runs_even_if_it_reached_the_page(
    address, one_dot, open_page, tmp_path, monkeypatch
):
    """The page itself escapes what it is given: here nobody has looked at the address before."""
    made = one_dot(True)
    made.data["tiles"] = {**tiles.tile_layer(True), "url": address}
    monkeypatch.setattr(page, "tile_host", lambda url: url.rpartition("/{z}")[0])
    (tmp_path / "t.html").write_text(made.html())
    visit = open_page(tmp_path / "t.html")
    assert visit.run("window.ran") is None
    assert visit.page.locator("script").count() == 3


def test_tiles_of_a_plain_address_are_asked_for_and_muted(one_dot, open_page, tmp_path):
    address = "https://{s}.tiles.example/a-b_c~1/{z}/{x}/{y}{r}.png?key=x%20y&v=1"
    (tmp_path / "t.html").write_text(one_dot(address).html())
    visit = open_page(tmp_path / "t.html")
    visit.page.wait_for_function("document.querySelectorAll('img.leaflet-tile').length > 0")
    asked = visit.run("document.querySelector('img.leaflet-tile').src")
    assert re.fullmatch(
        r"https://[abc]\.tiles\.example/a-b_c~1/\d+/\d+/\d+\.png\?key=x%20y&v=1", asked
    )
    assert not any("Content Security Policy" in line for line in visit.said)
    assert "saturate" in visit.run(
        "getComputedStyle(document.querySelector('.dpsort-tiles')).filter"
    )
    # names are on the canvas, which lies above the tiles
    depth = visit.run(
        "['tilePane', 'dpsort-sheet'].map((n) => +getComputedStyle(dpsort.map.getPane(n)).zIndex)"
    )
    assert depth[0] < depth[1]


# notebooks ---------------------------------------------------------------------------------------


def test_explore_gives_a_folium_map_with_the_same_layers(release):
    folium = pytest.importorskip("folium")
    shown = release.explore()
    assert isinstance(shown, folium.Map)
    text = shown.get_root().render()
    assert "dpsortMap(" in text and "nobody can tell" in text


def test_explore_draws_the_same_map_in_a_notebook(release, browser, tmp_path):
    """Folium asks the network for Leaflet; here our own copy answers, and nobody else."""
    release.explore(tiles=None).save(tmp_path / "folium.html")
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    said = []
    opened.on("pageerror", lambda error: said.append(str(error)))

    def answer(route):
        url = route.request.url
        if url.startswith("file:"):
            return route.continue_()
        name = "leaflet.js" if url.endswith("leaflet.js") else "leaflet.css"
        known = url.endswith(("leaflet.js", "leaflet.css"))
        return route.fulfill(body=page._asset(name) if known else "")

    opened.route("**/*", answer)
    opened.goto((tmp_path / "folium.html").as_uri())
    opened.wait_for_selector("canvas.dpsort-canvas")
    opened.wait_for_selector(".dp-card .dp-ramp")
    assert said == []
    opened.close()
