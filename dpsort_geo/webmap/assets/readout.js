/* What is known at a place, for mouse, finger and keyboard. */
const readout = element("div", "dp-readout");
readout.hidden = true;
readout.setAttribute("role", "status");
let marked = null;

function regionAt(regions, u, v) {
  const [left, top, right, bottom] = regions.window, [w, h] = regions.size;
  const i = Math.floor(((u - left) / (right - left)) * w), j = Math.floor(((v - top) / (bottom - top)) * h);
  return i < 0 || j < 0 || i >= w || j >= h ? -1 : regions.owner[j * w + i] - 1;
}

function densityWords(u, v) {
  const own = chosenWindow(), sliced = !own && state.chosen.some((s) => s > 0);
  const regions = own ? own.regions : sliced ? data.slices.regions : data.regions;
  const i = regionAt(regions, u, v);
  if (i < 0) return null;
  const count = regions.km2.length, at = (sliced ? choiceNumber() : 0) * count + i, unit = data.unit;
  const each = unit.km2 / regions.km2[i], [value, low, high] = [regions.estimate[at] * each, regions.low[at] * each, regions.high[at] * each];
  const none = low === 0 && value < high / 6;
  return {
    head: none ? "almost none here" : "about " + amount(value) + " " + unit.text + " here",
    range: none ? "(at most " + amount(high) + " " + unit.text + ")" : "(" + amount(low) + " to " + amount(high) + ")",
    note: "in this square of " + metresWords(regions.side[i]) + sliceWords(", "),
    square: regions.level ? squareOf(regions.level[i], u, v) : null,
  };
}

function squareOf(level, u, v) {
  const side = Math.pow(2, -level), x = Math.floor(u / side) * side, y = Math.floor(v / side) * side;
  return [[[x, y], [x + side, y], [x + side, y + side], [x, y + side]]];
}

function zoneWords(u, v) {
  const i = zoneAt(u, v);
  if (i < 0) return null;
  const answer = zoneAnswer(i);
  return {
    head: zones.names[i] || "(no name)",
    range: answer.known ? "about " + zoneNumber(answer.estimate) + " " + zoneUnit() + " (" + zoneNumber(answer.low) + " to " + zoneNumber(answer.high) + ")" : "not in the area covered",
    note: (answer.known && !answer.reliable ? "not reliable" : "") + sliceWords(answer.known && !answer.reliable ? ", " : ""),
    square: zoneRings[i],
  };
}

/* The chosen slices in words. */
function sliceWords(before) {
  const words = axes.map((axis, i) => (state.chosen[i] ? (axis.words || axis.labels)[state.chosen[i] - 1] : "")).filter(Boolean);
  return words.length ? before + words.join(", ") : "";
}

let asked = null;
function say(at) {
  asked = at;
  const [u, v] = sheetPlace(at), words = zones && shown("zones") ? zoneWords(u, v) : data.regions ? densityWords(u, v) : null;
  if (marked) { marked.remove(); marked = null; }
  readout.hidden = !words;
  if (!words) return;
  readout.replaceChildren();
  element("b", "", words.head, readout);
  element("span", "", words.range, readout);
  if (words.note) element("small", "", words.note, readout);
  if (words.square) {
    marked = L.polygon(words.square.map((ring) => ring.map(([x, y]) => latLng(x, y))),
      { interactive: false, fill: false, color: ink().mark, weight: 1.5, opacity: 0.9, pane: "dpsort-mark" }).addTo(map);
  }
  const point = map.latLngToContainerPoint(at), size = map.getSize();
  const width = readout.offsetWidth, height = readout.offsetHeight;
  readout.style.left = Math.max(6, Math.min(size.x - width - 6, point.x + 14 + width > size.x ? point.x - width - 14 : point.x + 14)) + "px";
  readout.style.top = Math.max(6, Math.min(size.y - height - 6, point.y + 16 + height > size.y ? point.y - height - 14 : point.y + 16)) + "px";
}
function quiet() {
  asked = null;
  readout.hidden = true;
  if (marked) { marked.remove(); marked = null; }
}

function listen() {
  map.getContainer().appendChild(readout);
  let waiting = false;
  map.on("mousemove", (event) => {
    if (waiting || (map.dragging && map.dragging.moving && map.dragging.moving())) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; say(event.latlng); });
  });
  map.on("mouseout", quiet);
  map.on("click", (event) => {
    say(event.latlng);
    if (zones) { const i = zoneAt(...sheetPlace(event.latlng)); if (i >= 0) chooseZone(i); }
  });
  map.on("dragstart zoomstart", quiet);
  // with the keyboard the middle of the map is asked about
  let keyed = false;
  map.getContainer().addEventListener("keydown", (event) => {
    keyed = true;
    if (event.key === "Enter") say(map.getCenter());
    if (event.key === "Escape") quiet();
  });
  map.on("moveend", () => { if (keyed) say(map.getCenter()); keyed = false; });
}
