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
    type: "vector", promoteId: kind === "hexes" ? "h3" : undefined, tiles: [`dpsort://${kind}#{z}/{x}/{y}`], bounds: data.bounds,
    minzoom: data.zooms[kind][0], maxzoom: data.zooms[kind][1],
  });
  // square roots: a few busy hexagons do not make all others look empty
  // numbers of a slice stand beside the tiles, as the state of each hexagon
  const own = (name) => ["coalesce", ["feature-state", name], ["get", name]];
  const ramp = (most) => ["interpolate", ["linear"], ["sqrt", ["max", own("estimate"), 0]],
    ...colours.flatMap((colour, k) => [Math.sqrt(Math.max(most, 0.1)) * k / (colours.length - 1), colour])];
  const every = Object.entries(data.most.hexes).map(([zoom, most]) => [Number(zoom), most]).sort((a, b) => a[0] - b[0]);
  let steps = every;
  const byZoom = (make) => steps.length > 1
    ? ["step", ["zoom"], make(steps[0][1]), ...steps.slice(1).flatMap(([zoom, most]) => [zoom, make(most)])]
    : make(steps[0][1]);
  // the emptiest fade into the ground, and so does what is uncertain
  const faded = (most, solid) => ["*", ["case", own("reliable"), solid, 0.7 * solid],
    ["min", 0.92, ["*", 6, ["sqrt", ["/", ["max", own("estimate"), 0], Math.max(most, 0.1)]]]]];
  const [first, last] = data.zooms.points;
  // where points come up, hexagons step back
  const opacity = (behind) => {
    const [finest, busy] = steps[steps.length - 1], near = Math.max(last - 1, finest + 1);
    return ["interpolate", ["linear"], ["zoom"], ...steps.flatMap(([zoom, most]) => [zoom, faded(most, 1)]),
      near, faded(busy, 1), near + 1, faded(busy, behind)];
  };
  const style = {
    version: 8,
    sources: {
      outline: { type: "geojson", data: data.outline },
      zones: { type: "geojson", data: data.zones || { type: "FeatureCollection", features: [] } },
      hexes: source("hexes"), points: source("points"),
    },
    layers: [
      { id: "ground", type: "background", paint: { "background-color": dark ? "#0e141a" : "#e8edf0" } },
      { id: "area", type: "fill", source: "outline",
        paint: { "fill-color": dark ? "#1b232c" : "#fdfdfb" } },
      { id: "hexes", type: "fill", source: "hexes", "source-layer": "hexes",
        paint: { "fill-color": byZoom(ramp), "fill-opacity": opacity(0.35), "fill-antialias": false } },
      { id: "points", type: "circle", source: "points", "source-layer": "points",
        minzoom: Math.max(first, last - 3),
        paint: { "circle-color": dark ? "#ffe9bd" : "#2c0f4a",
          "circle-radius": ["interpolate", ["linear"], ["zoom"], last - 3, 1, last, 2.4, last + 2, 4],
          "circle-opacity": ["interpolate", ["linear"], ["zoom"], last - 3, 0, last - 1, 0.55] } },
      { id: "zones", type: "fill", source: "zones", paint: { "fill-opacity": 0 } },
      { id: "borders", type: "line", source: "zones",
        paint: { "line-color": dark ? "#c3cdd6" : "#35434f", "line-width": 0.8, "line-opacity": 0.75 } },
      { id: "edge", type: "line", source: "outline",
        paint: { "line-color": dark ? "#6f7f8e" : "#7c8b97", "line-width": 1 } },
    ],
  };
  const wide = innerWidth > 900, timed = data.slices && data.slices.axes.some((axis) => axis.time);
  const map = new maplibregl.Map({
    container: "map", style, bounds: data.bounds, fitBoundsOptions: { padding: wide ? { top: 30, right: 60, bottom: timed ? 90 : 40, left: 390 } : { top: timed ? 70 : 20, right: 20, bottom: 110, left: 20 } },
    minZoom: first, maxZoom: last + 2, dragRotate: false,
    attributionControl: { compact: true },
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl(), "bottom-right");

  const make = (tag, name, text, parent) => {
    const made = Object.assign(document.createElement(tag), { className: name, textContent: text });
    parent.append(made);
    return made;
  };
  const slices = data.slices, axes = slices ? slices.axes : [], chosen = axes.map(() => 0);
  const words = (axis, slice) => (axes[axis].words || axes[axis].labels)[slice - 1];
  const slicedWords = () => chosen.map((slice, axis) => (slice ? ", " + words(axis, slice) : "")).join("");

  const popup = new maplibregl.Popup({ closeButton: false });
  const show = (event) => {
    const found = event.features[0], numbers = { ...found.properties, ...found.state };
    const [zone] = map.queryRenderedFeatures(event.point, { layers: ["zones"] });
    const box = document.createElement("div");
    make("strong", "", `about ${round(numbers.estimate)} here`, box);
    make("span", "", ` (${round(numbers.low)} to ${round(numbers.high)})`, box);
    const where = (zone ? ", " + zone.properties.name : "") + slicedWords();
    if (where) make("small", "", where.slice(2), box);
    popup.setLngLat(event.lngLat).setDOMContent(box).addTo(map);
  };
  map.on("mousemove", "hexes", show);
  map.on("click", "hexes", show);
  map.on("mouseleave", "hexes", () => popup.remove());

  const legend = document.getElementById("legend");
  const told = make("div", "", "", legend), bar = make("i", "", "", legend), ends = make("span", "", "", legend);
  bar.style.background = `linear-gradient(90deg, ${colours})`;
  make("em", "", "Fainter where less is certain.", legend);
  const count = () => {
    told.textContent = "Points in a hexagon" + slicedWords();
    const now = steps.filter(([zoom]) => zoom <= map.getZoom()).pop() || steps[0];
    ends.replaceChildren();
    for (const text of ["0", amount(now[1] / 4), `${amount(now[1])}+`]) make("small", "", text, ends);
  };
  map.on("zoomend", count);
  count();

  // what and when ---------------------------------------------------------------------------------
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed.z), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Float32Array(await new Response(stream).arrayBuffer());
  };
  const opened = new Map();
  const table = (level, key) => {
    if (!opened.has(level.tables[key])) opened.set(level.tables[key], unpack(level.tables[key]));
    return opened.get(level.tables[key]);
  };
  const listeners = [];
  let asked = 0;
  const choose = async (axis, slice) => {
    chosen[axis] = slice;
    let part = chosen.map((own, k) => (own ? k : -1)).filter((k) => k >= 0);
    // too many numbers for all of them together: the others give way
    if (part.length && !(part.join() in slices.levels[0].tables)) {
      chosen.forEach((_, k) => { if (k !== axis) chosen[k] = 0; });
      part = slice ? [axis] : [];
    }
    listeners.forEach((listener) => listener());
    const mine = ++asked;
    const tables = part.length ? await Promise.all(slices.levels.map((level) => table(level, part.join()))) : [];
    if (mine !== asked) return; // somebody has chosen something else since
    // not before new ones are set: MapLibre would then forget those that are 0
    if (!part.length) map.removeFeatureState({ source: "hexes", sourceLayer: "hexes" });
    const at = part.reduce((number, k) => number * axes[k].labels.length + chosen[k] - 1, 0);
    const many = part.reduce((number, k) => number * axes[k].labels.length, 1), most = {};
    tables.forEach((numbers, number) => {
      const level = slices.levels[number], rows = level.ids.length * many;
      const estimates = level.ids.map((id, k) => {
        const [estimate, low, high] = [0, 1, 2].map((column) => numbers[column * rows + k * many + at]);
        map.setFeatureState({ source: "hexes", sourceLayer: "hexes", id },
          { estimate, low, high, reliable: (high - low) / 2 <= 0.2 * estimate });
        return estimate;
      }).sort((a, b) => a - b);
      for (const zoom of level.zooms) most[zoom] = estimates[Math.floor(0.99 * (estimates.length - 1))];
    });
    steps = part.length ? every.map(([zoom]) => [zoom, Math.max(most[zoom], 0.1)]) : every;
    map.setPaintProperty("hexes", "fill-color", byZoom(ramp));
    map.setPaintProperty("hexes", "fill-opacity", opacity(part.length ? 1 : 0.35));
    // the points are those of all slices
    map.setLayoutProperty("points", "visibility", part.length ? "none" : "visible");
    popup.remove();
    count();
  };
  axes.forEach((axis, number) => {
    const button = (text, slice, parent) => {
      const made = make("button", "chip", text, parent);
      made.type = "button";
      made.addEventListener("click", () => choose(number, slice));
      const mark = () => made.setAttribute("aria-pressed", String(chosen[number] === slice));
      listeners.push(mark);
      mark();
    };
    if (!axis.time) {
      const group = make("div", "", "", document.getElementById("chips"));
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", axis.name);
      ["All", ...axis.labels].forEach((label, slice) => button(label, slice, group));
      return;
    }
    const box = document.getElementById("time"), last = axis.labels.length;
    box.hidden = false;
    const play = make("button", "play", "\u25b6", box), slider = make("input", "", "", box), when = make("output", "", "", box);
    play.type = "button";
    Object.assign(slider, { type: "range", min: 1, max: last, step: 1, value: 1 });
    slider.setAttribute("aria-label", axis.name);
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; named(); };
    const named = () => { play.textContent = timer ? "\u275a\u275a" : "\u25b6"; play.setAttribute("aria-label", timer ? "Pause" : "Play"); };
    const onward = () => choose(number, (chosen[number] % last) + 1);
    play.addEventListener("click", () => {
      if (timer) return stop();
      timer = setInterval(onward, 900);
      onward();
      named();
      return undefined;
    });
    slider.addEventListener("input", () => { stop(); choose(number, Number(slider.value)); });
    const mark = () => {
      if (chosen[number]) slider.value = chosen[number];
      box.classList.toggle("whole", !chosen[number]);
      when.textContent = chosen[number] ? words(number, chosen[number]) : data.when || "all times";
      slider.setAttribute("aria-valuetext", when.textContent);
    };
    listeners.push(mark);
    mark();
    named();
    button("All", 0, box);
    box.lastChild.addEventListener("click", stop);
  });

  // names: the first in the list first, none over another -------------------------------------------
  const layer = make("div", "", "", map.getCanvasContainer());
  layer.id = "names";
  layer.setAttribute("aria-hidden", "true");
  const names = (data.zones ? data.zones.names : data.names).map(([text, lon, lat]) => ({ text, at: [lon, lat] }));
  const place = () => {
    const taken = [], width = map.getContainer().clientWidth, height = map.getContainer().clientHeight;
    let room = Math.round((width * height) / 30000);
    for (const name of names) {
      const { x, y } = map.project(name.at), half = data.zones ? 0 : 6;
      const inView = x > 4 && y > 10 && x < width - 30 && y < height - 10;
      const wide = 4 + name.text.length * 6.6, box = half ? [x - 6, y - 11, x + wide + 10, y + 11] : [x - wide / 2 - 6, y - 11, x + wide / 2 + 6, y + 11];
      const free = inView && room > 0 && !taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]);
      if (!free) { if (name.shown) name.shown.hidden = true; continue; }
      taken.push(box);
      room--;
      if (!name.shown) name.shown = make("span", data.zones ? "zone" : "city", name.text, layer);
      name.shown.hidden = false;
      name.shown.style.transform = `translate(${x}px, ${y}px)` + (half ? " translateY(-50%)" : " translate(-50%, -50%)");
    }
  };
  map.on("move", place);
  map.on("resize", place);
  place();

  if (!wide) document.getElementById("about").open = false;
  map.once("idle", () => { document.body.dataset.ready = "yes"; });
  window.dpsortMap = map;
  window.dpsortSite = { choose, chosen };
})();
