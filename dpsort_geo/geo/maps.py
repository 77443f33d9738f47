"""The map page: one file that needs no network, and the same map for notebooks."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Dict, Sequence

import numpy as np

from ._optional import need
from .layers import Layer, LonLatBounds, tile_host


@dataclass(frozen=True)
class Page:
    """All that a map shows: what the page's script gets as ``data``."""

    title: str
    bounds: LonLatBounds
    layers: Sequence[Layer]
    statement: Dict[str, Any]
    private: bool = True

    def data(self) -> Dict[str, Any]:
        """The page's content as JSON values."""
        west, south, east, north = self.bounds
        return {
            "title": self.title,
            "west": west / 360 + 0.5,
            "bounds": [[south, west], [north, east]],
            "layers": [{"id": f"layer-{i}", **layer} for i, layer in enumerate(self.layers)],
            "statement": self.statement,
            "private": self.private,
        }

    def html(self) -> str:
        """The whole page, scripts and styles inside, forbidden to ask anybody for anything."""
        hosts = " ".join(
            sorted({tile_host(la["url"]) for la in self.layers if la["kind"] == "tiles"})
        )
        policy = (
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            f"img-src data: {hosts}".strip()
        )
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{html.escape(self.title)}</title>
<link rel="icon" href="data:,">
<style>{_asset("leaflet.css")}{_asset("map.css")}
html, body, #map {{ height: 100%; margin: 0; }}</style>
</head>
<body>
<div id="map"></div>
<script>{_asset("leaflet.js")}</script>
<script>{_asset("map.js")}</script>
<script>
const map = L.map("map", {{ zoomControl: false, zoomSnap: 0.25, worldCopyJump: false }});
map.attributionControl.setPrefix("Leaflet");
L.control.zoom({{ position: "topleft" }}).addTo(map);
const layers = dpsortMap(map, {_script_json(self.data())});
document.body.dataset.ready = "yes";
</script>
</body>
</html>
"""

    def folium_map(self) -> Any:
        """The same map as a ``folium.Map``, for notebooks."""
        folium = need("folium", "explore()")
        from branca.element import Element, MacroElement
        from jinja2 import Template

        west, south, east, north = self.bounds
        shown = folium.Map(
            location=[(south + north) / 2, (west + east) / 2], tiles=None, zoom_snap=0.25
        )
        shown.get_root().header.add_child(Element(f"<style>{_asset('map.css')}</style>"))
        macro = MacroElement()
        macro._name = "DpsortLayers"
        macro._template = Template(
            "{% macro script(this, kwargs) %}{{ this.code }}"
            "dpsortMap({{ this._parent.get_name() }}, {{ this.data }});{% endmacro %}"
        )
        macro.code = _asset("map.js").replace('"use strict";', "", 1)
        macro.data = _script_json(self.data())
        shown.add_child(macro)
        return shown


def _script_json(data: Any) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _asset(name: str) -> str:
    return (files("dpsort_geo.geo") / "assets" / name).read_text(encoding="utf-8")


def statement_words(statement: Dict[str, Any]) -> Dict[str, Any]:
    """The privacy statement for the corner of a map: a heading and plain sentences.

    >>> statement = {"private": True, "epsilon": "1", "protects": "person", "neighbours": "replace"}
    >>> statement_words(statement)["head"]
    'No dot is a real place'
    """
    if not statement["private"]:
        return {"head": "NOT PRIVATE", "lines": [statement["summary"]]}
    epsilon = float(statement["epsilon"])
    whom = "person" if statement["protects"] == "person" else "point"
    moved = {
        "replace": f"one {whom} had been somewhere else",
        "add-remove": f"one {whom} had not been there",
    }[statement["neighbours"]]
    odds = np.exp(epsilon)
    factor = f"{odds:.3g}" if odds < 1000 else f"e^{epsilon:g}"
    lines = [
        "The dots were rebuilt from numbers with random noise in them.",
        f"If {moved}, this map would have been at most {factor} times as likely, or unlikely: "
        f"differential privacy with ε = {statement['epsilon']}.",
    ]
    if whom == "point":
        lines.append("One point is protected, not all points of one person together.")
    return {"head": "No dot is a real place", "lines": lines}
