"""A folder that is a map: opened from disk or put on any web server, it asks for nothing else.

Browsers let a page from disk read no files but scripts, so that the tiles come as one.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
from html import escape
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import shapely

from ..core.atomic import PathLike, write_text
from ..core.errors import BadInputError
from ..geo.zones import zone_frame
from .ground import names_on
from .pack import pack
from .sheet import LONLAT, choose_sheet, lonlat_outline
from .slices import describe_axis
from .words import CREDIT, Promise
from .zones import zone_names

if TYPE_CHECKING:
    from ..geo.tiles import TileSet

_ASSETS = ("maplibre-gl.js", "maplibre-gl.css", "maplibre-gl.LICENSE", "site.js", "site.css")
_MARK = "<!-- written by dpsort-geo -->"
#: counts of slices that a site takes along: of one axis at a time, and of several together
_MOST_COUNTS, _MOST_JOINT = 400_000, 1_000_000
#: of the width of all zones: details of the outlines of zones that nobody sees
_HAIR = 2e-4
#: of an area's width: cities may lie so far outside, because its outline is coarse
_SHORE = 0.01


def prepare_folder(folder: PathLike) -> Path:
    """The folder, made where it is missing; one with files of others in it is refused."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise BadInputError(f"{os.fspath(folder)} is a file; a site is a folder.")
    index = path / "index.html"
    if path.is_dir() and any(path.iterdir()):
        mine = index.is_file() and _MARK in index.read_text("utf-8", "replace")[:300]
        if not mine:
            raise BadInputError(
                f"{os.fspath(folder)} has files in it that dpsort-geo did not write: give another "
                "folder."
            )
    path.mkdir(parents=True, exist_ok=True)
    return path


def most_hexes(release: Any, most: int) -> int:
    """How many hexagons a site may show, so that their slices do not make it large."""
    return max(100, min(most, _MOST_COUNTS // max(1, sum(axis.size for axis in release.axes))))


def write_site(
    folder: PathLike,
    release: Any,
    sets: Sequence[TileSet],
    title: str,
    facts: Sequence[Tuple[str, Optional[str]]],
    promise: Promise,
    zones: Optional[Dict[str, Any]],
) -> None:
    """Write the page, its scripts and its tiles, with the words beside the map."""
    path = Path(folder)
    for name in _ASSETS:
        write_text(path / name, (files("dpsort_geo.webmap") / "assets" / name).read_text("utf-8"))
    outline = shapely.MultiPolygon([[ring, []] for ring in lonlat_outline(release.domain)])
    data = {
        "bounds": sets[0].bounds,
        "zooms": {made.kind: made.zooms for made in sets},
        "outline": shapely.geometry.mapping(outline),
        "most": {made.kind: made.most for made in sets},
        "tiles": {
            made.kind: {
                "/".join(map(str, place)): base64.b64encode(gzip.compress(tile, mtime=0)).decode()
                for place, tile in made.tiles.items()
            }
            for made in sets
        },
        "zones": zones,
        "names": [] if zones else _city_names(release, outline),
        "slices": _pack_slices(release, sets[-1]),
        "when": dict(facts)["When"],
    }
    write_text(path / "tiles.js", f"window.DPSORT = {json.dumps(data)};\n")
    how = "".join(f"<p>{escape(line)}</p>" for line in promise.how)
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in facts if text
    )
    page = _PAGE.format(
        title=escape(title), facts=rows, head=escape(promise.head), credit=escape(CREDIT),
        sentence=escape(promise.sentence), how=how, mark=_MARK,
    )  # fmt: skip
    write_text(path / "index.html", page)


def pack_zone_lines(zones: Any, label: Optional[str]) -> Dict[str, Any]:
    """Outlines of zones in degrees, each with its name and the place where that stands."""
    frame, _ = zone_frame(zones)
    shapes = frame.to_crs(LONLAT).geometry.to_numpy()
    west, _, east, _ = shapely.total_bounds(shapes)
    shapes = shapely.simplify(shapes, _HAIR * (east - west))
    places = shapely.get_coordinates(shapely.point_on_surface(shapes)).round(5).tolist()
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": shapely.geometry.mapping(one)}
        for name, one in zip(zone_names(frame, label), shapely.set_precision(shapes, 1e-5))
    ]
    names = [[each["properties"]["name"], *place] for each, place in zip(features, places)]
    return {"type": "FeatureCollection", "features": features, "names": names}


def _city_names(release: Any, outline: Any) -> List[List[Any]]:
    """Names of cities in the area, the largest first: name, longitude and latitude."""
    found = names_on(choose_sheet(release.domain, True))
    u, v = np.array([[u, v] for _, u, v in found]).reshape(-1, 2).T
    lon, lat = u * 360 - 180, np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * v))))
    west, _, east, _ = outline.bounds
    shore = outline.buffer(_SHORE * (east - west))
    inside = np.flatnonzero(shapely.contains_xy(shore, lon, lat)).tolist()
    return [[found[i][0], round(float(lon[i]), 4), round(float(lat[i]), 4)] for i in inside]


def _pack_slices(release: Any, made: TileSet) -> Optional[Dict[str, Any]]:
    """Numbers of all hexagons in each slice of one axis, and of several where that is not much."""
    axes = () if hasattr(release, "chosen") else release.axes
    if not axes:
        return None
    levels: Dict[int, Any] = {id(own): own for own in made.hexes.values()}
    cells = sum(len(own) for own in levels.values())
    parts: List[Tuple[int, ...]] = [(number,) for number in range(len(axes))]
    for many in range(2, len(axes) + 1):
        for part in combinations(range(len(axes)), many):
            if cells * math.prod(axes[axis].size for axis in part) <= _MOST_JOINT:
                parts.append(part)
    shown = []
    for number, own in levels.items():
        tables = {}
        for part in parts:
            counted = release.count_within(own[["h3", "geometry"]], by=[axes[a].name for a in part])
            numbers = counted[["estimate", "low", "high"]].to_numpy().round(2)
            tables[",".join(map(str, part))] = pack(np.nan_to_num(numbers).T, "f32")
        zooms = [zoom for zoom, other in made.hexes.items() if id(other) == number]
        shown.append({"zooms": zooms, "ids": own["h3"].tolist(), "tables": tables})
    return {"axes": [describe_axis(axis) for axis in axes], "levels": shown}


_PAGE = """<!DOCTYPE html>
{mark}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file:;
 style-src 'self' file: 'unsafe-inline'; img-src 'self' data: blob:; worker-src blob:;
 connect-src blob: data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="maplibre-gl.css">
<link rel="stylesheet" href="site.css">
</head>
<body>
<main id="map" role="region" aria-label="Map of protected points"></main>
<details id="about" open>
<summary><h1>{title}</h1></summary>
<dl>{facts}</dl>
<div id="chips"></div>
<div id="legend" aria-live="polite"></div>
<h2>{head}</h2>
<p>{sentence}</p>
<details><summary>How?</summary>{how}<p><a href="label.html">The whole label</a></p></details>
<p class="credit">{credit} Made with dpsort-geo.</p>
</details>
<div id="time" role="group" aria-label="Time" hidden></div>
<noscript><p>The map itself is drawn by a script, and scripts are switched off here.</p></noscript>
<script src="maplibre-gl.js"></script>
<script src="tiles.js"></script>
<script src="site.js"></script>
</body>
</html>
"""
