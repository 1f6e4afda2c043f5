"""What was found, as Markdown, LaTeX and one HTML page that needs no other file."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from localmap.bench.methods import METHODS
from localmap.bench.paper import TOLERANCE
from localmap.bench.plan import mixture_rows, slug
from localmap.bench.seeds import moving
from localmap.bench.summary import (
    INSIDE,
    LEVEL,
    OF_SEVERAL,
    Cell,
    Table,
    label,
    tables,
)
from localmap.bench.worker import WARM_ROWS
from localmap.datasets.sources import ENTRIES
from localmap.files.atomic import atomic_file


def write(
    folder: Path, results: Sequence[dict[str, Any]], title: str = "Maps compared"
) -> list[Path]:
    """Write report.md, report.tex, report.html and a page for each data set."""
    found = tables(results)
    pictures, old = {}, []
    for name, data, is_old in _pictures(folder, results):
        pictures[name] = data
        old += [name] if is_old else []
    about, notes = _about(results), _notes(found)
    if old:
        notes["Pictures of an earlier run, as not all maps are kept"] = old
    files: dict[str, bytes] = dict(pictures)
    files["report.md"] = _markdown(title, about, found, notes, pictures).encode()
    files["report.tex"] = _latex(about, found).encode()
    files["report.html"] = _html(title, about, found, notes, pictures).encode()
    for dataset in found[0].datasets:
        page = _page(dataset, found, pictures)
        files[f"sets/{slug(dataset)}.md"] = page.encode()
    (folder / "sets").mkdir(exist_ok=True)
    for name, data in files.items():
        with atomic_file(folder / name) as aside:
            aside.write_bytes(data)
    return [folder / name for name in files]


def _about(results: Sequence[dict[str, Any]]) -> list[str]:
    versions = {
        METHODS[row["method"]].package: row["version"]
        for row in results
        if row.get("version")
    }
    used = ", ".join(f"{name} {found}" for name, found in versions.items())
    machines = dict.fromkeys(row["machine"] for row in results if "machine" in row)
    where = (
        f"{datetime.now(UTC).date().isoformat()}; {'; '.join(machines)}. With {used}."
    )
    meaning = (
        "Mean ± standard deviation over seeds, with each package's defaults; a number "
        "without ± is of one seed. Bold: the best mean. Underlined: not different from "
        f"the best by Welch's t-test at {LEVEL}; with one seed no test is made."
    )
    timing = (
        "Time is that of the map alone, all threads. The time before that is import, "
        f"compilation and a map of {WARM_ROWS} rows (or as many more as it takes to "
        "compile what large data needs), in a new process. Memory is the "
        "largest resident size of that process, data and imports included."
    )
    measures = (
        "The data that maps are compared with is X itself. Of more than 2,000 rows "
        "preservation (share of the 10 nearest rows among the 30 nearest in the map), "
        "trustworthiness and continuity are means over 2,000 (standard error at most "
        "0.011); triplets are 20,000 (0.0035). Above 20,000 points the SVM's kernel is "
        "approximated and visible groups are looked for among 20,000; above 100,000 "
        "the silhouette is that of 20,000 (0.007). Agreement of seeds is the adjusted "
        "Rand index of the visible groups of one seed with those of another, the mean "
        "of all pairs of seeds whose maps are kept; inside the largest group: among "
        "the rows of the largest label."
    )
    caveats = (
        "The paper's numbers are those of its Tables 1 and 2; its times are of 12 "
        "cores and a GPU. NCVis stands for contrastive-ne's NCE mode with a neural "
        "network, as in the authors' script, and LargeVis for torchdr's; t-SNE is "
        "openTSNE, as the paper says (the script runs scikit-learn's). UMAP, TriMap "
        "and the published PaCMAP and LocalMAP run on all threads, where a seed does "
        "not make them repeatable."
    )
    return [where, meaning, timing, measures, caveats, f"Seeds: {_seeds(results)}."]


def _seeds(results: Sequence[dict[str, Any]]) -> str:
    """Tell which seeds each method ran with, on any set."""
    seeds: dict[str, set[int]] = {}
    for row in results:
        if "failed" not in row:
            seeds.setdefault(label(row), set()).add(row["seed"])
    methods: dict[str, list[str]] = {}
    for title, found in seeds.items():
        methods.setdefault(", ".join(map(str, sorted(found))), []).append(title)
    told = [f"{seeds} of {', '.join(titles)}" for seeds, titles in methods.items()]
    return "; ".join(told) or "none"


Notes = dict[str, list[str]]  # lines under headings


def _notes(found: Sequence[Table]) -> Notes:
    notes = {
        f"Silhouettes more than {TOLERANCE['silhouette']} from the paper's": list(
            _differences(found)
        ),
        "Cuts that move with the seed: parts that are no groups": list(_moving(found)),
        "Cells without a number": list(_failures(found)),
    }
    return {heading: lines for heading, lines in notes.items() if lines}


def _differences(found: Sequence[Table]) -> Iterator[str]:
    for table in found:
        tolerance = TOLERANCE.get(table.measure, math.inf)
        for title, cells in table.rows.items():
            for dataset, cell in zip(table.datasets, cells, strict=True):
                if cell.differs_from_paper(tolerance):
                    shown = cell.text(table.digits)
                    yield (
                        f"{table.title} of {title} on {dataset}: {shown} here, "
                        f"{cell.paper:.2f} in the paper"
                    )


def _moving(found: Sequence[Table]) -> Iterator[str]:
    for table in found:
        if table.measure != INSIDE:
            continue
        for title, cells in table.rows.items():
            for dataset, cell in zip(table.datasets, cells, strict=True):
                said = moving(title, dataset, cell.values)
                if said is not None:
                    yield said


def _failures(found: Sequence[Table]) -> Iterator[str]:
    """Yield why each empty cell is empty, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for table in found:
        for title, cells in table.rows.items():
            for dataset, cell in zip(table.datasets, cells, strict=True):
                if cell.values and not cell.failed:
                    continue
                reason = cell.failed or "not run"
                if table.measure in OF_SEVERAL and not cell.failed:
                    continue  # one seed, or no maps kept: nothing failed
                if cell.values:
                    reason += " (with some seeds)"
                sets = reasons.setdefault((title, reason), [])
                if dataset not in sets:
                    sets.append(dataset)
    for (title, reason), sets in reasons.items():
        yield f"{title} on {', '.join(sets)}: {reason}"


