"""
Handwritten digits
==================

**A map needs no settings.** 1,797 images of 8 x 8 pixels become points; the digits,
which the map never saw, are its colours.
"""

from sklearn.datasets import load_digits

from localmap import LocalMAP
from localmap.metrics import knn_accuracy, silhouette
from localmap.plotting import plot

X, y = load_digits(return_X_y=True)
Y = LocalMAP(random_state=0).fit_transform(X)
plot(Y, y, title="1,797 handwritten digits")

# %%
# How far do the digits stand apart, and how many points lie among their own?

print(f"silhouette {silhouette(Y, y):.2f}, ten neighbours {knn_accuracy(Y, y):.3f}")

# %%
# Twelve methods on this and six other sets, by ``localmap bench paper``: :doc:`the
# report </results/bench/report>`.
