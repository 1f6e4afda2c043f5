// A picture of the view, with its legend.

import { shortName } from "./overlay.mjs";
import { hexToRgb } from "./columns.mjs";

const LINE = 18;
const MOST_LINES = 60;

export function legendLines(column, look) {
  if (!column) return [];
  if (!column.isGroups) return [];
  const { codes, left } = column.listed(MOST_LINES);
  const lines = codes.map((code) => ({
    text: shortName(column.names[code], 32),
    color: column.faded.has(code) ? look.faint : look.groups[code % look.groups.length],
  }));
  const missing = column.counts[column.names.length];
  if (missing) lines.push({ text: `missing (${missing})`, color: look.faint });
  if (left) lines.push({ text: `and ${left} more`, color: look.paper });
  return lines;
}

export function drawPicture({ points, overlay, view, ratio, column, look, title }) {
  const lines = legendLines(column, look);
  const legendWidth = column ? 240 : 0;
  const head = 34;
  const height = Math.max(view.screenHeight, column?.isGroups ? lines.length * LINE + 40 : 0);
  const canvas = document.createElement("canvas");
  canvas.width = (view.screenWidth + legendWidth) * ratio;
  canvas.height = (height + head) * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = look.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(points, 0, head, view.screenWidth, view.screenHeight);
  context.drawImage(overlay, 0, head, view.screenWidth, view.screenHeight);
  context.fillStyle = look.ink;
  context.textBaseline = "middle";
  context.font = "600 15px system-ui, sans-serif";
  context.fillText(title, 12, head / 2);
  if (column) drawLegend(context, column, look, lines, view.screenWidth + 12, head + 12);
  return canvas;
}

function drawLegend(context, column, look, lines, left, top) {
  context.font = "600 13px system-ui, sans-serif";
  context.fillText(shortName(column.name, 30), left, top);
  context.font = "12px system-ui, sans-serif";
  lines.forEach(({ text, color }, k) => {
    const y = top + (k + 1) * LINE + 4;
    context.fillStyle = color;
    context.beginPath();
    context.arc(left + 6, y, 5, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = look.ink;
    context.fillText(text, left + 18, y);
  });
  if (column.isGroups) return;
  look.scale.forEach((color, k) => {
    context.fillStyle = color;
    context.fillRect(left + (k * 200) / look.scale.length, top + 14, 200 / look.scale.length + 1, 12);
  });
  context.fillStyle = look.ink;
  context.fillText(column.format(column.low), left, top + 38);
  const high = column.format(column.high);
  context.fillText(high, left + 200 - context.measureText(high).width, top + 38);
  if (column.missing) context.fillText(`● missing (${column.missing})`, left, top + 60);
}

// 256 colours of a palette, the last one grey, as the renderers take them.
export function paletteBytes(column, look) {
  const bytes = new Uint8Array(256 * 4).fill(255);
  const colors = column ? column.palette(look) : look.groups;
  colors.forEach((color, k) => bytes.set(hexToRgb(color), 4 * k));
  bytes.set(hexToRgb(look.faint), 4 * 255);
  return bytes;
}