def _markdown(
    title: str,
    about: list[str],
    found: Sequence[Table],
    notes: Notes,
    pictures: dict[str, bytes],
) -> str:
    lines = [f"# {_md(title)}", ""]
    for paragraph in about:
        lines += [paragraph, ""]
    for table in found:
        lines += [f"## {table.title}", "", _markdown_table(table), ""]
    for heading, said in notes.items():
        lines += [f"## {heading}", "", *[f"- {_md(line)}" for line in said], ""]
    lines += ["## Pictures", ""]
    lines += [f"![{name}]({name})" for name in pictures]
    return "\n".join(lines) + "\n"


def _md(text: str) -> str:
    """Return text that is neither markup nor the end of a cell."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def _markdown_table(table: Table) -> str:
    lines = [
        f"| | {' | '.join(_md(name) for name in table.datasets)} |",
        "|---" * (len(table.datasets) + 1) + "|",
    ]
    for title, cells in table.rows.items():
        shown = " | ".join(_marked(cell, table.digits) for cell in cells)
        lines.append(f"| {_md(title)} | {shown} |")
    return "\n".join(lines)


def _marked(cell: Cell, digits: int) -> str:
    text = cell.text(digits)
    text = f"**{text}**" if cell.best else f"<u>{text}</u>" if cell.close else text
    return text + _beside(cell, digits)


def _beside(cell: Cell, digits: int) -> str:
    """Return the paper's number; it prints silhouettes to two places."""
    return "" if cell.paper is None else f" (paper {cell.paper:.{min(digits, 2)}f})"


