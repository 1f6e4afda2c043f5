"""The colours of `localmap.plotting.colors`: chosen once, here, by measured distance.

``python -m benchmarks.palettes`` prints two lists of 60 colours, one for white and one
for dark paper. The first eight are those of Okabe and Ito (2008), as far as they stand
out on the paper; each further one is, of a grid of sRGB, the farthest from all before
it, by the smallest of its distances to normal sight and to the three kinds of colour
blindness (Machado, Oliveira and Fernandes 2009, severity 1), in OKLab (Ottosson 2020).
"""

import numpy as np

# Blue, vermilion, green, orange, purple, sky, the paper's opposite, last the yellow,
# which is faint on white; a darker one would be taken for the orange.
OKABE_ITO = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9")
FIRST = {
    "light": (*OKABE_ITO, "#222222", "#f0e442"),
    "dark": (*OKABE_ITO, "#f2f2f2", "#f0e442"),
}
# Lightness in OKLab that stands out on white (#ffffff) and on dark (#14161a).
LIGHTNESS = {"light": (0.25, 0.80), "dark": (0.48, 0.97)}
# How each kind of sight sees linear red, green and blue.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Normal sight tells more colours apart, so its distances are held to a higher standard.
NORMAL_WEIGHT = 0.6


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(light):
    lms = np.cbrt(
        np.clip(light, 0, 1)
        @ np.array(
            [
                [0.4122214708, 0.2119034982, 0.0883024619],
                [0.5363325363, 0.6806995451, 0.2817188376],
                [0.0514459929, 0.1073969566, 0.6299787005],
            ]
        )
    )
    return lms @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


def rgb_of(colors):
    return np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])


def seen(rgb):
    """OKLab coordinates of the colours for each kind of sight."""
    light = linear(rgb)
    return {name: oklab(light @ matrix.T) for name, matrix in SIGHTS.items()}


def distances(a, b):
    """The smallest distance over all kinds of sight, normal sight weighed down."""
    per_sight = [
        np.linalg.norm(a[name][:, None] - b[name][None], axis=2)
        * (NORMAL_WEIGHT if name == "normal" else 1.0)
        for name in SIGHTS
    ]
    return np.min(per_sight, axis=0)


def choose(paper, n=60):
    steps = np.linspace(0, 1, 22)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1).reshape(-1, 3)
    lab = oklab(linear(grid))
    low, high = LIGHTNESS[paper]
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    # Grey is kept for missing values: every further colour has some hue.
    grid = grid[(lab[:, 0] >= low) & (lab[:, 0] <= high) & (chroma > 0.04)]
    there = seen(grid)
    chosen = list(FIRST[paper])
    # Missing values are grey, and no group may look like them.
    nearest = distances(there, seen(rgb_of([*chosen, "#9a9a9a"]))).min(axis=1)
    while len(chosen) < n:
        best = int(nearest.argmax())
        chosen.append("#" + "".join(f"{round(255 * c):02x}" for c in grid[best]))
        new = {name: lab[best : best + 1] for name, lab in there.items()}
        nearest = np.minimum(nearest, distances(there, new)[:, 0])
    return chosen


def main():
    for paper in FIRST:
        colors = choose(paper)
        print(f"{paper}:")
        for start in range(0, len(colors), 6):
            print("    " + " ".join(f'"{c}",' for c in colors[start : start + 6]))
        for n in (8, 12, 20, 40, 60):
            lab = seen(rgb_of(colors[:n]))
            worst = {
                name: np.linalg.norm(v[:, None] - v[None], axis=2)[
                    np.triu_indices(n, 1)
                ].min()
                for name, v in lab.items()
            }
            print(n, {name: round(float(d), 3) for name, d in worst.items()})


if __name__ == "__main__":
    main()
