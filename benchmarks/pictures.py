"""Pictures and pages: seconds, sizes, frames a second.

    python -m benchmarks.pictures maps     # fit what the rest draws, once
    python -m benchmarks.pictures plot     # docs/pictures/*.png, beside plain scatters
    python -m benchmarks.pictures page     # pages in Chromium (needs playwright)
    python -m benchmarks.pictures film     # what filming MNIST costs

Maps are kept in ``$LOCALMAP_MAPS`` (default: build/maps). Medians of several runs.
"""

import argparse
import json
import os
import shutil
import statistics
import time
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, plotting
from localmap.plotting.colors import GROUP_COLORS

MAPS = Path(os.environ.get("LOCALMAP_MAPS", "build/maps"))
PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SETS = ("digits", "mammoth_50k", "mnist", "covtype", "mixture1000000")
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
REPEATS = 5

# Pans as a hand does, a frame at a time; each frame is waited for.
PANNING = """async () => {
  const e = localmapPage.explorer, times = [];
  for (let k = 0; k < 60; k++) {
    const start = performance.now();
    e.pan(k % 20 < 10 ? 6 : -6, 2 * (k % 2));
    await new Promise(requestAnimationFrame);
    e.renderer.finish();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return {median: times[30], every: e.every};
}"""
WHOLE = """() => {
  const e = localmapPage.explorer, times = [];
  for (let k = 0; k < 11; k++) {
    const start = performance.now();
    e.moving = false; e.draw(); e.renderer.finish();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[5];
}"""
HOVERING = """() => {
  const e = localmapPage.explorer, times = [];
  for (let k = 0; k < 300; k++) {
    const at = e.screenOf((k * 7919) % e.n);
    const start = performance.now();
    e.hover(...at);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return {median: times[150], worst: times[299]};
}"""


def fit(name):
    """The map of a set, fitted once and kept."""
    path = MAPS / f"{name}.npz"
    if not path.exists():
        MAPS.mkdir(parents=True, exist_ok=True)
        np.savez(path, Y=LocalMAP(random_state=0).fit_transform(load(name)[0]))
    with np.load(path) as kept:
        return kept["Y"]


def labels_of(name, X, y):
    if name.startswith("mammoth"):
        return X[:, 2]
    if name.startswith("mixture"):
        return np.array([f"group {i}" for i in range(int(y.max()) + 1)])[y]
    return y


def median(act, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def plain_scatter(Y, codes, path):
    """One call of scatter with a colour for each point: what everybody writes first."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 6.4))
    FigureCanvasAgg(figure)
    figure.subplots().scatter(Y[:, 0], Y[:, 1], c=codes, s=1, cmap="tab20")
    figure.savefig(path, dpi=100)


def shaded(Y, codes, path):
    """The same map by datashader."""
    import datashader as ds
    import datashader.transfer_functions as tf
    import pandas as pd

    frame = pd.DataFrame({"x": Y[:, 0], "y": Y[:, 1], "c": pd.Categorical(codes)})
    counts = ds.Canvas(720, 640).points(frame, "x", "y", ds.count_cat("c"))
    colors = (GROUP_COLORS["light"] * 4)[: len(frame["c"].cat.categories)]
    tf.shade(counts, color_key=list(colors)).to_pil().save(path)


def plots():
    PICTURES.mkdir(parents=True, exist_ok=True)
    scratch = MAPS / "scratch.png"
    rows = []
    for name in SETS:
        X, y = load(name)
        Y, labels = fit(name), labels_of(name, X, y)
        title = {"mammoth_50k": "mammoth", "mixture1000000": "million"}.get(name, name)
        few = name != "mixture1000000"
        options = {
            "title": f"{title}, {len(Y):,} points",
            "names": "auto" if few else "none",
        }

        def draw(path, Y=Y, labels=labels, options=options):
            plotting.save(plotting.plot(Y, labels, **options), path, dpi=100)

        codes = np.unique(labels, return_inverse=True)[1] if y is not None else labels
        seconds = {"localmap": median(lambda draw=draw: draw(scratch))}
        seconds["scatter"] = median(
            lambda Y=Y, codes=codes: plain_scatter(Y, codes, scratch), 3
        )
        if y is not None and has("datashader"):
            shaded(Y, codes, scratch)  # compiles
            seconds["datashader"] = median(
                lambda Y=Y, c=codes: shaded(Y, c, scratch), 3
            )
        draw(PICTURES / f"{title}.png")
        shrink(PICTURES / f"{title}.png")
        size = (PICTURES / f"{title}.png").stat().st_size
        for method, value in seconds.items():
            row = {"data": name, "method": method, "points": len(Y), "seconds": value}
            rows.append({**row, "bytes": size if method == "localmap" else None})
            print(json.dumps(rows[-1]))
    return rows


def shrink(path):
    """255 colours: for the repository, a third of the size."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(255).save(path, optimize=True)


def has(package):
    from importlib.util import find_spec

    return find_spec(package) is not None


def page_of(name):
    X, y = load(name)
    extra = {}
    if name == "mnist":
        extra["thumbnails"] = X.reshape(-1, 28, 28)
    if name == "covtype":
        raw = np.round(X[:, :2].astype(np.float32), 3)
        extra["columns"] = {"elevation": raw[:, 0], "aspect": raw[:, 1]}
    labels = labels_of(name, X, y)
    start = time.perf_counter()
    path = plotting.page(fit(name), labels, title=name, **extra).save(
        MAPS / f"{name}.html"
    )
    return path, time.perf_counter() - start


def resident(session):
    """Memory of the browser's page and graphics processes, in MB."""
    total = 0
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] in ("renderer", "GPU"):
            status = Path(f"/proc/{process['id']}/status").read_text()
            line = next(x for x in status.splitlines() if x.startswith("VmRSS"))
            total += int(line.split()[1]) / 1024
    return total


