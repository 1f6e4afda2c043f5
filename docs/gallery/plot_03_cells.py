"""
Cells, from counts to a map
===========================

**Look for the batch before you look for biology.** Two calls take raw counts to a map;
the third, with the batch named, shows which groups were cells and which were
conditions.
"""

import os
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import localmap
from localmap.plotting import plot

# %%
# Kang's 13,999 cells where their counts are at hand (``$LOCALMAP_DATA``); else
# generated counts of the same kind: six types of cells, half of them stimulated.


def generated(n=1200, n_genes=400, seed=0):
    rng = np.random.default_rng(seed)
    kind, stim = rng.integers(0, 6, n), rng.integers(0, 2, n)
    rates = np.tile(rng.gamma(0.5, 2.0, n_genes), (n, 1))
    for k in range(6):  # twenty markers of each type
        rates[np.ix_(kind == k, range(20 * k, 20 * k + 20))] += 5.0
    rates[np.ix_(stim == 1, range(200, 230))] += 6.0  # what stimulation does to all
    depth = rng.lognormal(0.0, 0.3, (n, 1))
    return csr_matrix(rng.poisson(depth * rates)), kind, stim, list("ABCDEF")


path = Path(os.environ.get("LOCALMAP_DATA", "")) / "kang_counts.npz"
if path.is_file():
    with np.load(path, allow_pickle=False) as file:
        parts = file["data"], file["indices"], file["indptr"]
        counts = csr_matrix(parts, shape=tuple(file["shape"]))
        kind, stim, kinds = file["y"], file["stim"], file["label_names"]
else:
    counts, kind, stim, kinds = generated()
print(f"{'Kang' if path.is_file() else 'generated'}: {counts.shape[0]:,} cells")

obs = pd.DataFrame({"type": np.array(kinds)[kind], "batch": stim.astype(str)})
cells = anndata.AnnData(counts.astype("float32"), obs=obs.set_index(obs.index.map(str)))

# %%
# Once as they are, once with what the condition does to all cells alike taken out.

plain, mixed = cells.copy(), cells.copy()
localmap.pp.recipe(plain)
localmap.tl.localmap(plain)
localmap.pp.recipe(mixed, batch_key="batch")
localmap.tl.localmap(mixed)

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
stimulated = np.where(stim == 1, "stimulated", "control")
drawn = {"as they are": plain, "condition taken out": mixed}
for ax, (title, adata) in zip(axes, drawn.items(), strict=True):
    plot(adata.obsm["X_localmap"], stimulated, ax=ax, title=title, names="legend")

# %%
# The whole walk, with markers, new cells and what not to conclude: :doc:`/cells`. Time
# and memory beside scanpy's maps, by ``python -m benchmarks.cells``: :doc:`figures
# </results/cells>`.
