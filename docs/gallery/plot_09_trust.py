"""
Trust in groups
===============

**A gap in a map is a question.** `trust.groups` asks the data: the digits' groups are
theirs, those of a cloud without groups are the seed's. It sees no labels.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from localmap import datasets, trust
from localmap.plotting import outlines

judged = {}
digits, cloud = load_digits().data, datasets.one_piece("gauss5", 1000)
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for X, name, ax in zip((digits, cloud), ("digits", "a Gaussian"), axes, strict=True):
    found = judged[name] = trust.groups(X, runs=6)
    solid = [group.solid for group in found.groups]
    outlines(found.Y, found.labels, solid, ax=ax, title=name)
    print(f"{name}: {found.headline}")

# %%
# What it says of one group, to be quoted:

print(judged["digits"].groups[0].sentence)

# %%
# How often this is right, and where it fails: :doc:`/reading-a-map`; measured by
# ``python -m benchmarks.trust``: :doc:`figures </results/trust>`.
