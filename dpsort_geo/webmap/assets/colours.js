/* Colours: even steps of lightness, the dark end on a light page and the light end on a dark one. */
const RAMPS = {
  light: ["#fff3d6", "#ffdca6", "#fdc07f", "#f4a06a", "#e57f64", "#cc5f68", "#a9456f", "#7e3071", "#4f1d66", "#270b45"],
  dark: ["#241a3d", "#3f2160", "#642a76", "#8b347b", "#b04379", "#cf5a72", "#e6786d", "#f49c74", "#fcc48b", "#fff0c4"],
};
const INK = {
  light: { sea: "#e8edf0", land: "#f4f4f1", area: "#fdfdfb", line: "#7c8b97", border: "#5b6b79", text: "#33414d", halo: "#ffffff",
    dot: "#2c0f4a", zone: "#ffffff", none: "#e4e4df", mark: "#11202c" },
  dark: { sea: "#0e141a", land: "#171e26", area: "#1b232c", line: "#566472", border: "#6f7f8e", text: "#c9d3dc", halo: "#0e141a",
    dot: "#ffe9bd", zone: "#0e141a", none: "#2a333d", mark: "#ffffff" },
};
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false; // paper is light
const isDark = () => darkness.matches && !printing;
const ink = () => INK[isDark() ? "dark" : "light"];

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/* 256 colours of the ramp, three bytes each. */
const tables = {};
function rampTable() {
  const name = isDark() ? "dark" : "light";
  if (tables[name]) return tables[name];
  const stops = RAMPS[name].map(rgb), table = (tables[name] = new Uint8Array(768));
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) table[3 * i + c] = Math.round(stops[low][c] + (at - low) * (stops[low + 1][c] - stops[low][c]));
  }
  return table;
}

function rampColour(share) {
  const table = rampTable(), i = 3 * Math.round(255 * Math.max(0, Math.min(1, share)));
  return "rgb(" + table[i] + "," + table[i + 1] + "," + table[i + 2] + ")";
}

function rampGradient() {
  return "linear-gradient(90deg," + RAMPS[isDark() ? "dark" : "light"].join(",") + ")";
}

/* Numbers for people: two digits that mean something. */
function amount(value) {
  if (!isFinite(value)) return "?";
  return value.toLocaleString("en", { maximumSignificantDigits: 2 });
}
function whole(value) {
  return isFinite(value) ? Math.round(value).toLocaleString("en") : "?";
}
function metresWords(metres) {
  return metres >= 1000 ? amount(metres / 1000) + " km" : amount(metres) + " m";
}
function element(tag, name, text, parent) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}
