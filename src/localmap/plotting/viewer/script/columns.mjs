// What is known of each point: groups or numbers, their colours, their words.

export const MISSING = 255; // place of grey in every palette

export function hexToRgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export class GroupColumn {
  constructor(name, names, codes) {
    this.name = name;
    this.names = names;
    this.codes = codes;
    this.counts = new Uint32Array(names.length + 1); // the last counts missing values
    for (const code of codes) this.counts[code < 0 ? names.length : code]++;
    this.faded = new Set(); // codes greyed out; -1 is missing
  }

  get isGroups() {
    return true;
  }

  text(i) {
    return this.codes[i] < 0 ? "missing" : this.names[this.codes[i]];
  }

  // For a table: nothing is nothing.
  cell(i) {
    return this.codes[i] < 0 ? "" : this.names[this.codes[i]];
  }

  colorIndex(look, i) {
    return this.codes[i] < 0 ? MISSING : this.codes[i] % look.groups.length;
  }

  isFaded(i) {
    return this.faded.has(this.codes[i] < 0 ? -1 : this.codes[i]);
  }

  palette(look) {
    return look.groups;
  }

  // Largest groups first where not all can be listed.
  listed(most) {
    const codes = [...this.names.keys()].filter((code) => this.counts[code] > 0);
    if (codes.length <= most) return { codes, left: 0 };
    codes.sort((a, b) => this.counts[b] - this.counts[a]);
    return { codes: codes.slice(0, most), left: codes.length - most };
  }
}

export class NumberColumn {
  constructor(name, values, low, high, date) {
    Object.assign(this, { name, values, low, high, date });
    this.missing = 0;
    for (const value of values) if (Number.isNaN(value)) this.missing++;
    this.faded = new Set();
  }

  get isGroups() {
    return false;
  }

  text(i) {
    return Number.isNaN(this.values[i]) ? "missing" : this.format(this.values[i]);
  }

  cell(i) {
    if (Number.isNaN(this.values[i])) return "";
    return this.date ? this.format(this.values[i]) : shortest(this.values, i);
  }

  format(value) {
    if (this.date) return new Date(value * 1000).toISOString().replace("T", " ").slice(0, 19);
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  }

  colorIndex(look, i) {
    const value = this.values[i];
    if (Number.isNaN(value)) return MISSING;
    const share = (value - this.low) / (this.high - this.low);
    const last = look.scale.length - 1;
    return Math.round(Math.max(0, Math.min(1, share)) * last);
  }

  isFaded(i) {
    return this.faded.has(-1) && Number.isNaN(this.values[i]);
  }

  palette(look) {
    return look.scale;
  }
}

// A float32 is written with the fewest digits that give it back.
function shortest(values, i) {
  if (!(values instanceof Float32Array) || !Number.isFinite(values[i])) return values[i];
  for (let digits = 6; digits < 10; digits++) {
    const text = Number(values[i].toPrecision(digits));
    if (Math.fround(text) === values[i]) return text;
  }
  return values[i];
}

export async function readColumn(store, how, n) {
  if (how.names === undefined) {
    return new NumberColumn(how.name, await store.numbers(how, n), how.low, how.high, how.date);
  }
  const [names, codes] = [await store.json(how.names), await store.ints(how, n)];
  return new GroupColumn(how.name, names, codes);
}

// Rows whose text in any column holds the words, in any case; at most `most` of them.
export function search(columns, n, words, most) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return { found: [], more: false };
  const hits = columns.map((column) =>
    column.isGroups ? column.names.map((name) => name.toLowerCase().includes(wanted)) : null,
  );
  const found = [];
  for (let i = 0; i < n; i++) {
    const hit = columns.some((column, c) =>
      hits[c] ? column.codes[i] >= 0 && hits[c][column.codes[i]] : column.text(i) === wanted,
    );
    if (!hit) continue;
    if (found.length === most) return { found, more: true };
    found.push(i);
  }
  return { found, more: false };
}