def _latex(about: list[str], found: Sequence[Table]) -> str:
    parts = ["\n".join(f"% {line}" for line in [*about, "Needs booktabs."])]
    for table in found:
        names = " & ".join(_tex(name) for name in table.datasets)
        lines = [
            "\\begin{table}\\centering",
            f"\\caption{{{_tex(table.title)}}}",
            f"\\begin{{tabular}}{{l{'r' * len(table.datasets)}}}\\toprule",
            f" & {names} \\\\\\midrule",
        ]
        for title, cells in table.rows.items():
            shown = []
            for cell in cells:
                text = cell.text(table.digits).replace("±", "$\\pm$")
                if cell.best:
                    text = f"\\textbf{{{text}}}"
                elif cell.close:
                    text = f"\\underline{{{text}}}"
                shown.append(text + _beside(cell, table.digits))
            lines.append(f"{_tex(title)} & {' & '.join(shown)} \\\\")
        lines += ["\\bottomrule\\end{tabular}", "\\end{table}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


TEX_SIGNS: Final = str.maketrans(
    {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def _tex(text: str) -> str:
    return text.translate(TEX_SIGNS)


STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:1em 0}
td,th{padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}
img{max-width:100%}.paper{color:#777;font-size:.85em}
"""


def _html(
    title: str,
    about: list[str],
    found: Sequence[Table],
    notes: Notes,
    pictures: dict[str, bytes],
) -> str:
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        *[f"<p>{html.escape(paragraph)}</p>" for paragraph in about],
    ]
    parts += [_html_table(table) for table in found]
    for heading, said in notes.items():
        parts.append(f"<h2>{html.escape(heading)}</h2><ul>")
        parts += [f"<li>{html.escape(line)}</li>" for line in said]
        parts.append("</ul>")
    for name, data in pictures.items():
        picture = base64.b64encode(data).decode()
        parts.append(
            f"<h2>{html.escape(name.removesuffix('.png'))}</h2>"
            f"<img alt='{html.escape(name, quote=True)}' "
            f"src='data:image/png;base64,{picture}'>"
        )
    return "\n".join(parts) + "</body></html>\n"


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.datasets)
    lines = [f"<h2>{html.escape(table.title)}</h2><table><tr><th></th>{head}</tr>"]
    for title, cells in table.rows.items():
        shown = ""
        for cell in cells:
            text = html.escape(cell.text(table.digits))
            text = (
                f"<b>{text}</b>"
                if cell.best
                else f"<u>{text}</u>"
                if cell.close
                else text
            )
            beside = f"<span class='paper'>{_beside(cell, table.digits)}</span>"
            why = (
                f" title='{html.escape(cell.failed, quote=True)}'"
                if cell.failed
                else ""
            )
            shown += f"<td{why}>{text}{beside}</td>"
        lines.append(f"<tr><td>{html.escape(title)}</td>{shown}</tr>")
    return "\n".join([*lines, "</table>"])


def _page(dataset: str, found: Sequence[Table], pictures: dict[str, bytes]) -> str:
    """One data set: what it is, all measures of all methods, and the pictures."""
    place = found[0].datasets.index(dataset)
    lines = [f"# {_md(dataset)}", ""]
    entry = ENTRIES.get(dataset)
    if entry is not None:
        said = f"{entry.description}. {entry.source}. Licence: {entry.licence}."
        lines += [said, ""]
    lines += [
        f"| | {' | '.join(table.title for table in found)} |",
        "|---" * (len(found) + 1) + "|",
    ]
    own = [
        Table(
            table.measure,
            (dataset,),
            {title: (cells[place],) for title, cells in table.rows.items()},
        )
        for table in found
    ]
    for title in found[0].rows:
        cells = [_marked(table.rows[title][0], table.digits) for table in own]
        lines.append(f"| {_md(title)} | {' | '.join(cells)} |")
    for heading, told in _notes(own).items():
        lines += ["", f"{heading}:", "", *[f"- {_md(line)}" for line in told]]
    name = f"{slug(dataset)}.png"
    if name in pictures:
        lines += ["", f"![the maps](../{name})"]
    return "\n".join(lines) + "\n"


def _pictures(
    folder: Path, results: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, bytes, bool]]:
    """Yield name and contents of each picture, and whether it is an old one."""
    from localmap.bench import pictures

    scaled = [row for row in results if mixture_rows(row["dataset"]) is not None]
    if scaled:
        yield "time.png", _png(pictures.time_against_rows(scaled, label)), False
    drawn = [row for row in results if row not in scaled and "failed" not in row]
    sets = tuple(dict.fromkeys(row["dataset"] for row in drawn))
    planned = {}
    if len(sets) > 1:
        planned["grid.png"] = (drawn, partial(pictures.grid, folder, drawn, label))
    for dataset in sets:
        own = [row for row in drawn if row["dataset"] == dataset]
        draw = partial(pictures.maps, folder, dataset, own, label)
        planned[f"{slug(dataset)}.png"] = (own, draw)
    for name, (rows, draw) in planned.items():
        path = folder / name
        if path.exists() and not pictures.can_draw(folder, rows, label):
            yield name, path.read_bytes(), True
        else:
            yield name, _png(draw()), False


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return buffer.getvalue()
