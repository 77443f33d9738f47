"use strict";
(() => {
  const data = window.DPSORT;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  // the ramps of the other map: the far end stands out from the ground
  const colours = dark
    ? ["#241a3d", "#642a76", "#b04379", "#e6786d", "#fcc48b", "#fff0c4"]
    : ["#fff3d6", "#fdc07f", "#e57f64", "#a9456f", "#6a2870", "#270b45"];
  const round = (number) => Math.round(number).toLocaleString("en");
  const amount = (number) => Number(number.toPrecision(2)).toLocaleString("en");

  // tiles are packed as the file has them; what is not there is empty
  maplibregl.addProtocol("dpsort", async (request) => {
    const [kind, place] = request.url.replace("dpsort://", "").split("#");
    const text = data.tiles[kind] && data.tiles[kind][place];
    if (!text) return { data: new ArrayBuffer(0) };
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return { data: await new Response(stream).arrayBuffer() };
  });

  const source = (kind) => ({
    type: "vector", tiles: [`dpsort://${kind}#{z}/{x}/{y}`], bounds: data.bounds,
    minzoom: data.zooms[kind][0], maxzoom: data.zooms[kind][1],
  });
  // square roots: a few busy hexagons do not make all others look empty
  const ramp = (most) => ["interpolate", ["linear"], ["sqrt", ["max", ["get", "estimate"], 0]],
    ...colours.flatMap((colour, k) => [Math.sqrt(Math.max(most, 1)) * k / (colours.length - 1), colour])];
  const steps = Object.entries(data.most.hexes).map(([zoom, most]) => [Number(zoom), most]).sort((a, b) => a[0] - b[0]);
  const byZoom = (make) => steps.length > 1
    ? ["step", ["zoom"], make(steps[0][1]), ...steps.slice(1).flatMap(([zoom, most]) => [zoom, make(most)])]
    : make(steps[0][1]);
  // the emptiest fade into the ground, and so does what is uncertain
  const faded = (most, solid) => ["*", ["case", ["get", "reliable"], solid, 0.7 * solid],
    ["min", 0.92, ["*", 6, ["sqrt", ["/", ["max", ["get", "estimate"], 0], Math.max(most, 1)]]]]];
  const [first, last] = data.zooms.points;
  // where points come up, hexagons step back
  const [finest, busy] = steps[steps.length - 1];
  const opacity = ["interpolate", ["linear"], ["zoom"], ...steps.flatMap(([zoom, most]) => [zoom, faded(most, 1)]),
    Math.max(last - 1, finest + 1), faded(busy, 1), Math.max(last - 1, finest + 1) + 1, faded(busy, 0.35)];
  const style = {
    version: 8,
    sources: {
      outline: { type: "geojson", data: data.outline },
      hexes: source("hexes"), points: source("points"),
    },
    layers: [
      { id: "ground", type: "background", paint: { "background-color": dark ? "#0e141a" : "#e8edf0" } },
      { id: "area", type: "fill", source: "outline",
        paint: { "fill-color": dark ? "#1b232c" : "#fdfdfb" } },
      { id: "hexes", type: "fill", source: "hexes", "source-layer": "hexes",
        paint: { "fill-color": byZoom(ramp), "fill-opacity": opacity, "fill-antialias": false } },
      { id: "points", type: "circle", source: "points", "source-layer": "points",
        minzoom: Math.max(first, last - 3),
        paint: { "circle-color": dark ? "#ffe9bd" : "#2c0f4a",
          "circle-radius": ["interpolate", ["linear"], ["zoom"], last - 3, 1, last, 2.4, last + 2, 4],
          "circle-opacity": ["interpolate", ["linear"], ["zoom"], last - 3, 0, last - 1, 0.55] } },
      { id: "edge", type: "line", source: "outline",
        paint: { "line-color": dark ? "#6f7f8e" : "#7c8b97", "line-width": 1 } },
    ],
  };
  const wide = innerWidth > 900;
  const map = new maplibregl.Map({
    container: "map", style, bounds: data.bounds, fitBoundsOptions: { padding: wide ? { top: 30, right: 60, bottom: 40, left: 390 } : { top: 20, right: 20, bottom: 110, left: 20 } },
    minZoom: first, maxZoom: last + 2, dragRotate: false,
    attributionControl: { compact: true },
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl(), "bottom-right");

  const popup = new maplibregl.Popup({ closeButton: false });
  const show = (event) => {
    const own = event.features[0].properties;
    popup.setLngLat(event.lngLat)
      .setText(`about ${round(own.estimate)} here (${round(own.low)} to ${round(own.high)})`)
      .addTo(map);
  };
  map.on("mousemove", "hexes", show);
  map.on("click", "hexes", show);
  map.on("mouseleave", "hexes", () => popup.remove());
  if (!wide) document.getElementById("about").open = false;
  const legend = document.getElementById("legend"), bar = document.createElement("i"), ends = document.createElement("span");
  bar.style.background = `linear-gradient(90deg, ${colours})`;
  legend.append("points in a hexagon", bar, ends);
  const count = () => {
    const now = steps.filter(([zoom]) => zoom <= map.getZoom()).pop() || steps[0];
    ends.replaceChildren(...["0", amount(now[1] / 4), `${amount(now[1])}+`].map((text) => Object.assign(document.createElement("small"), { textContent: text })));
  };
  map.on("zoomend", count);
  count();
  map.once("idle", () => { document.body.dataset.ready = "yes"; });
  window.dpsortMap = map;
})();
