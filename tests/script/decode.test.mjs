import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Store, bytesOfBase64, unpackFloats, unpackInts } from "../../src/localmap/plotting/viewer/script/decode.mjs";

const folded = (value) => (value << 1) ^ (value >> 31);

function planes(values, count) {
  const bytes = [];
  for (let plane = 0; plane < count; plane++) {
    for (const value of values) bytes.push((folded(value) >>> (8 * plane)) & 255);
  }
  return Uint8Array.from(bytes);
}

test("integers of one to four bytes, positive and negative", () => {
  for (const [values, count] of [
    [[0, 1, -1, 127, -128], 1],
    [[300, -300, 0], 2],
    [[70000, -70000], 3],
    [[2 ** 29, -(2 ** 29), 5], 4],
  ]) {
    assert.deepEqual([...unpackInts(planes(values, count), values.length, count, false)], values);
  }
});

test("differences are summed", () => {
  assert.deepEqual([...unpackInts(planes([5, -2, 10], 1), 3, 1, true)], [5, 3, 13]);
});

test("floats come back bit by bit", () => {
  for (const [kind, width] of [[Float32Array, 4], [Float64Array, 8]]) {
    const values = kind.from([1.5, -0.1, NaN, 1e30]);
    const raw = new Uint8Array(values.buffer);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < 4; i++) for (let b = 0; b < width; b++) bytes[b * 4 + i] = raw[i * width + b];
    assert.deepEqual([...unpackFloats(bytes, 4, width)], [...values]);
  }
});

test("a block is base64 of gzip", async () => {
  const text = JSON.stringify({ a: "<b>ü" });
  const store = new Store(() => gzipSync(Buffer.from(text)).toString("base64"));
  assert.deepEqual(await store.json(0), { a: "<b>ü" });
  assert.deepEqual([...bytesOfBase64("AP+A")], [0, 255, 128]);
});
