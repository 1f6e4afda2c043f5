"""Counts of a few kinds of cells in two conditions, in the form of Kang's."""

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp

KINDS = ("B", "CD4 T", "Mono")


def counts(n=240, n_genes=150, seed=0):
    """Return a sparse matrix of counts, kinds, and conditions 0 and 1."""
    rng = np.random.default_rng(seed)
    kind, stim = rng.integers(0, len(KINDS), n), rng.integers(0, 2, n)
    rates = np.tile(rng.gamma(0.5, 2.0, n_genes), (n, 1))
    for k in range(len(KINDS)):  # fifteen markers each
        rates[np.ix_(kind == k, range(15 * k, 15 * k + 15))] += 6.0
    rates[np.ix_(stim == 1, range(60, 75))] += 8.0  # what stimulation does to all
    depth = rng.lognormal(0.0, 0.3, (n, 1))
    return sp.csr_matrix(rng.poisson(depth * rates).astype(np.uint16)), kind, stim


def cells(n=240, n_genes=150, seed=0):
    """Return them as AnnData."""
    S, kind, stim = counts(n, n_genes, seed)
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(np.array(KINDS)[kind]),
            "stim": pd.Categorical(np.where(stim == 1, "STIM", "CTRL")),
        },
        index=[f"cell{i}" for i in range(n)],
    )
    var = pd.DataFrame(index=[f"gene{i}" for i in range(n_genes)])
    return anndata.AnnData(S.astype(np.float32), obs=obs, var=var)


def kang_file(path, n=240, n_genes=150):
    """Write counts as ``kang_counts.npz`` holds them."""
    S, kind, stim = counts(n, n_genes)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr}
    names = np.array([f"gene{i}" for i in range(n_genes)])
    np.savez(
        path,
        **parts,
        shape=S.shape,
        genes=names,
        y=kind,
        label_names=np.array(KINDS),
        stim=stim,
    )
