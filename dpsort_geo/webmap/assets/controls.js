/* Legend, chips, time and layers, in the elements that the page has for them. */
function legend(box) {
  box.replaceChildren();
  if (zones) return zoneLegend(box);
  element("div", "dp-legend-title", data.people + " " + data.unit.text + sliceWords(", "), box);
  element("div", "dp-ramp", "", box).style.background = rampGradient();
  const ticks = element("div", "dp-ticks", "", box), cap = fieldCap() * data.unit.km2;
  // round numbers near the quarters of the ramp, each where its colour is
  const values = [0, ...[0.25, 0.5, 0.75].map((share) => Number((cap * share * share).toPrecision(1))), cap];
  for (const value of values) {
    const tick = element("span", "", value === cap ? amount(value) + "+" : amount(value), ticks);
    tick.style.left = 100 * Math.sqrt(value / cap) + "%";
  }
  element("div", "dp-muted dp-legend-note", "Fainter where less is certain.", box);
  dotNote(box);
  return null;
}

/* What a dot is, while dots are to be seen. */
function dotNote(box) {
  const dots = data.layers.find((layer) => layer.id === "dots");
  if (!dots || !dotsOpacity()) return;
  const note = element("div", "dp-legend-note dp-dot-note dp-muted", "", box), each = dots.total / Math.max(dots.u.length, 1);
  element("i", "dp-dot-sample", "", note).style.background = ink().dot;
  element("span", "", each < 1.05 ? "each dot stands for one; none is a real place" : "a dot stands for about " + amount(each) + "; none is a real place", note);
}

function zoneLegend(box) {
  const classes = zoneClasses(), edges = [classes.low, ...classes.breaks, classes.high];
  const edge = (value) => (classes.high < 20 ? amount(value) : zoneNumber(value)); // few are told apart by digits
  element("div", "dp-legend-title", zoneUnit() + sliceWords(", "), box);
  const row = element("div", "dp-classes", "", box);
  for (let k = 0; k + 1 < edges.length; k++) {
    const one = element("span", "", "", row);
    element("i", "", "", one).style.background = rampColour(zoneShare((edges[k] + edges[k + 1]) / 2, classes));
    element("small", "", edge(edges[k]), one);
  }
  element("small", "dp-last", classes.high > edges[edges.length - 2] ? edge(classes.high) : "", row);
  const note = element("div", "dp-legend-note dp-muted", "", box);
  element("i", "dp-hatch-sample", "", note);
  element("span", "", "hatched: the range is wide beside the number", note);
  dotNote(box);
  return null;
}

function chips(box) {
  axes.forEach((axis, number) => {
    if (axis.time) return;
    const group = element("div", "dp-chips", "", box);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", axis.name);
    ["All", ...axis.labels].forEach((label, slice) => {
      const chip = element("button", "dp-chip", label, group);
      chip.type = "button";
      chip.dataset.slice = slice;
      chip.addEventListener("click", () => choose(number, slice));
    });
    const mark = () => group.querySelectorAll("button").forEach((chip, slice) => chip.setAttribute("aria-pressed", String(slice === state.chosen[number])));
    mark();
    onChange(mark);
  });
}

/* Play, step, all; the bars behind the slider tell how many points each bin has. */
function timeBar(box) {
  const number = timeAxis;
  box.hidden = number < 0;
  if (number < 0) return;
  const axis = axes[number], last = axis.labels.length;
  const button = (text, label, name) => {
    const made = element("button", "dp-step " + name, text, box);
    made.type = "button";
    made.setAttribute("aria-label", label);
    made.title = label;
    return made;
  };
  const play = button("", "Play", "dp-play"), back = button("‹", "One step back", "dp-back"), on = button("›", "One step on", "dp-on");
  const track = element("div", "dp-track", "", box), bars = element("div", "dp-track-bars", "", track);
  axis.labels.forEach(() => element("i", "", "", bars));
  const slider = element("input", "", "", track);
  Object.assign(slider, { type: "range", min: 1, max: last, step: 1, value: 1 });
  slider.setAttribute("aria-label", axis.name);
  // the knob stands under the middle of its bar
  slider.style.left = "calc(1px + (100% - 16px) / " + 2 * last + ")";
  slider.style.width = "calc((100% - 16px) * " + (last - 1) / last + " + 14px)";
  const label = element("output", "dp-when", "", box), all = element("button", "dp-chip dp-all", "All", box);
  all.type = "button";
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; play.classList.remove("dp-playing"); play.setAttribute("aria-label", "Play"); };
  const move = (step) => choose(number, ((Math.max(state.chosen[number], step > 0 ? 0 : 1) - 1 + step + last) % last) + 1);
  play.addEventListener("click", () => {
    if (timer) return stop();
    move(1);
    timer = setInterval(() => move(1), last > 60 ? 250 : 700);
    play.classList.add("dp-playing");
    play.setAttribute("aria-label", "Pause");
    return undefined;
  });
  back.addEventListener("click", () => { stop(); move(-1); });
  on.addEventListener("click", () => { stop(); move(1); });
  all.addEventListener("click", () => { stop(); choose(number, 0); });
  slider.addEventListener("input", () => { stop(); choose(number, Number(slider.value)); });
  const mark = () => {
    const slice = state.chosen[number];
    if (slice) slider.value = slice;
    track.classList.toggle("dp-whole", !slice);
    box.classList.toggle("dp-all-times", !slice);
    const sizes = overTime().map(choiceTotal), most = Math.max(...sizes) || 1;
    bars.querySelectorAll("i").forEach((each, i) => {
      each.classList.toggle("dp-now", i + 1 === slice);
      each.style.height = 8 + (92 * sizes[i]) / most + "%";
    });
    label.textContent = slice ? (axis.words || axis.labels)[slice - 1] : data.when || "all times";
    slider.setAttribute("aria-valuetext", label.textContent);
    all.setAttribute("aria-pressed", String(!slice));
  };
  mark();
  onChange(mark);
}

function layerSwitches(box) {
  const list = [];
  if (zones) list.push(["zones", "Zones", "", true]);
  if (field) list.push(["density", "Density", "", true]);
  for (const layer of data.layers) list.push([layer.id, layer.name, layer.note, layer.on]);
  list.push(["area", "Area covered", "", true], ["lines", "Grid lines", "", data.sheet.lines], ["names", "Place names", "", true]);
  for (const [id, name, note, on] of list) {
    state.hidden[id] = !on;
    const row = element("label", "dp-switch", "", box), tick = element("input", "", "", row);
    tick.type = "checkbox";
    tick.checked = on;
    tick.dataset.layer = id;
    const text = element("span", "", name, row);
    if (note) element("small", "", note, text);
    tick.addEventListener("change", () => { state.hidden[id] = !tick.checked; tell("layers"); });
  }
}
