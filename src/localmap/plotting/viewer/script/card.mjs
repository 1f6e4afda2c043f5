// The card of the point under the cursor: its columns and its image.

import { element } from "./legend.mjs";

const SHEETS_KEPT = 24; // decoded sheets of images held in memory

export class Thumbnails {
  constructor(store, how) {
    this.store = store;
    this.how = how;
    this.sheets = new Map();
  }

  // Draws the image of a point into a canvas, once its sheet is decoded.
  async draw(i, canvas) {
    const { width, height, across, perSheet } = this.how;
    const number = Math.floor(i / perSheet);
    canvas.dataset.row = i;
    const sheet = await this.sheet(number);
    if (canvas.dataset.row !== String(i)) return; // the cursor has moved on
    const at = i - number * perSheet;
    const [left, top] = [(at % across) * width, Math.floor(at / across) * height];
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(sheet, left, top, width, height, 0, 0, canvas.width, canvas.height);
  }

  // A canvas of the size of an image, small ones enlarged.
  canvas() {
    const { width, height } = this.how;
    const larger = Math.max(1, Math.floor(112 / Math.max(width, height)));
    return element("canvas", { width: width * larger, height: height * larger });
  }

  sheet(number) {
    if (!this.sheets.has(number)) {
      const image = new Image();
      image.src = `data:${this.how.mime};base64,${this.store.text(this.how.sheets[number])}`;
      this.sheets.set(number, image.decode().then(() => image));
      if (this.sheets.size > SHEETS_KEPT) this.sheets.delete(this.sheets.keys().next().value);
    }
    return this.sheets.get(number);
  }
}

export class Card {
  constructor(box, columns, thumbnails) {
    this.box = box;
    this.columns = columns;
    this.thumbnails = thumbnails;
    this.list = element("dl");
    this.image = thumbnails?.canvas();
    this.image?.setAttribute("aria-hidden", "true");
    box.replaceChildren(...(thumbnails ? [this.image] : []), this.list);
  }

  // Beside the point, inside the window.
  show(i, row, [x, y], { width, height }) {
    const entries = [["row", String(row)], ...this.columns.map((c) => [c.name, c.text(i)])];
    this.list.replaceChildren(
      ...entries.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]),
    );
    this.thumbnails?.draw(i, this.image);
    this.box.hidden = false;
    const size = this.box.getBoundingClientRect();
    const right = x + 14 + size.width < width ? x + 14 : x - 14 - size.width;
    const below = y + 14 + size.height < height ? y + 14 : y - 14 - size.height;
    this.box.style.left = `${Math.max(4, right)}px`;
    this.box.style.top = `${Math.max(4, below)}px`;
  }

  hide() {
    this.box.hidden = true;
  }

  words(i, row) {
    return [`row ${row}`, ...this.columns.map((c) => `${c.name} ${c.text(i)}`)].join(", ");
  }
}
