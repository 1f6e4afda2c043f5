"""The sections of the page, in the order of the paper, from the results in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from localmap.bench import beside, paper, pictures, report, run, starts, summary
from localmap.bench.methods import METHODS
from localmap.bench.sections import Picture, Section, Sheet

# The insights have pages of their own; here are their pictures.
INSIGHTS: Final = {
    "pairs.png": "Figure 1: maps, and the same maps with all near pairs as lines.",
    "lengths.png": "Length of near pairs, and how many of each length cross classes.",
    "joined.png": "Figure 2: classes that PaCMAP joins, and the same classes alone.",
    "balance.png": "The theorem: near to further pairs between two classes against n.",
    "weight.png": "Figure 3: the weight of a near pair against its length.",
}


# What stands for the paper's sets of more than a million cells has as many rows, or the
# most there are.
LARGE: Final = 500_000

# Seconds after which a method is stopped where times are compared, as in the command.
LIMIT: Final = 600


def known(folder: Path) -> list[dict[str, Any]]:
    """Return the results of a folder, each run's last."""
    return list({row["name"]: row for row in run.results(folder)}.values())


def insights(results: Path) -> Section:
    """Figures 1 to 3: false neighbours, too few further pairs, the weight."""
    folder = results / "insights"
    told = folder / "report.md"
    here = "Numbers: results/insights/report.md." if told.exists() else "Not run yet."
    return Section(
        "Figures 1, 2 and 3: the two insights, the theorem and the weight",
        "Many near pairs on PaCMAP's map of MNIST are long and bridge groups (1); six "
        "digits in two groups of three come apart when each group is mapped alone "
        "(2); near to further pairs between two groups grow linearly with n "
        "(theorem); a near pair's weight is (d/2) / sqrt(distance^2 + 1) (3).",
        "localmap bench insights",
        (here,),
        pictures=_pictures(folder, INSIGHTS),
    )


def _pictures(folder: Path, captions: dict[str, str]) -> tuple[Picture, ...]:
    return tuple(
        Picture(folder / name, said)
        for name, said in captions.items()
        if (folder / name).exists()
    )


def _of_texts(results: Path) -> list[str]:
    """Say what decides the silhouette of 20 Newsgroups, if it was measured."""
    path = results / "newsgroups.json"
    if not path.exists():
        return []
    of_default = {
        row["data"]: fmean(row["silhouette"])
        for row in json.loads(path.read_text())["rows"]
        if row["method"] == "LocalMAP, default"
    }
    best = max(of_default, key=lambda recipe: of_default[recipe])
    said = (
        "20 Newsgroups: how texts become numbers decides more than the method. The "
        f"default has {of_default['as it is']:.3f} on the texts as they are and "
        f"{of_default[best]:.3f} by the best recipe (results/newsgroups.md); over ten "
        "seeds it is not different from the best method (results/20ng/report.md)."
    )
    return [said]


def silhouettes(results: Path) -> Section:
    """Table 1."""
    rows = known(results / "bench")
    return Section(
        "Table 1: silhouette",
        "LocalMAP is best, or equal to the best, on seven of nine sets.",
        "localmap bench paper",
        (beside.ELSEWHERE, *beside.empty(rows, "silhouette"), *_of_texts(results)),
        (
            beside.table(rows, "silhouette", 3),
            beside.differences(rows, "silhouette"),
        ),
    )


def seconds(results: Path) -> Section:
    """Table 2."""
    rows = known(results / "bench")
    return Section(
        "Table 2: time, in seconds",
        "12 cores and a GPU; PCA and h-NNE are fastest.",
        "localmap bench paper",
        (
            (
                "Two cores, no GPU, warm: the difference is that of machines and "
                "programs together. Columns of one run here compare with each other."
            ),
            *beside.empty(rows, "seconds"),
        ),
        (beside.table(rows, "seconds"),),
    )


def cases(results: Path) -> Section:
    """Figure 4."""
    names = ("mnist", "usps", "kang")
    said = {
        f"{n}.png": f"{n}: each method's first map, and its silhouette." for n in names
    }
    return Section(
        "Figure 4: MNIST, USPS and Kang, each method a picture",
        "Each method a map, its silhouette in brackets.",
        "localmap bench paper",
        pictures=_pictures(results / "bench", said),
    )


