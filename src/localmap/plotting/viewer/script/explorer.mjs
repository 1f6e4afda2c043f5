// The map on the screen: what is drawn, and what the hand and the panel do to it.

import { hexToRgb } from "./columns.mjs";
import { FlatRenderer } from "./flat.mjs";
import { Overlay, placesOfNames } from "./overlay.mjs";
import { drawPicture, paletteBytes } from "./picture.mjs";
import { Selection } from "./selection.mjs";
import { neighborToward } from "./space.mjs";
import { View } from "./view.mjs";
import { DIMMED, FADED, NORMAL, PASSES, SELECTED, WebglRenderer } from "./webgl.mjs";

const REACH = 24; // pixels from which a point feels the cursor
const REST = 140; // milliseconds of rest after which everything is drawn
const SLOW = 45; // milliseconds a frame from which fewer points are drawn while moving
const FAST = 22;

export class Explorer {
  constructor(elements, data) {
    Object.assign(this, data); // meta, n, places, rows, grid, columns, neighbors, film
    this.elements = elements;
    let [right, top] = [0, 0];
    for (let i = 0; i < this.n; i++) {
      right = Math.max(right, this.places[2 * i]);
      top = Math.max(top, this.places[2 * i + 1]);
    }
    this.view = new View(right, top);
    this.filmView = new View(1, 1);
    this.selection = new Selection(this.n);
    this.colors = new Uint8Array(this.n);
    this.states = new Uint8Array(this.n);
    this.current = -1;
    this.found = [];
    this.tool = "pan";
    this.mode = "replace";
    this.bigger = 0; // the slider of sizes: powers of two
    this.namesShown = true;
    this.every = Math.max(1, Math.ceil(this.n / 400000));
    this.overlay = new Overlay(elements.overlay);
    this.listeners = { current: () => {}, selection: () => {}, tool: () => {} };
    this.named = this.columns.find((column) => column.isGroups && column.names.length <= 200);
    this.names = this.named ? placesOfNames(this.named, this.places) : null;
    this.renderer = WebglRenderer.create(elements.points, location.hash === "#webgl") ?? this.flat();
    elements.points.addEventListener("webglcontextlost", () => {
      this.renderer = this.flat();
      this.reload();
    });
    new ResizeObserver(() => this.resize()).observe(elements.stage);
  }

  // A canvas that was asked for WebGL gives no other context: a fresh one takes its place.
  flat() {
    const fresh = this.elements.points.cloneNode();
    this.elements.points.replaceWith(fresh);
    this.elements.points = fresh;
    return new FlatRenderer(fresh);
  }

  // --- colours and states -------------------------------------------------------------

  setLook(look) {
    this.look = look;
    this.recolor();
  }

  setColumn(column) {
    this.column = column;
    this.recolor();
  }

  recolor() {
    const { column, look, n } = this;
    for (let i = 0; i < n; i++) this.colors[i] = column ? column.colorIndex(look, i) : 0;
    this.restate();
  }

  restate() {
    const { column, selection, states, n } = this;
    const any = selection.size > 0;
    const greyed = column && column.faded.size > 0;
    for (let i = 0; i < n; i++) {
      if (any && selection.chosen[i]) states[i] = SELECTED;
      else if (greyed && column.isFaded(i)) states[i] = FADED;
      else states[i] = any ? DIMMED : NORMAL;
    }
    this.passes = PASSES.filter((pass) => states.includes(pass));
    this.reload();
  }

  // Gives the renderer all that it draws.
  reload() {
    const { film } = this;
    this.renderer.setPalette(paletteBytes(this.column, this.look));
    if (this.filming) {
      const { first, second } = film.around;
      const [colors, states] = [this.colors, this.states].map((all) => film.points.map((i) => all[i]));
      const [places, next] = [film.places[first], film.places[second]];
      this.renderer.upload({
        places, next, colors: Uint8Array.from(colors), states: Uint8Array.from(states),
      });
    } else {
      this.renderer.upload({ places: this.places, colors: this.colors, states: this.states });
    }
    this.redraw();
  }

  // --- drawing ------------------------------------------------------------------------

