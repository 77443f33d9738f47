/* One canvas with all that is drawn; Leaflet moves and scales it, and asks for it anew. */
const centre = data.sheet.window.slice(0, 2);
const worldSize = () => 256 * Math.pow(2, map.getZoom());
const latLng = (u, v) => map.options.crs.pointToLatLng(L.point(u * 256, v * 256), 0);
function sheetPlace(at) {
  const point = map.options.crs.latLngToPoint(at, 0);
  return [point.x / 256, point.y / 256];
}

/* Lines and rings as paths around the window's corner, so that single precision is enough. */
function pathsOf(packed, close) {
  if (!packed) return [];
  const [left, top, right, bottom] = packed.window, paths = [];
  let at = 0;
  for (const size of packed.sizes) {
    const path = new Path2D();
    for (let i = 0; i < size; i++, at++) {
      const u = left - centre[0] + (packed.u[at] / 65535) * (right - left);
      const v = top - centre[1] + (packed.v[at] / 65535) * (bottom - top);
      if (i) path.lineTo(u, v);
      else path.moveTo(u, v);
    }
    if (close) path.closePath();
    paths.push(path);
  }
  return paths;
}
function joined(paths) {
  const all = new Path2D();
  paths.forEach((path) => all.addPath(path));
  return all;
}

const ground = data.ground;
const shapes = { outline: joined(pathsOf(ground.outline, true)), land: joined(pathsOf(ground.land, true)) };
shapes.lines = ground.lines.map((lines) => pathsOf(lines, false));

const Canvas = L.Renderer.extend({
  initialize: function () {
    L.Renderer.prototype.initialize.call(this, { padding: 0.2, pane: "dpsort-sheet" });
    this.drawn = 0;
  },
  _initContainer: function () {
    this._container = L.DomUtil.create("canvas", "dpsort-canvas");
    this._container.setAttribute("aria-hidden", "true");
    this._pen = this._container.getContext("2d");
  },
  _destroyContainer: function () {
    L.DomUtil.remove(this._container);
  },
  _update: function () {
    if (this._map._animatingZoom && this._bounds) return;
    L.Renderer.prototype._update.call(this);
    const size = this._bounds.getSize(), ratio = Math.min(window.devicePixelRatio || 1, 2);
    L.DomUtil.setPosition(this._container, this._bounds.min);
    this._container.width = Math.ceil(ratio * size.x);
    this._container.height = Math.ceil(ratio * size.y);
    this._container.style.width = size.x + "px";
    this._container.style.height = size.y + "px";
    this._pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw(size);
  },
  redraw: function () {
    if (this._map) this._update();
  },
  draw: function (size) {
    const origin = map.getPixelOrigin().add(this._bounds.min), scale = worldSize();
    const at = { pen: this._pen, size, scale, x: centre[0] * scale - origin.x, y: centre[1] * scale - origin.y,
      visible: L.bounds(map.containerPointToLayerPoint([0, 0]).subtract(this._bounds.min), map.containerPointToLayerPoint(map.getSize()).subtract(this._bounds.min)) };
    at.path = (path) => { const moved = new Path2D(); moved.addPath(path, new DOMMatrix([scale, 0, 0, scale, at.x, at.y])); return moved; };
    at.u = (u) => (u - centre[0]) * scale + at.x;
    at.v = (v) => (v - centre[1]) * scale + at.y;
    drawGround(at);
    if (data.zones && shown("zones")) drawZones(at);
    if (field && shown("density")) drawDensity(at);
    drawBorder(at);
    this.drawn = drawDots(at);
    if (shown("names")) drawNames(at);
  },
});

const shown = (layer) => !state.hidden[layer];

function drawGround(at) {
  const pen = at.pen, colours = ink();
  if (!data.tiles) {
    if (ground.land) { pen.fillStyle = colours.land; pen.fill(at.path(shapes.land), "evenodd"); }
    if (shown("area")) { pen.fillStyle = colours.area; pen.globalAlpha = ground.land && data.sheet.bare ? 0.3 : 1; pen.fill(at.path(shapes.outline), "evenodd"); pen.globalAlpha = 1; }
    if (ground.land) {
      pen.strokeStyle = colours.line; pen.lineWidth = 0.7; pen.globalAlpha = 0.65;
      pen.stroke(at.path(shapes.land)); pen.globalAlpha = 1;
    }
  }
  if (shown("lines")) drawLines(at);
}

function drawLines(at) {
  const pen = at.pen, colours = ink(), wide = at.visible.getSize().x / at.scale;
  const degrees = (wide * data.sheet.metres) / 111000;
  let which = 0;
  while (which + 1 < ground.lines.length && degrees / ground.lines[which].step < 3.5) which++;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 0.6;
  pen.globalAlpha = 0.4;
  for (const line of shapes.lines[which]) pen.stroke(at.path(line));
  pen.globalAlpha = 1;
}

function drawDensity(at) {
  const pen = at.pen, [left, top, right, bottom] = field.window;
  pen.save();
  pen.clip(at.path(shapes.outline), "evenodd");
  pen.globalAlpha = (data.tiles ? 0.82 : 1) * (1 - 0.65 * dotsOpacity());
  pen.imageSmoothingEnabled = true;
  pen.imageSmoothingQuality = "high";
  if (paintedDark !== isDark()) drawPicture(); // the browser may tell of a change of light late
  pen.drawImage(picture, at.u(left), at.v(top), (right - left) * at.scale, (bottom - top) * at.scale);
  pen.restore();
}

function drawBorder(at) {
  if (!shown("area")) return;
  const pen = at.pen;
  pen.strokeStyle = ink().border;
  pen.globalAlpha = 0.7;
  pen.lineWidth = 0.9;
  pen.lineJoin = "round";
  pen.stroke(at.path(shapes.outline));
  pen.globalAlpha = 1;
}
