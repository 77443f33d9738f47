"""Pictures of map pages for docs/map.md, and how fast a page with many slices is.

    python benchmarks/map_pages.py             # docs/img/map_*.png, from five real data sets
    python benchmarks/map_pages.py --speed     # 24 months x 200,000 points: size, opening, a step

The releases are drawn anew, with noise of their own; nothing of them is kept. Needs Chromium and
the data in `../shared/data`.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import geopandas as gpd
import numpy as np
import pandas as pd
from datasets import DATA

import dpsort_geo as dp

OUT = Path(__file__).resolve().parents[1] / "docs" / "img"
SIZES = {"": (1400, 900, False), "_phone": (390, 844, True)}
#: a picture takes at most so many bytes
MOST_BYTES = 200_000
WORLD = (-180, -90, 180, 90)


@dataclass(frozen=True)
class Shot:
    """A page, how it is looked at, and what is done in it before the picture is taken."""

    name: str
    write: Callable[[Path], None]
    dark: bool = False
    script: str = "() => 0"
    sizes: Tuple[str, ...] = field(default=("", "_phone"))


def points(name: str, *columns: str) -> gpd.GeoDataFrame:
    """A table of `../shared/data` as points, with some of its columns."""
    table = pd.read_parquet(DATA / name)
    return gpd.GeoDataFrame(
        table[list(columns)],
        geometry=gpd.points_from_xy(table["lon"], table["lat"]),
        crs="EPSG:4326",
    )


def mask(name: str) -> gpd.GeoDataFrame:
    """Public polygons of `../shared/data`."""
    return gpd.read_parquet(DATA / "masks" / name)


def thefts() -> Any:
    """Vehicle thefts by kind of place and month."""
    frame = points("nyc_vehicle_thefts_when_where.parquet", "when", "where")
    kinds = ["street", "residence", "open space", "commercial", "retail", "other"]
    months = dp.TimeAxis("when", "2014-01-01", "2018-01-01", every="1 month")
    domain = dp.Domain.from_polygon(mask("nyc_boroughs.parquet"))
    return dp.publish(frame, 1, domain, by={"where": kinds}, time=months)


def shots() -> List[Shot]:
    """Five real data sets, and one of them by borough."""
    city = dp.Domain.from_polygon(mask("nyc_boroughs.parquet"))
    britain = dp.Domain.from_polygon(mask("gb_50m.parquet"))
    world = dp.Domain.from_bounds(WORLD, crs="EPSG:4326")
    stolen = thefts()
    taxi = dp.publish(points("nyc_taxi_pickups_2009_2015.parquet"), 1, city)
    roads = dp.publish(points("gb_road_accidents.parquet"), 1, britain)
    places = dp.publish(points("geonames_cities1000.parquet"), 1, world)
    quakes = dp.publish(points("earthquakes_m55_1965_2016.parquet"), 1, world)
    words: Dict[str, Dict[str, str]] = {
        "thefts": {"title": "Vehicle thefts in New York", "source": "NYC Open Data"},
        "taxi": {
            "title": "Where yellow cabs pick people up", "when": "2009 to 2015", "source": "NYC TLC"
        },
        "gb": {"title": "Road accidents in Great Britain", "source": "DfT STATS19, OGL v3.0"},
        "places": {
            "title": "Places of 1,000 people and more", "source": "GeoNames, CC BY 4.0"
        },
        "quakes": {
            "title": "Earthquakes of magnitude 5.5 and more", "when": "1965 to 2016",
            "source": "USGS",
        },
    }  # fmt: skip
    boroughs = mask("nyc_boroughs.parquet")
    middle = "dpsort.map.getCenter()"
    return [
        Shot(
            "thefts", lambda path: stolen.to_map(path, **words["thefts"]),
            script="() => { dpsort.choose(0, 1); dpsort.choose(1, 20) }",
        ),
        Shot(
            "zones",
            lambda path: stolen.to_map(path, zones=boroughs, label="BoroName", **words["thefts"]),
            script="() => { dpsort.choose(0, 2); dpsort.chooseZone(4) }",
        ),
        Shot("taxi", lambda path: taxi.to_map(path, **words["taxi"]), dark=True),
        Shot(
            "gb", lambda path: roads.to_map(path, **words["gb"]),
            script=f"() => dpsort.say({middle})",
        ),
        Shot(
            "near", lambda path: roads.to_map(path, **words["gb"]), sizes=("",),
            script=f"() => dpsort.map.setView({middle}, dpsort.data.startZoom + 2.4,"
            " {animate: false})",
        ),
        Shot("places", lambda path: places.to_map(path, **words["places"])),
        Shot("quakes", lambda path: quakes.to_map(path, **words["quakes"]), dark=True),
    ]  # fmt: skip


def open_page(browser: Any, path: Path, size: str = "", dark: bool = False) -> Any:
    """A page without a network, drawn."""
    width, height, mobile = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, is_mobile=mobile, has_touch=mobile,
        offline=True, color_scheme="dark" if dark else "light",
    )  # fmt: skip
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page


def small_png(raw: bytes) -> bytes:
    """A picture of 256 colours, mixed from dots where it fits into MOST_BYTES."""
    from PIL import Image

    shown = Image.open(io.BytesIO(raw)).convert("RGB")
    for colours, dither in ((256, 3), (256, 0), (128, 0), (64, 0)):
        out = io.BytesIO()
        # most colours for what is seen most, some for what is seen at all: legends have theirs
        often, ever = shown.quantize(colours * 3 // 4), shown.quantize(colours // 4, method=1)
        palette = Image.new("P", (1, 1))
        palette.putpalette((often.getpalette() or []) + (ever.getpalette() or []))
        shown.quantize(palette=palette, dither=dither).save(out, "PNG", optimize=True)
        if out.tell() <= MOST_BYTES:
            break
    return out.getvalue()


def take_pictures(browser: Any, folder: Path, only: Optional[str] = None) -> None:
    """All pictures into docs/img, or one."""
    for shot in shots():
        if only not in (None, shot.name):
            continue
        path = folder / f"{shot.name}.html"
        shot.write(path)
        for size in shot.sizes:
            page = open_page(browser, path, size, shot.dark)
            page.evaluate(shot.script)
            page.wait_for_timeout(300)
            picture = small_png(page.screenshot())
            (OUT / f"map_{shot.name}{size}.png").write_bytes(picture)
            print(f"map_{shot.name}{size}.png {len(picture) / 1000:.0f} kB", flush=True)
            page.context.close()


def measure_speed(browser: Any, folder: Path, n: int = 200_000, months: int = 24) -> None:
    """Size and speed of a page with many slices."""
    rng = np.random.default_rng(1)
    centre = rng.uniform((-74.2, 40.55), (-73.75, 40.85), (40, 2))
    at = centre[rng.integers(0, 40, n)] + rng.normal(0, 0.02, (n, 2))
    month = np.datetime64("2025-01") + rng.integers(0, months, n)
    kinds = ["burglary", "theft", "other"]
    frame = gpd.GeoDataFrame(
        {"type": rng.choice(kinds, n), "when": month.astype("datetime64[D]").astype(str)},
        geometry=gpd.points_from_xy(*at.T), crs="EPSG:4326",
    )  # fmt: skip
    domain = dp.Domain.from_bounds((-74.3, 40.5, -73.65, 40.95), crs="EPSG:4326")
    axis = dp.TimeAxis("when", "2025-01-01", "2027-01-01", every="1 month")
    release = dp.publish(frame, 1, domain, by={"type": kinds}, time=axis)
    start = time.perf_counter()
    release.to_map(folder / "speed.html")
    print(f"written in {time.perf_counter() - start:.1f} s")
    print(f"size {(folder / 'speed.html').stat().st_size / 1e6:.2f} MB")
    start = time.perf_counter()
    page = open_page(browser, folder / "speed.html")
    print(f"opened in {time.perf_counter() - start:.2f} s")
    step = """() => { const took = [];
        for (let k = 1; k <= 24; k++) { const t = performance.now(); dpsort.choose(1, k);
          took.push(performance.now() - t); } took.sort((a, b) => a - b);
        return [took[12], took[22]]; }"""
    print("a step, median and worst but one: {:.0f} and {:.0f} ms".format(*page.evaluate(step)))
    page.evaluate("dpsort.map.setZoom(dpsort.data.startZoom + 2, {animate: false})")
    print("the same with dots: {:.0f} and {:.0f} ms".format(*page.evaluate(step)))
    print(f"dots drawn: {page.evaluate('dpsort.canvas.drawn'):,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--only", metavar="NAME", help="this picture, such as zones")
    chosen = parser.parse_args()
    from playwright.sync_api import sync_playwright

    warnings.simplefilter("ignore")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        if chosen.speed:
            measure_speed(browser, Path(folder))
        else:
            take_pictures(browser, Path(folder), chosen.only)
        browser.close()


if __name__ == "__main__":
    main()
