/* Arrays come deflated, in base64; the browser inflates them. */
async function inflate(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpack(packed) {
  const bytes = await inflate(packed.z);
  if (packed.t === "u8") return bytes;
  if (packed.t === "f32") return new Float32Array(bytes.buffer);
  const size = bytes.length / 2, words = new Uint16Array(size);
  for (let i = 0; i < size; i++) words[i] = bytes[i] | (bytes[size + i] << 8);
  if (packed.t === "u16") return words;
  return Float64Array.from(words, (w) => (w === 0 ? 0 : w === 65535 ? NaN : Math.exp((w - 1) / 1500 - 20)));
}

/* All that is packed anywhere in an object, in its place. */
async function unpackAll(node) {
  const waiting = [];
  for (const key of Object.keys(node || {})) {
    const value = node[key];
    if (value && typeof value === "object") {
      if (typeof value.z === "string") waiting.push(unpack(value).then((found) => { node[key] = found; }));
      else if (!Array.isArray(value) || typeof value[0] === "object") waiting.push(unpackAll(value));
    }
  }
  await Promise.all(waiting);
}
await unpackAll(data);
