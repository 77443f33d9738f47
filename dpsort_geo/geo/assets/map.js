"use strict";
/* Draws a published map on a Leaflet map. All that is shown comes in `data`; nothing is fetched. */
function dpsortMap(map, data) {
  const WORLD = 4294967296; // coordinates come as 32-bit fractions of the Mercator square
  const small = () => map.getSize().x < 640;

  function words(text) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Uint32Array(bytes.buffer);
  }

  /* Thousands of dots on one canvas; Leaflet's renderer moves it along while zooming. */
  const Dots = L.Renderer.extend({
    initialize: function (layer) {
      L.Renderer.prototype.initialize.call(this, { padding: 0.15, pane: "dpsort-dots" });
      this._x = words(layer.x);
      this._y = words(layer.y);
      this._count = layer.count ? words(layer.count) : null;
      this._colour = layer.colour;
      this._most = this._count ? this._count.reduce((a, b) => Math.max(a, b), 1) : 1;
      this.drawn = 0;
    },
    _initContainer: function () {
      this._container = L.DomUtil.create("canvas", "dpsort-dots");
      this._container.style.pointerEvents = "none";
      this._pen = this._container.getContext("2d");
    },
    _destroyContainer: function () {
      L.DomUtil.remove(this._container);
      delete this._container;
    },
    _update: function () {
      if (this._map._animatingZoom && this._bounds) return;
      L.Renderer.prototype._update.call(this);
      const size = this._bounds.getSize();
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      L.DomUtil.setPosition(this._container, this._bounds.min);
      this._container.width = Math.ceil(ratio * size.x);
      this._container.height = Math.ceil(ratio * size.y);
      this._container.style.width = size.x + "px";
      this._container.style.height = size.y + "px";
      this._pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      this._draw(size);
    },
    _draw: function (size) {
      const pen = this._pen, x = this._x, y = this._y;
      const zoom = this._map.getZoom();
      const scale = (256 * Math.pow(2, zoom)) / WORLD;
      const origin = this._map.getPixelOrigin().add(this._bounds.min);
      const left = 256 * Math.pow(2, zoom) * data.west - origin.x;
      const shown = [];
      for (let i = 0; i < x.length; i++) {
        const px = x[i] * scale + left, py = y[i] * scale - origin.y;
        if (px > -40 && py > -40 && px < size.x + 40 && py < size.y + 40) shown.push(i);
      }
      this.drawn = shown.length;
      pen.fillStyle = this._colour;
      if (this._count) this._circles(shown, scale, left, origin.y);
      else this._squares(shown, scale, left, origin.y, size);
    },
    _squares: function (shown, scale, left, top, size) {
      // fewer dots in view may be larger and more solid
      const crowd = shown.length / (size.x * size.y);
      const side = crowd > 0.02 ? 1.1 : crowd > 0.004 ? 1.7 : crowd > 0.0008 ? 2.6 : 4;
      const pen = this._pen, x = this._x, y = this._y;
      pen.globalAlpha = crowd > 0.02 ? 0.32 : crowd > 0.004 ? 0.5 : 0.75;
      for (const i of shown) {
        const px = x[i] * scale + left, py = y[i] * scale - top;
        if (side < 3) pen.fillRect(px - side / 2, py - side / 2, side, side);
        else { pen.beginPath(); pen.arc(px, py, side / 2, 0, 7); pen.fill(); }
      }
    },
    _circles: function (shown, scale, left, top) {
      const pen = this._pen, x = this._x, y = this._y, count = this._count;
      const zoom = this._map.getZoom(), start = data.startZoom || zoom;
      const largest = (small() ? 9 : 13) * Math.pow(1.25, Math.max(0, Math.min(zoom - start, 4)));
      for (const i of shown) {
        const r = Math.max(0.9, largest * Math.sqrt(count[i] / this._most));
        pen.globalAlpha = 0.42;
        pen.beginPath();
        pen.arc(x[i] * scale + left, y[i] * scale - top, r, 0, 7);
        pen.fill();
      }
      pen.globalAlpha = 1;
    },
  });

  /* Faint meridians and parallels with their degrees: bearings without a base map. */
  const Graticule = L.LayerGroup.extend({
    onAdd: function (on) {
      L.LayerGroup.prototype.onAdd.call(this, on);
      on.on("moveend", this._redraw, this);
      this._redraw();
    },
    onRemove: function (on) {
      on.off("moveend", this._redraw, this);
      this.clearLayers();
      L.LayerGroup.prototype.onRemove.call(this, on);
    },
    _redraw: function () {
      this.clearLayers();
      const view = map.getBounds(), steps = [30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
      const width = view.getEast() - view.getWest();
      const step = steps.find((s) => width / s >= (small() ? 3 : 5)) || 0.005;
      const digits = Math.max(0, -Math.floor(Math.log10(step)));
      const style = { color: "#5d7183", weight: 0.6, opacity: 0.4, interactive: false, pane: "dpsort-graticule" };
      const label = (at, text, dx, dy) => this.addLayer(L.marker(at, { interactive: false, keyboard: false,
        pane: "dpsort-graticule",
        icon: L.divIcon({ className: "dpsort-grid-label", html: text, iconSize: null, iconAnchor: [dx, dy] }) }));
      const name = (v, plus, minus) => Math.abs(v).toFixed(digits) + "°" + (Math.abs(v) < 1e-9 ? "" : v > 0 ? plus : minus);
      const south = Math.max(view.getSouth(), -85), north = Math.min(view.getNorth(), 85);
      for (let x = Math.ceil(view.getWest() / step) * step; x < view.getEast(); x += step) {
        this.addLayer(L.polyline([[south, x], [north, x]], style));
        label([north, x], name(((x + 540) % 360) - 180, "E", "W"), -3, -2);
      }
      for (let y = Math.ceil(south / step) * step; y < north; y += step) {
        this.addLayer(L.polyline([[y, view.getWest()], [y, view.getEast()]], style));
        label([y, view.getWest()], name(y, "N", "S"), -4, 16);
      }
    },
  });

  function made(layer) {
    if (layer.kind === "points") return new Dots(layer);
    if (layer.kind === "image") {
      const image = L.imageOverlay(layer.url, layer.bounds, { opacity: 0.92, interactive: false, pane: "dpsort-image" });
      // close up, where the picture has no more to tell, it gives way to the dots
      map.on("zoomend", () => image.setOpacity(Math.max(0.3, Math.min(0.92, 1.1 - 0.2 * (map.getZoom() - data.startZoom)))));
      return image;
    }
    if (layer.kind === "graticule") return new Graticule();
    if (layer.kind === "tiles")
      return L.tileLayer(layer.url, { attribution: layer.attribution, maxZoom: 19 });
    return L.layerGroup([
      L.polygon(layer.rings, { pane: "dpsort-land", stroke: false, fillColor: "#fbfaf7", fillOpacity: layer.fill, interactive: false, fillRule: "evenodd" }),
      L.polygon(layer.rings, { pane: "dpsort-outline", color: "#33475b", weight: 1.1, opacity: 0.75, fill: false, interactive: false }),
    ]);
  }

  function element(tag, name, text, parent) {
    const made = L.DomUtil.create(tag, name, parent);
    if (text) made.textContent = text;
    return made;
  }

  function swatch(layer, row) {
    const mark = element("span", "dpsort-swatch", "", row);
    if (layer.kind === "image") { mark.classList.add("square"); mark.style.background = layer.legend.gradient; }
    else if (layer.kind === "points") mark.style.background = layer.colour;
    else { mark.classList.add("line"); mark.style.background = layer.kind === "outline" ? "#33475b" : "#9fb0bf"; }
  }

  function legend(layer, body) {
    const box = element("div", "dpsort-legend", "", body);
    element("div", "", layer.legend.title, box);
    element("div", "dpsort-ramp", "", box).style.background = layer.legend.gradient;
    const ticks = element("div", "dpsort-ticks", "", box);
    for (const [share, text] of layer.legend.ticks) {
      const tick = element("span", "", text, ticks);
      tick.style.left = 100 * share + "%";
      if (share < 0.05) tick.style.transform = "none";
      if (share > 0.95) tick.style.transform = "translateX(-100%)";
    }
    return box;
  }

  function card(position, name, build) {
    const control = L.control({ position: position });
    control.onAdd = function () {
      const box = L.DomUtil.create("div", "dpsort-card " + name);
      build(box, element("details", "", "", box));
      L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box);
      return box;
    };
    control.addTo(map);
  }

  function layersCard(layers) {
    card("topright", "dpsort-layers", function (box, fold) {
      fold.open = !small();
      element("summary", "", data.title, fold);
      const body = element("div", "dpsort-body", "", fold);
      for (const layer of data.layers) {
        const row = element("label", "dpsort-layer", "", body);
        const tick = element("input", "", "", row);
        tick.type = "checkbox";
        tick.checked = layer.on;
        tick.dataset.layer = layer.id;
        swatch(layer, row);
        const text = element("span", "", layer.name, row);
        if (layer.note) element("small", "", layer.note, text);
        const key = layer.legend ? legend(layer, body) : null;
        if (key) key.hidden = !layer.on;
        L.DomEvent.on(tick, "change", function () {
          if (tick.checked) map.addLayer(layers[layer.id]);
          else map.removeLayer(layers[layer.id]);
          if (key) key.hidden = !tick.checked;
        });
      }
    });
  }

  function statementCard() {
    const open = data.private ? "" : " open-data";
    card("bottomleft", "dpsort-statement" + open, function (box, fold) {
      fold.open = !small();
      const head = element("summary", "", "", fold);
      head.innerHTML = '<svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 1a4 4 0 0 0-4 4v2H3v8h10V7h-1V5a4 4 0 0 0-4-4zm0 1.6A2.4 2.4 0 0 1 10.400 5v2H5.600V5A2.4 2.4 0 0 1 8 2.600z"/></svg>';
      element("b", "", data.statement.head, head);
      const body = element("div", "dpsort-body", "", fold);
      for (const line of data.statement.lines) element("p", "", line, body);
    });
  }

  ["land:210", "graticule:220", "image:300", "dots:420", "outline:430"].forEach(function (pane) {
    const [name, level] = pane.split(":");
    map.createPane("dpsort-" + name).style.zIndex = level;
    map.getPane("dpsort-" + name).style.pointerEvents = "none";
  });
  map.getContainer().classList.add("dpsort-map");
  const room = map.getSize().x > 1000 ? [308, 16] : small() ? [4, 4] : [16, 16]; // for the layers' card
  map.fitBounds(data.bounds, { paddingTopLeft: small() ? [4, 4] : [16, 16], paddingBottomRight: room, animate: false });
  data.startZoom = map.getZoom();
  const layers = {};
  for (const layer of data.layers) {
    layers[layer.id] = made(layer);
    if (layer.on) map.addLayer(layers[layer.id]);
  }
  L.control.scale({ imperial: false, position: "bottomright" }).addTo(map);
  layersCard(layers);
  statementCard();
  return layers;
}
