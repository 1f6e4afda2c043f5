"""Real data from ``$LOCALMAP_DATA`` and scikit-learn."""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

FOLDER = Path(os.environ.get("LOCALMAP_DATA", "../shared/data"))


def load(name):
    """Return X and y; Kang's first 50 components, as in the paper."""
    if name == "digits":
        return load_digits(return_X_y=True)
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        msg = f"{path} is not there; set LOCALMAP_DATA to the folder that has it"
        raise SystemExit(msg)
    with np.load(path) as archive:
        X = archive["X"]
        y = archive["y"] if "y" in archive.files else None
    return (X[:, :50] if name == "kang" else X), y
