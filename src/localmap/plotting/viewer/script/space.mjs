// Where points are: the nearest one, those in a box, those in a lasso.

const PER_CELL = 4;

// A grid of cells with the points of each, built in one pass over the points.
export class Grid {
  constructor(x, y, extent) {
    this.x = x;
    this.y = y;
    const n = x.length;
    this.side = Math.max(1, Math.min(2048, Math.ceil(Math.sqrt(n / PER_CELL))));
    this.cell = Math.max(extent, Number.MIN_VALUE) / this.side;
    const { side } = this;
    const where = new Uint32Array(n);
    this.starts = new Uint32Array(side * side + 1);
    for (let i = 0; i < n; i++) {
      where[i] = this.row(y[i]) * side + this.row(x[i]);
      this.starts[where[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice(0, -1);
    this.points = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.points[next[where[i]]++] = i;
  }

  row(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(value / this.cell)));
  }

  // The nearest point within `reach` that `accepts`; -1 if there is none.
  nearest(px, py, reach, accepts = () => true) {
    const { side, cell, starts, points, x, y } = this;
    const cx = Math.floor(px / cell);
    const cy = Math.floor(py / cell);
    let best = -1;
    let least = reach * reach;
    const rings = Math.min(Math.ceil(reach / cell), 2 * side);
    for (let ring = 0; ring <= rings; ring++) {
      // Everything in this ring is at least so far away.
      const away = Math.max(0, (ring - 1) * cell);
      if (away * away > least) break;
      for (let row = Math.max(0, cy - ring); row <= Math.min(side - 1, cy + ring); row++) {
        const edge = Math.abs(row - cy) === ring;
        const step = edge || ring === 0 ? 1 : 2 * ring;
        for (let column = cx - ring; column <= cx + ring; column += step) {
          if (column < 0 || column >= side) continue;
          const c = row * side + column;
          for (let k = starts[c]; k < starts[c + 1]; k++) {
            const i = points[k];
            const distance = (x[i] - px) ** 2 + (y[i] - py) ** 2;
            if (distance <= least && accepts(i) && (distance < least || best < 0)) {
              least = distance;
              best = i;
            }
          }
        }
      }
    }
    return best;
  }

  // Every point of a rectangle.
  inBox(left, bottom, right, top) {
    const found = [];
    for (let row = this.row(bottom); row <= this.row(top); row++) {
      for (let column = this.row(left); column <= this.row(right); column++) {
        const c = row * this.side + column;
        for (let k = this.starts[c]; k < this.starts[c + 1]; k++) {
          const i = this.points[k];
          const inside = this.x[i] >= left && this.x[i] <= right;
          if (inside && this.y[i] >= bottom && this.y[i] <= top) found.push(i);
        }
      }
    }
    return found;
  }

  // Every point inside a polygon, given as a flat list of x and y.
  inPolygon(corners) {
    let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let k = 0; k < corners.length; k += 2) {
      left = Math.min(left, corners[k]);
      right = Math.max(right, corners[k]);
      bottom = Math.min(bottom, corners[k + 1]);
      top = Math.max(top, corners[k + 1]);
    }
    return this.inBox(left, bottom, right, top).filter((i) =>
      insidePolygon(this.x[i], this.y[i], corners),
    );
  }
}

// Even-odd rule: a ray to the right crosses the outline an odd number of times.
export function insidePolygon(px, py, corners) {
  let inside = false;
  for (let a = 0, b = corners.length - 2; a < corners.length; b = a, a += 2) {
    const [ax, ay, bx, by] = [corners[a], corners[a + 1], corners[b], corners[b + 1]];
    if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

// The neighbour that lies best in a direction: near, and not far to the side.
export function neighborToward(grid, from, dx, dy, reach) {
  const { x, y } = grid;
  let best = -1;
  let least = Infinity;
  for (let wide = reach; best < 0 && wide < reach * 1e4; wide *= 4) {
    const near = grid.inBox(x[from] - wide, y[from] - wide, x[from] + wide, y[from] + wide);
    for (const i of near) {
      const along = (x[i] - x[from]) * dx + (y[i] - y[from]) * dy;
      const aside = Math.abs((x[i] - x[from]) * dy - (y[i] - y[from]) * dx);
      if (i === from || along <= 0 || aside > along) continue;
      const cost = along + 2 * aside;
      if (cost < least) [least, best] = [cost, i];
    }
  }
  return best;
}
