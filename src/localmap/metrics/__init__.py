"""Numbers that tell how good a map is.

With labels: `silhouette`, `knn_accuracy`, `svm_accuracy`, `visible_agreement`,
`splits_and_merges`. With the data: `trustworthiness`, `continuity`, `preservation`,
`random_triplets`; with both `centroid_triplets`. With the map alone: `visible_groups`,
`pieces`. With several maps of the same rows: `agreement`. `score` gives all that can be
told from what it is given.

What costs more than about n log n is computed from a sample above a stated size; the
sample depends on `random_state` alone, and the error it makes is stated.
"""

from localmap.metrics.clusters import (
    CUTS_AGREE,
    Agreement,
    Pieces,
    SplitsAndMerges,
    agreement,
    pieces,
    splits_and_merges,
    visible_agreement,
    visible_groups,
)
from localmap.metrics.scorecard import MEASURES, measured, score
from localmap.metrics.structure import (
    centroid_triplets,
    continuity,
    kept,
    preservation,
    random_triplets,
    trustworthiness,
)
from localmap.metrics.supervised import knn_accuracy, silhouette, svm_accuracy

__all__ = [
    "CUTS_AGREE",
    "MEASURES",
    "Agreement",
    "Pieces",
    "SplitsAndMerges",
    "agreement",
    "centroid_triplets",
    "continuity",
    "kept",
    "knn_accuracy",
    "measured",
    "pieces",
    "preservation",
    "random_triplets",
    "score",
    "silhouette",
    "splits_and_merges",
    "svm_accuracy",
    "trustworthiness",
    "visible_agreement",
    "visible_groups",
]
