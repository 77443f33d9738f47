/* Puts it all together; `host` holds the elements of the page, or nothing in a notebook. */
function start() {
  for (const [name, level] of [["sheet", 350], ["mark", 450]]) {
    map.createPane("dpsort-" + name).style.zIndex = level;
    map.getPane("dpsort-" + name).style.pointerEvents = "none";
  }
  map.getContainer().classList.add("dpsort-map");
  if (!host) host = notebookCard();
  layerSwitches(host.layers);
  chips(host.chips);
  timeBar(host.time);
  legend(host.legend);
  if (zones) { zoneTable(host.table); zoneCard(host.card); }
  fit();
  const canvas = new Canvas();
  if (field) drawPicture();
  if (data.tiles) L.tileLayer(data.tiles.url, { attribution: data.tiles.attribution, maxZoom: 19, className: "dpsort-tiles" }).addTo(map);
  canvas.addTo(map);
  scaleBar();
  listen();
  onChange((what) => {
    if (what === "slice" && field) drawPicture();
    if (what === "slice" || what === "layers") legend(host.legend);
    if (zones && what !== "layers") { zoneTable(host.table); zoneCard(host.card); }
    canvas.redraw();
    if (asked && what === "slice") say(asked);
  });
  const repaint = () => { if (field) drawPicture(); legend(host.legend); canvas.redraw(); };
  darkness.addEventListener("change", repaint);
  // a sheet of paper is lower than a screen: what is in view is fitted into it
  const onPaper = (on) => {
    const view = map.getBounds();
    printing = on;
    map.getContainer().classList.toggle("dp-paper", on);
    map.invalidateSize({ animate: false, pan: false });
    if (touched) map.fitBounds(view, { animate: false });
    repaint();
  };
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(false));
  let queued = false;
  map.on("move", () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; canvas.redraw(); });
  });
  let dotted = dotsOpacity() > 0;
  map.on("zoomend", () => {
    if (dotted === dotsOpacity() > 0) return;
    dotted = !dotted;
    legend(host.legend);
  });
  let touched = false;
  map.on("dragstart zoomstart", () => { touched = true; });
  // fitting zooms too, but nobody has asked for that
  map.on("resize", () => { if (!touched) { fit(); touched = false; } });
  return { map, data, state, choose, canvas, say, chooseZone, hatched: () => hatched, zoneAnswer, dotsRadius, picture,
    pixel: (u, v) => { const p = map.latLngToContainerPoint(latLng(u, v)); return [p.x, p.y]; } };
}

/* The whole area in view, with a margin; nearer than the error of a point there is nothing to see. */
function fit() {
  const [left, top, right, bottom] = data.sheet.window, corners = L.latLngBounds(latLng(left, top), latLng(right, bottom));
  const margin = map.getSize().x < 640 ? 14 : 28, room = host.room ? host.room() : 0;
  map.options.minZoom = -10;
  map.options.maxZoom = 30;
  const snap = map.options.zoomSnap;
  map.options.zoomSnap = 0;
  map.fitBounds(corners, { paddingTopLeft: [margin, margin], paddingBottomRight: [margin + room, margin + 10], animate: false });
  map.options.zoomSnap = snap;
  data.startZoom = map.getZoom();
  const nearest = Math.log2(((90 / Math.max(data.error, 1e-3)) * data.sheet.metres) / 256);
  map.setMinZoom(data.startZoom - 1);
  map.setMaxZoom(Math.max(data.startZoom + 1.5, Math.min(nearest, data.startZoom + 12)));
}

/* A scale bar in metres on the ground, at the middle of the map. */
function scaleBar() {
  const control = L.control({ position: "bottomleft" });
  const box = element("div", "dp-scale"), line = element("i", "", "", box), text = element("span", "", "", box);
  control.onAdd = () => box;
  control.addTo(map);
  const measure = () => {
    const metres = (data.sheet.metres * 110) / worldSize(), power = Math.pow(10, Math.floor(Math.log10(metres)));
    const round = [5, 2, 1].map((d) => d * power).find((d) => d <= metres) || power;
    line.style.width = (110 * round) / metres + "px";
    text.textContent = metresWords(round);
  };
  map.on("zoomend", measure);
  measure();
}

/* In a notebook the map brings its own card. */
function notebookCard() {
  const control = L.control({ position: "topright" }), box = element("div", "dp-card"), fold = element("details", "", "", box);
  fold.open = map.getSize().x > 560;
  element("summary", "", data.title, fold);
  const body = element("div", "dp-card-body", "", fold), parts = {};
  element("p", "", data.promise, body);
  for (const name of ["chips", "time", "legend", "card", "layers"]) parts[name] = element("div", "dp-" + name, "", body);
  const how = element("details", "", "", body);
  element("summary", "", "How?", how);
  for (const line of data.how) element("p", "", line, how);
  control.onAdd = () => { L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box); return box; };
  control.addTo(map);
  parts.table = null;
  parts.room = () => (fold.open && map.getSize().x > 700 ? 290 : 0);
  return parts;
}
return start();
