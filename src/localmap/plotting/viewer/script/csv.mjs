// Tables as text.

// A cell that a spreadsheet would read as a formula gets an apostrophe in front.
export function csvCell(value) {
  let text = String(value);
  const number = typeof value === "number" || (text !== "" && !Number.isNaN(Number(text)));
  if (!number && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvTable(header, rows) {
  const lines = [header.map(csvCell).join(",")];
  for (const row of rows) lines.push(row.map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

// A file name of the title: no path, nothing a shell or a disk could trip over.
export function fileName(title, ending) {
  const kept = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${kept.slice(0, 60) || "map"}${ending}`;
}
