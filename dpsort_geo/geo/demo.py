"""Residents of North American cities, made from public numbers: something to try things on.

About the size and shape of the paper's 183,072 Twitter users, whom nobody can have.
"""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import shapely

from ..atomic import replacing, write_text
from . import png
from ._optional import have
from .domain import Domain
from .layers import points_layer, ramp
from .lettering import lettered
from .maps import Page

Array = np.ndarray

#: as many as the paper's first data set has
RESIDENTS = 183_072
EPSILON = "1"
#: households do not live at the city hall: spread in degrees for a city of a million
_SPREAD = 0.09
#: share of people who live far from the centre, and how much farther
_FAR_SHARE, _FAR_TIMES = 0.18, 5.0


@lru_cache(maxsize=1)
def land() -> Any:
    """North America between 22 and 54 degrees north, a shapely polygon in degrees (public)."""
    text = (files("dpsort_geo") / "data" / "north_america_land.geojson").read_text("utf-8")
    return shapely.geometry.shape(json.loads(text)["geometry"])


def land_domain() -> Domain:
    """The demonstration's domain: land, because nobody lives at sea.

    >>> land_domain().working_crs.name == "unknown"
    True
    """
    return Domain.from_polygon(land(), crs="EPSG:4326")


def cities() -> Tuple[Array, Array, Array]:
    """Longitude, latitude and population of the cities in the package's table (GeoNames)."""
    text = (files("dpsort_geo") / "data" / "cities.csv").read_text("utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    table = np.array([[float(r["lon"]), float(r["lat"]), float(r["population"])] for r in rows])
    return table[:, 0], table[:, 1], table[:, 2]


def residents(n: int = RESIDENTS, seed: int = 2012) -> Tuple[Array, Array]:
    """Longitudes and latitudes of ``n`` invented residents, on land, the same for everybody.

    >>> lon, lat = residents(1000)
    >>> lon.size
    1000
    """
    generator = np.random.default_rng(seed)
    lon, lat, population = cities()
    spread = _SPREAD * np.sqrt(population / 1e6) + 0.01
    found_lon, found_lat = np.zeros(0), np.zeros(0)
    shapely.prepare(land())
    while found_lon.size < n:
        city = generator.choice(lon.size, n, p=population / population.sum())
        far = np.where(generator.random(n) < _FAR_SHARE, _FAR_TIMES, 1.0)
        radius = spread[city] * far * generator.normal(size=(2, n))
        y = lat[city] + radius[1]
        x = lon[city] + radius[0] / np.cos(np.radians(lat[city]))
        ashore = shapely.contains_xy(land(), x, y)
        found_lon = np.concatenate([found_lon, x[ashore]])
        found_lat = np.concatenate([found_lat, y[ashore]])
    return found_lon[:n], found_lat[:n]


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration wrote and found."""

    files: List[str]
    #: sliced earth mover's distance to the original points in metres, by name of the result
    errors: Dict[str, float]
    sentences: List[str]


def run(folder: Any, figures: bool = False) -> Demonstration:
    """Publish the residents at epsilon = 1 twice and write everything to ``folder``."""
    from .publish import PrivacyWarning, publish

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    domain = land_domain()
    lon, lat = residents()
    points = np.column_stack([lon, lat])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # these people are invented
        adaptive = publish(points, EPSILON, domain)
        paper = publish(points, EPSILON, domain, method="sort")
    adaptive.save(folder / "adaptive.release.json")
    paper.save(folder / "sort.release.json")
    adaptive.to_geojson(folder / "adaptive.geojson")
    with_parquet = have("pyarrow")
    if with_parquet:
        adaptive.to_geoparquet(folder / "adaptive.parquet")
    original = domain.project(lon, lat)
    results = {
        "original": original,
        "paper, repeated": paper.coordinates(diffuse=False),
        "paper, diffused": paper.coordinates(),
        "adaptive": adaptive.coordinates(),
    }
    write_text(folder / "map.html", _page(adaptive, paper, lon, lat).html())
    with replacing(folder / "before-after.png") as part:
        part.write_bytes(png.encode(before_after(domain, results)))
    errors = {
        name: sliced_distance(original, found) * domain.metres
        for name, found in results.items()
        if name != "original"
    }
    names = ["adaptive.release.json", "sort.release.json", "adaptive.geojson"]
    names += ["adaptive.parquet"] * with_parquet
    names += ["before-after.png", "map.html"]
    if figures:
        from .figures import draw

        names += draw(folder, points, paper)
    return Demonstration([str(folder / name) for name in names], errors, _sentences(errors))


def sliced_distance(a: Tuple[Array, Array], b: Tuple[Array, Array], directions: int = 16) -> float:
    """How far points have to move on average to turn one set into another of the same size.

    The mean earth mover's distance of the projections on lines in all directions, times pi/2,
    which is exact for a shift: an estimate, quick enough for a demonstration.

    >>> x, y = np.arange(100.0), np.arange(100.0) % 7
    >>> round(sliced_distance((x, y), (x + 3, y + 4)), 2)
    5.0
    """
    total = 0.0
    for angle in np.pi * (np.arange(directions) + 0.5) / directions:
        along = [np.sort(x * np.cos(angle) + y * np.sin(angle)) for x, y in (a, b)]
        total += float(np.abs(along[0] - along[1]).mean())
    return total / directions * np.pi / 2


def before_after(
    domain: Domain, results: Dict[str, Tuple[Array, Array]], width: int = 720
) -> Array:
    """Panels with one dot a point, side by side and labelled, as an RGB picture."""
    panels = []
    for name, (x, y) in results.items():
        count = _dots(domain, x, y, width)
        share = np.log1p(count) / np.log(64)
        ink = np.array([253, 252, 249]) * (1 - np.clip(share, 0, 1))[..., None]
        picture = ink + ramp(0.35 + 0.65 * np.clip(share, 0, 1)) * np.clip(share, 0, 1)[..., None]
        picture = np.where(count[..., None] > 0, picture, _background(domain, count.shape))
        label = lettered(name)
        picture[12 : 12 + label.shape[0], 12 : 12 + label.shape[1]][label] = (28, 39, 51)
        panels.append(np.pad(picture, ((4, 4), (4, 4), (0, 0)), constant_values=255))
    half = (len(panels) + 1) // 2
    rows = [np.hstack(panels[:half]), np.hstack(panels[half:])] if len(panels) > 2 else panels
    return np.vstack(rows).astype(np.uint8)


def _dots(domain: Domain, x: Array, y: Array, width: int) -> Array:
    grid = domain.grid
    _, top = _allowed_rows(domain)
    height = int(round(width * top))
    column = np.clip((x - grid.x0) / grid.side * width, 0, width - 1).astype(np.int64)
    row = np.clip((y - grid.y0) / grid.side * width, 0, height - 1).astype(np.int64)
    count = np.bincount(row * width + column, minlength=width * height)
    return count.reshape(height, width)[::-1]


def _allowed_rows(domain: Domain) -> Tuple[Array, float]:
    """The mask, and the share of the grid's height that has allowed cells in it."""
    mask = domain.mask(9)
    return mask, float((np.flatnonzero(mask.any(axis=1)).max() + 1) / len(mask))


def _background(domain: Domain, shape: Tuple[int, ...]) -> Array:
    mask, top = _allowed_rows(domain)
    rows = (np.arange(shape[0]) / shape[0] * top * len(mask)).astype(np.int64)[::-1]
    columns = (np.arange(shape[1]) / shape[1] * len(mask)).astype(np.int64)
    land_share = mask[np.ix_(rows, columns)][..., None]
    return land_share * np.array([253, 252, 249]) + (1 - land_share) * np.array([223, 230, 236])


def _page(adaptive: Any, paper: Any, lon: Array, lat: Array) -> Page:
    page = adaptive.map_page("Residents of North American cities")
    outline, degrees, density = page.layers[:3]
    order = adaptive.grid.curve_index(*adaptive.domain.project(lon, lat)).argsort()
    layers = [
        outline,
        degrees,
        density,
        points_layer(
            "Original points", lon[order], lat[order], page.bounds[0], colour="#1b7f4d", on=False,
            note="invented for this page; real ones would stay secret.",
        ),
        paper.points_layer(
            page.bounds, "Paper: repeated points", diffuse=False, on=False,
            note="sort mechanism; size tells how many",
        ),
        paper.points_layer(
            page.bounds, "Paper: diffused points", colour="#b45309", on=False, note="for the eye."
        ),
        adaptive.points_layer(page.bounds, "Adaptive points", note="the default."),
    ]  # fmt: skip
    words = dict(page.statement)
    words["lines"] = [
        *page.statement["lines"],
        "Cities: GeoNames, CC BY 4.0. Land: Natural Earth. The residents are invented.",
    ]
    return replace(page, layers=layers, statement=words)


def _sentences(errors: Dict[str, float]) -> List[str]:
    adaptive, paper = errors["adaptive"] / 1000, errors["paper, diffused"] / 1000
    return [
        f"Protected: where any one of {RESIDENTS:,} invented people lives, at epsilon = {EPSILON}.",
        f"Off by: {adaptive:.1f} km on average for the adaptive points, {paper:.0f} km for the "
        "paper's (sliced earth mover's distance).",
    ]
