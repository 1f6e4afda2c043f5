"""Cells in AnnData: quality beside scanpy's maps, time, and memory of a large file.

``python -m benchmarks.cells [--parts quality time memory] [--rounds 3]``. Quality:
Kang's raw counts by `pp.recipe` with and without batches, and the integrated components
that the paper's authors used, each mapped by us and by scanpy from the same numbers.
Time: from components to map, ours against ``sc.pp.neighbors`` + ``sc.tl.umap``, all
compiled before. Memory: a generated ``.h5ad`` of 500,000 x 2,000 counts, 5 % filled,
each way in a process of its own; the backed ones are what ``localmap embed`` does.
"""

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

import anndata
import numpy as np
import pandas as pd
import scanpy as sc
import scipy.sparse as sp
from scipy.optimize import brentq
from sklearn.neighbors import NearestNeighbors

import localmap
from benchmarks import data, machine
from localmap.bench.machine import peak_mb
from localmap.cells.files import read_cells, write_cells
from localmap.metrics import silhouette

MAP_NEIGHBORS = 30
SEED = 0
COMPILED_BY = 5000  # cells: UMAP's search is another one above 4,096
EXPLAINED = (
    f"Maps of Kang's cells, one seed. Mixing: neighbours among the {MAP_NEIGHBORS} "
    "nearest in the map that come from the other stimulation group, as a share of what "
    "chance gives (1: well mixed, 0: apart).\n"
)


def kang():
    """Raw counts with the labels that the paper's authors used."""
    with np.load(Path(os.environ["LOCALMAP_DATA"]) / "kang_counts.npz") as archive:
        parts = (archive["data"], archive["indices"], archive["indptr"])
        counts = sp.csr_matrix(parts, shape=tuple(archive["shape"]))
        genes = archive["genes"]
    with np.load(Path(os.environ["LOCALMAP_DATA"]) / "kang.npz") as archive:
        obs = {
            "cell_type": archive["label_names"][archive["y"]],
            "stim": np.where(archive["stim"] == 1, "STIM", "CTRL"),
        }
        integrated = archive["X"][:, :50]
    index = [f"cell{i}" for i in range(counts.shape[0])]
    cells = anndata.AnnData(
        counts,
        obs=pd.DataFrame(obs, index=index, dtype="category"),
        var=pd.DataFrame(index=genes),
    )
    cells.obsm["X_integrated"] = np.ascontiguousarray(integrated)
    return cells


def representations():
    """Yield names and cells whose X_pca is the representation."""
    cells = kang()
    for batch_key, name in (
        (None, "recipe, no batches"),
        ("stim", "recipe, batch_key='stim' (ComBat)"),
    ):
        made = localmap.pp.recipe(cells, batch_key=batch_key, copy=True)
        yield name, made
    given = anndata.AnnData(obs=cells.obs, obsm={"X_pca": cells.obsm["X_integrated"]})
    yield "integrated components (paper: 0.60)", given


def umap(adata):
    sc.pp.neighbors(adata, use_rep="X_pca", random_state=SEED)
    sc.tl.umap(adata, random_state=SEED)


def by_graph(n_neighbors):
    def run(adata):
        sc.pp.neighbors(adata, n_neighbors, use_rep="X_pca", random_state=SEED)
        localmap.tl.localmap(adata, neighbors_key="neighbors")

    return run


METHODS = {
    "tl.localmap": (localmap.tl.localmap, "X_localmap"),
    "tl.localmap, proximal_distance=10": (
        lambda a: localmap.tl.localmap(a, proximal_distance=10.0),
        "X_localmap",
    ),
    "tl.localmap, scanpy's graph of 15": (by_graph(15), "X_localmap"),
    "tl.localmap, scanpy's graph of 61": (by_graph(61), "X_localmap"),
    "tl.pacmap": (localmap.tl.pacmap, "X_pacmap"),
    "sc.tl.umap": (umap, "X_umap"),
    "sc.tl.tsne": (
        lambda a: sc.tl.tsne(a, use_rep="X_pca", random_state=SEED),
        "X_tsne",
    ),
}


def mixing(Y, batch):
    """Neighbours in the map from the other group, as a share of what chance gives."""
    search = NearestNeighbors(n_neighbors=MAP_NEIGHBORS).fit(Y)
    nearest = search.kneighbors(return_distance=False)
    other = (batch[nearest] != batch[:, None]).mean()
    shares = np.unique(batch, return_counts=True)[1] / len(batch)
    return other / (1 - (shares**2).sum())


def quality(methods):
    for name, adata in representations():
        kind, stim = (adata.obs[c].to_numpy() for c in ("cell_type", "stim"))
        for method in methods:
            run, key = METHODS[method]
            with warnings.catch_warnings():  # that 15 neighbours are few is the point
                warnings.simplefilter("ignore")
                run(adata)
            Y = adata.obsm[key]
            yield {
                "data": name,
                "method": method,
                "silhouette": float(silhouette(Y, kind)),
                "mixing": float(mixing(Y, stim)),
            }


def timed(run, adata):
    start = time.perf_counter()
    run(adata)
    return time.perf_counter() - start


def generated(n):
    X, _ = data.load(f"mixture{n}")
    return anndata.AnnData(
        obs=pd.DataFrame(index=map(str, range(n))), obsm={"X_pca": X}
    )


