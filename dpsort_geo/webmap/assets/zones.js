/* Zones: colours by number or rate, hatched where the number says little, and a table of them. */
const zones = data.zones;

function zoneAnswer(i, number) {
  const at = (number === undefined ? choiceNumber() : number) * zones.names.length + i;
  const people = zones.per ? zones.per.values[i] : null, times = zones.per ? (people ? zones.per.each / people : NaN) : 1;
  const [count, low, high] = [zones.estimate[at], zones.low[at], zones.high[at]];
  return { count, estimate: count * times, low: low * times, high: high * times,
    reliable: (high - low) / 2 <= zones.reliable * count, known: count === count };
}
const zoneNumber = (value) => (zones.per ? amount(value) : whole(value));
const zoneUnit = () => (zones.per ? "per " + (zones.per.each === 1 ? "" : zones.per.each.toLocaleString("en") + " ") + zones.per.name : data.people);

let classesOf = null, classesFound = null;
function zoneClasses() {
  const key = timeAxis >= 0 && state.chosen[timeAxis] ? overTime()[0] : -1 - choiceNumber();
  if (key !== classesOf) { classesOf = key; classesFound = findClasses(); }
  return classesFound;
}
function findClasses() {
  // quantiles of what is known, at most six classes; over time the classes of all bins are one
  const values = [], numbers = timeAxis >= 0 && state.chosen[timeAxis] ? overTime() : [choiceNumber()];
  for (const each of numbers) for (let i = 0; i < zones.names.length; i++) {
    const value = zoneAnswer(i, each).estimate;
    if (value === value) values.push(value);
  }
  values.sort((a, b) => a - b);
  const classes = Math.max(1, Math.min(6, zones.names.length)), breaks = [];
  for (let k = 1; k < classes; k++) {
    const value = values[Math.floor((k / classes) * values.length)];
    if (value > (breaks.length ? breaks[breaks.length - 1] : values[0])) breaks.push(value);
  }
  return { breaks, low: values[0], high: values[values.length - 1] };
}
function zoneShare(value, classes) {
  const n = classes.breaks.length;
  const at = classes.breaks.filter((limit) => value >= limit).length;
  return n ? 0.08 + 0.84 * (at / n) : 0.5;
}

let zoneRings = null, zonePaths = null;
function zoneShapes() {
  if (zonePaths) return zonePaths;
  const paths = pathsOf(zones.shapes, true), { window: [left, top, right, bottom], sizes, u, v } = zones.shapes;
  zonePaths = [];
  zoneRings = [];
  let ring = 0, at = 0;
  for (const count of zones.rings) {
    const mine = [], all = new Path2D();
    for (let k = 0; k < count; k++, ring++) {
      all.addPath(paths[ring]);
      const points = [];
      for (let i = 0; i < sizes[ring]; i++, at++) points.push([left + (u[at] / 65535) * (right - left), top + (v[at] / 65535) * (bottom - top)]);
      mine.push(points);
    }
    zonePaths.push(all);
    zoneRings.push(mine);
  }
  return zonePaths;
}

/* Lines that can be seen on a light and on a dark fill. */
function hatch(pen, colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 7;
  const p = tile.getContext("2d");
  p.strokeStyle = colour;
  p.globalAlpha = 0.55;
  p.lineWidth = 1;
  p.beginPath();
  for (const k of [-7, 0, 7]) { p.moveTo(k, 7); p.lineTo(k + 7, 0); }
  p.stroke();
  return pen.createPattern(tile, "repeat");
}

let hatched = 0;
function drawZones(at) {
  const pen = at.pen, paths = zoneShapes(), classes = zoneClasses();
  const lines = { dark: hatch(pen, "#16222c"), light: hatch(pen, "#ffffff") };
  hatched = 0;
  paths.forEach((path, i) => {
    const answer = zoneAnswer(i), moved = at.path(path);
    pen.globalAlpha = data.tiles ? 0.8 : 1;
    const has = answer.known && answer.estimate === answer.estimate, share = has ? zoneShare(answer.estimate, classes) : 0;
    pen.fillStyle = has ? rampColour(share) : ink().none;
    pen.fill(moved, "evenodd");
    if (answer.known && !answer.reliable) { pen.fillStyle = share > 0.5 === isDark() ? lines.dark : lines.light; pen.fill(moved, "evenodd"); hatched++; }
    pen.globalAlpha = 1;
    pen.strokeStyle = ink().zone;
    pen.lineWidth = 1;
    pen.stroke(moved);
  });
}

function zoneAt(u, v) {
  zoneShapes();
  for (let i = zoneRings.length - 1; i >= 0; i--) {
    let inside = false;
    for (const ring of zoneRings[i])
      for (let a = 0, b = ring.length - 1; a < ring.length; b = a++)
        if (ring[a][1] > v !== ring[b][1] > v && u < ((ring[b][0] - ring[a][0]) * (v - ring[a][1])) / (ring[b][1] - ring[a][1]) + ring[a][0]) inside = !inside;
    if (inside) return i;
  }
  return -1;
}

