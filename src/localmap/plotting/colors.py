"""Colours that stay apart: for 2 to 60 groups, on light and dark, for most eyes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Theme: TypeAlias = Literal["light", "dark"]
RGB: TypeAlias = tuple[float, float, float]

# Okabe and Ito's eight, then each the farthest from all before it, for normal and
# colour-blind sight: `python -m benchmarks.palettes` chose them and prints how far. On
# light their yellow, which is faint there, comes twelfth.
GROUP_COLORS: Final[dict[str, tuple[str, ...]]] = {
    "light": (
        "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9",
        "#222222", "#0000aa", "#863155", "#9200ff", "#494900", "#f0e442",
        "#55006d", "#c20c92", "#92ce86", "#866de7", "#493dc2", "#866149",
        "#e718ce", "#dbaab6", "#556179", "#ff6dce", "#003d00", "#612431",
        "#ce2431", "#6192ff", "#3d3155", "#61b66d", "#792492", "#3d003d",
        "#006d18", "#928649", "#ff4949", "#490000", "#245561", "#181855",
        "#618686", "#61db55", "#f37924", "#9eb692", "#311886", "#ff86ff",
        "#9e49aa", "#6d00e7", "#493d79", "#9e49ff", "#aa6daa", "#869ece",
        "#6d3d31", "#310cc2", "#ce6df3", "#550c3d", "#6124aa", "#aa6161",
        "#6d5592", "#c29e55", "#aa3179", "#4986c2", "#cec218", "#b6b6db",
    ),
    "dark": (
        "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9",
        "#f2f2f2", "#f0e442", "#aa0061", "#9200ff", "#00e7aa", "#865518",
        "#866de7", "#b6ceff", "#c224aa", "#aaffb6", "#9ec26d", "#6d5586",
        "#617955", "#f300ce", "#ff6dce", "#8600c2", "#6192ff", "#9e6186",
        "#ffc2ce", "#ce0c31", "#ceaab6", "#00ff86", "#92db24", "#55b66d",
        "#f3793d", "#f30c55", "#aa00db", "#9ee7f3", "#ff86ff", "#316d3d",
        "#9279b6", "#f3b692", "#9e49ff", "#86b692", "#aa79e7", "#92249e",
        "#798600", "#cece6d", "#619292", "#b692c2", "#db61ff", "#ceb6e7",
        "#ce7955", "#aa3d6d", "#e75579", "#9255b6", "#6179ce", "#ceff6d",
        "#b60c86", "#7949c2", "#92c2ce", "#c25555", "#c255ce", "#cee7c2",
    ),
}  # fmt: skip

# The part of viridis that stands out: its darkest is lost on dark, its brightest on
# light.
SCALE_RANGE: Final = {"light": (0.0, 0.94), "dark": (0.2, 1.0)}

# More groups than colours repeat them, which a legend must say.
MAX_NAMED: Final = 60


@dataclass(frozen=True)
class Look:
    """Colours of everything that is not a group."""

    paper: str
    ink: str
    faint: str  # missing values, and near pairs of ordinary length
    loud: str  # what is highlighted


LOOKS: Final[dict[Theme, Look]] = {
    "light": Look(paper="#ffffff", ink="#1b1d21", faint="#b4b4b4", loud="#c1121f"),
    "dark": Look(paper="#14161a", ink="#eceef1", faint="#5d6066", loud="#ff6b6b"),
}


def look(theme: str) -> Look:
    """Return the colours of a theme."""
    for known, colors in LOOKS.items():
        if known == theme:
            return colors
    msg = f"theme must be 'light' or 'dark'; got {theme!r}."
    raise ValueError(msg)


def rgb(color: str) -> RGB:
    """Return the red, green and blue of ``#rrggbb``, from 0 to 1."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def group_colors(n: int, *, theme: Theme = "light") -> list[RGB]:
    """Return colours for `n` groups, red, green and blue from 0 to 1.

    The first 60 differ; further groups repeat them.

    Examples
    --------
    >>> from localmap.plotting import group_colors
    >>> len(set(group_colors(60)))
    60
    """
    look(theme)
    colors = GROUP_COLORS[theme]
    return [rgb(colors[i % len(colors)]) for i in range(n)]


def scale_colors(n: int, *, theme: Theme = "light") -> NDArray[np.float64]:
    """Return `n` shades of a scale from low to high: red, green, blue from 0 to 1."""
    from matplotlib import colormaps

    look(theme)
    shades = colormaps["viridis"](np.linspace(*SCALE_RANGE[theme], n))
    return np.asarray(shades, dtype=np.float64)[:, :3]


def to_light(colors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return linear light, in which colours mix as lamps do, of sRGB."""
    return np.where(
        colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4
    )


def to_srgb(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sRGB of linear light."""
    light = np.clip(light, 0.0, 1.0)
    return np.where(
        light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055
    )
