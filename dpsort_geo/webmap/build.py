"""From a release to its page: what is shown, where, and in which words."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..core import accuracy
from ..core.errors import BadInputError
from ..core.public import points as diffusion
from ..core.public.leaves import columns_and_rows
from ..core.rules.time_axis import TimeAxis
from ..core.statement import counted_words
from .dots import MOST_COUNTED, MOST_DOTS, Layer, circles_layer, dots_layer, even_sample
from .field import area_unit, pack_field, sample, smooth_density
from .ground import is_world, names_on, pack_ground, shows_sea
from .pack import pack
from .page import Page
from .regions import PALEST, Answers, Regions, fade, find_regions, pack_regions
from .sheet import LONLAT, Sheet, choose_sheet
from .slices import pack_slices, range_words
from .tiles import tile_layer
from .words import promise_words
from .zones import pack_zones

Array = np.ndarray

_FADE_PIXELS = 200
#: rows of the table for those who do not see the map
_ROWS = 8
#: a slice knows less than the whole: it is smoothed as if it had this share of epsilon
_SLICE = 0.3


def make_page(
    release: Any,
    title: Optional[str] = None,
    tiles: Any = None,
    zones: Any = None,
    label: Optional[str] = None,
    per: Optional[str] = None,
    what: Optional[str] = None,
    when: Optional[str] = None,
    source: Optional[str] = None,
    mercator: bool = False,
) -> Page:
    """The page of a release, see `Release.to_map`; ``mercator`` puts it on Web Mercator anyway."""
    if zones is None and not (label is None and per is None):
        raise BadInputError("label= and per= name columns of zones: give zones= too.")
    tile = tile_layer(tiles) if tiles else None
    sheet = choose_sheet(release.domain, mercator or tile is not None)
    people = counted_words(release.release)
    decoded = release.decoded
    sliced = hasattr(release, "chosen")
    facts = list_facts(release, what, when, source)
    when = dict(facts)["When"]
    error = release.expected_error
    data: Dict[str, Any] = {
        "people": people,
        "when": when,
        "tiles": tile,
        "error": float(error) if np.isfinite(error) else release.domain.side / 100,
        "sheet": describe_sheet(sheet),
        "ground": pack_ground(sheet),
        "slices": pack_slices(decoded, release.domain, sheet)
        if release.axes and not sliced
        else None,
    }
    if zones is None:
        shown, summary = _density(release, sheet)
    else:
        shown, summary = _zones(release, sheet, zones, label, per)
    promise = promise_words(release.statement())
    promise.how.append(release.error_words())
    which = release.slice_words(named=False)
    return Page(
        title or f"Protected {people}" + (f": {which}" if which else ""),
        facts,
        promise,
        {**data, **shown},
        [points_layer(release, sheet, on=zones is None)],
        summary,
        release.private,
    )


def list_facts(
    release: Any, what: Optional[str] = None, when: Optional[str] = None,
    source: Optional[str] = None,
) -> List[Tuple[str, Optional[str]]]:  # fmt: skip
    """What is shown, when it was, who says so, and how far off it is; None where nobody knows."""
    count = f"{release.decoded.n:,} protected {counted_words(release.release)}"
    which = release.slice_words()
    if which or not release.decoded.is_n_public:
        count = f"about {count}"
    count += f" ({which})" if which else ""
    axes = () if hasattr(release, "chosen") else release.axes
    time = next((axis for axis in axes if isinstance(axis, TimeAxis)), None)
    when = when or (range_words(time) if time else None)
    known = release.statement()["expected_error"] is not None
    off = f"typically {accuracy.length_words(release.expected_error)} off" if known else None
    return [("What", what or count), ("When", when), ("Source", source), ("Accuracy", off)]


def describe_sheet(sheet: Sheet) -> Dict[str, Any]:
    """The sheet for the page."""
    return {
        "window": list(sheet.window),
        "metres": sheet.metres,
        "lines": is_world(sheet),
        "bare": shows_sea(sheet),
    }


def _density(release: Any, sheet: Sheet) -> "Tuple[Dict[str, Any], Any]":
    decoded, domain = release.decoded, release.domain
    rate, *_ = accuracy.terms_of(release.release, release.domain.side)
    share = _SLICE if hasattr(release, "chosen") else 1.0
    field = smooth_density(decoded, domain, rate * share, release.expected_error)
    packed = pack_field(field, sheet)
    regions, answers = find_regions(decoded, domain)
    unit = area_unit(packed["cap"])
    shown = {
        "field": {**packed, **pack_solid(regions, answers, sheet)},
        "regions": pack_regions(regions, [answers], sheet),
        "unit": unit,
    }
    rows = _densest(regions, answers, sheet, unit)
    heading = f"Where there are most, {unit['text']}"
    return shown, (heading, ("Place", "About", "Likely between"), rows)


def pack_solid(regions: Regions, answers: Answers, sheet: Sheet) -> Dict[str, Any]:
    """How solid the picture is on coarse pixels of the sheet."""
    x, y, inside = sheet.pixels(_FADE_PIXELS)
    solid = fade(regions, answers)
    solid = sample(regions.domain, solid, solid > 0, x, y) * inside
    return {
        "solid": pack(255 * solid),
        "solidSize": list(solid.shape[::-1]),
        "palest": PALEST,
    }


def _zones(
    release: Any, sheet: Sheet, zones: Any, label: Optional[str], per: Optional[str]
) -> "Tuple[Dict[str, Any], Any]":
    packed, rows = pack_zones(release, sheet, zones, label, per)
    columns = ("Zone", "Rate" if per else "Estimate", "Likely between", "Reliable")
    return {"zones": packed, "unit": area_unit(1.0)}, ("Estimates by zone", columns, rows)


def _densest(
    regions: Regions, answers: Answers, sheet: Sheet, unit: Dict[str, Any]
) -> List[Sequence[str]]:
    """The densest squares that are not neighbours, each named after a city nearby."""
    domain, each = regions.domain, unit["km2"] / np.maximum(regions.km2(), 1e-12)
    grid = domain.grid
    column, row = _middles(regions)
    x, y = grid.x0 + column * grid.side, grid.y0 + row * grid.side
    side = grid.side / 2.0**regions.level
    # by what is sure: a sliver of the area may seem to hold thousands, or none
    sure = answers[1] if np.any(answers[1] > 0) else answers[0]
    chosen: List[int] = []
    for i in np.argsort(-sure * each).tolist():
        apart = [max(side[i], side[k], grid.side / 40) * 1.5 for k in chosen]
        near = [np.hypot(x[i] - x[k], y[i] - y[k]) < gap for k, gap in zip(chosen, apart)]
        if sure[i] > 0 and not any(near):
            chosen.append(i)
        if len(chosen) == _ROWS:
            break
    chosen.sort(key=lambda i: -answers[0][i] * each[i])
    places = _place_words(sheet, x[chosen], y[chosen])
    estimate, low, high = (part[chosen] * each[chosen] for part in answers)
    return [
        (place, two_digits(e), f"{two_digits(lo)} and {two_digits(hi)}")
        for place, e, lo, hi in zip(places, estimate, low, high)
    ]


def two_digits(value: float) -> str:
    """A number as people read it.

    >>> two_digits(1234.0), two_digits(0.0321), two_digits(0.0)
    ('1,200', '0.032', '0')
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 or rounded == 0 else f"{rounded:g}"


