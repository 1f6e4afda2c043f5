"""Why is the silhouette of 20 Newsgroups below zero, and could the rule raise it?

``python -m benchmarks.newsgroups [DATASET] [--seeds 3]`` lays the same rows out by
PaCMAP, by LocalMAP at the paper's distance and by the default, and asks one thing after
the other: the points in no piece; how many near pairs, and which of them are trusted;
the length of rows; and, of the texts themselves, how they became numbers.
"""

import argparse
from functools import partial

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from benchmarks import machine
from benchmarks.data import load
from benchmarks.oracle import CHOICES, chosen
from localmap import metrics
from localmap.bench.insights.lengths import RULES, doubted
from localmap.datasets.sources import newsgroups
from localmap.method.embed import lay_out, prepare
from localmap.method.parameters import Parameters
from localmap.metrics.clusters import pieces_of

NEIGHBORS = (5, 10, 20, 30)


def components(texts, n=100, **options):
    """TF-IDF and so many components of a truncated SVD."""
    svd = TruncatedSVD(n, n_iter=7, random_state=0)
    return svd.fit_transform(TfidfVectorizer(**options).fit_transform(texts))


def of_length_one(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def recipes(X):
    """Yield a name and rows: of the numbers, and of the texts behind them."""
    yield "rows of length 1 (cosine)", of_length_one(X)
    yield "the first 50 columns", X[:, :50]


def recipes_of_texts():
    texts = newsgroups().data
    bare = newsgroups(remove=("headers", "footers", "quotes")).data
    kept = {"sublinear_tf": True, "min_df": 5, "max_df": 0.5, "stop_words": "english"}
    yield "300 components, no PCA", components(texts, 300)
    X = components(texts, **kept)
    yield "no rare and no stop words, logarithms of counts", X
    yield "the same, rows of length 1", of_length_one(X)
    yield "headers, footers and quotes left out", components(bare)


def judged(maps, y):
    """Return the measures of several maps, and how much strays take from the first."""
    strays = [pieces_of(Y) < 0 for Y in maps]
    groups = [metrics.visible_groups(Y) for Y in maps]
    rest = [
        metrics.silhouette(Y[~away], y[~away])
        for Y, away in zip(maps, strays, strict=True)
        if len(np.unique(y[~away])) > 1
    ]
    return {
        "silhouette": [metrics.silhouette(Y, y) for Y in maps],
        "silhouette without strays": rest,
        "ARI": [float(adjusted_rand_score(y, seen)) for seen in groups],
        "10-NN": [metrics.knn_accuracy(Y, y) for Y in maps],
        "strays": [float(away.mean()) for away in strays],
    }


def by_rules(X, y, seeds, n_neighbors=10, pca_components=100):
    """Yield name and measures of the maps of each rule."""
    params = Parameters(n_neighbors=n_neighbors, pca_components=pca_components)
    problem = prepare(X, params)
    for title, rule in RULES.items():
        maps = [lay_out(problem, params, seed, rule=rule).Y for seed in range(seeds)]
        yield title, judged(maps, y)


def by_trust(X, y, seeds):
    """Yield name and measures of maps with other pairs trusted."""
    params = Parameters()
    problem = prepare(X, params)
    for title, choice in CHOICES.items():
        other = chosen(problem, y, choice)
        maps = [lay_out(other, params, seed).Y for seed in range(seeds)]
        yield f"default, trusted: {title}", judged(maps, y)


def parts(name, seeds):
    """Yield the name of each part and what measures it."""
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    yield "as it is", X, partial(by_rules, X, y, seeds)
    yield "trust", X, partial(by_trust, X, y, seeds)
    for k in NEIGHBORS:
        if k != Parameters().n_neighbors:
            yield f"{k} near pairs", X, partial(by_rules, X, y, seeds, k)
    for recipe, Z in recipes(X):
        yield recipe, Z, partial(by_rules, Z, y, seeds)
    if name == "20ng":
        for recipe, Z in recipes_of_texts():
            full = None if Z.shape[1] > 100 else 100
            yield recipe, Z, partial(by_rules, Z, y, seeds, pca_components=full)


def run(name, seeds):
    _, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    for part, X, measure in parts(name, seeds):
        before = metrics.silhouette(X, y)
        doubt = doubted(prepare(X, Parameters()), y)
        for title, found in measure():
            row = {
                "data": part, "method": title, "seeds": seeds, "rows": len(y),
                "silhouette of the data": before, "doubted": doubt._asdict(), **found,
            }  # fmt: skip
            print(part, title, *cells(row), flush=True)
            yield row


def cells(row):
    names = ("silhouette", "silhouette without strays", "ARI", "10-NN", "strays")
    return [spread(row[name]) for name in names]


def spread(values):
    if not values:
        return "-"
    shown = f"{np.mean(values):.3f}"
    return shown + (f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else "")


def told(rows):
    head = "data | silhouette of the data | doubted, crossing | others | map | "
    head += "silhouette | without strays | ARI of visible groups | 10-NN | strays"
    lines = []
    for row in rows:
        doubt = [f"{row['doubted'][kind]:.0%}" for kind in ("crossing", "others")]
        first = [row["data"], f"{row['silhouette of the data']:.3f}", *doubt]
        lines.append([*first, row["method"], *cells(row)])
    return machine.table(head, lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="20ng")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(arguments)
    rows = list(run(given.dataset, given.seeds))
    text = (
        f"{given.dataset}, {rows[0]['rows']:,} rows, {given.seeds} seeds. Doubted: "
        "shares of the near pairs of two labels, and of the others, that the default "
        "does not trust. Strays are points in no piece of the map. Labels choose pairs "
        f"in the lines that say so, and nowhere else.\n\n{told(rows)}"
    )
    title = "20 Newsgroups: where the silhouette goes"
    machine.save("newsgroups", title, machine.describe(), text, rows)


if __name__ == "__main__":
    main()
