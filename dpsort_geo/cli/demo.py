"""The demonstration: made-up residents, published three times, with maps to look at."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Dict, List, Tuple

import click
import numpy as np

from .options import json_option
from .words import list_examples, say

Array = np.ndarray

EPSILON = "1"
_CREDIT = "Cities: GeoNames, CC BY 4.0. Land: Natural Earth. The residents are invented."


@click.command(epilog=list_examples("dpsort-geo demo", "dpsort-geo demo pictures --figures"))
@click.argument("folder", type=click.Path(file_okay=False), default="dpsort-demo")
@click.option("--figures", is_flag=True, help="Draw the paper's figures too (needs matplotlib).")
@json_option
def demo(folder: str, figures: bool, as_json: bool) -> None:
    """Publish invented residents of North American cities and write all results to FOLDER."""
    result = run(Path(folder), figures=figures)
    lines = [f"Wrote {name}" for name in result.files]
    lines += ["", *result.sentences]
    facts = {"files": result.files, "sentences": result.sentences, "error_metres": result.errors}
    say(as_json, facts, "\n".join(lines))


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration wrote and found."""

    files: List[str]
    #: sliced earth mover's distance to the original points in metres, by name of the result
    errors: Dict[str, float]
    sentences: List[str]


def run(folder: Path, figures: bool = False) -> Demonstration:
    """Publish the residents at epsilon = 1 three times and write everything to ``folder``."""
    from ..core.atomic import write_text
    from ..core.errors import PrivacyWarning
    from ..geo._optional import have
    from ..geo.private.publish import publish
    from .figures import draw, draw_before_after
    from .residents import land_domain, residents

    folder.mkdir(parents=True, exist_ok=True)
    domain = land_domain()
    lon, lat = residents()
    points = np.column_stack([lon, lat])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # these people are invented
        adaptive = publish(points, EPSILON, domain)
        paper = publish(points, EPSILON, domain, method="sort")
        moves = _publish_moves(domain)
    names = ["adaptive.release.json", "sort.release.json", "adaptive.geojson", "map.html"]
    names += ["moves.release.json", "moves.html"]
    adaptive.save(folder / names[0])
    paper.save(folder / names[1])
    adaptive.to_geojson(folder / names[2])
    write_text(folder / names[3], _page(adaptive, paper, lon, lat).html())
    moves.save(folder / names[4])
    people = f"{moves.n:,} invented people"
    moves.to_map(folder / names[5], title="Who moved where, and when", what=people)
    if have("pyarrow"):
        names.append("adaptive.parquet")
        adaptive.to_geoparquet(folder / names[-1])
    original = domain.project(lon, lat)
    results = {
        "paper, repeated": paper.coordinates(diffuse=False),
        "paper, diffused": paper.coordinates(),
        "adaptive": adaptive.coordinates(),
    }
    if have("matplotlib"):
        names.append("before-after.png")
        draw_before_after(folder / names[-1], domain, {"original": original, **results})
    if figures:
        names += draw(folder, points, paper)
    errors = {
        name: sliced_distance(original, found) * domain.metres for name, found in results.items()
    }
    return Demonstration([str(folder / name) for name in names], errors, _sentences(errors, lon))


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


def _page(adaptive: Any, paper: Any, lon: Array, lat: Array) -> Any:
    """The map of the residents, with the paper's points and the original ones to compare."""
    from ..webmap.build import lonlat_layer, points_layer
    from ..webmap.sheet import choose_sheet

    people = f"{adaptive.n:,} invented people"
    page = adaptive.map_page("Residents of North American cities", what=people)
    sheet = choose_sheet(adaptive.domain)
    order = adaptive.grid.curve_index(*adaptive.domain.project(lon, lat)).argsort()
    layers = [
        *page.layers,
        lonlat_layer(
            "Original points", lon[order], lat[order], sheet, id="original", colour="#1b7f4d",
            on=False, note="invented for this page; real ones would stay secret.",
        ),
        points_layer(
            paper, sheet, "The paper's repeated points", diffuse=False, id="repeated",
            colour="#c2410c", on=False, note="sort mechanism; size tells how many",
        ),
        points_layer(
            paper, sheet, "The paper's points, diffused", id="diffused", colour="#b45309",
            on=False, note="for the eye.",
        ),
    ]  # fmt: skip
    return replace(page, layers=layers, credit=_CREDIT)


def _publish_moves(domain: Any) -> Any:
    """The same residents with the type of their home and the month in which they moved in."""
    import geopandas

    from ..core.rules.time_axis import TimeAxis
    from ..geo.private.publish import publish
    from .residents import HOMES, YEAR, residents_by_type_and_month

    lon, lat, kind, month = residents_by_type_and_month()
    frame = geopandas.GeoDataFrame(
        {"home": kind, "moved in": month},
        geometry=geopandas.points_from_xy(lon, lat), crs="EPSG:4326",
    )  # fmt: skip
    year = TimeAxis("moved in", f"{YEAR}-01-01", f"{YEAR + 1}-01-01", every="1 month")
    return publish(frame, EPSILON, domain, by={"home": list(HOMES)}, time=year)


def _sentences(errors: Dict[str, float], people: Array) -> List[str]:
    adaptive, paper = errors["adaptive"] / 1000, errors["paper, diffused"] / 1000
    return [
        f"Protected: where any one of {people.size:,} invented people lives, at epsilon = "
        f"{EPSILON}.",
        f"Off by: {adaptive:.1f} km on average for the adaptive points, {paper:.0f} km for the "
        "paper's (sliced earth mover's distance).",
    ]
