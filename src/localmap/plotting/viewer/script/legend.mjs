// The legend: a button for each group, or the bar of a scale.

import { shortName } from "./overlay.mjs";

export const MOST_LISTED = 200;

export function element(kind, properties = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children); // strings become text, never markup
  return made;
}

export function count(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

// `changed` is called when groups were greyed out or brought back.
export function fillLegend(list, column, look, changed) {
  list.replaceChildren();
  if (!column) return;
  if (!column.isGroups) list.append(scaleBar(column, look));
  const { codes, left } = column.isGroups ? column.listed(MOST_LISTED) : { codes: [], left: 0 };
  for (const code of codes) {
    const color = look.groups[code % look.groups.length];
    const entry = [column.names[code], column.counts[code], color];
    list.append(legendEntry(column, code, ...entry, changed));
  }
  const missing = column.isGroups ? column.counts[column.names.length] : column.missing;
  if (missing) list.append(legendEntry(column, -1, "missing", missing, look.faint, changed));
  if (left) list.append(element("li", { className: "note" }, `and ${count(left, "group", "groups")} more`));
  if (column.isGroups && column.names.length > look.groups.length) {
    list.append(element("li", { className: "note" }, `Colours repeat after ${look.groups.length} groups.`));
  }
}

function legendEntry(column, code, name, members, color, changed) {
  const swatch = element("span", { className: "swatch", ariaHidden: "true" });
  swatch.style.backgroundColor = color;
  const button = element(
    "button",
    { type: "button", className: "group", title: name },
    swatch,
    element("span", { className: "name" }, shortName(name, 60)),
    element("span", { className: "count" }, members.toLocaleString("en")),
  );
  button.setAttribute("aria-pressed", String(!column.faded.has(code)));
  button.addEventListener("click", (event) => {
    if (event.shiftKey || event.altKey) onlyThis(column, code);
    else if (!column.faded.delete(code)) column.faded.add(code);
    changed();
  });
  return element("li", {}, button);
}

// Greys all others out; all are brought back when this one stood alone already.
function onlyThis(column, code) {
  const all = column.isGroups ? [-1, ...column.names.keys()] : [-1];
  const others = all.filter((other) => other !== code);
  const alone = !column.faded.has(code) && others.every((other) => column.faded.has(other));
  column.faded = new Set(alone ? [] : others);
}

function scaleBar(column, look) {
  const bar = element("span", { className: "bar" });
  bar.style.background = `linear-gradient(to right, ${look.scale.join(", ")})`;
  const [low, high] = [column.format(column.low), column.format(column.high)];
  const ends = element("span", { className: "ends" }, element("span", {}, low), element("span", {}, high));
  const item = element("li", { className: "scale" }, bar, ends);
  item.setAttribute("aria-label", `colours from ${low} to ${high}`);
  return item;
}