/* A bar from 0 with the interval across its end. */
function bar(answer, most) {
  const box = element("span", "dp-bar"), share = (value) => Math.max(0, Math.min(100, (100 * value) / most)) + "%";
  if (!answer.known || answer.estimate !== answer.estimate) return box;
  const fill = element("i", "dp-bar-fill" + (answer.reliable ? "" : " dp-hatched"), "", box);
  fill.style.width = share(answer.estimate);
  const range = element("i", "dp-bar-range", "", box);
  range.style.left = share(answer.low);
  range.style.width = Math.max(0, Math.min(100, (100 * answer.high) / most) - (100 * answer.low) / most) + "%";
  return box;
}

const order = { by: "estimate", down: true };
function zoneTable(box) {
  if (!box) return;
  const answers = zones.names.map((_, i) => zoneAnswer(i)), table = element("table", "", "");
  const most = answers.reduce((top, a) => (a.high > top ? a.high : top), 0) || 1;
  const caption = element("caption", "", "Estimates by zone" + sliceWords(" in ") + ", " + zoneUnit(), table);
  caption.id = "dp-zones-caption";
  const head = element("tr", "", "", element("thead", "", "", table));
  const columns = [["name", "Zone"], ["estimate", zones.per ? "Rate" : "Estimate"], ["low", "Likely range"], ["", ""], ["reliable", "Reliable"]];
  for (const [key, text] of columns) {
    const cell = element("th", "dp-col-" + (key || "bar"), "", head);
    cell.scope = "col";
    if (!key) { cell.setAttribute("aria-label", "Bar with range"); continue; }
    const button = element("button", "", text, cell);
    button.type = "button";
    if (order.by === key) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    button.addEventListener("click", () => {
      order.down = order.by === key ? !order.down : key !== "name";
      order.by = key;
      zoneTable(box);
      box.querySelector(".dp-col-" + key + " button").focus();
    });
  }
  const value = (i) => (order.by === "name" ? zones.names[i].toLowerCase() : order.by === "reliable" ? Number(answers[i].reliable) : answers[i][order.by]);
  const rows = zones.names.map((_, i) => i).sort((a, b) => {
    const x = value(a), y = value(b), known = Number(y === y) - Number(x === x);
    return known || (x < y ? -1 : x > y ? 1 : a - b) * (order.down ? -1 : 1);
  });
  const body = element("tbody", "", "", table);
  for (const i of rows) {
    const row = element("tr", state.zone === i ? "dp-chosen" : "", "", body), answer = answers[i];
    row.dataset.zone = i;
    const name = element("th", "dp-col-name", "", row);
    name.scope = "row";
    const button = element("button", "", zones.names[i] || "(no name)", name);
    button.type = "button";
    button.setAttribute("aria-pressed", String(state.zone === i));
    element("td", "dp-number", answer.known ? zoneNumber(answer.estimate) : "–", row);
    element("td", "dp-number dp-muted", answer.known ? zoneNumber(answer.low) + " to " + zoneNumber(answer.high) : "not in the area covered", row);
    element("td", "dp-col-bar", "", row).appendChild(bar(answer, most));
    element("td", "dp-muted", answer.known ? (answer.reliable ? "yes" : "no") : "", row);
    row.addEventListener("click", () => chooseZone(i));
  }
  box.replaceChildren(table);
}

function chooseZone(i) {
  state.zone = state.zone === i ? null : i;
  tell("zone");
}

/* The zone chosen: its number and, where there are categories, a bar for each of them. */
function zoneCard(box) {
  box.hidden = state.zone === null;
  if (box.hidden) return;
  const i = state.zone, answer = zoneAnswer(i);
  box.replaceChildren();
  element("h2", "", zones.names[i] || "(no name)", box);
  element("p", "dp-big", answer.known ? "about " + zoneNumber(answer.estimate) : "not in the area covered", box);
  if (!answer.known) return;
  element("p", "dp-muted", zoneUnit() + sliceWords(", ") + " · likely " + zoneNumber(answer.low) + " to " + zoneNumber(answer.high), box);
  if (!answer.reliable) element("p", "dp-muted", "The range is wide beside the number: read it with care.", box);
  const axis = axes.findIndex((each) => !each.time), list = element("div", "dp-bars", "", box);
  const rows = [];
  if (axis >= 0) {
    const kept = state.chosen[axis];
    axes[axis].labels.forEach((label, k) => { state.chosen[axis] = k + 1; rows.push([label, zoneAnswer(i)]); });
    state.chosen[axis] = kept;
  } else {
    rows.push(["here", answer]);
    const all = zones.names.map((_, k) => zoneAnswer(k)).filter((a) => a.known && a.estimate === a.estimate).sort((a, b) => a.estimate - b.estimate);
    if (all.length > 2) rows.push(["middle zone", all[all.length >> 1]]);
  }
  const most = rows.reduce((top, [, a]) => (a.high > top ? a.high : top), 0) || 1;
  for (const [label, own] of rows) {
    const row = element("div", "dp-bar-row", "", list);
    element("span", "", label, row);
    row.appendChild(bar(own, most));
    element("span", "dp-number", zoneNumber(own.estimate), row).title = zoneNumber(own.low) + " to " + zoneNumber(own.high);
  }
}
