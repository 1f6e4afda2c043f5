"""
New rows and a saved model
==========================

**A map is a model.** Fitted once, saved in a file that executes nothing, it places rows
that come later, and says of each whether it belongs there at all.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import localmap
from localmap.plotting import plot

X, y = load_digits(return_X_y=True)
path = Path(tempfile.mkdtemp()) / "digits.localmap"
localmap.LocalMAP(random_state=0).fit(X[:1500]).save(path)
print(f"{path.name}: {path.stat().st_size / 1e3:.0f} KB")

# %%
# Later, elsewhere: 297 new digits, and the same as negatives, which are no digits.

model = localmap.load(path)
Y_new, distance = model.transform(X[1500:], return_distance=True)
Y_odd, distance_odd = model.transform(16 - X[1500:], return_distance=True)

figure, ax = plt.subplots(figsize=(7.2, 6.4), layout="constrained")
ax.scatter(*model.embedding_.T, s=4, color="0.8", linewidths=0, label="seen")
plot(Y_new, y[1500:], ax=ax, title="297 new digits", size=14)
ax.scatter(*Y_odd.T, s=18, marker="x", linewidths=0.8, color="0.2", label="negatives")
ax.legend(loc="lower right", frameon=False)

# %%
# A distance of about 1 is that of rows like those seen; 5 % of these are beyond the
# limit. The digits that come last are somewhat unlike those before, and told so.

limit = model.far_distance_
print(f"new digits beyond {limit:.2f}: {(distance > limit).mean():.0%}")
print(f"negatives beyond it: {(distance_odd > limit).mean():.0%}")

# %%
# Time and accuracy beside pacmap and umap-learn, by ``localmap bench transform``:
# :doc:`figures </results/transform/report>`.
