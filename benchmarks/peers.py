"""Peers that need more than a call."""

import numpy as np


def brisc_cells(Z, threads):
    """Return Z as the table of cells that brisc works on."""
    import polars as pl
    from brisc import SingleCell
    from scipy.sparse import csr_array

    names = pl.Series("id", np.arange(len(Z))).cast(pl.String)
    return SingleCell(
        X=csr_array((len(Z), 1), dtype=np.float32),
        obs=pl.DataFrame({"id": names}),
        var=pl.DataFrame({"gene": ["g"]}),
        obsm={"pca": Z},
        num_threads=threads,
    )
