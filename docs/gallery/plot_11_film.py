"""
A film of the map forming
=========================

**First the whole, then the neighbours, then the gaps.** The three phases can be
watched: `Film` records a fit, and the page plays it. Drag, zoom, hover; the film starts
below.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from localmap import LocalMAP
from localmap.plotting import Film, page, plot

digits = load_digits()
film = Film(n_frames=30)
Y = LocalMAP(random_state=0, callback=film.callback).fit_transform(digits.data)

figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for ax, frame in zip(axes.flat, film.frames[4::5], strict=False):
    title = f"{frame.iteration + 1}: {film.phase(frame.iteration)}"
    plot(frame.Y, digits.target, ax=ax, names="none", title=title)

# %%

page(Y, digits.target, thumbnails=digits.images, film=film, title="Digits")

# %%
# ``film.save("digits.gif", digits.target)`` writes a film to send around, and the
# command has ``--film map.gif``. What recording costs, by ``python -m
# benchmarks.pictures film``: :doc:`/page`.
