"""The map of the digits: soon after its start, and at the end of each phase."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from localmap import LocalMAP
from localmap.plotting import group_colors

X, y = load_digits(return_X_y=True)
ends = {24: "iteration 25", 99: "end of phase 1", 199: "of phase 2", 449: "of phase 3"}
seen = {}


def keep(iteration, Y, _loss) -> None:
    """Keep the map at the end of each phase."""
    if iteration in ends:
        seen[iteration] = Y


LocalMAP(random_state=0, callback=keep).fit(X)
colors = np.array(group_colors(10))[y]
figure, axes = plt.subplots(1, 4, figsize=(9, 2.7), layout="constrained")
for ax, (iteration, Y) in zip(axes, seen.items(), strict=True):
    ax.scatter(*Y.T, c=colors, s=2, linewidths=0)
    width = np.ptp(Y, axis=0).max()
    ax.set_title(f"{ends[iteration]}\n{width:.0f} units wide", fontsize=10)
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", "datalim")
