"""Real data from ``$LOCALMAP_DATA`` and scikit-learn, and mixtures of any size."""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

FOLDER = Path(os.environ.get("LOCALMAP_DATA", "../shared/data"))
MIXTURE = "mixture"


def load(name):
    """Return X and y.

    Kang's first 50 components, as in the paper; covtype with standardised columns;
    ``coil20_unit`` and ``mnist_unit`` have pixels from 0 to 1; ``mixture100000`` is a
    generated mixture of 200 groups with 50 columns, ``mixture100000x100`` one with 100.
    """
    if name == "digits":
        return load_digits(return_X_y=True)
    if name.startswith(MIXTURE):
        n, _, columns = name.removeprefix(MIXTURE).partition("x")
        return mixture(int(n), columns=int(columns or 50))
    path = FOLDER / f"{name.removesuffix('_unit')}.npz"
    if not path.exists():
        msg = f"{path} is not there; set LOCALMAP_DATA to the folder that has it"
        raise SystemExit(msg)
    with np.load(path) as archive:
        X = archive["X"]
        y = archive["y"] if "y" in archive.files else None
    if name == "kang":
        X = np.ascontiguousarray(X[:, :50])
    if name == "covtype":
        X = X.astype(np.float32)
        X -= X.mean(axis=0)
        X /= X.std(axis=0)
    if name.endswith("_unit"):
        X = X.astype(np.float32) / 255
    return X, y


def mixture(n, groups=200, columns=50):
    """Gaussian groups of different sizes and spreads.

    Those of `localmap.bench`, which must not be imported before its first use is timed.
    """
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((groups, columns), dtype=np.float32)
    spreads = rng.uniform(0.5, 1.5, groups).astype(np.float32)
    shares = rng.dirichlet(np.full(groups, 5.0))
    y = rng.choice(groups, n, p=shares)
    X = rng.standard_normal((n, columns), dtype=np.float32)
    X *= spreads[y, None]
    X += centres[y]
    return X, y
