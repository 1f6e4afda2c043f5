// What lies above the points: near pairs, rings, the lasso, names of groups.

export const NAME_FONT = "600 13px system-ui, sans-serif";

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  draw(state) {
    const { context, canvas } = this;
    const { view, ratio } = state;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(context, view, state);
  }

  paint(context, view, { places, look, current, pairs, found, outline, names, ring }) {
    const at = (i) => view.toScreen(places[2 * i], places[2 * i + 1]);
    if (current >= 0 && pairs.length) {
      context.strokeStyle = look.loud;
      context.lineWidth = 1.2;
      context.beginPath();
      for (const other of pairs) {
        context.moveTo(...at(current));
        context.lineTo(...at(other));
      }
      context.stroke();
    }
    for (const i of found) circle(context, at(i), ring + 3, look.loud, 1.5);
    if (names) drawNames(context, view, names, look);
    if (current >= 0) {
      circle(context, at(current), ring + 2, look.paper, 4);
      circle(context, at(current), ring + 2, look.ink, 2);
    }
    if (outline?.length > 2) {
      context.strokeStyle = look.loud;
      context.fillStyle = `${look.loud}22`;
      context.lineWidth = 1.5;
      context.beginPath();
      outline.forEach(([x, y]) => context.lineTo(x, y));
      context.closePath();
      context.fill();
      context.stroke();
    }
  }
}

function circle(context, [x, y], radius, color, width) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

// Names of the largest groups; a name that would lie on another one is left out.
export function drawNames(context, view, names, look) {
  context.font = NAME_FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  const taken = [];
  for (const { text, x, y } of names) {
    const [sx, sy] = view.toScreen(x, y);
    const half = context.measureText(text).width / 2 + 3;
    const box = [sx - half, sy - 9, sx + half, sy + 9];
    if (taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) {
      continue;
    }
    taken.push(box);
    context.strokeStyle = look.paper;
    context.lineWidth = 4;
    context.strokeText(text, sx, sy);
    context.fillStyle = look.ink;
    context.fillText(text, sx, sy);
  }
}

// Where each group's name goes: on the member nearest to the group's middle.
export function placesOfNames(column, places, most = 60) {
  const { codes } = column.listed(most);
  const members = new Map(codes.map((code) => [code, []]));
  const step = Math.max(1, Math.floor(column.codes.length / 200000));
  for (let i = 0; i < column.codes.length; i += step) members.get(column.codes[i])?.push(i);
  const names = [];
  for (const [code, rows] of members) {
    if (!rows.length) continue;
    const x = median(rows.map((i) => places[2 * i]));
    const y = median(rows.map((i) => places[2 * i + 1]));
    let best = rows[0];
    let least = Infinity;
    for (const i of rows) {
      const away = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
      if (away < least) [least, best] = [away, i];
    }
    const count = column.counts[code];
    const text = shortName(column.names[code]);
    names.push({ text, x: places[2 * best], y: places[2 * best + 1], count });
  }
  return names.sort((a, b) => b.count - a.count);
}

export function shortName(name, most = 28) {
  const line = name.replace(/\s+/g, " ").trim() || "(no name)";
  return [...line].length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
