"""
Large data, little memory
=========================

**Where the numbers lie does not change the map.** A file on disk and a limit of memory
give the same bits as an array: rows and neighbours go to files where they would take
too much.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from localmap import LocalMAP
from localmap.plotting import plot

# 50,000 rows, so that this page is built in a minute; the figures below have
# 10,000,000.
X, y = make_blobs(50_000, 50, centers=40, cluster_std=4.0, random_state=0)
path = Path(tempfile.mkdtemp()) / "large.npy"
np.save(path, X.astype(np.float32))

# In memory 645 MB would be needed, most of them for the program itself.
mapped = np.load(path, mmap_mode="r")
Y = LocalMAP(memory_limit="640MB", random_state=0).fit_transform(mapped)
plot(Y, y, title="50,000 rows from a file", names="none")

# %%

in_memory = LocalMAP(random_state=0).fit_transform(np.load(path))
print("the same bits:", np.array_equal(Y, in_memory))

# %%
# 10,000,000 rows within 4 GB, Zarr, Parquet, Dask and workers that die: :doc:`/scale`,
# measured by ``python -m benchmarks.beyond_memory`` (:doc:`figures
# </results/beyond_memory>`).
