"""The tutorial runs as it stands, on a small file of the form it speaks of."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scanpy", reason="needs the extra anndata")

from generated_cells import kang_file

TUTORIAL = Path(__file__).parent.parent / "docs" / "cells.md"


# Not ours: what scanpy, anndata and what they import say about each other.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_the_tutorial_runs_and_its_conclusions_hold(tmp_path, monkeypatch):
    import matplotlib as mpl

    mpl.use("agg")
    kang_file(tmp_path / "kang_counts.npz", n=600)
    monkeypatch.setenv("LOCALMAP_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(), flags=re.DOTALL)
    assert len(blocks) > 5
    names = {}
    for block in blocks:
        exec(compile(block, "cells.md", "exec"), names)  # noqa: S102
    mixing, plain, mixed = names["mixing"], names["plain"], names["mixed"]
    assert mixing(plain) < 0.2
    assert mixing(mixed) > 0.6
    own = {"B": 0, "CD4 T": 15, "Mono": 30}  # where the markers of each were put
    for kind, first in own.items():
        wanted = {f"gene{i}" for i in range(first, first + 15)}
        assert set(names["markers"][kind][:10]) <= wanted
    assert names["query"].obs["localmap_far"].mean() < 0.1
    assert np.isfinite(names["query"].obsm["X_localmap"]).all()
    for written in ("plain.png", "mixed.png", "kang_map.h5ad", "atlas.localmap"):
        assert (tmp_path / written).stat().st_size > 1000
