import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid, insidePolygon, neighborToward } from "../../src/localmap/plotting/viewer/script/space.mjs";
import { View } from "../../src/localmap/plotting/viewer/script/view.mjs";

let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const n = 3000;
const x = Float32Array.from({ length: n }, random);
const y = Float32Array.from({ length: n }, () => random() * 0.6);
const grid = new Grid(x, y, 1);

function nearestOfAll(px, py, accepts = () => true) {
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < n; i++) {
    const away = (x[i] - px) ** 2 + (y[i] - py) ** 2;
    if (away < least && accepts(i)) [best, least] = [i, away];
  }
  return best;
}

test("the nearest point is the nearest of all", () => {
  for (let k = 0; k < 500; k++) {
    const [px, py] = [random() * 1.4 - 0.2, random() * 1.4 - 0.2];
    assert.equal(grid.nearest(px, py, 3), nearestOfAll(px, py));
    const odd = (i) => i % 7 === 0;
    assert.equal(grid.nearest(px, py, 3, odd), nearestOfAll(px, py, odd));
  }
});

test("nothing is near beyond the reach", () => {
  assert.equal(grid.nearest(5, 5, 0.1), -1);
});

test("a box holds what lies in it", () => {
  const inside = grid.inBox(0.2, 0.1, 0.5, 0.4).sort((a, b) => a - b);
  const expected = [...x.keys()].filter((i) => x[i] >= 0.2 && x[i] <= 0.5 && y[i] >= 0.1 && y[i] <= 0.4);
  assert.deepEqual(inside, expected);
});

test("a lasso with a bay leaves the bay out", () => {
  const shape = [0, 0, 1, 0, 1, 1, 0.5, 0.2, 0, 1]; // a roof upside down
  assert.equal(insidePolygon(0.1, 0.5, shape), true);
  assert.equal(insidePolygon(0.5, 0.5, shape), false);
  const inside = new Set(grid.inPolygon(shape));
  for (let i = 0; i < n; i++) assert.equal(inside.has(i), insidePolygon(x[i], y[i], shape));
});

test("a step to the right goes to the right", () => {
  for (let from = 0; from < 200; from++) {
    const next = neighborToward(grid, from, 1, 0, 0.01);
    if (next < 0) continue;
    assert.ok(x[next] > x[from]);
    assert.ok(Math.abs(y[next] - y[from]) <= x[next] - x[from]);
  }
});

test("all points in one place", () => {
  const same = new Grid(new Float32Array(9), new Float32Array(9), 1);
  assert.ok(same.nearest(0, 0, 1) >= 0);
  assert.equal(same.inBox(0, 0, 0, 0).length, 9);
});

test("screen and map are each other's inverse, also after zooms", () => {
  const view = new View(1, 0.6);
  view.resize(800, 500);
  view.zoomAt(100, 50, 7);
  view.pan(30, -20);
  const [px, py] = view.toMap(...view.toScreen(0.3, 0.2));
  assert.ok(Math.hypot(px - 0.3, py - 0.2) < 1e-12);
});

test("what is under the cursor stays there", () => {
  const view = new View(1, 0.6);
  view.resize(800, 500);
  const before = view.toMap(200, 300);
  view.zoomAt(200, 300, 3.7);
  const after = view.toMap(200, 300);
  assert.ok(Math.hypot(before[0] - after[0], before[1] - after[1]) < 1e-12);
});
