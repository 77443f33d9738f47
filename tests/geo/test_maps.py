"""The map page, opened in a real browser with the network refused."""

import base64
import re
import shutil

import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.geo import layers, maps, png

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.geo.publish.PrivacyWarning")

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
SIZES = {"desktop": (1280, 800, False), "phone": (390, 844, True)}
N = 200_000


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(5)
    centre = np.array([[-74.0, 40.72], [-73.85, 40.8], [-74.1, 40.6]])
    points = centre[rng.integers(0, 3, N)] + rng.normal(0, 0.03, (N, 2))
    domain = dp.Domain.from_polygon(shapely.Point(-73.98, 40.71).buffer(0.3), crs="EPSG:4326")
    return dp.publish(points, 1, domain)


@pytest.fixture(scope="module")
def page_file(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "map.html"
    release.to_map(path, title="Calls & <b>more</b>")
    return path


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        shown = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield shown
        shown.close()


class Visit:
    """A page opened without a network, with all that it said and asked for."""

    def __init__(self, browser, path, size):
        width, height, mobile = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=mobile,
            has_touch=mobile,
            offline=True,
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda line: self.said.append(line.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body[data-ready]")

    def inked(self, selector="canvas.dpsort-dots"):
        """Pixels with something on them, a number for each canvas."""
        return self.page.evaluate(
            """(selector) => [...document.querySelectorAll(selector)].map((canvas) => {
                 const { width, height } = canvas;
                 const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
                 let inked = 0;
                 for (let i = 3; i < data.length; i += 4) if (data[i]) inked += 1;
                 return inked; })""",
            selector,
        )

    def toggle(self, name):
        if self.page.locator(".dpsort-layers details").get_attribute("open") is None:
            self.page.locator(".dpsort-layers summary").click()
        self.page.locator(".dpsort-layer", has_text=name).click()

    def outside(self):
        return [url for url in self.asked if not url.startswith(("data:", "file:", "blob:"))]


@pytest.fixture(params=SIZES)
def visit(request, browser, page_file):
    made = Visit(browser, page_file, request.param)
    yield made
    made.context.close()


def test_the_page_works_without_a_network(visit):
    assert visit.said == []
    assert visit.outside() == []
    assert len([url for url in visit.asked if url.startswith("file:")]) == 1


def test_the_points_are_drawn(visit):
    (inked,) = visit.inked()
    assert inked > 2000
    assert visit.page.locator("img.leaflet-image-layer").count() == 1


def test_every_layer_can_be_switched(visit):
    visit.toggle("Published points")
    assert visit.inked() == []
    visit.toggle("Repeated points")
    assert visit.inked()[0] > 500
    visit.toggle("Density")
    assert visit.page.locator("img.leaflet-image-layer").count() == 0
    assert visit.page.locator(".dpsort-legend").is_hidden()
    visit.toggle("Density")
    assert visit.page.locator("img.leaflet-image-layer").count() == 1
    outlines = visit.page.locator("path.leaflet-interactive, path").count()
    visit.toggle("Domain")
    assert visit.page.locator("path").count() < outlines
    assert visit.said == []


def test_zooming_draws_the_points_anew(visit):
    before = visit.page.evaluate("layers['layer-3'].drawn")
    visit.page.evaluate("map.setView([40.72, -74.0], map.getZoom() + 2, {animate: false})")
    after = visit.page.evaluate("layers['layer-3'].drawn")
    assert 0 < after < before
    assert visit.inked()[0] > 500
    assert visit.said == []


def test_dots_lie_where_leaflet_puts_their_coordinates(browser, tmp_path):
    """One dot, compared with Leaflet's own projection."""
    layer = layers.points_layer("one", np.array([-73.95]), np.array([40.7]), west=-74.3)
    page = maps.Page("t", (-74.3, 40.4, -73.6, 41.0), [layer], {"head": "h", "lines": []})
    path = tmp_path / "one.html"
    path.write_text(page.html())
    visit = Visit(browser, path, "desktop")
    found, wanted = visit.page.evaluate(
        """() => { const c = document.querySelector("canvas.dpsort-dots");
             const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
             let x = 0, y = 0, n = 0;
             for (let i = 0; i < d.length / 4; i++)
               if (d[4 * i + 3] > 60) { x += i % c.width; y += Math.floor(i / c.width); n++; }
             const box = c.getBoundingClientRect(), p = map.latLngToContainerPoint([40.7, -73.95]);
             return [[box.x + x / n + 0.5, box.y + y / n + 0.5], [p.x, p.y]]; }"""
    )
    visit.context.close()
    assert np.abs(np.subtract(found, wanted)).max() < 1.5


def test_the_statement_stands_in_a_corner_in_plain_words(visit):
    card = visit.page.locator(".dpsort-statement")
    assert card.is_visible()
    if card.locator("details").get_attribute("open") is None:
        card.locator("summary").click()
    text = card.inner_text()
    assert "No dot is a real place" in text and "ε = 1" in text and "2.72 times" in text


def test_nothing_sticks_out_of_the_screen(visit):
    wide = visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    size = visit.page.viewport_size
    for card in visit.page.locator(".dpsort-card").all():
        box = card.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_a_title_cannot_smuggle_in_markup(visit, page_file):
    assert visit.page.title() == "Calls & <b>more</b>"
    assert visit.page.locator(".dpsort-layers summary").inner_text() == "Calls & <b>more</b>"


def test_the_page_holds_no_address_that_it_would_ask(page_file):
    text = page_file.read_text()
    assert not re.search(r"""<(script|link|img|iframe)[^>]*(src|href)\s*=\s*["']?https?:""", text)
    assert "url(http" not in text and "sourceMappingURL" not in text
    assert "default-src 'none'" in text


def test_tiles_are_an_extra_that_must_be_asked_for(release, tmp_path):
    release.to_map(tmp_path / "t.html", tiles="https://{s}.tiles.example/{z}/{x}/{y}.png")
    assert "img-src data: https://*.tiles.example" in (tmp_path / "t.html").read_text()
    for bad in ("nonsense", "ftp://a/{z}/{x}/{y}", "https://a;script-src *//{z}/{x}/{y}"):
        with pytest.raises(dp.BadInput):
            release.to_map(tmp_path / "u.html", tiles=bad)


def test_explore_gives_a_folium_map_with_the_same_layers(release):
    folium = pytest.importorskip("folium")
    shown = release.explore()
    assert isinstance(shown, folium.Map)
    text = shown.get_root().render()
    assert "dpsortMap(" in text and "Published points" in text and "No dot is a real place" in text


def test_a_map_across_the_antimeridian_is_in_one_piece():
    domain = dp.Domain.from_bounds((177, -20, -177, -15), crs="EPSG:4326")
    rings, (west, south, east, north) = layers.lonlat_rings(domain)
    assert (west % 360, south, east % 360, north) == pytest.approx((177, -20, 183, -15), abs=0.05)
    layer = layers.points_layer("p", np.array([179.0, -179.0]), np.array([-17.0, -17.0]), west)
    x = np.frombuffer(base64.b64decode(layer["x"]), "<u4") / (2**32 - 1) * 360 + west
    np.testing.assert_allclose(x % 360, [179, 181], atol=1e-6)


def test_a_release_that_is_not_private_says_so_on_the_map(release):
    words = maps.statement_words(
        {**release.statement(), "private": False, "summary": "NOT PRIVATE: a"}
    )
    assert words["head"] == "NOT PRIVATE"


def test_pictures_are_valid_png():
    image = pytest.importorskip("PIL.Image")
    import io

    rng = np.random.default_rng(0)
    for channels in (3, 4):
        picture = rng.integers(0, 256, (17, 9, channels), dtype=np.uint8)
        read = np.asarray(image.open(io.BytesIO(png.encode(picture))))
        np.testing.assert_array_equal(read, picture)


def test_explore_draws_the_same_map_in_a_notebook(release, browser, tmp_path):
    """Folium asks the network for Leaflet; here our own copy answers, and nobody else."""
    release.explore(tiles=None).save(tmp_path / "folium.html")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said = []
    page.on("pageerror", lambda error: said.append(str(error)))

    def answer(route):
        url = route.request.url
        if url.startswith("file:"):
            return route.continue_()
        name = "leaflet.js" if url.endswith("leaflet.js") else "leaflet.css"
        known = url.endswith(("leaflet.js", "leaflet.css"))
        return route.fulfill(body=maps._asset(name) if known else "")

    page.route("**/*", answer)
    page.goto((tmp_path / "folium.html").as_uri())
    page.wait_for_selector("canvas.dpsort-dots")
    page.wait_for_selector(".dpsort-statement")
    assert said == []
    assert page.locator("img.leaflet-image-layer").count() == 1
    page.screenshot(path=str(tmp_path / "folium.png"))
    page.close()


def test_the_outline_of_a_domain_around_a_pole_is_closed_along_the_pole():
    domain = dp.Domain.from_bounds((-3e6, -3e6, 3e6, 3e6), crs="EPSG:3995")
    (ring,), (west, south, east, north) = layers.lonlat_rings(domain)
    assert east - west == pytest.approx(360) and 45 < south < 65 and north > 85
    steps = np.abs(np.diff(np.array(ring)[:-3, 1]))
    assert steps.max() < 90  # nowhere does it jump to the other side of the map
