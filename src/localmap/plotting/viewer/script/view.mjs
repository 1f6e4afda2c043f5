// What part of the map is seen. Map coordinates grow upwards, the screen's downwards.

export class View {
  constructor(width, height) {
    this.extentX = width;
    this.extentY = height;
    this.screenWidth = 1;
    this.screenHeight = 1;
    this.fit();
  }

  resize(width, height) {
    const untouched = this.atHome;
    this.screenWidth = Math.max(1, width);
    this.screenHeight = Math.max(1, height);
    if (untouched) this.fit();
  }

  // The whole map, with a margin.
  fit() {
    this.x = this.extentX / 2;
    this.y = this.extentY / 2;
    const margin = 1.08;
    this.home = Math.min(
      this.screenWidth / (this.extentX * margin || 1),
      this.screenHeight / (this.extentY * margin || 1),
    );
    this.scale = this.home;
    this.atHome = true;
  }

  get zoom() {
    return this.scale / this.home;
  }

  toScreen(x, y) {
    return [
      (x - this.x) * this.scale + this.screenWidth / 2,
      this.screenHeight / 2 - (y - this.y) * this.scale,
    ];
  }

  toMap(sx, sy) {
    return [
      (sx - this.screenWidth / 2) / this.scale + this.x,
      (this.screenHeight / 2 - sy) / this.scale + this.y,
    ];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.atHome = false;
  }

  // Zoom by a factor; what is under the cursor stays there.
  zoomAt(sx, sy, factor) {
    const [x, y] = this.toMap(sx, sy);
    this.scale = Math.min(Math.max(this.scale * factor, this.home / 4), this.home * 4000);
    const [nx, ny] = this.toMap(sx, sy);
    this.x += x - nx;
    this.y += y - ny;
    this.atHome = false;
  }

  // Bring a point into view, if it is not there.
  reveal(x, y) {
    const [sx, sy] = this.toScreen(x, y);
    const inside = sx > 20 && sy > 20 && sx < this.screenWidth - 20 && sy < this.screenHeight - 20;
    if (inside) return;
    this.x = x;
    this.y = y;
    this.atHome = false;
  }
}
