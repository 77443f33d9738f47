"""A folder that is a map: opened from disk or put on any web server, it asks for nothing else.

Browsers let a page from disk read no files but scripts, so that the tiles come as one.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from ..core.atomic import PathLike, write_text
from ..core.errors import BadInputError
from .words import Promise

if TYPE_CHECKING:
    from ..geo.tiles import TileSet

_ASSETS = ("maplibre-gl.js", "maplibre-gl.css", "maplibre-gl.LICENSE", "site.js", "site.css")
_MARK = "<!-- written by dpsort-geo -->"


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


def write_site(
    folder: PathLike, sets: List[TileSet], title: str, accuracy: str, promise: Promise, outline: Any
) -> None:
    """Write the page, its scripts and its tiles, with the words beside the map."""
    path = Path(folder)
    for name in _ASSETS:
        write_text(path / name, (files("dpsort_geo.webmap") / "assets" / name).read_text("utf-8"))
    data = {
        "bounds": sets[0].bounds,
        "zooms": {made.kind: made.zooms for made in sets},
        "outline": outline,
        "most": {made.kind: made.most for made in sets},
        "tiles": {
            made.kind: {
                "/".join(map(str, place)): base64.b64encode(gzip.compress(tile, mtime=0)).decode()
                for place, tile in made.tiles.items()
            }
            for made in sets
        },
    }
    write_text(path / "tiles.js", f"window.DPSORT = {json.dumps(data)};\n")
    how = "".join(f"<p>{escape(line)}</p>" for line in promise.how)
    page = _PAGE.format(
        title=escape(title), accuracy=escape(accuracy), head=escape(promise.head),
        sentence=escape(promise.sentence), how=how, mark=_MARK,
    )  # fmt: skip
    write_text(path / "index.html", page)


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
<p class="soft">{accuracy}</p>
<div id="legend"></div>
<h2>{head}</h2>
<p>{sentence}</p>
<details><summary>How?</summary>{how}<p><a href="label.html">The whole label</a></p></details>
</details>
<noscript><p>The map itself is drawn by a script, and scripts are switched off here.</p></noscript>
<script src="maplibre-gl.js"></script>
<script src="tiles.js"></script>
<script src="site.js"></script>
</body>
</html>
"""