def ablation(results: Path) -> Section:
    """Figure 5."""
    folder = results / "ablation"
    rows = known(folder)
    sheets = tuple(
        _plain(rows, name) for name in ("silhouette", "ARI of visible groups")
    )
    said = {
        f"{name}.png": f"{name}: the parts alone and together." for name in beside.SETS
    }
    return Section(
        "Figure 5: ablation",
        "On MNIST, weights alone make denser groups, not separate; local further "
        "pairs alone make them dispersed, not separate; both together separate them.",
        "localmap bench ablation",
        (
            (
                "Near weights only and local further pairs only are the paper's two "
                "halves, distance 10 is both; the last two are the default without "
                "and with pairs that are trusted."
            ),
            *_torn(rows),
        ),
        sheets,
        _pictures(folder, said),
    )


def _plain(rows: list[dict[str, Any]], measure: str) -> Sheet:
    """Return a table of one measure, without the paper."""
    if not rows:
        return Sheet(("",), (), measure)
    table = summary.table(rows, measure)
    lines = tuple(
        (t, *(cell.text for cell in cells)) for t, cells in table.rows.items()
    )
    return Sheet(("", *table.datasets), lines, measure)


def _torn(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Say how the digits of MNIST are seen."""
    told = [
        f"{title} {m['splits']:.0f} splits, {m['merges']:.0f} merges"
        for row in rows
        for title, m in [(METHODS[row["method"]].title, row.get("measures", {}))]
        if row["dataset"] == "mnist" and row["seed"] == 0 and "merges" in m
    ]
    return (f"MNIST, first seed: {'; '.join(told)}.",) if told else ()


def growth(results: Path) -> Section:
    """Figure 6."""
    folder = results / "scale"
    rows = known(folder)
    return Section(
        "Figure 6: run time against the number of rows",
        "All methods, logarithmic axes.",
        f"localmap bench scale --time-limit {LIMIT}",
        (
            (
                "Mixtures of 200 groups, 50 columns, one seed. What takes more than "
                "ten minutes is not tried on more rows. What was not run, without a "
                "time, would take up to ten minutes by its rate: it was left out for "
                "want of time."
            ),
            *_too_long(rows),
        ),
        (_plain(rows, "seconds"),),
        _pictures(folder, {"time.png": "Time and memory against the number of rows."}),
    )


def _too_long(rows: list[dict[str, Any]]) -> list[str]:
    """Say why a method has no time of a size; by its rate if that is too long."""
    said = []
    sizes = {row["dataset"]: row["rows"] for row in rows if "rows" in row}
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["dataset"]: row for row in rows if row["method"] == method}
        for dataset, n in sizes.items():
            if "seconds" in own.get(dataset, {}):
                continue
            why = str(own.get(dataset, {}).get("failed", "not run"))
            least = beside.by_rate(rows, method, n)
            if why == "not run" and least > LIMIT:
                why = beside.not_run(least)
            said.append(f"Empty: {METHODS[method].title} on {dataset}: {why}.")
    return said


def all_maps(results: Path) -> Section:
    """Figure 7."""
    said = {"grid.png": "All sets by all methods."}
    said |= {f"{n}.png": n for n in beside.SETS if n not in ("mnist", "usps", "kang")}
    return Section(
        "Figure 7: all methods on each set",
        "A page of pictures a set.",
        "localmap bench paper",
        ("MNIST, USPS and Kang stand under Figure 4.",),
        pictures=_pictures(results / "bench", said),
    )


def accuracies(results: Path) -> Section:
    """Accuracy of the SVM."""
    rows = known(results / "bench")
    return Section(
        "SVM accuracy, default parameters",
        "Most methods are within 0.02 of each other on most sets.",
        "localmap bench paper",
        (
            "Above 20,000 rows the SVM's kernel is approximated here.",
            *beside.empty(rows, "SVM accuracy"),
        ),
        (
            beside.table(rows, "SVM accuracy", 3),
            beside.differences(rows, "SVM accuracy"),
        ),
    )


def random_starts(results: Path) -> Section:
    """Figure 8."""
    folder = results / "init"
    rows = known(folder)
    counted = starts.counts(rows)
    captions = {}
    for dataset in ("digits", "mnist"):
        name = f"starts-{dataset}.png"
        figure = starts.drawn(folder, rows, dataset)
        if figure is not None:
            (folder / name).write_bytes(report.png(figure))
        captions[name] = f"{dataset}: random starts, broken and joined groups marked."
    return Section(
        "Figure 8: random starts",
        "Several uniformly random starts on MNIST: LocalMAP separates the ten digits "
        "in every run, no other method in any.",
        "localmap bench init",
        (
            (
                "Broken and joined are counted without eyes, by the visible groups of "
                "localmap.metrics. Starts are those that each package draws: uniform "
                "for UMAP, a random projection for h-NNE, normal for the others; "
                "PHATE has none and gets another seed. NCVis, a network, takes too "
                "long; runs that are not listed were not done."
            ),
        ),
        (counted,),
        _pictures(folder, captions),
    )


def tuned(results: Path) -> Section:
    """Tuned rivals, and Figure 9."""
    rows, default = known(results / "tuned"), known(results / "bench")
    sets = [s for s in beside.SETS if beside.grids(rows, s).lines]
    per_measure = [
        sheet(rows, measure, default)
        for sheet in (beside.verdicts, beside.at_best)
        for measure in paper.BEST
    ]
    return Section(
        "Tuned rivals, and Figure 9",
        "All combinations of a grid, the best silhouette and the best accuracy taken; "
        "by silhouette LocalMAP untuned is best or equal but on COIL20, where it says "
        "that the rivals' higher silhouette shows no better separation.",
        "localmap bench tuned",
        (
            (
                "One seed. torchdr's LargeVis searches exactly: the propagations of "
                "the paper (second of three numbers) have no counterpart, and 25 of "
                "its 75 combinations differ. Grids that are not whole were cut off in "
                "an order that tries the same share of each, spread over all of it; "
                "what stands as - was not run for want of time. The best run here is "
                "the best of all parameters tried, so a rival has more of them where "
                "a grid was run."
            ),
        ),
        (
            *per_measure,
            *(beside.differences(rows, measure, tuned=True) for measure in paper.BEST),
            *(beside.grids(rows, dataset) for dataset in sets),
        ),
        _pictures(results / "tuned", {"coil20.png": "Figure 9: COIL20, tuned."}),
    )


def million(results: Path) -> Section:
    """Figure 10."""
    folder = results / "speed"
    found = known(folder)
    most = max((row.get("rows", 0) for row in found), default=0)
    rows = [row for row in found if row.get("rows", 0) >= max(1, min(LARGE, most))]
    lines = tuple(
        (
            METHODS[row["method"]].title,
            row["dataset"],
            f"{row['rows']:,}",
            f"{row['seconds']:.0f}",
            f"{row['peak_mb']:.0f}",
        )
        for row in rows
    )
    head = ("method", "set", "rows", "seconds", "peak MB")
    said = {}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        name = f"million-{dataset}.png"
        own = [row for row in rows if row["dataset"] == dataset]
        kept = pictures.kept(folder, own, summary.label)
        if all(kept) or (any(kept) and not (folder / name).exists()):
            figure = pictures.maps(folder, dataset, own, summary.label)
            (folder / name).write_bytes(report.png(figure))
        said[name] = f"{dataset}: 20,000 of its points, in the colours of its labels."
    return Section(
        "Figure 10: more than a million rows",
        "PBMC 1M (1,263,676 x 1,000) and AIDA (1,058,909 x 1,000), PaCMAP and "
        "LocalMAP.",
        "localmap bench speed --datasets covtype mixture1000000",
        (
            (
                "Neither is to be had here; `--datasets FILE` takes their files. A "
                "mixture of 200 groups and covtype (581,012 x 54) stand for them."
            ),
        ),
        (Sheet(head, lines),),
        _pictures(folder, said),
    )


CHAPTERS: Final[tuple[Callable[[Path], Section], ...]] = (
    insights, silhouettes, seconds, cases, ablation, growth, all_maps, accuracies,
    random_starts, tuned, million,
)  # fmt: skip