  resize() {
    const { stage, points, overlay } = this.elements;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [stage.clientWidth, stage.clientHeight];
    for (const canvas of [points, overlay]) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(height * ratio));
    }
    this.ratio = ratio;
    this.view.resize(width, height);
    this.filmView.resize(width, height);
    if (this.look) this.draw();
  }

  get size() {
    const { view, n } = this;
    const room = Math.sqrt((0.16 * view.screenWidth * view.screenHeight) / n);
    const base = Math.min(9, Math.max(1.6, room)) * Math.max(1, view.zoom) ** 0.3;
    return base * 2 ** this.bigger;
  }

  get alpha() {
    return Math.min(1, Math.max(0.45, 1 - 0.2 * Math.log10(this.n / 5000 / this.view.zoom)));
  }

  get filming() {
    return Boolean(this.film) && this.film.moment < this.film.last;
  }

  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.draw();
    });
  }

  // While the view moves a part of very many points may do; all come back at rest.
  moved() {
    this.moving = true;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.moving = false;
      this.redraw();
    }, REST);
    this.redraw();
  }

  draw() {
    const now = performance.now();
    if (this.moving && now - this.lastDrawn < 400) this.pace(now - this.lastDrawn);
    this.lastDrawn = now;
    const { look, film, filming } = this;
    this.renderer.draw({
      view: this.seen,
      size: this.size * this.ratio * (filming ? Math.min(2, Math.sqrt(this.n / film.points.length)) : 1),
      alpha: this.alpha,
      every: this.moving && !filming ? this.every : 1,
      mix: filming ? film.around.mix : 0,
      passes: this.passes,
      paper: hexToRgb(look.paper),
      grey: hexToRgb(look.faint),
    });
    this.drawOverlay();
  }

  pace(milliseconds) {
    if (milliseconds > SLOW) this.every = Math.min(this.every * 2, Math.ceil(this.n / 20000));
    else if (milliseconds < FAST) this.every = Math.max(1, this.every >> 1);
    this.every = Math.max(1, this.every);
  }

  drawOverlay() {
    const { filming } = this;
    this.overlay.draw({
      view: this.view,
      ratio: this.ratio,
      places: this.places,
      look: this.look,
      current: filming ? -1 : this.current,
      pairs: this.pairsOf(this.current),
      found: filming ? [] : this.found,
      outline: this.drawn,
      names: this.namesShown && !filming ? this.names : null,
      ring: this.size / 2,
    });
  }

  picture(title) {
    this.moving = false;
    this.draw();
    return drawPicture({
      points: this.elements.points, overlay: this.elements.overlay, view: this.view,
      ratio: this.ratio, column: this.column, look: this.look, title,
    });
  }

  // --- what the hand does -------------------------------------------------------------

  // The film has a view of its own: its map grows.
  get seen() {
    return this.filming ? this.filmView : this.view;
  }

  pan(dx, dy) {
    this.seen.pan(dx, dy);
    this.moved();
  }

  zoom(sx, sy, factor) {
    this.seen.zoomAt(sx, sy, factor);
    this.moved();
  }

  fit() {
    this.seen.fit();
    this.moved();
  }

  hover(sx, sy) {
    if (this.filming) return;
    const near = this.pointAt(sx, sy);
    if (near !== this.current) this.setCurrent(near, false);
  }

  pointAt(sx, sy) {
    const visible = (i) => this.states[i] !== FADED;
    return this.grid.nearest(...this.view.toMap(sx, sy), REACH / this.view.scale, visible);
  }

  leave() {
    if (document.activeElement !== this.elements.overlay) this.setCurrent(-1, false);
  }

  click(sx, sy, how) {
    this.elements.overlay.focus({ preventScroll: true });
    const i = this.pointAt(sx, sy);
    if (i < 0) return;
    this.setCurrent(i, false);
    if (this.tool !== "pan" || how !== "replace") this.select([i], how);
  }

  outline(corners) {
    this.drawn = corners;
    this.drawOverlay();
  }

  enclose(corners, how) {
    if (this.filming) return;
    const polygon = corners.flatMap(([x, y]) => this.view.toMap(x, y));
    const inside = this.grid.inPolygon(polygon);
    this.select(inside.filter((i) => this.states[i] !== FADED), how);
  }

  select(rows, how) {
    this.selection.change(rows, how);
    this.restate();
    this.listeners.selection();
  }

  setTool(tool) {
    this.tool = tool;
    this.elements.overlay.dataset.tool = tool;
    this.listeners.tool();
  }

  escape() {
    this.setCurrent(-1, false);
    this.select([], "replace");
  }

  // --- the point under the cursor -----------------------------------------------------

  pairsOf(i) {
    if (i < 0 || !this.neighbors) return [];
    const pairs = [];
    for (let k = 0; k < this.meta.neighbors.k; k++) {
      const away = this.neighbors[k * this.n + i];
      if (away !== 0) pairs.push(i + away);
    }
    return pairs;
  }

  setCurrent(i, spoken) {
    this.current = i;
    if (i >= 0 && spoken) {
      this.view.reveal(this.places[2 * i], this.places[2 * i + 1]);
      this.redraw();
    }
    this.drawOverlay();
    this.listeners.current(spoken);
  }

  screenOf(i) {
    return this.view.toScreen(this.places[2 * i], this.places[2 * i + 1]);
  }

  step(dx, dy) {
    if (this.filming) return;
    const { view } = this;
    const reach = 40 / view.scale;
    const next =
      this.current < 0
        ? this.grid.nearest(view.x, view.y, 10, (i) => this.states[i] !== FADED)
        : neighborToward(this.grid, this.current, dx, dy, reach);
    if (next >= 0) this.setCurrent(next, true);
  }

  toggleCurrent() {
    if (this.current < 0) return;
    this.select([this.current], this.selection.has(this.current) ? "remove" : "add");
  }

  // --- the film -----------------------------------------------------------------------

  setMoment(moment) {
    const before = this.filming ? this.film.around.first : -1;
    this.film.moment = moment;
    if (this.filming) this.setCurrent(-1, false);
    if ((this.filming ? this.film.around.first : -1) !== before) this.reload();
    else this.redraw();
  }
}
