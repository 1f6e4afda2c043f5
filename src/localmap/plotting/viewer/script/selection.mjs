// Points chosen by lasso, box, search or key; counted, listed, saved.

export class Selection {
  constructor(n) {
    this.chosen = new Uint8Array(n);
    this.size = 0;
  }

  // how: "replace", "add" or "remove"
  change(rows, how) {
    if (how === "replace") this.clear();
    const value = how === "remove" ? 0 : 1;
    for (const i of rows) {
      if (this.chosen[i] === value) continue;
      this.chosen[i] = value;
      this.size += value ? 1 : -1;
    }
  }

  clear() {
    this.chosen.fill(0);
    this.size = 0;
  }

  has(i) {
    return this.chosen[i] === 1;
  }

  rows() {
    const rows = [];
    for (let i = 0; i < this.chosen.length; i++) if (this.chosen[i]) rows.push(i);
    return rows;
  }
}

// How the pointer's keys, or else the chosen mode, combine a new choice with the old.
export function combination(event, mode) {
  if (event.altKey) return "remove";
  return event.shiftKey ? "add" : mode;
}
