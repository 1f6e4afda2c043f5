// Reads the data and starts the page.

import { Card, Thumbnails } from "./card.mjs";
import { readColumn } from "./columns.mjs";
import { Store } from "./decode.mjs";
import { Explorer } from "./explorer.mjs";
import { Film } from "./film.mjs";
import { Panel } from "./panel.mjs";
import { Pointer } from "./pointer.mjs";
import { Grid } from "./space.mjs";

const LARGEST = 2 ** 24 - 1; // steps along the longer side of the map

async function start() {
  const find = (id) => document.getElementById(id);
  const store = new Store((block) => find(`block-${block}`).textContent);
  const meta = await store.json(Number(document.body.dataset.meta));
  const { n } = meta;
  const [x, y, rows] = await Promise.all([meta.x, meta.y, meta.rows].map((how) => store.ints(how, n)));
  const places = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    places[2 * i] = x[i] / LARGEST;
    places[2 * i + 1] = y[i] / LARGEST;
  }
  const columns = await Promise.all(meta.columns.map((how) => readColumn(store, how, n)));
  const [mapX, mapY] = [0, 1].map((k) => Float32Array.from({ length: n }, (_, i) => places[2 * i + k]));
  const grid = new Grid(mapX, mapY, 1);
  const neighbors = meta.neighbors && (await store.ints(meta.neighbors, n * meta.neighbors.k));
  const film = meta.film && (await Film.read(store, meta.film));
  const elements = Object.fromEntries(["stage", "points", "overlay"].map((id) => [id, find(id)]));
  const explorer = new Explorer(elements, {
    meta, n, places, rows, grid, columns, neighbors, film, steps: { x, y },
  });
  const thumbnails = meta.thumbnails && new Thumbnails(store, meta.thumbnails);
  const card = new Card(find("card"), meta.hover.map((k) => columns[k]), thumbnails);
  explorer.resize();
  const panel = new Panel(find, explorer, card);
  new Pointer(elements.overlay, explorer);
  find("loading").hidden = true;
  explorer.draw();
  explorer.renderer.finish();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  // For tests and measurements: the page itself never reads it.
  window.localmapPage = { explorer, panel };
}

start().catch((error) => {
  const loading = document.getElementById("loading");
  loading.hidden = false;
  loading.textContent = `This page could not be shown: ${error.message}`;
  throw error;
});