def times(rounds, n_generated):
    few = generated(COMPILED_BY)
    for run in (localmap.tl.localmap, umap):
        run(few)
    kang_cells = next(representations())[1]
    for name, adata, n_rounds in (
        ("Kang, 13,999 x 50", kang_cells, rounds),
        (
            f"generated, {n_generated:,} x 50",
            generated(n_generated),
            max(1, rounds - 2),
        ),
    ):
        seconds = {"tl.localmap": [], "sc.pp.neighbors + sc.tl.umap": []}
        for _ in range(n_rounds):
            seconds["tl.localmap"].append(timed(localmap.tl.localmap, adata))
            seconds["sc.pp.neighbors + sc.tl.umap"].append(timed(umap, adata))
        for method, runs in seconds.items():
            yield {"data": name, "method": method, "seconds": runs}


def write_counts(path, n, n_genes, filled):
    """Write sparse counts of groups of cells, block by block."""
    rng = np.random.default_rng(0)
    blocks = []
    rates = rng.gamma(0.3, 1.0, (20, n_genes))
    rates *= brentq(lambda c: (1 - np.exp(-c * rates)).mean() - filled, 1e-6, 1e3)
    for start in range(0, n, 10_000):
        kind = rng.integers(0, 20, min(10_000, n - start))
        blocks.append(sp.csr_matrix(rng.poisson(rates[kind]).astype(np.float32)))
    adata = anndata.AnnData(sp.vstack(blocks, format="csr"))
    adata.obs["stim"] = pd.Categorical(rng.choice(["a", "b"], n))
    share = adata.X.nnz / adata.X.shape[0] / adata.X.shape[1]
    adata.write_h5ad(path)
    return share


def in_memory(folder):
    adata = read_cells(folder / "cells.h5ad")
    localmap.pp.recipe(adata)
    localmap.tl.localmap(adata)
    write_cells(folder / "map.h5ad", adata)


def backed(folder):
    adata = read_cells(folder / "cells.h5ad", backed=True, layers=False)
    localmap.pp.recipe(adata)
    localmap.tl.localmap(adata)
    write_cells(folder / "backed.h5ad", adata)


def backed_with_components(folder):
    """What the first way has written has X_pca."""
    adata = read_cells(folder / "map.h5ad", backed=True, layers=False)
    localmap.tl.localmap(adata)
    write_cells(folder / "again.h5ad", adata)


WAYS = {
    "read, pp.recipe, tl.localmap, write": in_memory,
    "backed, raw counts: recipe in blocks, tl.localmap, write": backed,
    "backed with X_pca: tl.localmap, write": backed_with_components,
}


def memory(n, n_genes=2000):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "cells.h5ad"
        # In a process of its own, so that it leaves nothing behind in this one.
        share = machine.fresh(write_counts, path, n, n_genes, 0.05)
        size = path.stat().st_size / 2**30
        for way in WAYS:
            seconds, peak = machine.fresh(one_way, way, folder)
            yield {
                "data": f"{n:,} x {n_genes:,}, {share:.1%} filled, {size:.2f} GB",
                "method": way,
                "seconds": seconds,
                "peak_gb": peak,
            }


def one_way(way, folder):
    """Return seconds, and the most that this process has held, in GB."""
    start = time.perf_counter()
    WAYS[way](folder)
    return time.perf_counter() - start, peak_mb() / 1024


def table(rows):
    lines = []
    if any("silhouette" in row for row in rows):
        lines += [
            EXPLAINED,
            "| representation | map | silhouette by cell type | mixing |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {r['data']} | {r['method']} | {r['silhouette']:.2f} "
            f"| {r['mixing']:.2f} |"
            for r in rows
            if "silhouette" in r
        ]
    timings = [r for r in rows if isinstance(r.get("seconds"), list)]
    if timings:
        lines += ["\nFrom components to map, median (and range).\n"]
        lines += ["| data | method | seconds |", "|---|---|---|"]
        for r in timings:
            s = r["seconds"]
            spread = f"{median(s):.1f} ({min(s):.1f}-{max(s):.1f}, {len(s)} runs)"
            lines.append(f"| {r['data']} | {r['method']} | {spread} |")
    large = [r for r in rows if "peak_gb" in r]
    if large:
        lines += [
            "\nA large file, each way in a process of its own, imports included.\n"
        ]
        lines += ["| file | way | seconds | peak memory, GB |", "|---|---|---|---|"]
        lines += [
            f"| {r['data']} | {r['method']} | {r['seconds']:.0f} | {r['peak_gb']:.1f} |"
            for r in large
        ]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("quality", "time", "memory")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--generated", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--note", default="", help="what else the machine did")
    parser.add_argument("--genes", type=int, default=2000)
    asked = parser.parse_args(argv)
    parts = {
        "quality": lambda: quality(asked.methods),
        "time": lambda: times(asked.rounds, asked.generated),
        "memory": lambda: memory(asked.rows, asked.genes),
    }
    described = machine.describe("anndata", "scanpy", "umap-learn", "scikit-learn")
    for part in asked.parts:
        for row in parts[part]():  # kept one by one: the whole takes long
            rows = machine.merged("cells", [row])
            text = table(rows) + (f"\n\n{asked.note}" if asked.note else "")
            title = "Cells in AnnData, beside scanpy's maps"
            machine.save("cells", title, described, text, rows)


if __name__ == "__main__":
    main()
