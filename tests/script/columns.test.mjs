import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupColumn, MISSING, NumberColumn, search } from "../../src/localmap/plotting/viewer/script/columns.mjs";
import { csvCell, csvTable, fileName } from "../../src/localmap/plotting/viewer/script/csv.mjs";
import { placesOfFrame } from "../../src/localmap/plotting/viewer/script/film.mjs";
import { combination, Selection } from "../../src/localmap/plotting/viewer/script/selection.mjs";

const look = { groups: ["#000000", "#111111"], scale: ["#000000", "#555555", "#ffffff"], faint: "#999999" };
const groups = new GroupColumn("g", ["a", "b", "c"], Int32Array.from([0, 2, -1, 2]));
const numbers = new NumberColumn("v", Float32Array.from([0, 5, NaN, 99]), 0, 10, false);

test("groups: colours repeat, missing is grey and counted", () => {
  assert.deepEqual([0, 1, 2].map((i) => groups.colorIndex(look, i)), [0, 0, MISSING]);
  assert.deepEqual([...groups.counts], [1, 0, 2, 1]);
  assert.deepEqual(groups.listed(9), { codes: [0, 2], left: 0 });
  assert.deepEqual(groups.listed(1), { codes: [2], left: 1 });
  assert.equal(groups.text(2), "missing");
  assert.equal(groups.cell(2), "");
});

test("numbers: the ends of the scale hold what lies beyond", () => {
  assert.deepEqual([0, 1, 2, 3].map((i) => numbers.colorIndex(look, i)), [0, 1, MISSING, 2]);
  assert.equal(numbers.missing, 1);
});

test("a float32 is written as it was", () => {
  const column = new NumberColumn("v", Float32Array.from([0.1, 1 / 3]), 0, 1, false);
  assert.equal(column.cell(0), 0.1);
  assert.equal(Math.fround(column.cell(1)), Math.fround(1 / 3));
});

test("search finds words in any case, and numbers that are equal", () => {
  const names = new GroupColumn("n", ["Alpha", "beta"], Int32Array.from([0, 1, 0, -1]));
  assert.deepEqual(search([names, numbers], 4, "ALPH", 9).found, [0, 2]);
  assert.deepEqual(search([names, numbers], 4, "99", 9).found, [3]);
  assert.deepEqual(search([names, numbers], 4, "a", 1), { found: [0], more: true });
  assert.deepEqual(search([names, numbers], 4, "  ", 9).found, []);
});

test("cells that would be formulas are not", () => {
  assert.equal(csvCell("=1+1"), "'=1+1");
  assert.equal(csvCell("@x"), "'@x");
  assert.equal(csvCell("-cmd"), "'-cmd");
  assert.equal(csvCell("+49 30"), "'+49 30");
  assert.equal(csvCell(-3.5), "-3.5");
  assert.equal(csvCell("-3.5"), "-3.5");
  assert.equal(csvCell('a "b", c'), '"a ""b"", c"');
  assert.equal(csvCell('=x,"y'), `"'=x,""y"`);
  assert.equal(csvTable(["a", "b"], [[1, "x\ny"]]), 'a,b\r\n1,"x\ny"\r\n');
});

test("file names are harmless", () => {
  assert.equal(fileName("../../etc/passwd\0<b>", ".csv"), "etc-passwd-b.csv");
  assert.equal(fileName("***", ".png"), "map.png");
});

test("selections are replaced, added to and taken from, and counted", () => {
  const selection = new Selection(10);
  selection.change([1, 2, 3], "replace");
  selection.change([3, 4], "add");
  assert.equal(selection.size, 4);
  selection.change([1, 9], "remove");
  assert.deepEqual(selection.rows(), [2, 3, 4]);
  selection.change([7], "replace");
  assert.deepEqual([selection.rows(), selection.size], [[7], 1]);
  assert.equal(combination({ altKey: true, shiftKey: true }, "add"), "remove");
  assert.equal(combination({ shiftKey: true }, "replace"), "add");
  assert.equal(combination({}, "remove"), "remove");
});

test("a frame of a film fills the unit square, in the middle of it", () => {
  const places = placesOfFrame(Int32Array.from([0, 100]), Int32Array.from([0, 50]));
  assert.deepEqual([...places], [0, 0.25, 1, 0.75]);
});
