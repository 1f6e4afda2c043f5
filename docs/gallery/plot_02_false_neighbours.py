"""
False neighbours
================

**A map can be no better than its graph, unless it doubts the graph.** Some near pairs
join images of different digits. PaCMAP pulls them together like all others; LocalMAP
stops trusting those that become long, and the groups that they held together come
apart.
"""

import numpy as np

from localmap import LocalMAP, PaCMAP, datasets
from localmap.plotting import compare

# MNIST where it is at hand (``$LOCALMAP_DATA``); else scikit-learn's smaller digits.
name = "mnist" if datasets.is_here("mnist") else "digits"
data = datasets.load(name)
print(f"{name}: {data.description}, {len(data.X):,} images")

pacmap = PaCMAP(random_state=0).fit(data.X)
localmap = LocalMAP(random_state=0).fit(data.X)
compare(
    {"PaCMAP": pacmap.embedding_, "LocalMAP": localmap.embedding_},
    data.y,
    names="map",
)

# %%
# How long are pairs of different digits, against pairs of the same? The graph is the
# same for both maps.

near = localmap.kneighbors(10)
false = data.y[near] != data.y[:, None]
print(f"{false.mean():.1%} of the near pairs join different digits")
for model in (pacmap, localmap):
    Y = model.embedding_
    length = np.linalg.norm(Y[near] - Y[:, None], axis=2)
    ratio = np.median(length[false]) / np.median(length[~false])
    print(f"{type(model).__name__}: false pairs are {ratio:.1f} times as long as true")

# %%
# Which pairs are false can be told without labels, up to a point:
# :doc:`/reading-a-map`, measured by ``python -m benchmarks.trust edges`` (:doc:`figures
# </results/trust>`).
