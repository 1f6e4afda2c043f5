// Points drawn without a graphics card: squares written into an image.

import { SELECTED, faintness } from "./webgl.mjs";

export class FlatRenderer {
  constructor(canvas) {
    this.name = "Canvas2D";
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  upload(arrays) {
    Object.assign(this, arrays);
    this.n = this.places.length / 2;
  }

  setPalette(rgba) {
    this.palette = new Uint32Array(rgba.slice().buffer);
  }

  draw({ view, size, every, mix, passes, paper, grey }) {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image?.height !== height) {
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(packed(paper));
    const ratio = width / view.screenWidth;
    for (const pass of passes) {
      const side = Math.max(1, Math.round((pass === SELECTED ? 1.4 : 0.9) * size));
      this.drawPass({ view, ratio, pass, side, every, mix, paper, grey });
    }
    this.context.putImageData(this.image, 0, 0);
  }

  drawPass({ view, ratio, pass, side, every, mix, paper, grey }) {
    const { places, next, colors, states, palette, pixels, n } = this;
    const { width, height } = this.canvas;
    const scale = view.scale * ratio;
    const [left, top] = [width / 2 - view.x * scale, height / 2 + view.y * scale];
    const shades = palette.map((color) => shade(color, pass, paper, grey));
    const inset = insets(side);
    for (let i = 0; i < n; i += every) {
      if (states[i] !== pass) continue;
      let [x, y] = [places[2 * i], places[2 * i + 1]];
      if (mix > 0) {
        x += (next[2 * i] - x) * mix;
        y += (next[2 * i + 1] - y) * mix;
      }
      const px = Math.round(left + x * scale - side / 2);
      const py = Math.round(top - y * scale - side / 2);
      if (px < 0 || py < 0 || px + side > width || py + side > height) continue;
      const color = shades[colors[i]];
      for (let row = 0; row < side; row++) {
        const start = (py + row) * width + px + inset[row];
        pixels.fill(color, start, start + side - 2 * inset[row]);
      }
    }
  }

  finish() {}
}

// How far each line of a disc of pixels is drawn in from its square.
function insets(side) {
  const radius = side / 2;
  return Uint8Array.from({ length: side }, (_, row) => {
    const away = row + 0.5 - radius;
    return side < 4 ? 0 : Math.round(radius - Math.sqrt(Math.max(0, radius ** 2 - away ** 2)));
  });
}

function packed([red, green, blue]) {
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

function shade(color, pass, paper, grey) {
  const [toward, share] = faintness(pass, paper, grey);
  const own = [color & 255, (color >> 8) & 255, (color >> 16) & 255];
  return packed(own.map((part, k) => Math.round(part + (toward[k] - part) * share)));
}