def pages():
    from playwright.sync_api import sync_playwright

    rows = []
    with sync_playwright() as running:
        for name in ("mnist", "covtype", "mixture1000000"):
            path, seconds = page_of(name)
            for renderer, flags in (
                ("WebGL2", FLAGS),
                ("Canvas2D", ("--disable-3d-apis",)),
            ):
                row = measure(running, path, renderer, flags)
                row |= {"data": name, "method": renderer, "bytes": path.stat().st_size,
                        "seconds_to_make": seconds}  # fmt: skip
                rows.append(row)
                print(json.dumps(row))
    return rows


def measure(running, path, renderer, flags):
    browser = running.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox", *flags]
    )
    session = browser.new_browser_cdp_session()
    ready, found = [], {}
    for _ in range(3):
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(path.resolve().as_uri() + ("#webgl" if renderer == "WebGL2" else ""))
        tab.wait_for_selector("html[data-ready]", timeout=120_000)
        ready.append(int(tab.evaluate("document.documentElement.dataset.ready")))
        found = {
            "panning": tab.evaluate(PANNING),
            "whole_ms": tab.evaluate(WHOLE),
            "hover": tab.evaluate(HOVERING),
            "memory_mb": resident(session),
        }
        tab.close()
    browser.close()
    return {"ready_ms": statistics.median(ready), **found}


def films():
    """Fits of MNIST with and without a film, in turns."""
    X, y = load("mnist")
    seconds = {"alone": [], "filmed": []}
    work = {"alone": [], "filmed": []}  # of all threads: what others run counts less
    for _ in range(REPEATS):
        for how, times in seconds.items():
            film = plotting.Film()
            start, worked = time.perf_counter(), time.process_time()
            callback = film.callback if how == "filmed" else None
            LocalMAP(random_state=0, callback=callback).fit(X)
            times.append(time.perf_counter() - start)
            work[how].append(time.process_time() - worked)
    row = {how: statistics.median(times) for how, times in seconds.items()}
    row |= {f"{how}_cpu": statistics.median(times) for how, times in work.items()}
    row["more"] = row["filmed"] / row["alone"] - 1
    row["more_cpu"] = row["filmed_cpu"] / row["alone_cpu"] - 1
    start = time.perf_counter()
    gif = film.save(MAPS / "mnist.gif", y)
    row |= {"gif_seconds": time.perf_counter() - start, "gif_bytes": gif.stat().st_size}
    page = plotting.page(fit("mnist"), y, film=film)
    row["page_bytes"] = len(page.html) - len(plotting.page(fit("mnist"), y).html)
    print(json.dumps(row))
    return row


def main():
    MAPS.mkdir(parents=True, exist_ok=True)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("maps", "plot", "page", "film"))
    what = parser.parse_args().what
    if what == "maps":
        for name in SETS:
            print(name, fit(name).shape)
        return
    found = {"plot": plots, "page": pages, "film": films}[what]()
    record = {"machine": machine.describe("matplotlib", "playwright"), "found": found}
    machine.RESULTS.mkdir(parents=True, exist_ok=True)
    path = machine.RESULTS / f"pictures-{what}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
