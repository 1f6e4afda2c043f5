"""The data sets by name: what each is, where it comes from, how to get it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from localmap.cells.log_counts import counts_to_components
from localmap.datasets.files import DatasetError, cache_folder, folders, read_npz
from localmap.datasets.recipes import text_to_components, text_to_tfidf


@dataclass(frozen=True)
class Entry:
    """What is known of a set, and how to get it."""

    description: str
    source: str
    licence: str = "see the source"
    url: str = ""
    fetch: Callable[[Entry], tuple[Any, Any]] | None = None
    sha256: str = ""  # of the numbers of X, row by row


def _digits(entry: Entry) -> tuple[Any, Any]:
    del entry
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y


def _openml(number: int) -> Callable[[Entry], tuple[Any, Any]]:
    def fetch(entry: Entry) -> tuple[Any, Any]:
        del entry
        from sklearn.datasets import fetch_openml

        found = fetch_openml(data_id=number, as_frame=False, parser="liac-arff")
        X = found.data
        whole = (np.round(X) == X).all() and X.min() >= 0 and X.max() <= 255
        y = np.asarray(found.target).astype(str)
        return X.astype(np.uint8 if whole else np.float32), y

    return fetch


def _covtype(entry: Entry) -> tuple[Any, Any]:
    del entry
    from sklearn.datasets import fetch_covtype

    X, y = fetch_covtype(return_X_y=True)
    return X.astype(np.int16), y


def newsgroups(remove: tuple[str, ...] = ()) -> Any:
    """Return the texts as scikit-learn gives them, from beside our data if there."""
    from sklearn.datasets import fetch_20newsgroups

    given = os.environ.get("LOCALMAP_DATA")
    home = Path(given) / "skdata" if given else None
    beside = home if home is not None and home.exists() else None
    return fetch_20newsgroups(
        data_home=None if beside is None else str(beside), subset="all", remove=remove
    )


def _newsgroup_components(entry: Entry) -> tuple[Any, Any]:
    del entry
    found = newsgroups()
    return text_to_components(found.data), found.target


def _newsgroup_words(entry: Entry) -> tuple[Any, Any]:
    del entry
    found = newsgroups()
    return text_to_tfidf(found.data), found.target


def _kang_components(entry: Entry) -> tuple[Any, Any]:
    del entry
    for folder in folders():
        path = folder / "kang_counts.npz"
        if path.exists():
            counts, y = read_npz(path)
            return counts_to_components(counts), y
    msg = "the raw counts, kang_counts.npz, are not there either"
    raise DatasetError(msg)


@contextmanager
def _download(url: str) -> Iterator[bytes]:
    """Fetch a file, for as long as something is made of it."""
    import pooch

    path = Path(
        pooch.retrieve(
            url, known_hash=None, path=cache_folder() / "downloads", progressbar=True
        )
    )
    try:
        yield path.read_bytes()
    finally:
        path.unlink(missing_ok=True)  # what is made of it goes to the cache


def _coil20(entry: Entry) -> tuple[Any, Any]:
    """Images of objects, sorted by object and pose."""
    from PIL import Image

    images = {}
    with (
        _download(entry.url) as data,
        zipfile.ZipFile(io.BytesIO(data)) as archive,
    ):
        for member in archive.namelist():
            stem, _, ending = Path(member).name.partition(".")
            if ending == "png":
                thing, pose = stem.removeprefix("obj").split("__")
                with archive.open(member) as file:
                    pixels = np.asarray(Image.open(file).convert("L")).ravel()
                images[int(thing) - 1, int(pose)] = pixels
    order = sorted(images)
    X = np.array([images[key] for key in order], dtype=np.uint8)
    return X, np.array([thing for thing, _ in order], dtype=np.uint8)


def _mammoth(entry: Entry) -> tuple[Any, Any]:
    with _download(entry.url) as data:
        points = json.loads(data)
    return np.array(points, dtype=np.float32), None


ENTRIES: Final[dict[str, Entry]] = {
    "digits": Entry(
        "Handwritten digits, 8 x 8 pixels",
        "scikit-learn's load_digits (UCI, Alpaydin and Kaynak)",
        "CC BY 4.0",
        fetch=_digits,
    ),
    "mnist": Entry(
        "70,000 handwritten digits, 28 x 28 pixels",
        "LeCun, Cortes, Burges; OpenML 554",
        "CC BY-SA 3.0",
        fetch=_openml(554),
    ),
    "fmnist": Entry(
        "70,000 garments, 28 x 28 pixels",
        "Xiao, Rasul, Vollgraf (Zalando); OpenML 40996",
        "MIT",
        fetch=_openml(40996),
    ),
    "usps": Entry(
        "9,298 digits from envelopes, 16 x 16 pixels",
        "Hull (1994); OpenML 41082",
        fetch=_openml(41082),
    ),
    "coil20": Entry(
        "20 objects from 72 sides each, 128 x 128 pixels",
        "Nene, Nayar, Murase (1996), Columbia University",
        "for research",
        url="http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/"
        "coil-20/coil-20-proc.zip",
        fetch=_coil20,
        sha256="7274cbacb79ea6c57340827c9f9301745a8e9b3173dea4aa828e00b49c42946c",
    ),
    "20ng": Entry(
        "18,846 posts to 20 newsgroups: 100 components of their TF-IDF",
        "Lang (1995); scikit-learn's fetch_20newsgroups",
        fetch=_newsgroup_components,
    ),
    "20ng_words": Entry(
        "18,846 posts to 20 newsgroups: TF-IDF, a sparse matrix",
        "Lang (1995); scikit-learn's fetch_20newsgroups",
        fetch=_newsgroup_words,
    ),
    "kang": Entry(
        "13,999 blood cells, half of them given interferon beta: 50 components",
        "Kang et al. (2018), GEO GSE96583",
        fetch=_kang_components,
    ),
    "kang_counts": Entry(
        "The cells of kang: raw counts of genes, a sparse matrix",
        "Kang et al. (2018), GEO GSE96583",
    ),
    "seurat": Entry(
        "30,672 bone marrow cells (CITE-seq): principal components",
        "Stuart et al. (2019), GEO GSE128639; the set bmcite of SeuratData",
    ),
    "human_cortex": Entry(
        "43,349 cells of the human cortex: principal components",
        "the authors of LocalMAP name no address",
    ),
    "cbmc": Entry(
        "67,686 cord blood cells: principal components",
        "Stoeckius et al. (2017), GEO GSE100866",
    ),
    "pbmc_1m": Entry(
        "1.26 million blood cells: principal components",
        "the authors of LocalMAP name no address",
    ),
    "aida": Entry(
        "1.06 million blood cells of the Asian Immune Diversity Atlas: components",
        "CZ CELLxGENE Discover, Asian Immune Diversity Atlas",
    ),
    "duo4eq": Entry(
        "3,994 blood cells of four kinds, mixed in equal parts: components",
        "Duo, Robinson, Soneson (2018), DuoClustering2018: Zhengmix4eq",
    ),
    "covtype": Entry(
        "581,012 patches of forest, 54 columns of many units",
        "Blackard and Dean (1999); scikit-learn's fetch_covtype",
        "CC BY 4.0",
        fetch=_covtype,
    ),
    "mammoth_50k": Entry(
        "A mammoth's skeleton, 50,000 points in space",
        "Smithsonian; Coenen and Pearce, Understanding UMAP",
        "CC0",
    ),
    "mammoth": Entry(
        "A mammoth's skeleton, 10,000 points in space",
        "Smithsonian; Coenen and Pearce, Understanding UMAP",
        "CC0",
        url="https://raw.githubusercontent.com/PAIR-code/understanding-umap/master/"
        "raw_data/mammoth_3d.json",
        fetch=_mammoth,
    ),
}
