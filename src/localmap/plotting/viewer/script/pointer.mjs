// Mouse, pen, touch and keys on the map.

import { combination } from "./selection.mjs";

const CLICK = 4; // pixels within which a press is a click, not a drag

// `explorer` acts; this only understands what the hand does.
export class Pointer {
  constructor(canvas, explorer) {
    this.canvas = canvas;
    this.explorer = explorer;
    this.fingers = new Map();
    const on = (name, act) => canvas.addEventListener(name, act, { passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.fingers.delete(event.pointerId));
    on("pointerleave", () => explorer.leave());
    on("wheel", (event) => this.wheel(event));
    on("keydown", (event) => this.key(event));
    on("dblclick", (event) => explorer.zoom(...this.place(event), event.shiftKey ? 0.5 : 2));
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.fingers.set(event.pointerId, at);
    this.start = at;
    this.outline = this.explorer.tool === "pan" ? null : [at];
  }

  move(event) {
    const at = this.place(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) {
      this.explorer.hover(...at);
      return;
    }
    const apart = this.spread();
    this.fingers.set(event.pointerId, at);
    if (this.fingers.size === 2) {
      this.outline = null;
      this.explorer.zoom(...this.middle(), this.spread() / (apart || 1));
    } else if (this.outline) {
      this.draw(at);
    } else {
      this.explorer.pan(at[0] - before[0], at[1] - before[1]);
    }
  }

  draw(at) {
    if (this.explorer.tool === "lasso") {
      this.outline.push(at);
    } else {
      const [x, y] = this.start;
      this.outline = [[x, y], [at[0], y], at, [x, at[1]]];
    }
    this.explorer.outline(this.outline);
  }

  up(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    const at = this.place(event);
    const moved = Math.hypot(at[0] - this.start[0], at[1] - this.start[1]);
    const how = combination(event, this.explorer.mode);
    if (moved < CLICK) this.explorer.click(...at, how);
    else if (this.outline) this.explorer.enclose(this.outline, how);
    this.outline = null;
    this.explorer.outline(null);
  }

  spread() {
    if (this.fingers.size < 2) return 0;
    const [[ax, ay], [bx, by]] = this.fingers.values();
    return Math.hypot(ax - bx, ay - by);
  }

  middle() {
    const [[ax, ay], [bx, by]] = this.fingers.values();
    return [(ax + bx) / 2, (ay + by) / 2];
  }

  wheel(event) {
    event.preventDefault();
    // Lines (1) and pages (2) come from mice, pixels (0) from touch pads.
    const pixels = event.deltaY * [1, 32, 400][event.deltaMode];
    this.explorer.zoom(...this.place(event), Math.exp(-Math.max(-300, Math.min(300, pixels)) / 300));
  }

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const middle = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
    const { explorer } = this;
    const acts = {
      "+": () => explorer.zoom(...middle, 1.5),
      "=": () => explorer.zoom(...middle, 1.5),
      "-": () => explorer.zoom(...middle, 1 / 1.5),
      0: () => explorer.fit(),
      Enter: () => explorer.toggleCurrent(),
      " ": () => explorer.toggleCurrent(),
      Escape: () => explorer.escape(),
      p: () => explorer.setTool("pan"),
      b: () => explorer.setTool("box"),
      l: () => explorer.setTool("lasso"),
    };
    const arrow = arrows[event.key];
    if (event.ctrlKey || event.metaKey || (!arrow && !acts[event.key])) return;
    event.preventDefault();
    if (!arrow) acts[event.key]();
    else if (event.shiftKey) explorer.pan(-60 * arrow[0], 60 * arrow[1]);
    else explorer.step(...arrow);
  }
}
