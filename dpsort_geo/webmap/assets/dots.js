/* Dots come up when one goes nearer, and grow. */
function dotsOpacity() {
  if (!shown("dots") || !data.layers.some((layer) => layer.id === "dots")) return 0;
  const range = Math.max(map.getMaxZoom() - data.startZoom, 0.1), from = data.startZoom + Math.min(1, 0.3 * range);
  const full = data.startZoom + Math.min(2.2, 0.6 * range);
  return Math.max(0, Math.min(1, (map.getZoom() - from) / (full - from)));
}

function dotsRadius() {
  const range = Math.max(map.getMaxZoom() - data.startZoom, 0.1);
  const near = Math.max(0, Math.min(1, (map.getZoom() - data.startZoom) / range));
  return 0.8 + 3.4 * near * near;
}

function drawDots(at) {
  let drawn = 0;
  for (const layer of data.layers) {
    const opacity = layer.id === "dots" ? dotsOpacity() : 1;
    if (shown(layer.id) && opacity > 0) drawn += layer.count ? drawCircles(at, layer) : drawLayer(at, layer, opacity);
  }
  return drawn;
}

function placesIn(at, layer, margin) {
  const [left, top, right, bottom] = layer.window;
  return { x: at.u(left), y: at.v(top), sx: ((right - left) * at.scale) / 65535, sy: ((bottom - top) * at.scale) / 65535,
    in: (x, y) => x > -margin && y > -margin && x < at.size.x + margin && y < at.size.y + margin };
}

function isChosen(layer) {
  const wanted = state.chosen.map((slice, axis) => [slice - 1, layer.labels[axis]]).filter(([slice, labels]) => slice >= 0 && labels);
  if (!wanted.length) return null;
  return (i) => wanted.every(([slice, labels]) => labels[i] === slice);
}

function drawLayer(at, layer, opacity) {
  const pen = at.pen, to = placesIn(at, layer, 6), { u, v } = layer, chosen = isChosen(layer);
  const xs = [];
  for (let i = 0; i < u.length; i++) {
    const x = u[i] * to.sx + to.x, y = v[i] * to.sy + to.y;
    if (to.in(x, y) && (!chosen || chosen(i))) xs.push(x, y);
  }
  // a crowd is drawn thinner, so that it stays a texture
  const crowd = xs.length / 2 / (at.size.x * at.size.y);
  const radius = layer.id === "dots" ? dotsRadius() : crowd > 0.02 ? 0.6 : crowd > 0.003 ? 1 : 1.8;
  const r = Math.min(radius, Math.max(0.7, 0.35 / Math.sqrt(Math.max(crowd, 1e-9))));
  pen.fillStyle = layer.colour || ink().dot;
  pen.globalAlpha = opacity * (crowd > 0.02 ? 0.4 : crowd > 0.004 ? 0.6 : 0.8);
  if (r < 1.4) for (let i = 0; i < xs.length; i += 2) pen.fillRect(xs[i] - r, xs[i + 1] - r, 2 * r, 2 * r);
  else {
    pen.beginPath();
    for (let i = 0; i < xs.length; i += 2) { pen.moveTo(xs[i] + r, xs[i + 1]); pen.arc(xs[i], xs[i + 1], r, 0, 6.2832); }
    pen.fill();
  }
  pen.globalAlpha = 1;
  return xs.length / 2;
}

/* Points that repeat: a circle a place, as large as they are many. */
function drawCircles(at, layer) {
  const pen = at.pen, to = placesIn(at, layer, 40), { u, v, count } = layer;
  let most = 1, drawn = 0;
  for (const c of count) if (c > most) most = c;
  const largest = 13 * Math.pow(1.25, Math.max(0, Math.min(map.getZoom() - data.startZoom, 4)));
  pen.fillStyle = layer.colour || ink().dot;
  pen.globalAlpha = 0.42;
  for (let i = 0; i < u.length; i++) {
    const x = u[i] * to.sx + to.x, y = v[i] * to.sy + to.y;
    if (!to.in(x, y)) continue;
    pen.beginPath();
    pen.arc(x, y, Math.max(0.9, largest * Math.sqrt(count[i] / most)), 0, 6.2832);
    pen.fill();
    drawn++;
  }
  pen.globalAlpha = 1;
  return drawn;
}
