"""The pull of a near pair against its length, as the last phase has it."""

import matplotlib.pyplot as plt
import numpy as np

from localmap.method.adjust import STRENGTH
from localmap.plotting import group_colors

d = np.linspace(0, 20, 500)
t = 1 + d**2
pacmap = d * 20 / (10 + t) ** 2
blue, orange, green = group_colors(3)
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(d, pacmap, color=blue, label="PaCMAP, and trusted pairs")
ax.plot(d, pacmap * 5 / np.sqrt(t), color=orange, label="LocalMAP at the paper's 10")
ax.plot(d, pacmap * STRENGTH / np.sqrt(t), color=green, label="default, not trusted")
ax.set(xlabel="distance of the pair in the map", ylabel="pull", xlim=(0, 20))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
