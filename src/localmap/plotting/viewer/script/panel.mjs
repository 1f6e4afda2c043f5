// The panel beside the map.

import { csvTable, fileName } from "./csv.mjs";
import { search } from "./columns.mjs";
import { count, element, fillLegend } from "./legend.mjs";

const MOST_FOUND = 200;
const MOST_ROWS = 100; // of a selection that are listed; all are saved

export class Panel {
  constructor(find, explorer, card) {
    Object.assign(this, { find, explorer, card });
    const { meta, columns } = explorer;
    document.title = meta.title;
    find("title").textContent = meta.title;
    find("summary").textContent = `${count(explorer.n, "point", "points")}, drawn by ${explorer.renderer.name}`;
    find("notes").replaceChildren(...meta.notes.map((note) => element("p", {}, note)));
    find("color").replaceChildren(
      ...columns.map((column, k) => element("option", { value: String(k) }, column.name)),
    );
    if (!columns.length) find("color").hidden = true;
    find("color").value = String(meta.color ?? "");
    this.setTheme(firstTheme(meta.theme));
    explorer.setColumn(columns[meta.color ?? 0]);
    this.legend();
    this.connect();
    if (explorer.film) this.connectFilm();
  }

  connect() {
    const { find, explorer } = this;
    const click = (id, act) => find(id).addEventListener("click", act);
    find("color").addEventListener("change", (event) => {
      explorer.setColumn(explorer.columns[Number(event.target.value)]);
      this.legend();
    });
    find("search").addEventListener("input", (event) => this.search(event.target.value));
    find("size").addEventListener("input", (event) => {
      explorer.bigger = Number(event.target.value);
      explorer.redraw();
    });
    find("names").addEventListener("change", (event) => {
      explorer.namesShown = event.target.checked;
      explorer.redraw();
    });
    find("names").disabled = !explorer.names;
    click("theme", () => this.setTheme(this.theme === "dark" ? "light" : "dark"));
    click("fit", () => explorer.fit());
    click("clear", () => explorer.select([], "replace"));
    click("csv", () => this.saveSelection());
    click("png", () => this.savePicture());
    click("search-select", () => explorer.select(this.all, explorer.mode));
    for (const button of document.querySelectorAll("[data-tool]")) {
      if (button.tagName === "BUTTON") button.addEventListener("click", () => explorer.setTool(button.dataset.tool));
    }
    for (const button of document.querySelectorAll("button[data-mode]")) {
      button.addEventListener("click", () => {
        explorer.mode = button.dataset.mode;
        press("button[data-mode]", button);
      });
    }
    explorer.listeners = {
      current: (spoken) => this.current(spoken),
      selection: () => this.selection(),
      tool: () => press("button[data-tool]", document.querySelector(`button[data-tool="${explorer.tool}"]`)),
    };
    explorer.setTool("pan");
  }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.find("theme").textContent = theme === "dark" ? "Light" : "Dark";
    this.explorer.setLook(this.explorer.meta.looks[theme]);
    this.legend();
  }

  legend() {
    const { explorer } = this;
    fillLegend(this.find("legend"), explorer.column, explorer.look, () => {
      const at = [...this.find("legend").querySelectorAll("button")].indexOf(document.activeElement);
      explorer.restate();
      this.legend();
      this.find("legend").querySelectorAll("button")[at]?.focus();
    });
  }

  current(spoken) {
    const { explorer, card } = this;
    const i = explorer.current;
    if (i < 0) {
      card.hide();
      return;
    }
    const { stage } = this.elements();
    card.show(i, explorer.rows[i], explorer.screenOf(i), { width: stage.clientWidth, height: stage.clientHeight });
    if (spoken) this.find("spoken").textContent = card.words(i, explorer.rows[i]);
  }

  elements() {
    return this.explorer.elements;
  }

  search(words) {
    const { explorer, find } = this;
    const { found, more } = search(explorer.columns, explorer.n, words, 1e6);
    this.all = found;
    explorer.found = found.slice(0, MOST_FOUND);
    const said = `${count(found.length, "point", "points")} found${more ? ", and more" : ""}`;
    find("search-count").textContent = words.trim() ? said : "";
    find("search-select").hidden = found.length === 0;
    this.listRows(find("found"), found.slice(0, MOST_FOUND), found.length);
    explorer.redraw();
  }

  selection() {
    const { explorer, find } = this;
    const { size } = explorer.selection;
    find("selection-count").textContent = size ? `${count(size, "point", "points")} selected` : "nothing selected";
    find("csv").disabled = find("clear").disabled = size === 0;
    this.listRows(find("selected"), size ? explorer.selection.rows().slice(0, MOST_ROWS) : [], size);
  }

  listRows(list, rows, total) {
    const { explorer, card } = this;
    list.replaceChildren(
      ...rows.map((i) => {
        const button = element("button", { type: "button" }, card.words(i, explorer.rows[i]));
        button.addEventListener("click", () => explorer.setCurrent(i, true));
        return element("li", {}, button);
      }),
    );
    if (rows.length < total) list.append(element("li", { className: "note" }, `and ${(total - rows.length).toLocaleString("en")} more`));
  }

  // All columns, in the order of the user's rows.
  saveSelection() {
    const { explorer } = this;
    const { x, y, step } = explorer.meta.bounds;
    const rows = explorer.selection.rows().sort((a, b) => explorer.rows[a] - explorer.rows[b]);
    const lines = rows.map((i) => [
      explorer.rows[i],
      Number((x + explorer.steps.x[i] * step).toPrecision(9)),
      Number((y + explorer.steps.y[i] * step).toPrecision(9)),
      ...explorer.columns.map((column) => column.cell(i)),
    ]);
    const header = ["row", "x", "y", ...explorer.columns.map((column) => column.name)];
    const text = `\ufeff${csvTable(header, lines)}`; // spreadsheets need the mark to read UTF-8
    download(new Blob([text], { type: "text/csv;charset=utf-8" }), fileName(explorer.meta.title, "-selection.csv"));
  }

  savePicture() {
    const { meta } = this.explorer;
    this.explorer.picture(meta.title).toBlob((blob) => download(blob, fileName(meta.title, ".png")), "image/png");
  }

  connectFilm() {
    const { find, explorer } = this;
    const { film } = explorer;
    find("film").hidden = false;
    find("moment").max = String(film.last);
    for (const { share, width, phase } of film.marks) {
      const mark = element("span", { title: phase }, phase);
      mark.style.left = `${100 * share}%`;
      mark.style.width = `${100 * width}%`;
      find("phases").append(mark);
    }
    find("moment").addEventListener("input", (event) => {
      this.play(false);
      this.setMoment(Number(event.target.value));
    });
    find("play").addEventListener("click", () => this.play(!this.playing));
    this.setMoment(film.last);
  }

  setMoment(moment) {
    this.explorer.setMoment(moment);
    this.find("moment").value = String(moment);
    this.find("moment").setAttribute("aria-valuetext", this.explorer.film.caption);
    this.find("film-caption").textContent = this.explorer.film.caption;
  }

  play(on) {
    const { film } = this.explorer;
    this.playing = on;
    this.find("play").setAttribute("aria-pressed", String(on));
    this.find("play").textContent = on ? "Pause" : "Play";
    if (!on) return;
    if (film.moment >= film.last) this.setMoment(0);
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.setMoment(film.after(Math.max(0, now - before) / 1000));
      before = now;
      if (film.moment < film.last) requestAnimationFrame(tick);
      else this.play(false);
    };
    requestAnimationFrame(tick);
  }
}

function firstTheme(wanted) {
  if (wanted !== "auto") return wanted;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function press(selector, pressed) {
  for (const button of document.querySelectorAll(selector)) {
    button.setAttribute("aria-pressed", String(button === pressed));
  }
}

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
