"""Whether the maps of several seeds show the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from localmap.bench.summary import AGREEMENT, INSIDE, OF_SEVERAL, label
from localmap.metrics import CUTS_AGREE, agreement, visible_groups


def with_agreement(
    folder: Path, results: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Add to each run how far its groups are those of the method's other seeds.

    Only runs that were measured and whose maps are kept take part. Where there are
    labels, rows without one do not, and the largest group is that of the labels.
    """
    alike: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(results):
        if row.get("measures") and _map(folder, row).exists():
            alike.setdefault((row["dataset"], label(row)), []).append(place)
    found = list(results)
    for places in alike.values():
        if len(places) < 2:
            continue
        told: dict[str, Any]
        try:
            maps, codes = _seen([_map(folder, results[place]) for place in places])
            same = agreement(maps, codes)
            told = {"measures": {AGREEMENT: same.groups, INSIDE: same.inside}}
        except (ValueError, OSError, KeyError, BadZipFile) as error:
            reason = f"its maps cannot be compared: {error}".splitlines()[0]
            told = {"unmeasured": dict.fromkeys(OF_SEVERAL, reason)}
        for place in places:
            row = results[place]
            more = {key: row[key] | value for key, value in told.items()}
            found[place] = row | more
    return found


def moving(title: str, dataset: str, values: Sequence[float]) -> str | None:
    """Tell of maps whose largest group is cut in another place for each seed."""
    if not values or np.mean(values) >= CUTS_AGREE:
        return None
    return (
        f"{title} on {dataset}: seeds agree with {np.mean(values):.2f} inside the "
        "largest group"
    )


def _map(folder: Path, row: dict[str, Any]) -> Path:
    return folder / "maps" / f"{row['name']}.npz"


def _seen(
    paths: Sequence[Path],
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]:
    """Return the visible groups of each map, and the labels; of rows that have one."""
    maps = []
    for path in paths:
        with np.load(path, allow_pickle=False) as archive:
            codes = archive["codes"]
            if "groups" in archive.files:
                maps.append(archive["groups"])
            else:
                maps.append(visible_groups(archive["Y"]))
    known = codes >= 0
    if not known.any():
        return maps, None
    return [groups[known] for groups in maps], codes[known]
