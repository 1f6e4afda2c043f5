"""Whether the maps of several seeds show the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.bench.summary import label
from localmap.metrics import CUTS_AGREE, agreement, visible_groups

AGREEMENT: Final = "agreement of seeds"
INSIDE: Final = "agreement of seeds inside the largest group"
OF_SEVERAL: Final = (AGREEMENT, INSIDE)


def with_agreement(
    folder: Path, results: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Add to each run how far its groups are those of the method's other seeds.

    Only runs that were measured and whose maps are kept take part. The largest group
    is that of the labels, where there are any.
    """
    alike: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(results):
        if row.get("measures") and _map(folder, row).exists():
            alike.setdefault((row["dataset"], label(row)), []).append(place)
    found = list(results)
    for places in alike.values():
        if len(places) < 2:
            continue
        maps = [_seen(_map(folder, results[place])) for place in places]
        for own, place in enumerate(places):
            each = np.mean(
                [
                    agreement([maps[own][0], other[0]], maps[own][1])
                    for number, other in enumerate(maps)
                    if number != own
                ],
                axis=0,
            )
            more = {AGREEMENT: float(each[0]), INSIDE: float(each[1])}
            found[place] = results[place] | {
                "measures": results[place]["measures"] | more
            }
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


def _seen(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the visible groups of a map and its labels."""
    with np.load(path, allow_pickle=False) as archive:
        codes = archive["codes"]
        groups = archive["groups"] if "groups" in archive.files else None
        groups = visible_groups(archive["Y"]) if groups is None else groups
    return groups, codes if len(codes) else None