def _middles(regions: Regions) -> Tuple[Array, Array]:
    column, row = columns_and_rows(regions.level, regions.index)
    size = 0.5**regions.level
    return (column + 0.5) * size, (row + 0.5) * size


def _place_words(sheet: Sheet, x: Array, y: Array) -> List[str]:
    """The degrees of places, and a city nearby where there is one."""
    lon, lat = sheet.domain.unproject(x, y, crs=LONLAT)
    u, v = sheet.place(x, y)
    names = names_on(sheet)
    at = np.array([[name[1], name[2]] for name in names]).reshape(-1, 2)
    left, top, right, bottom = sheet.window
    near = 0.06 * max(right - left, bottom - top)
    found = []
    for i in range(x.size):
        text = f"{abs(lat[i]):.2f}°{'N' if lat[i] >= 0 else 'S'}, "
        text += f"{abs(lon[i]):.2f}°{'E' if lon[i] >= 0 else 'W'}"
        gap = np.hypot(at[:, 0] - u[i], at[:, 1] - v[i])
        if gap.size and gap.min() < near:
            text = f"near {names[int(gap.argmin())][0]} ({text})"
        found.append(text)
    return found


def points_layer(
    release: Any,
    sheet: Sheet,
    name: str = "Points",
    diffuse: bool = True,
    decoder: Optional[str] = None,
    **look: Any,
) -> Layer:
    """The published points as a layer of a page; repeated ones as circles.

    However many there are, only what is shown is computed.
    """
    decoded = release.decoded_by(decoder)
    rank = even_sample(decoded.n, MOST_DOTS if diffuse else MOST_COUNTED)
    x, y = diffusion.points_at(decoded, rank, diffuse)
    if release.boundary is not None:
        x, y = release.boundary.move_inside(x, y)
    u, v = sheet.place(x, y)
    look = {"id": "dots", **look}
    if not diffuse:
        return circles_layer(name, u, v, sheet.window, decoded.n, **look)
    labels: Sequence[Array] = ()
    if release.axes and not hasattr(release, "chosen"):
        labels = decoded.labels(rank.size)
    return dots_layer(name, u, v, sheet.window, total=decoded.n, labels=labels, **look)


def lonlat_layer(name: str, lon: Array, lat: Array, sheet: Sheet, **look: Any) -> Layer:
    """Other points, from degrees."""
    kept = even_sample(lon.size, MOST_DOTS)
    u, v = sheet.place_lonlat(lon[kept], lat[kept])
    return dots_layer(name, u, v, sheet.window, total=lon.size, **look)
