/* Names of zones or cities: the large ones first, none over another; degrees along the edges. */
function drawNames(at) {
  const pen = at.pen, colours = ink(), taken = [], box = at.visible;
  const narrow = map.getSize().x < 520;
  // no name below the buttons
  const buttons = map.getContainer().querySelector(".leaflet-control-zoom");
  if (buttons && !printing) {
    const own = buttons.getBoundingClientRect(), from = map.getContainer().getBoundingClientRect(), x = box.min.x - from.x, y = box.min.y - from.y;
    taken.push([own.left + x, own.top + y, own.right + x, own.bottom + y]);
  }
  const room = Math.round((map.getSize().x * map.getSize().y) / (narrow ? 16000 : 30000));
  let written = 0;
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  const write = (text, x, y, size, weight, dot) => {
    if (written >= room || x < box.min.x + 4 || y < box.min.y + 8 || x > box.max.x - 4 || y > box.max.y - 8) return;
    pen.font = weight + " " + size + "px -apple-system, 'Segoe UI', Inter, 'Helvetica Neue', 'Nimbus Sans', Arial, sans-serif";
    const width = pen.measureText(text).width;
    let left = dot ? x + 6 : x - width / 2;
    if (left + width > box.max.x - 6) left = dot ? x - 6 - width : box.max.x - 6 - width;
    if (left < box.min.x + 4) return;
    const own = [left - 8, y - size * 0.8 - 3, left + width + 8, y + size * 0.8 + 3];
    if (taken.some((other) => own[0] < other[2] && own[2] > other[0] && own[1] < other[3] && own[3] > other[1])) return;
    taken.push(own);
    written++;
    pen.globalAlpha = 0.85;
    pen.strokeStyle = colours.halo;
    pen.lineWidth = 3;
    pen.strokeText(text, left, y);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.text;
    pen.fillText(text, left, y);
    if (dot) {
      pen.beginPath();
      pen.arc(x, y, 1.9, 0, 6.2832);
      pen.lineWidth = 1.6;
      pen.stroke();
      pen.fill();
    }
  };
  if (shown("lines") && map.getSize().x > 360) degreeNames(at, write);
  if (data.zones) {
    const order = data.zones.names.map((_, i) => i).filter((i) => data.zones.places[i]);
    order.sort((a, b) => data.zones.places[b][2] - data.zones.places[a][2]);
    for (const i of order) {
      const [u, v, area] = data.zones.places[i], across = Math.sqrt(area) * at.scale;
      if (across > 34) write(data.zones.names[i], at.u(u), at.v(v), narrow ? 11 : 12, 500, false);
    }
    return;
  }
  ground.names.forEach(([name, u, v], rank) => write(name, at.u(u), at.v(v), rank < 4 && !ground.land ? 13 : 11.5, rank < 4 && !ground.land ? 600 : 400, true));
}

/* The degrees of grid lines where they meet the upper or the left edge of what is in view. */
function degreeNames(at, write) {
  const wide = (at.visible.getSize().x / at.scale) * (data.sheet.metres / 111000);
  let which = 0;
  while (which + 1 < ground.lines.length && wide / ground.lines[which].step < 3.5) which++;
  const lines = ground.lines[which], [left, top, right, bottom] = lines.window, { min, max } = at.visible;
  let from = 0;
  lines.labels.forEach((label, number) => {
    const size = lines.sizes[number], level = /[EW]$|^0°$|^180°/.test(label);
    for (let i = from; i + 1 < from + size; i++) {
      const x = (k) => at.u(left + (lines.u[k] / 65535) * (right - left)), y = (k) => at.v(top + (lines.v[k] / 65535) * (bottom - top));
      const [x0, y0, x1, y1] = [x(i), y(i), x(i + 1), y(i + 1)];
      const edge = level ? min.y + 12 : min.x + 6, a = level ? y0 : x0, b = level ? y1 : x1;
      if ((a - edge) * (b - edge) > 0 || a === b) continue;
      const part = (edge - a) / (b - a), px = x0 + part * (x1 - x0), py = y0 + part * (y1 - y0);
      if (level) write(label, px, min.y + 12, 10, 400, false);
      else write(label, min.x + 24, py - 7, 10, 400, false);
      break;
    }
    from += size;
  });
}
