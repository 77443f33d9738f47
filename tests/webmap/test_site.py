"""Tiles, and the folder with a map in it, opened in a real browser from disk and from a server."""

from __future__ import annotations

import functools
import http.server
import json
import re
import subprocess
import sys
import threading

import geopandas as gpd
import h3
import mapbox_vector_tile
import numpy as np
import pytest
import shapely
from pmtiles.reader import MmapSource, Reader, all_tiles

import dpsort_geo as dp
from dpsort_geo.geo.statement import read_statement


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(5)
    points = np.column_stack([rng.normal(-74.0, 0.05, 9000), rng.normal(40.72, 0.04, 9000)])
    return dp.publish(
        points, 1, dp.Domain.from_bounds((-74.2, 40.6, -73.8, 40.85), crs="EPSG:4326")
    )


@pytest.fixture(scope="module")
def folder(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "map"
    release.to_site(path, title="Calls & <b>more</b>")
    return path


def read(path):
    import gzip

    with open(path, "rb") as file:
        source = MmapSource(file)
        reader = Reader(source)
        tiles = {
            place: mapbox_vector_tile.decode(
                gzip.decompress(tile), default_options={"y_coord_down": True}
            )
            for place, tile in all_tiles(source)
        }
        return reader.header(), reader.metadata(), tiles


def test_the_last_zoom_level_has_all_points_and_the_first_fewer(release, folder):
    header, metadata, tiles = read(folder / "points.pmtiles")
    many = {}
    for (zoom, _, _), layers in tiles.items():
        (feature,) = layers["points"]["features"]
        corners = np.atleast_2d(feature["geometry"]["coordinates"])
        many[zoom] = many.get(zoom, 0) + len(corners)
    assert many[max(many)] == release.n
    assert many[min(many)] == 4000
    assert header["min_zoom"] == min(many) and header["max_zoom"] == max(many)
    assert metadata["privacy_statement"]["epsilon"] == "1"
    assert metadata["privacy_statement"]["thinned"].startswith("9,000 of 9,000")


def test_a_point_of_a_tile_is_a_published_point(release, folder):
    tiles = read(folder / "points.pmtiles")[2]
    zoom, column, row = next(place for place in tiles if place[0] == max(p[0] for p in tiles))
    feature = tiles[zoom, column, row]["points"]["features"][0]
    x, y = np.atleast_2d(feature["geometry"]["coordinates"])[0]
    lon = 360 * ((column + (x + 0.5) / 4096) / 2**zoom - 0.5)
    up = np.pi * (1 - 2 * (row + (y + 0.5) / 4096) / 2**zoom)
    lat = np.degrees(np.arctan(np.sinh(up)))
    published = release.points().geometry
    off = np.hypot(published.x - lon, published.y - lat).min()
    assert off < 360 / 2**zoom / 4096


def test_hexagons_of_every_zoom_level_hold_all_points(release, folder):
    metadata, tiles = read(folder / "hexes.pmtiles")[1:]
    for zoom in {place[0] for place in tiles}:
        hexes = {
            feature["properties"]["h3"]: feature["properties"]["estimate"]
            for place, layers in tiles.items() if place[0] == zoom
            for feature in layers["hexes"]["features"]
        }  # fmt: skip
        assert sum(hexes.values()) == pytest.approx(release.n, rel=0.01)
    assert metadata["privacy_statement"] == release.statement()


@pytest.mark.parametrize("kind", ["points", "hexes"])
def test_inspect_reads_the_statement_of_tiles(release, folder, kind):
    done = subprocess.run(
        [sys.executable, "-c", "from dpsort_geo.cli import main; main()", "inspect",
         str(folder / f"{kind}.pmtiles"), "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epsilon"] == "1"


def test_tiles_that_are_cut_short_are_refused_in_a_sentence(folder, tmp_path):
    whole = (folder / "hexes.pmtiles").read_bytes()
    for size in (8, 50, 130, 300):
        (tmp_path / "cut.pmtiles").write_bytes(whole[:size])
        with pytest.raises(dp.BadInputError, match="privacy statement"):
            read_statement(tmp_path / "cut.pmtiles")


def test_a_folder_with_files_of_others_is_refused(release, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(dp.BadInputError, match="did not write"):
        release.to_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(dp.BadInputError, match="points or hexes"):
        release.to_pmtiles(tmp_path / "a.pmtiles", kind="lines")


@pytest.fixture(scope="module")
def browser(chromium):
    """MapLibre wants WebGL, which test machines draw by the processor."""
    return chromium("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@pytest.fixture(scope="module")
def server(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    serve = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=serve.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serve.server_port}/"
    serve.shutdown()


@pytest.mark.parametrize("door", ["disk", "server"])
def test_the_site_opens_and_asks_nobody_else(browser, folder, server, door):
    base = server if door == "server" else f"{folder.as_uri()}/"
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(base + "index.html")
    page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    assert page.evaluate("dpsortMap.queryRenderedFeatures({layers: ['hexes']}).length") > 20
    page.evaluate("dpsortMap.jumpTo({zoom: dpsortMap.getMaxZoom() - 2, center: [-74.0, 40.72]})")
    page.wait_for_function(
        "dpsortMap.queryRenderedFeatures({layers: ['points']}).length > 0", timeout=60_000
    )
    assert page.inner_text("#about summary") == "Calls & <b>more</b>"
    page.close()
    outside = [url for url in asked if not url.startswith((base, "blob:"))]
    assert outside == [] or outside == [server + "favicon.ico"]
    assert [line for line in wrong if "favicon" not in line and "404" not in line] == []


def test_a_phone_sees_hexagons_at_once_and_the_words_are_folded(browser, folder):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, color_scheme="dark"
    )
    page = context.new_page()
    page.goto(f"{folder.as_uri()}/index.html")
    page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    assert page.evaluate("dpsortMap.queryRenderedFeatures({layers: ['hexes']}).length") > 20
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert not page.locator("#legend").is_visible()
    page.locator("#about > summary").click()
    assert "Points in a hexagon" in page.inner_text("#legend")
    assert "ε = 1" not in page.inner_text("#about")
    page.locator("summary", has_text="How?").click()
    assert "ε = 1" in page.inner_text("#about")
    ground = page.evaluate("dpsortMap.getPaintProperty('ground', 'background-color')")
    assert ground == "#0e141a"
    context.close()


def until(page, script):
    """Wait; the page's own policy forbids Playwright to do so inside it."""
    for _ in range(200):
        if page.evaluate(script):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never came: {script}")


@pytest.fixture(scope="module")
def sliced(tmp_path_factory):
    """A release with categories and months, drawn with the names of zones."""
    rng = np.random.default_rng(6)
    n = 6000
    where = np.column_stack([rng.normal(-74.0, 0.05, n), rng.normal(40.72, 0.04, n)])
    kind = np.where(where[:, 0] < -74.0, "west", "east")
    month = np.datetime64("2026-01") + rng.integers(0, 4, n)
    points = gpd.GeoDataFrame(
        {"kind": kind, "when": month.astype("datetime64[D]").astype(str)},
        geometry=gpd.points_from_xy(*where.T), crs="EPSG:4326",
    )  # fmt: skip
    domain = dp.Domain.from_bounds((-74.2, 40.6, -73.8, 40.85), crs="EPSG:4326")
    axis = dp.TimeAxis("when", "2026-01-01", "2026-05-01", every="1 month")
    release = dp.publish(points, 5, domain, by={"kind": ["west", "east"]}, time=axis)
    zones = gpd.GeoDataFrame(
        {"ward": ["Left <side>", "Right side"]},
        geometry=[shapely.box(-74.2, 40.6, -74.0, 40.85), shapely.box(-74.0, 40.6, -73.8, 40.85)],
        crs="EPSG:4326",
    )
    path = tmp_path_factory.mktemp("sliced") / "map"
    release.to_site(path, title="Sightings", source="Us & them", zones=zones, label="ward")
    return release, path


def test_a_site_has_buttons_for_categories_and_a_slider_for_time(browser, sliced):
    release, path = sliced
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{path.as_uri()}/index.html")
    page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    facts = page.inner_text("#about dl")
    assert "January to April 2026" in facts and "Us & them" in facts and "off" in facts
    names = page.locator("#names span:visible").all_inner_texts()
    assert sorted(names) == ["Left <side>", "Right side"]

    def told():
        until(page, "dpsortMap.loaded()")
        return page.evaluate(
            """() => Object.fromEntries(dpsortMap.queryRenderedFeatures({layers: ["hexes"]})
                .map((one) => [one.id, {...one.properties, ...one.state}]))"""
        )

    page.get_by_role("button", name="west").click()
    until(page, "document.getElementById('legend').textContent.includes('hexagon, west')")
    page.get_by_label("when", exact=True).press("ArrowRight")
    until(page, "document.querySelector('#time output').value === 'February 2026'")
    until(page, "document.getElementById('legend').textContent.includes('west, February 2026')")
    shown = told()
    level = h3.get_resolution(next(iter(shown)))
    counted = release.hexes(level, by=["kind", "when"])
    own = counted[(counted["kind"] == "west") & (counted["when"] == "2026-02-01")].set_index("h3")
    assert len(shown) > 20
    for cell, numbers in shown.items():
        for column in ("estimate", "low", "high"):
            assert numbers[column] == pytest.approx(own.loc[cell, column], abs=0.06)
    assert page.evaluate("dpsortMap.getLayoutProperty('points', 'visibility')") == "none"
    page.locator("#time .chip").click()
    page.locator("#chips .chip").first.click()
    until(page, "dpsortMap.getLayoutProperty('points', 'visibility') === 'visible'")
    whole = release.hexes(level).set_index("h3")
    for cell, numbers in told().items():
        assert numbers["estimate"] == pytest.approx(whole.loc[cell, "estimate"], abs=0.06)
    page.close()
    assert wrong == []


def test_pointing_at_a_hexagon_says_its_number_its_zone_and_the_slice(browser, sliced):
    _, path = sliced
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(f"{path.as_uri()}/index.html")
    page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    page.get_by_role("button", name="west").click()
    until(page, "dpsortMap.getLayoutProperty('points', 'visibility') === 'none'")
    until(page, "dpsortMap.loaded()")
    x, y = page.evaluate("(({x, y}) => [x, y])(dpsortMap.project([-74.03, 40.72]))")
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    said = page.locator(".maplibregl-popup-content")
    said.wait_for(timeout=20_000)
    number, where = said.inner_text().split("\n")
    about, low, high = map(int, re.findall(r"\d+", number.replace(",", "")))
    assert low <= about <= high
    assert where == "Left <side>, west"
    page.close()


def test_the_shell_names_zones_on_a_site_and_refuses_a_column_that_is_none(sliced, tmp_path):
    release, _ = sliced
    release.save(tmp_path / "r.json")
    zones = gpd.GeoDataFrame(
        {"ward": ["A"]}, geometry=[shapely.box(-74.2, 40.6, -74.0, 40.85)], crs="EPSG:4326"
    )
    zones.to_file(tmp_path / "wards.gpkg")
    command = [sys.executable, "-m", "dpsort_geo", "site", tmp_path / "r.json"]
    more = ["--zones", tmp_path / "wards.gpkg", "--label"]
    subprocess.run([*command, tmp_path / "a", "--what", "calls", *more, "ward"], check=True)
    assert '"name": "A"' in (tmp_path / "a" / "tiles.js").read_text()
    assert "calls" in (tmp_path / "a" / "index.html").read_text()
    bad = subprocess.run([*command, tmp_path / "b", *more, "none"], capture_output=True, text=True)
    assert bad.returncode == 2 and "--label names a column" in bad.stderr
    assert not (tmp_path / "b").exists()
