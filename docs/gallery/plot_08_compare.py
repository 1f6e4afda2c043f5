"""
Methods side by side
====================

**No one number tells the best map.** One method keeps the nearest rows, another the
large distances, a third takes groups apart: look at several measures of the same maps,
and at more than one set.
"""

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from localmap import LocalMAP, PaCMAP, metrics
from localmap.plotting import compare

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]  # t-SNE takes its time
methods = {
    "PCA": PCA(2),
    "t-SNE": TSNE(random_state=0, n_jobs=-1),
    "PaCMAP": PaCMAP(random_state=0),
    "LocalMAP": LocalMAP(random_state=0),
}
maps = {name: method.fit_transform(X) for name, method in methods.items()}
compare(maps, y, names="map")

# %%

measures = {
    "silhouette": lambda Y: metrics.silhouette(Y, y),
    "ten neighbours": lambda Y: metrics.knn_accuracy(Y, y),
    "groups seen (ARI)": lambda Y: metrics.visible_agreement(Y, y),
    "neighbours kept": lambda Y: metrics.preservation(X, Y),
    "triplets": lambda Y: metrics.random_triplets(X, Y),
}
pd.DataFrame(
    {name: [measure(Y) for measure in measures.values()] for name, Y in maps.items()},
    index=list(measures),
).T.round(3)

# %%
# One seed of one set. Every method that you have installed, with tests of what is not
# different: ``localmap bench quick``. The paper's twelve methods on seven sets:
# :doc:`/results/bench/report`.
