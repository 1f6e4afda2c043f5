"""What was found, as Markdown, LaTeX and one HTML page that needs no other file.

The forms are the templates beside this file. In each of them all that is filled in is
text, never markup: what Jinja2 escapes for HTML, `finalize` escapes for the others.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from localmap.bench import sets
from localmap.bench.methods import METHODS
from localmap.bench.notes import notes_of
from localmap.bench.plan import slug
from localmap.bench.summary import LEVEL, label, tables
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
    notes = notes_of(found)
    if old:
        notes["Pictures of an earlier run, as not all maps are kept"] = old
    page = {
        "title": title,
        "about": _about(results),
        "tables": found,
        "notes": notes,
        "pictures": {n: base64.b64encode(d).decode() for n, d in pictures.items()},
    }
    files: dict[str, bytes] = dict(pictures)
    for name in ("report.md", "report.tex", "report.html"):
        files[name] = filled(name, page)
    real = [name for name in found[0].datasets if not sets.is_generated(name)]
    for dataset in real:
        own = [table.of(dataset) for table in found]
        picture = f"{slug(dataset)}.png"
        files[f"sets/{slug(dataset)}.md"] = filled(
            "set.md",
            {
                "dataset": dataset,
                "entry": ENTRIES.get(dataset),
                "tables": own,
                "notes": notes_of(own),
                "picture": picture if picture in pictures else None,
            },
        )
    if real:
        (folder / "sets").mkdir(exist_ok=True)
    for name, data in files.items():
        with atomic_file(folder / name) as aside:
            aside.write_bytes(data)
    return [folder / name for name in files]


def filled(template: str, values: dict[str, Any]) -> bytes:
    """Return a template filled with values, each of them text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    form = Path(template).suffix
    environment = Environment(
        loader=PackageLoader("localmap.bench"),
        autoescape=select_autoescape(("html",)),
        finalize={".md": _md, ".tex": _tex}.get(form),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    text = environment.get_template(template).render(values)
    return (text.strip() + "\n").encode()


def _md(text: object) -> str:
    """Return text that is neither markup nor the end of a cell."""
    plain = html.escape(" ".join(str(text).split()), quote=False)
    return _as_given(text, plain.replace("|", "\\|"))


TEX_SIGNS: Final = str.maketrans(
    {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "±": "$\\pm$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def _tex(text: object) -> str:
    return _as_given(text, " ".join(str(text).split()).translate(TEX_SIGNS))


def _as_given(text: object, escaped: str) -> str:
    """Return the text escaped, with the space that it begins with."""
    return f" {escaped}" if str(text).startswith(" ") else escaped


def _about(results: Sequence[dict[str, Any]]) -> list[str]:
    versions = {
        METHODS[row["method"]].package: row["version"]
        for row in results
        if row.get("version")
    }
    used = ", ".join(f"{name} {found}" for name, found in versions.items())
    machines = dict.fromkeys(row["machine"] for row in results if "machine" in row)
    dates = sorted({row["date"] for row in results if "date" in row})
    when = " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]]))
    where = "; ".join(part for part in (when, *machines) if part)
    with_what = f"{where}. With {used}."
    meaning = (
        "Mean ± standard deviation over seeds, with each package's defaults; a number "
        "without ± is of one seed. Bold: the best mean. Underlined: not different from "
        f"the best by Welch's t-test at {LEVEL}; with one seed no test is made."
    )
    timing = (
        "Time is that of the map alone, all threads. The time before that is import, "
        f"compilation and a map of {WARM_ROWS} rows (or as many more as it takes to "
        "compile what large data needs), in a new process. Memory is the "
        "largest resident size of that process, data and imports included. Where new "
        "rows are placed, time is that of placing the last seventh of the rows in a "
        "map of the others, after a hundred of them."
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
        "The paper's numbers are of ten runs; its times are of 12 "
        "cores and a GPU. NCVis stands for contrastive-ne's NCE mode with a neural "
        "network, as in the authors' script, and LargeVis for torchdr's; t-SNE is "
        "openTSNE, as the paper says (the script runs scikit-learn's). UMAP, TriMap "
        "and the authors' PaCMAP and LocalMAP run on all threads, where a seed does "
        "not make them repeatable. brisc gets our principal components, whose time is "
        "counted, and searches 20 neighbours where we and the authors search 60."
    )
    return [with_what, meaning, timing, measures, caveats, f"Seeds: {_seeds(results)}."]


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


def _pictures(
    folder: Path, results: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, bytes, bool]]:
    """Yield name and contents of each picture, and whether it is an old one."""
    from localmap.bench import pictures

    generated = [row for row in results if sets.is_generated(row["dataset"])]
    for name, draw_curves in pictures.CURVES.items():
        curves = draw_curves(generated, label)
        if curves is not None:
            yield name, png(curves), False
    drawn = [row for row in results if row not in generated and "failed" not in row]
    names = tuple(dict.fromkeys(row["dataset"] for row in drawn))
    planned = {}
    if len(names) > 1:
        planned["grid.png"] = (drawn, partial(pictures.grid, folder, drawn, label))
    for dataset in names:
        own = [row for row in drawn if row["dataset"] == dataset]
        draw = partial(pictures.maps, folder, dataset, own, label)
        planned[f"{slug(dataset)}.png"] = (own, draw)
    for name, (rows, draw) in planned.items():
        path, kept = folder / name, pictures.kept(folder, rows, label)
        if path.exists() and not all(kept):
            yield name, path.read_bytes(), True
        elif any(kept):
            yield name, png(draw()), False


def png(figure: Any) -> bytes:
    """Return a figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return buffer.getvalue()
