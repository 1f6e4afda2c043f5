"""The map forming: frames recorded during a fit, as GIF, MP4 or inside the page."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.files.atomic import atomic_file
from localmap.method.parameters import Parameters
from localmap.plotting.canvas import plain
from localmap.plotting.colors import Theme, look
from localmap.plotting.columns import column_of
from localmap.plotting.pictures import layers_of, paint_of, point_size
from localmap.plotting.viewer.pack import Blocks, quantize

PHASES: Final = ("global structure", "refinement", "local adjustment")
FILM_LAYERS: Final = 64  # of one colour each, which matplotlib draws fast
FRAME_BITS: Final = 16  # of a position in a film: a sixtieth of a pixel
HOLD: Final = 2.0  # seconds that the finished map stays before the film starts again


class Frame(NamedTuple):
    """Where the filmed points were after an iteration."""

    iteration: int
    Y: NDArray[np.float32]


class Film:
    """Records a map while it forms.

    Parameters
    ----------
    n_frames : int, default=40
        Frames kept, evenly spread over the iterations.
    sample : int, default=20000
        Points filmed, drawn at random where the map has more.
    n_iters : tuple of int, default=(100, 100, 250)
        Iterations of the three phases, as given to the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP
    >>> from localmap.plotting import Film
    >>> film = Film(n_frames=10)
    >>> Y = LocalMAP(random_state=0, callback=film.callback).fit_transform(
    ...     load_digits().data)
    >>> [frame.iteration for frame in film.frames][-1]
    449
    """

    def __init__(
        self,
        n_frames: int = 40,
        *,
        sample: int = 20_000,
        n_iters: tuple[int, ...] = Parameters.n_iters,
    ) -> None:
        if n_frames < 2 or sample < 1:
            msg = (
                "a film has at least 2 frames of at least 1 point; "
                f"got n_frames={n_frames}, sample={sample}."
            )
            raise ValueError(msg)
        self.n_iters = n_iters
        self.n_points = 0  # of the whole map
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._sample = sample
        last = max(1, sum(n_iters) - 1)
        self._kept = set(np.linspace(0, last, n_frames).round().astype(int).tolist())
        self._frames: list[Frame] = []
        self._latest: Frame | None = None

    def callback(self, iteration: int, Y: NDArray[np.float32], loss: float) -> None:
        """Record an iteration: give this to the estimator as its `callback`."""
        del loss
        again = self._latest is not None and iteration <= self._latest.iteration
        if again or len(Y) != self.n_points:
            self._start(len(Y))
        # The map given is a copy, so it may be kept; its points are picked out only
        # where a frame is needed.
        self._latest = Frame(iteration, Y)
        if iteration in self._kept:
            self._frames.append(self._picked(self._latest))

    @property
    def frames(self) -> list[Frame]:
        """What was recorded; the last frame is the last iteration, kept or not."""
        latest = self._latest
        if latest is None:
            msg = (
                "the film is empty: give film.callback to the estimator as its "
                "callback, then fit."
            )
            raise ValueError(msg)
        ended = bool(self._frames) and self._frames[-1].iteration == latest.iteration
        return self._frames if ended else [*self._frames, self._picked(latest)]

    def phase(self, iteration: int) -> str:
        """Name of the phase that an iteration belongs to."""
        return PHASES[
            int(np.searchsorted(np.cumsum(self.n_iters[:2]), iteration, "right"))
        ]

    def save(
        self,
        path: str | Path,
        labels: ArrayLike | None = None,
        *,
        fps: float = 10.0,
        size: int = 480,
        theme: Theme = "light",
        title: str | None = None,
    ) -> Path:
        """Write the film as .gif, or as .mp4 where ffmpeg is installed.

        Parameters
        ----------
        path : path
            The file; for a film in a page see `page`.
        labels : array-like of shape (n_samples,) or None
            Colours, as for `plot`; of all points, not only of those filmed.
        fps : float
            Frames a second.
        size : int
            Width and height in pixels.
        theme : {"light", "dark"}
            Colour of the paper.
        title : str or None
            Title above the map.

        Returns
        -------
        path : pathlib.Path
            The file written.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".gif", ".mp4"):
            msg = (
                f"a film is written as .gif or .mp4; got {str(path)!r}. "
                "For a page use page(Y, film=film).save(path)."
            )
            raise ValueError(msg)
        if kind == ".mp4" and shutil.which("ffmpeg") is None:
            msg = "an .mp4 film needs the program ffmpeg; install it or write a .gif."
            raise ValueError(msg)
        images = list(self._images(labels, size, theme, title))
        with atomic_file(path) as aside:
            (_write_gif if kind == ".gif" else _write_mp4)(aside, images, fps)
        return path

    def packed(
        self, blocks: Blocks, order: NDArray[np.int64], notes: list[str]
    ) -> dict[str, Any]:
        """Keep the film in a page whose rows stand in `order`."""
        frames = self.frames
        if self.n_points != len(order):
            msg = (
                f"the film shows a map of {self.n_points:,} points; "
                f"got a map of {len(order):,}."
            )
            raise ValueError(msg)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        places = place[self.rows]
        turn = np.argsort(places)
        packed = []
        for frame in frames:
            steps, bounds = quantize(frame.Y[turn].astype(np.float64), FRAME_BITS)
            packed.append({
                "iteration": frame.iteration, "phase": self.phase(frame.iteration),
                "bounds": bounds,
                "x": blocks.add_ints(steps[:, 0], differences=True),
                "y": blocks.add_ints(steps[:, 1], differences=True),
            })  # fmt: skip
        if len(places) < len(order):
            notes.append(f"The film shows {len(places):,} of {len(order):,} points.")
        return {
            "n": len(places),
            "places": blocks.add_ints(places[turn], differences=True),
            "frames": packed,
        }

    def _picked(self, whole: Frame) -> Frame:
        return Frame(whole.iteration, whole.Y[self.rows, :2])

    def _start(self, n: int) -> None:
        self.n_points = n
        kept = min(n, self._sample)
        rows = np.random.default_rng(0).choice(n, kept, replace=False)
        self.rows = np.sort(rows)
        self._frames, self._latest = [], None

    def _images(
        self, labels: ArrayLike | None, size: int, theme: Theme, title: str | None
    ) -> Iterator[NDArray[np.uint8]]:
        """Draw each frame; the view grows with the map."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        frames, colors = self.frames, look(theme)
        column = None if labels is None else column_of(labels, self.n_points)
        paint = paint_of(column, self.n_points, theme)
        figure = Figure(
            figsize=(size / 100, size / 100), dpi=100, facecolor=colors.paper
        )
        canvas: Any = FigureCanvasAgg(figure)
        ax = figure.add_axes((0.02, 0.07, 0.96, 0.86))
        ax.set_axis_off()
        ax.set_aspect("equal")
        layers = layers_of(paint.codes[self.rows], FILM_LAYERS)
        area = point_size(len(self.rows)) / 2
        drawn = [
            ax.scatter([], [], color=paint.palette[code], s=area, linewidths=0)
            for code, _ in layers
        ]
        caption = figure.text(0.03, 0.025, "", color=colors.ink, fontsize=9)
        figure.text(0.03, 0.95, plain(title or ""), color=colors.ink, fontsize=11)
        total = sum(self.n_iters)
        for frame in frames:
            for points, (_, members) in zip(drawn, layers, strict=True):
                points.set_offsets(frame.Y[members])
            middle = (frame.Y.max(axis=0) + frame.Y.min(axis=0)) / 2
            half = 0.53 * float(np.ptp(frame.Y, axis=0).max()) or 1.0
            ax.set_xlim(middle[0] - half, middle[0] + half)
            ax.set_ylim(middle[1] - half, middle[1] + half)
            number = frame.iteration + 1
            caption.set_text(
                f"iteration {number} of {total}: {self.phase(frame.iteration)}"
            )
            canvas.draw()
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _write_gif(path: Path, images: list[NDArray[np.uint8]], fps: float) -> None:
    from PIL import Image

    pause = round(1000 / fps)
    held = [pause] * (len(images) - 1) + [round(1000 * HOLD)]
    # One palette for all frames, of the last, most spread one: colours do not flicker.
    plain_dither = Image.Dither.NONE
    last = Image.fromarray(images[-1]).quantize(128)
    frames = [
        Image.fromarray(i).quantize(palette=last, dither=plain_dither) for i in images
    ]
    frames[0].save(
        path, format="GIF", save_all=True, append_images=frames[1:], duration=held,
        loop=0, optimize=True,
    )  # fmt: skip


def _write_mp4(path: Path, images: list[NDArray[np.uint8]], fps: float) -> None:
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        held = [*images, *[images[-1]] * round(HOLD * fps)]
        for number, image in enumerate(held):
            file = io.BytesIO()
            even = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
            Image.fromarray(even).save(file, format="PNG")
            (Path(folder) / f"{number:05d}.png").write_bytes(file.getvalue())
        command = ["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(fps),
                   "-i", str(Path(folder) / "%05d.png"), "-pix_fmt", "yuv420p",
                   "-f", "mp4", str(path)]  # fmt: skip
        subprocess.run(command, check=True)  # noqa: S603
