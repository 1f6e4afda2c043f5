"""
In a pipeline, before a classifier
==================================

**Two numbers can stand for sixty-four, and cross-validation stays honest.** In each
fold the map is fitted on the training rows alone, and the rows held back are placed in
it.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from localmap import LocalMAP
from localmap.plotting import group_colors

X, y = load_digits(return_X_y=True)
pipeline = make_pipeline(LocalMAP(random_state=0), KNeighborsClassifier(10))
with_map = cross_val_score(pipeline, X, y, cv=5).mean()
without = cross_val_score(KNeighborsClassifier(10), X, y, cv=5).mean()
print(f"ten neighbours on 64 pixels {without:.3f}, on the map {with_map:.3f}")

# %%
# Which digit the classifier sees where, and the rows that were held back.

X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
pipeline.fit(X_train, y_train)
Y = pipeline[0].transform(X_test)
low, high = Y.min(axis=0) - 3, Y.max(axis=0) + 3
grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
seen = pipeline[1].predict(grid.reshape(-1, 2).astype("float32")).reshape(300, 300)

colors = group_colors(10)
figure, ax = plt.subplots(figsize=(7.2, 6.4), layout="constrained")
area = ListedColormap([(*color, 0.25) for color in colors])
ax.pcolormesh(*np.moveaxis(grid, -1, 0), seen, cmap=area, shading="nearest")
right = pipeline[1].predict(Y) == y_test
ax.scatter(*Y[right].T, c=np.array(colors)[y_test[right]], s=10, linewidths=0)
wrong = ~right
ax.scatter(*Y[wrong].T, c=np.array(colors)[y_test[wrong]], s=50, marker="X", ec="k")
for digit in range(10):
    ax.annotate(digit, np.median(Y[y_test == digit], axis=0), fontsize=16, weight=700)
ax.set(xticks=[], yticks=[], title=f"{wrong.sum()} of {len(Y)} held back are misread")

# %%
# The accuracy of a map says that kinds do not overlap in it, not that a classifier
# should read maps. Every measure, on seven sets: :doc:`/results/bench/report`, by
# ``localmap bench paper``.
