/* The picture of the density, of all points or of the chosen slices, on a small canvas. */
const field = data.field;
const picture = field ? document.createElement("canvas") : null;

function fieldCap() {
  return field.cap * colourShare();
}

/* Values of a coarse picture on the pixels of the field, linear between its own. */
function upsample(coarse, width, height) {
  const [w, h] = field.size, out = new Float32Array(w * h);
  const columns = new Int32Array(w), parts = new Float32Array(w);
  for (let i = 0; i < w; i++) {
    const at = Math.max(0, Math.min(width - 1.001, ((i + 0.5) * width) / w - 0.5));
    columns[i] = Math.floor(at);
    parts[i] = at - columns[i];
  }
  for (let j = 0; j < h; j++) {
    const at = Math.max(0, Math.min(height - 1.001, ((j + 0.5) * height) / h - 0.5));
    const row = Math.floor(at), part = at - row, a = row * width, b = a + width;
    for (let i = 0; i < w; i++) {
      const c = columns[i], p = parts[i];
      const upper = coarse[a + c] + p * (coarse[a + c + 1] - coarse[a + c]);
      const lower = coarse[b + c] + p * (coarse[b + c + 1] - coarse[b + c]);
      out[j * w + i] = upper + part * (lower - upper);
    }
  }
  return out;
}

/* Share of the chosen slices in each block: the product of the axes', corrected by their table. */
function blockShares() {
  const slices = data.slices, n = slices.blocks, out = new Float32Array(n + 1).fill(1);
  const joint = slices.factor && state.chosen.every((s) => s > 0);
  let times = 1;
  state.chosen.forEach((slice, axis) => {
    if (!slice) return;
    const from = joint ? slices.joint[axis] : slices.shares[axis], at = (slice - 1) * n;
    for (let b = 0; b < n; b++) {
      const root = from.data[at + b] / 65535;
      out[b + 1] *= root * root * from.most;
    }
  });
  if (joint) times = slices.factor[state.chosen[0] - 1][state.chosen[1] - 1];
  out[0] = NaN;
  return { out, times };
}

/* Blocks become a soft picture: a few rounds of averaging over neighbours that are inside. */
function shareField() {
  const { out, times } = blockShares(), slices = data.slices, [w, h] = slices.size;
  let now = Float32Array.from(slices.block, (b) => out[b] * times);
  for (let round = 0; round < 3; round++) {
    for (const step of [1, w]) {
      const next = new Float32Array(now.length);
      for (let i = 0; i < now.length; i++) {
        const column = i % w, edgeLow = step === 1 ? column === 0 : i < w, edgeHigh = step === 1 ? column === w - 1 : i >= now.length - w;
        const a = edgeLow ? NaN : now[i - step], b = now[i], c = edgeHigh ? NaN : now[i + step];
        let sum = 0, n = 0;
        if (a === a) { sum += a; n++; }
        if (b === b) { sum += 2 * b; n += 2; }
        if (c === c) { sum += c; n++; }
        next[i] = n ? sum / n : NaN;
      }
      now = next;
    }
  }
  for (let i = 0; i < now.length; i++) if (now[i] !== now[i]) now[i] = 0;
  return upsample(now, w, h);
}

/* Averages over squares of neighbours that are inside, a few times: soft, and nothing leaks out. */
function soften(values, w, h, reach) {
  let now = values;
  for (let round = 0; round < 2; round++) {
    for (const [step, lines, length] of [[1, h, w], [w, w, h]]) {
      const next = new Float32Array(now.length);
      for (let line = 0; line < lines; line++) {
        const from = step === 1 ? line * w : line;
        let sum = 0, count = 0;
        const add = (k, sign) => {
          if (k < 0 || k >= length) return;
          const value = now[from + k * step];
          if (value === value) { sum += sign * value; count += sign; }
        };
        for (let k = 0; k < reach; k++) add(k, 1);
        for (let k = 0; k < length; k++) {
          add(k + reach, 1);
          add(k - reach - 1, -1);
          next[from + k * step] = now[from + k * step] === now[from + k * step] ? sum / count : NaN;
        }
      }
      now = next;
    }
  }
  return now;
}

/* How solid the picture of the chosen slices is: they are known less well than all points are. */
function sliceSolid() {
  const regions = data.slices.regions, n = regions.km2.length, at = choiceNumber() * n, [w, h] = regions.size;
  const solid = new Float32Array(n + 1).fill(NaN);
  for (let i = 0; i < n; i++) {
    const doubt = (regions.high[at + i] - regions.low[at + i]) / 2 / Math.max(regions.estimate[at + i], 1e-9);
    solid[i + 1] = Math.max(field.palest, Math.min(1, 1.2 - 0.5 * doubt));
  }
  const [left, , right] = regions.window, side = (regions.side[0] / data.sheet.metres / (right - left)) * w;
  const soft = soften(Float32Array.from(regions.owner, (owner) => solid[owner]), w, h, Math.max(1, Math.round(side / 2)));
  for (let i = 0; i < soft.length; i++) if (soft[i] !== soft[i]) soft[i] = 1;
  return upsample(soft, w, h);
}

/* What its bytes stand for, and how solid it is, once for each picture. */
function openField(own) {
  if (own.densities) return own;
  own.densities = Float32Array.from({ length: 256 }, (_, i) => own.highest * Math.pow(i / 255, own.root));
  own.alpha = upsample(Float32Array.from(own.solid, (s) => s / 255), own.solidSize[0], own.solidSize[1]);
  return own;
}

let paintedDark = null; // in which light the picture was painted
function drawPicture() {
  const [w, h] = field.size, shown = chosenWindow();
  paintedDark = isDark();
  if (picture.width !== w || picture.height !== h) Object.assign(picture, { width: w, height: h });
  const { densities, alpha, data: bytes } = openField(shown ? shown.field : field);
  const pen = picture.getContext("2d"), image = pen.createImageData(w, h), out = image.data;
  const table = rampTable(), cap = fieldCap();
  const sliced = !shown && state.chosen.some((s) => s > 0);
  const share = sliced ? shareField() : null, solid = sliced ? sliceSolid() : null;
  for (let i = 0; i < bytes.length; i++) {
    if (!bytes[i]) continue;
    const value = densities[bytes[i]] * (share ? share[i] : 1);
    const t = Math.min(1, Math.sqrt(value / cap)), c = 3 * Math.round(255 * t), o = 4 * i;
    out[o] = table[c];
    out[o + 1] = table[c + 1];
    out[o + 2] = table[c + 2];
    // the thinnest fade into the ground, and so does what is uncertain
    out[o + 3] = 255 * Math.min(1, t * 7) * (solid ? Math.min(solid[i], alpha[i]) : alpha[i]);
  }
  pen.putImageData(image, 0, 0);
}
