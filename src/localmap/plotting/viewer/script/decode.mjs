// The data of the page: base64, gzip, byte planes. See pack.py, which writes them.

export function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Integers: planes from the lowest byte up; the sign is folded into the lowest bit.
export function unpackInts(bytes, n, planes, differences) {
  const values = new Int32Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    let folded = bytes[i];
    if (planes > 1) folded |= bytes[n + i] << 8;
    if (planes > 2) folded |= bytes[2 * n + i] << 16;
    if (planes > 3) folded |= bytes[3 * n + i] << 24;
    const value = (folded >>> 1) ^ -(folded & 1);
    sum = differences ? sum + value : value;
    values[i] = sum;
  }
  return values;
}

// Floating-point numbers of four or eight bytes, NaN for missing ones.
export function unpackFloats(bytes, n, width) {
  const together = new Uint8Array(n * width);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0; i < n; i++) together[i * width + plane] = bytes[plane * n + i];
  }
  return width === 4 ? new Float32Array(together.buffer) : new Float64Array(together.buffer);
}

// Reads the blocks that stand in the page as text, each once.
export class Store {
  constructor(find) {
    this.find = find;
  }

  text(block) {
    return this.find(block);
  }

  async bytes(block) {
    return gunzip(bytesOfBase64(this.find(block)));
  }

  async json(block) {
    return JSON.parse(new TextDecoder().decode(await this.bytes(block)));
  }

  async ints(how, n) {
    return unpackInts(await this.bytes(how.block), n, how.planes, how.differences);
  }

  async numbers(how, n) {
    if (how.bytes) return unpackFloats(await this.bytes(how.block), n, how.bytes);
    return this.ints(how, n);
  }
}
