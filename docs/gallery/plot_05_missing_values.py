"""
A table with missing values
===========================

**What is missing is your decision.** `fit` refuses a table with holes and says where
they are. An imputer in front of it, in one pipeline, decides, and new rows are filled
alike.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import KNNImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from localmap import LocalMAP
from localmap.metrics import knn_accuracy
from localmap.plotting import compare

# 569 tumours, 30 measurements in different units; scikit-learn's table has no holes, so
# one cell in six is taken out here.
data = load_breast_cancer(as_frame=True)
table, y = data.data, data.target_names[data.target]
holes = np.random.default_rng(0).random(table.shape) < 1 / 6
patchy = table.mask(holes)

try:
    LocalMAP().fit(patchy)
except ValueError as error:
    print(error)

# %%
# Columns come to one scale first, so that neighbours do not depend on units.


def mapper():
    return make_pipeline(StandardScaler(), KNNImputer(), LocalMAP(random_state=0))


maps = {
    "the whole table": mapper().fit_transform(table),
    "one cell in six filled in": mapper().fit_transform(patchy),
}
compare(maps, y, names="legend")
for name, Y in maps.items():
    print(f"{name}: {knn_accuracy(Y, y):.1%} lie among their own diagnosis")

# %%
# The command does it with ``--missing median``, and says what it filled in:
# :doc:`/command`.
