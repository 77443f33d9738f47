/* What is chosen: a slice of each axis (0 is all of it) and a zone; who wants to know is told. */
const axes = data.slices ? data.slices.axes : [];
const state = { chosen: axes.map(() => 0), zone: null, hidden: {} };
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const tell = (what) => listeners.forEach((listener) => listener(what));

function choose(axis, slice) {
  if (state.chosen[axis] === slice) return;
  state.chosen[axis] = slice;
  tell("slice");
}
/* The number of the chosen slices among all joint choices. */
function choiceNumber() {
  return axes.reduce((number, axis, i) => number * (axis.labels.length + 1) + state.chosen[i], 0);
}
const strides = axes.map((_, i) => axes.slice(i + 1).reduce((n, axis) => n * (axis.labels.length + 1), 1));
const timeAxis = axes.findIndex((axis) => axis.time);

/* In a series, the window that is shown, with a picture and answers of its own. */
const chosenWindow = () => (data.slices && data.slices.windows && state.chosen[0] ? data.slices.windows[state.chosen[0] - 1] : null);

/* About how many points a choice has, all places together. */
const totals = {};
function choiceTotal(number) {
  if (data.slices.totals) return data.slices.totals[number];
  if (!(number in totals)) {
    const regions = data.slices.regions, n = regions.km2.length;
    totals[number] = 0;
    for (let i = number * n; i < (number + 1) * n; i++) totals[number] += regions.estimate[i];
  }
  return totals[number];
}
/* The chosen slices in every bin of time. */
function overTime() {
  const all = choiceNumber() - state.chosen[timeAxis] * strides[timeAxis];
  return axes[timeAxis].labels.map((_, bin) => all + (bin + 1) * strides[timeAxis]);
}
/* Share of all points by which colours are scaled; the fullest bin sets it, so that bins compare. */
function colourShare() {
  if (!state.chosen.some((slice) => slice > 0)) return 1;
  const numbers = timeAxis >= 0 && state.chosen[timeAxis] ? overTime() : [choiceNumber()];
  return Math.max(...numbers.map(choiceTotal), 1e-9) / Math.max(choiceTotal(0), 1e-9);
}
