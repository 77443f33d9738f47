"""Pages opened in a real browser with the network refused."""

import numpy as np
import pytest
import shapely

import dpsort_geo as dp

SIZES = {"desktop": (1280, 800, False), "phone": (390, 844, True), "frame": (420, 300, False)}
N = 200_000


@pytest.fixture(scope="session")
def release():
    rng = np.random.default_rng(5)
    centre = np.array([[-74.0, 40.72], [-73.85, 40.8], [-74.1, 40.6]])
    points = centre[rng.integers(0, 3, N)] + rng.normal(0, 0.03, (N, 2))
    domain = dp.Domain.from_polygon(shapely.Point(-73.98, 40.71).buffer(0.3), crs="EPSG:4326")
    return dp.publish(points, 1, domain)


class Visit:
    """A page opened without a network, with all that it said and asked for."""

    def __init__(self, browser, path, size="desktop", **options):
        width, height, mobile = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=mobile,
            has_touch=mobile,
            offline=True,
            **options,
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda line: self.said.append(line.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            self.page.wait_for_selector("body[data-ready]")

    def run(self, script, *given):
        """What a script in the page gives."""
        return self.page.evaluate(script, *given)

    def zoom(self, steps):
        """Nearer, at once."""
        self.run(
            "(steps) => dpsort.map.setZoom(dpsort.data.startZoom + steps, {animate: false})", steps
        )
        self.settle()

    def settle(self):
        """Until the next picture is drawn."""
        self.run("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")

    def colour_at(self, u, v):
        """Red, green, blue and alpha of the canvas at a place of the sheet, below all names."""
        return self.run(
            """([u, v]) => { dpsort.state.hidden.names = true; dpsort.canvas.redraw();
                 const c = document.querySelector(".dpsort-canvas");
                 const box = c.getBoundingClientRect(), [x, y] = dpsort.pixel(u, v);
                 const at = dpsort.map.getContainer().getBoundingClientRect();
                 const scale = c.width / box.width;
                 const px = (at.x + x - box.x) * scale, py = (at.y + y - box.y) * scale;
                 return [...c.getContext("2d").getImageData(px, py, 1, 1).data]; }""",
            [u, v],
        )

    def point_at(self, u, v):
        """Put the mouse, or a finger, on a place of the sheet and read what the page says."""
        x, y = self.run("([u, v]) => dpsort.pixel(u, v)", [u, v])
        box = self.page.locator("#map").bounding_box()
        x, y = box["x"] + x, box["y"] + y
        if self.run("navigator.maxTouchPoints"):
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.move(x - 3, y)
            self.page.mouse.move(x, y)
        self.settle()
        said = self.page.locator(".dp-readout")
        return said.inner_text() if said.is_visible() else ""

    def outside(self):
        return [url for url in self.asked if not url.startswith(("data:", "file:", "blob:"))]


@pytest.fixture()
def open_page(browser):
    """Opens pages, and closes them after the test."""
    made = []

    def visit(path, size="desktop", **options):
        made.append(Visit(browser, path, size, **options))
        return made[-1]

    yield visit
    for each in made:
        each.context.close()
