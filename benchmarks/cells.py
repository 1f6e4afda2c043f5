"""Cells in AnnData: quality beside scanpy's maps, time, and memory of a large file.

``python -m benchmarks.cells [--parts quality time memory] [--rounds 3]``. Quality:
Kang's raw counts by `pp.recipe` with and without batches, and the integrated components
that the paper's authors used, each mapped by us and by scanpy from the same numbers.
Time: from components to map, ours against ``sc.pp.neighbors`` + ``sc.tl.umap``, all
compiled before. Memory: a generated ``.h5ad`` of 500,000 x 2,000 counts, 5 % filled,
each way in a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
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
from localmap.cells.files import read_cells, write_cells
from localmap.metrics import silhouette

MAP_NEIGHBORS = 30
SEED = 0
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
    few = generated(5000)  # compiles what UMAP and its search need above 4,096 rows
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
    """What the first way has written has X_pca."""
    adata = read_cells(folder / "map.h5ad", backed=True)
    localmap.tl.localmap(adata)
    write_cells(folder / "again.h5ad", adata)


WAYS = {
    "read, pp.recipe, tl.localmap, write": in_memory,
    "backed with X_pca: tl.localmap, write": backed,
}


def memory(n):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own, so that it leaves nothing behind in this one.
        share = float(_own_process("write", folder, n)["share"])
        size = (folder / "cells.h5ad").stat().st_size / 2**30
        for way in WAYS:
            yield {
                "data": f"{n:,} x 2,000, {share:.1%} filled, {size:.2f} GB",
                "method": way,
                **_own_process(way, folder, n),
            }


def _own_process(way, folder, n):
    command = [sys.executable, "-m", "benchmarks.cells", "--way", way]
    command += ["--folder", str(folder), "--rows", str(n)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def one_way(way, folder, n):
    start = time.perf_counter()
    result = {}
    if way == "write":
        result["share"] = write_counts(folder / "cells.h5ad", n, 2000, 0.05)
    else:
        WAYS[way](folder)
    result["seconds"] = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result["peak_gb"] = peak / 2**20
    print(json.dumps(result))


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


def main():
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
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way is not None:
        one_way(asked.way, asked.folder, asked.rows)
        return
    parts = {
        "quality": lambda: quality(asked.methods),
        "time": lambda: times(asked.rounds, asked.generated),
        "memory": lambda: memory(asked.rows),
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
