"""The map page: one file that needs no network, and the same map for notebooks."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Dict, Optional, Sequence, Tuple

from ..geo._optional import need
from .dots import Layer
from .tiles import tile_host
from .words import CREDIT, Promise

#: in the order in which they stand in the page
_SCRIPTS = (
    "unpack", "colours", "state", "density", "sheet", "dots", "names", "zones", "readout",
    "controls", "start",
)  # fmt: skip

#: without a script there is no map and nothing to choose: the table has the room
_NO_SCRIPT = (
    "#map, .dp-show { display: none; } .dp-noscript { flex: none; } "
    ".dp-has-zones .dp-table, .dp-fold { flex: 1; max-height: none; }"
)


@dataclass(frozen=True)
class Page:
    """All that a map shows: its words, and what the script gets as ``data``."""

    title: str
    #: what is shown, when it was, who says so, how far off it is: what is None is left out
    facts: Sequence[Tuple[str, Optional[str]]]
    promise: Promise
    data: Dict[str, Any]
    layers: Sequence[Layer]
    #: heading, columns and rows of the summary for those who do not see the map
    summary: Tuple[str, Sequence[str], Sequence[Sequence[str]]]
    private: bool = True
    credit: str = CREDIT

    def with_layers(self, layers: Sequence[Layer]) -> Page:
        """The same page with other dots."""
        return replace(self, layers=list(layers))

    def script_data(self) -> Dict[str, Any]:
        """The page's content as JSON values."""
        return {
            "title": self.title,
            "promise": self.promise.sentence,
            "how": list(self.promise.how),
            "layers": list(self.layers),
            **self.data,
        }

    def html(self) -> str:
        """The whole page, scripts and styles inside, forbidden to ask anybody for anything."""
        tiles = self.data.get("tiles")
        host = tile_host(tiles["url"]) if tiles else ""
        policy = (
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            f"img-src data: {host}".strip()
        )
        kind = "dp-has-zones" if self.data.get("zones") else "dp-no-zones"
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<title>{html.escape(self.title)}</title>
<link rel="icon" href="data:,">
<style>{_asset("leaflet.css")}{_asset("map.css")}{_asset("page.css")}</style>
</head>
<body class="{kind}">
<a class="dp-skip" href="#dp-summary">Skip the map, read the numbers</a>
<div class="dp-side">
{self._header()}
<div class="dp-controls" id="dp-controls" role="region" aria-label="Choose what the map shows">
<div class="dp-chips-box" id="dp-chips"></div>
<div class="dp-legend" id="dp-legend"></div>
<div class="dp-zone" id="dp-card" aria-live="polite" hidden></div>
</div>
{self._about()}
</div>
<main class="dp-main" aria-label="Map">
<div id="map" role="application" aria-label="{html.escape(self._label())}"></div>
<noscript><style>{_NO_SCRIPT}</style><p class="dp-noscript">The map itself is drawn by a script,
and scripts are switched off here. The words and the table on this page say the same.</p></noscript>
<div class="dp-time" id="dp-time" role="group" aria-label="Time" hidden></div>
{self._table()}
</main>
<script>{_asset("leaflet.js")}</script>
<script>{map_script()}</script>
<script>
(function () {{
const data = {_script_json(self.script_data())};
const crs = data.tiles ? L.CRS.EPSG3857
  : L.extend({{}}, L.CRS.Simple, {{ transformation: L.transformation(256, 0, 256, 0) }});
const map = L.map("map", {{ crs: crs, zoomControl: false, zoomSnap: 0.25, zoomDelta: 0.5,
  wheelPxPerZoomLevel: 90, worldCopyJump: false, attributionControl: !!data.tiles,
  keyboardPanDelta: 60 }});
L.control.zoom({{ position: "topright" }}).addTo(map);
// open for those without a script, and for paper
const fold = document.querySelector(".dp-fold details");
if (fold) {{
  fold.open = false;
  let wasOpen = false;
  window.addEventListener("beforeprint", () => {{ wasOpen = fold.open; fold.open = true; }});
  window.addEventListener("afterprint", () => {{ fold.open = wasOpen; }});
}}
const part = (name) => document.getElementById("dp-" + name);
const host = {{}};
for (const name of ["chips", "legend", "card", "time", "layers", "table"]) host[name] = part(name);
dpsortMap(map, data, host).then(function (view) {{
  window.dpsort = view;
  document.body.dataset.ready = "yes";
}});
}})();
</script>
</body>
</html>
"""

    def _label(self) -> str:
        return f"Map: {self.title}. Arrow keys move, plus and minus zoom, Enter tells what is here."

    def _header(self) -> str:
        rows = "".join(
            f'<div class="dp-fact-{name.lower()}"><dt>{html.escape(name)}</dt>'
            f"<dd>{html.escape(text)}</dd></div>"
            for name, text in self.facts
            if text
        )
        alarm = "" if self.private else f'<p class="dp-alarm">{html.escape(self.promise.head)}</p>'
        return (
            f'<header class="dp-head"><h1>{html.escape(self.title)}</h1>{alarm}'
            f'<dl class="dp-facts">{rows}</dl></header>'
        )

    def _about(self) -> str:
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.promise.how)
        how = f'<details id="dp-how"><summary>How?</summary>{lines}</details>' if lines else ""
        alarm = "" if self.private else " dp-open-data"
        return f"""<section class="dp-about{alarm}" aria-label="How this map protects people">
<h2>{html.escape(self.promise.head)}</h2>
<p>{html.escape(self.promise.sentence)}</p>
{how}
<details class="dp-show"><summary>What to show</summary><div id="dp-layers"></div></details>
<p class="dp-credit">{html.escape(self.credit)} Made with dpsort-geo.</p>
</section>"""

    def _table(self) -> str:
        heading, columns, rows = self.summary
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
        body = "".join(
            f'<tr><th scope="row">{html.escape(row[0])}</th>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in rows
        )
        inner = (
            f"<table><caption>{html.escape(heading)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
        if self.data.get("zones"):
            return (
                '<section class="dp-table" id="dp-summary" tabindex="-1" aria-label="Zones">'
                f'<div id="dp-table">{inner}</div></section>'
            )
        return (
            # not on the details itself: its summary could then not be reached with the keyboard
            '<div class="dp-table dp-fold" id="dp-summary" tabindex="-1"><details open>'
            f"<summary>As a table</summary>{inner}</details></div>"
        )

    def folium_map(self) -> Any:
        """The same map as a ``folium.Map``, for notebooks."""
        folium = need("folium", "explore()")
        from branca.element import Element, MacroElement
        from jinja2 import Template

        shown = folium.Map(location=[0, 0], tiles=None, zoom_snap=0.25)
        shown.get_root().header.add_child(Element(f"<style>{_asset('map.css')}</style>"))
        macro = MacroElement()
        macro._name = "DpsortLayers"
        macro._template = Template(
            "{% macro script(this, kwargs) %}{{ this.code }}"
            "dpsortMap({{ this._parent.get_name() }}, {{ this.data }}, null);{% endmacro %}"
        )
        macro.code = map_script()
        macro.data = _script_json(self.script_data())
        shown.add_child(macro)
        return shown


def map_script() -> str:
    """The script of the page: its parts, joined inside one function."""
    parts = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'async function dpsortMap(map, data, host) {{\n"use strict";\n{parts}\n}}\n'


def _script_json(data: Any) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _asset(name: str) -> str:
    return (files("dpsort_geo.webmap") / "assets" / name).read_text(encoding="utf-8")
