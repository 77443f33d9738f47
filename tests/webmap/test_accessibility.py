"""What a screen reader, a keyboard and weak eyes find on the pages, in a real browser."""

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp

KINDS = ["burglary", "theft"]

#: whatever can be operated, and what it is called
_NAMES = """() => [...document.querySelectorAll("button, input, summary, a[href], [tabindex='0']")]
  .filter((e) => e.offsetParent !== null || e.classList.contains("dp-skip"))
  .map((e) => [e.tagName + "." + e.className, (e.getAttribute("aria-label") || e.innerText ||
    (e.labels && e.labels[0] && e.labels[0].innerText) || e.title || "").trim()])"""

#: text that is seen, with its contrast to what lies behind it
_CONTRAST = """() => {
  const rgb = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
  const light = ([r, g, b]) => { const l = [r, g, b].map((v) => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
  const behind = (e) => { const stack = []; for (; e; e = e.parentElement) stack.push(rgb(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((below, own) => over(own, below), [255, 255, 255]); };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.offsetParent === null || e.closest("script, style, noscript, #map, .dp-skip")) continue;
    const ground = behind(e), ink = over(rgb(getComputedStyle(e).color), ground), [a, b] = [light(ink), light(ground)];
    found.push([e.textContent.trim().slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
  }
  return found; }"""  # noqa: E501


@pytest.fixture(scope="module")
def sliced():
    rng = np.random.default_rng(4)
    at = rng.normal((-74, 40.7), 0.03, (4000, 2))
    frame = gpd.GeoDataFrame(
        {"type": rng.choice(KINDS, 4000), "when": "2026-02-03"},
        geometry=gpd.points_from_xy(*at.T), crs="EPSG:4326",
    )  # fmt: skip
    months = dp.TimeAxis("when", "2026-01-01", "2026-05-01", every="1 month")
    domain = dp.Domain.from_bounds((-74.1, 40.6, -73.9, 40.8), crs="EPSG:4326")
    return dp.publish(frame, 1, domain, by={"type": KINDS}, time=months)


@pytest.fixture(scope="module")
def pages(sliced, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    halves = [shapely.box(-74.1, 40.6, -74, 40.8), shapely.box(-74, 40.6, -73.9, 40.8)]
    wards = gpd.GeoDataFrame({"name": ["West", "East"]}, geometry=halves, crs="EPSG:4326")
    sliced.to_map(folder / "density.html", title="Calls")
    sliced.to_map(folder / "zones.html", title="Calls", zones=wards, label="name")
    (folder / "label.html").write_text(sliced.label().html)
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["density", "zones"])
def test_everything_has_a_name_and_can_be_read(open_page, pages, name, scheme):
    visit = open_page(pages / f"{name}.html", color_scheme=scheme)
    visit.run("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    names = visit.run(_NAMES)
    assert len(names) > 8 and [each for each, said in names if not said] == []
    seen = visit.run(_CONTRAST)
    assert len(seen) > 12 and [each for each in seen if each[1] < 4.5] == []
    assert visit.page.locator("h1").count() == 1
    assert visit.run("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_label_can_be_read(browser, pages, scheme):
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page.goto((pages / "label.html").as_uri())
    assert [each for each in page.evaluate(_CONTRAST) if each[1] < 4.5] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator("svg").first.get_attribute("aria-label").startswith("This release")
    page.close()


def test_the_keyboard_reaches_all_of_it_and_the_focus_is_seen(open_page, pages):
    visit = open_page(pages / "density.html")
    press = visit.page.keyboard.press
    reached, rings = [], []
    for _ in range(30):
        press("Tab")
        name, ring = visit.run(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
                 return [e.getAttribute("aria-label") || e.innerText || e.tagName,
                   s.outlineStyle !== "none" || s.boxShadow !== "none"]; }"""
        )
        reached.append(name.strip())
        rings.append(ring)
    assert reached[0] == "Skip the map, read the numbers"
    for wanted in ("All", "burglary", "How?", "Play", "One step on", "As a table", "Zoom in"):
        assert wanted in reached
    assert any(name.startswith("Map: Calls") for name in reached)
    assert all(rings[: reached.index("As a table") + 1])


def test_a_step_of_time_and_an_answer_are_said_aloud(open_page, pages):
    visit = open_page(pages / "density.html")
    visit.page.get_by_role("button", name="One step on").focus()
    visit.page.keyboard.press("Enter")
    said = visit.page.locator("output.dp-when")
    assert said.inner_text() == "January 2026"  # an output is a live region
    slider = visit.page.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "January 2026"
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "February 2026"
    chip = visit.page.get_by_role("button", name="theft")
    assert chip.get_attribute("aria-pressed") == "false"
    chip.focus()
    visit.page.keyboard.press(" ")
    assert chip.get_attribute("aria-pressed") == "true"
    visit.page.locator("#map").focus()
    visit.page.keyboard.press("Enter")
    answer = visit.page.locator(".dp-readout[role=status]").inner_text()
    assert "theft, February 2026" in answer
