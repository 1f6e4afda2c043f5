"""Data beyond memory: the same bits, time, memory and disk, and workers that die.

``python -m benchmarks.beyond_memory [--parts NAME ...] [--folder DIR] [--missing]``.
Data is a mixture of Gaussians of 50 columns, written to DIR. Each row of the results
is kept as soon as it is there; ``--missing`` goes on with those that are not.
``--rows 50000`` tries parts with fewer rows, and keeps nothing.

- growth: 300,000 to 3,000,000 rows of Zarr with files: seconds of each stage.
- bits: 1,000,000 rows in memory and in files (.npy, two chunkings of Zarr): digests,
  times, and what the process held at most; workers: by one, two and three of Dask.
- large: 10,000,000 rows of Zarr under a limit of 4 GB that the kernel enforces (a
  memory cgroup, which needs root), and a picture.
- transform: 10,000,000 rows as a Dask array, placed by two workers.
- kills: a worker is killed (-9) in every stage, two workers, 28 times.
- buckets: 2,000,000 rows with mid-near pairs from buckets and from all rows.
- sample: maps of a sample with the rest placed, beside maps of all rows.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP
from localmap.geometry import mid_near
from localmap.metrics import knn_accuracy, random_triplets, silhouette

COLUMNS, GROUPS, SEED = 50, 100, 0
LIMIT = 4_000_000_000  # bytes of memory, in the part "large"
KILLED_ROWS, KILLS = 100_000, 28
STAGES = ("check", "extent", "project", "homes", "arrange", "truth", "search")
SAMPLED = 20_000  # points that a silhouette of a large map is taken of


class Run(NamedTuple):
    """A row of the results: what is measured, and the work, in a process of its own."""

    part: str
    n: int
    method: str
    work: Any
    arguments: tuple
    more: tuple = ()

    @property
    def data(self):
        return f"{self.n:,} x {COLUMNS}" if isinstance(self.n, int) else self.n

    def measure(self):
        made = machine.fresh(self.work, *self.arguments)
        named = {"part": self.part, "data": self.data, "method": self.method}
        return named | dict(self.more) | made


def digest(Y):
    return hashlib.sha256(np.ascontiguousarray(Y, dtype="<f4").tobytes()).hexdigest()[
        :16
    ]


def rows_of(start, stop):
    """Rows of the mixture and their groups: the same whatever part is asked for."""
    centres = np.random.default_rng(SEED).normal(size=(GROUPS, COLUMNS)) * 3
    size = 100_000
    found = []
    for block in range(start // size, -(-stop // size)):
        rng = np.random.default_rng([SEED, block])
        y = rng.integers(0, GROUPS, size)
        X = (centres[y] + rng.normal(size=(size, COLUMNS))).astype(np.float32)
        part = slice(max(0, start - block * size), min(size, stop - block * size))
        found.append((X[part], y[part]))
    X, y = zip(*found, strict=True)
    return np.concatenate(X), np.concatenate(y)


def write(folder, n, chunk):
    """Write n rows to Zarr in chunks of so many, unless they are there."""
    import zarr

    path = folder / f"rows{n}-{chunk}.zarr"
    if not (path / "done").exists():
        array = zarr.create_array(
            path, shape=(n, COLUMNS), chunks=(chunk, COLUMNS), dtype="f4",
            overwrite=True,
        )  # fmt: skip
        step = chunk * max(1, 500_000 // chunk)
        for start in range(0, n, step):
            array[start : start + step] = rows_of(start, min(n, start + step))[0]
        (path / "done").touch()
    return path


class Watch:
    """What this process and those it started held at most, by itself and in all."""

    def __init__(self, folder=None):
        self.held = self.disk = 0
        self.most_of_one = 0
        self._folder, self._stop = folder, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *how):
        self.seconds = time.perf_counter() - self._start
        self._stop.set()
        self._thread.join()

    def _look(self):
        import psutil

        own = psutil.Process()
        while not self._stop.wait(0.25):
            held = [_held(p.pid) for p in [own, *own.children(recursive=True)]]
            self.held = max(self.held, sum(held))
            self.most_of_one = max(self.most_of_one, *held)
            if self._folder is not None:
                files = [p for p in self._folder.rglob("*") if p.is_file()]
                self.disk = max(self.disk, sum(map(_size, files)))


def _held(pid):
    """Memory that is a process's own: files that are mapped can be given back."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass  # it has just ended
    return 0


def _size(path):
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it has just been removed


def fit_one(way, folder, n):
    """Fit in one of the ways, in a process of its own."""
    scratch = folder / f"scratch-{way.replace(' ', '-')}"
    how = {"memory_limit": 0.7e9 + 270.0 * n, "scratch": scratch}
    if way == "in memory":
        X, how = rows_of(0, n)[0], {}
    elif way == "files, .npy":
        path = folder / f"rows{n}.npy"
        if not path.exists():
            np.save(path, rows_of(0, n)[0])
        X = np.load(path, mmap_mode="r")
    else:
        import zarr

        chunk = int(way.split()[-1].replace(",", ""))
        X = zarr.open_array(write(folder, n, chunk))
    with Watch(scratch) as watch:
        model = LocalMAP(random_state=SEED, **how).fit(X)
    return told(model, watch)


def fit_by_workers(count, folder, n):
    """Fit by so many workers of Dask."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    path, scratch = write(folder, n, 10_000), folder / f"scratch-{count}"
    with (
        LocalCluster(n_workers=count) as cluster,
        Client(cluster),
        Watch(scratch) as watch,
    ):
        X = da.from_zarr(str(path))
        model = LocalMAP(random_state=SEED, scratch=scratch).fit(X)
    return told(model, watch)


def told(model, watch):
    return {
        "digest": digest(model.embedding_),
        "seconds": watch.seconds,
        "stages": model.stage_seconds_,
        "held_gb": watch.held / 1e9,
        "largest_gb": watch.most_of_one / 1e9,
        "scratch_gb": watch.disk / 1e9,
        "recall": model.neighbor_recall_,
    }


def bits(folder, n=1_000_000):
    ways = ["in memory", "files, .npy", "files, Zarr by 10,000"]
    for way in [*ways, "files, Zarr by 77,777"]:
        yield Run("bits", n, way, fit_one, (way, folder, n))


def workers(folder, n=1_000_000):
    for count in (1, 2, 3):
        way = f"Dask, {count} worker{'s' if count > 1 else ''}"
        yield Run("bits", n, way, fit_by_workers, (count, folder, n))


LARGE = """
import json, sys, time
import numpy as np, zarr
from localmap import LocalMAP
from benchmarks.beyond_memory import Watch, told
from pathlib import Path
X = zarr.open_array(sys.argv[1])
scratch = Path(sys.argv[2])
with Watch(scratch) as watch:
    how = {"memory_limit": "3.6GB", "scratch": scratch, "verbose": True}
    model = LocalMAP(random_state=0, **how).fit(X)
np.save(sys.argv[3], model.embedding_)
print(json.dumps(told(model, watch)))
"""


def large(folder, n=10_000_000):
    beside = min(n, 1_000_000)
    yield Run("large", n, "4 GB", large_one, (folder, n))
    yield Run("large", beside, "map in memory", large_in_memory, (beside,))


def large_one(folder, n):
    """Fit where the kernel would kill what held more than the limit."""
    path = write(folder, n, 100_000)
    group = Path("/sys/fs/cgroup/memory/localmap")
    limit = group / "memory.limit_in_bytes"
    if not group.parent.exists():
        group, limit = (p := Path("/sys/fs/cgroup/localmap")), p / "memory.max"
    group.mkdir(exist_ok=True)
    limit.write_text(str(LIMIT))
    join = f"echo $$ > {group}/cgroup.procs && exec "
    out = folder / f"large{n}.npy"
    files = [str(path), str(folder / "scratch"), str(out)]
    done = subprocess.run(
        ["/bin/sh", "-c", join + '"$@"', "sh", sys.executable, "-c", LARGE, *files],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    made = json.loads(done.stdout.splitlines()[-1])
    Y = np.load(out)
    picture(Y, n, folder)
    return made | {"limit_gb": LIMIT / 1e9, **quality(Y, n)}


def large_in_memory(n):
    return quality(LocalMAP(random_state=SEED).fit_transform(rows_of(0, n)[0]), n)


def labels_of(n):
    return np.concatenate(
        [rows_of(a, min(n, a + 1_000_000))[1] for a in range(0, n, 1_000_000)]
    )


def quality(Y, n):
    y = labels_of(n)
    some = np.random.default_rng(SEED).choice(n, SAMPLED, replace=False)
    return {"silhouette": float(silhouette(Y[some], y[some]))}


def picture(Y, n, folder):
    from localmap.plotting import plot

    kept = machine.RESULTS if n == 10_000_000 else folder
    figure = plot(Y, labels_of(n))
    figure.get_figure().savefig(kept / "beyond_memory.png", dpi=110)


def transform(folder, n=10_000_000, trained=300_000):
    trained = min(n, trained)
    yield Run("transform", n, f"on {trained:,}", transform_one, (folder, n, trained))


def transform_one(folder, n, trained):
    import dask.array as da
    import zarr
    from dask.distributed import Client, LocalCluster

    model = LocalMAP(random_state=SEED, scratch=folder).fit(rows_of(0, trained)[0])
    print(f"a map of {trained:,} rows is there", flush=True)
    X = da.from_zarr(str(write(folder, n, 100_000)))
    out = zarr.create_array(
        folder / "placed.zarr", shape=(n, 2), chunks=(100_000, 2), dtype="f4",
        overwrite=True,
    )  # fmt: skip
    with (
        LocalCluster(n_workers=2, threads_per_worker=1) as cluster,
        Client(cluster),
        Watch() as watch,
    ):
        placed, step = model.transform(X), 1_000_000
        for start in range(0, n, step):
            some = slice(start, min(n, start + step))
            da.store(placed[some], out, regions=(some, slice(None)), lock=False)
            print(f"{some.stop:,} of {n:,} rows are placed", flush=True)
    return {
        "rows_a_second": n / watch.seconds,
        "seconds": watch.seconds,
        "largest_gb": watch.most_of_one / 1e9,
        "trained": trained,
    }


def kills(folder):
    how = {"random_state": SEED, "n_iters": (10, 10, 10)}
    expected = digest(LocalMAP(**how).fit_transform(rows_of(0, KILLED_ROWS)[0]))
    for number in range(KILLS):
        stage = STAGES[number % len(STAGES)]
        arguments = (folder, stage, number, how, expected)
        more = (("stage", stage),)
        method = f"kill {number + 1}"
        yield Run("kills", KILLED_ROWS, method, killed_one, arguments, more)


def killed_one(folder, stage, number, how, expected):
    """Kill one of two workers while a stage runs; tell whether the map is the same."""
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    dask.config.set({"distributed.worker.daemon": True})
    path, scratch = write(folder, KILLED_ROWS, 10_000), folder / f"killed-{number}"
    killed = []

    def kill(client):
        while not killed:
            if list(scratch.glob(f"*/{stage}-*.shared")):
                time.sleep(0.05)
                pids = client.run(os.getpid)
                victim = list(pids.values())[number % len(pids)]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            time.sleep(0.01)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1) as cluster,
        Client(cluster) as client,
    ):
        threading.Thread(target=kill, args=(client,), daemon=True).start()
        Y = LocalMAP(scratch=scratch, **how).fit(da.from_zarr(str(path))).embedding_
    return {"killed": bool(killed), "same": digest(Y) == expected}


def buckets(folder, n=2_000_000):
    del folder
    # So few that there are several buckets, where few rows are tried.
    size = min(mid_near.BUCKET, n // 2 + 1)
    for most, method in ((size, "buckets"), (1 << 30, "all rows")):
        yield Run("buckets", n, method, bucket_one, (most, n))


def bucket_one(size, n):
    mid_near.BUCKET = size
    X, y = rows_of(0, n)
    Y = LocalMAP(random_state=SEED).fit_transform(X)
    print(f"a map of {n:,} rows is there", flush=True)
    some = np.random.default_rng(SEED).choice(n, SAMPLED, replace=False)
    return {
        "silhouette": float(silhouette(Y[some], y[some])),
        "knn": float(knn_accuracy(Y[some], y[some])),
        "triplets": float(random_triplets(X[some], Y[some])),
    }


def sample(folder):
    del folder
    for name in ("mnist", "fmnist"):
        for share in (1.0, 0.5, 0.25, 0.1):
            method = f"{share:.0%} of the rows"
            yield Run("sample", name, method, sample_one, (name, share))


def sample_one(name, share):
    from localmap.estimators.preview import preview

    X, y = load(name)
    start = time.perf_counter()
    model = LocalMAP(random_state=SEED)
    Y = (
        preview(model, X, round(share * len(X)))
        if share < 1
        else model.fit_transform(X)
    )
    return {
        "seconds": time.perf_counter() - start,
        "silhouette": float(silhouette(Y, y)),
        "knn": float(knn_accuracy(Y, y)),
    }


def growth(folder, n=None):
    """Stages of fits with files, for the model of docs/scale.md."""
    for size in (300_000, 1_000_000, 3_000_000) if n is None else (n,):
        way = "files, Zarr by 100,000"
        yield Run("growth", size, "files", fit_one, (way, folder, size))


def growth_text(rows):
    names = list(rows[0]["stages"])
    lines = [
        (
            r["data"],
            *(f"{r['stages'][k]:.1f}" for k in names),
            f"{r['seconds']:.0f}",
            f"{r['held_gb']:.2f}",
            f"{r['scratch_gb']:.2f}",
        )
        for r in rows
    ]
    head = "|".join(["rows", *(f"{k}, s" for k in names), "all, s", "held, GB"])
    return machine.table(f"{head}|scratch, GB", lines)


PARTS = {
    part.__name__: part
    for part in (growth, bits, workers, large, transform, kills, buckets, sample)
}


def bits_text(rows):
    base = rows[0]["seconds"]
    head = "1,000,000 x 50|digest|seconds|ratio|held at most, GB|by one process"
    lines = [
        (
            r["method"],
            r["digest"],
            f"{r['seconds']:.0f}",
            f"{r['seconds'] / base:.2f}",
            *(f"{r[k]:.2f}" for k in ("held_gb", "largest_gb", "scratch_gb")),
        )
        for r in rows
    ]
    return machine.table(f"{head}|scratch, GB", lines)


def large_text(rows):
    r = rows[0]
    stages = ", ".join(f"{k} {v:.0f} s" for k, v in r["stages"].items())
    text = (
        f"{r['data']} under a limit of {r['limit_gb']:.0f} GB: "
        f"{r['seconds'] / 60:.1f} min ({stages}), {r['held_gb']:.2f} GB held at most, "
        f"{r['scratch_gb']:.1f} GB of scratch, recall {r['recall']:.3f}, silhouette of "
        f"a sample {r['silhouette']:.3f}"
    )
    for other in rows[1:]:
        text += f"; of {other['data']} in memory {other['silhouette']:.3f}"
    return f"{text}.\n\n![The map](beyond_memory.png)"


def transform_text(rows):
    return "\n".join(
        f"{r['data']} as a Dask array, two workers"
        + (f", on a map of {r['trained']:,} rows" if "trained" in r else "")
        + f": {r['rows_a_second']:,.0f} rows a second, {r['largest_gb']:.2f} GB a "
        "worker at most."
        for r in rows
    )


def kills_text(rows):
    same = sum(r["same"] and r["killed"] for r in rows)
    stages = ", ".join(dict.fromkeys(r["stage"] for r in rows))
    return f"{len(rows)} kills ({stages}), {same} equal digests."


def scores_text(rows):
    names = [k for k in rows[0] if k not in ("part", "data", "method")]
    lines = [(r["data"], r["method"], *(f"{r[k]:.3f}" for k in names)) for r in rows]
    return machine.table("|".join(["data", "how", *names]), lines)


TEXTS = {
    "growth": ("Stages against the number of rows, with files", growth_text),
    "bits": ("The same bits", bits_text),
    "large": ("Ten million rows", large_text),
    "transform": ("New rows", transform_text),
    "kills": ("Workers that die", kills_text),
    "buckets": ("Mid-near pairs from buckets and from all rows", scores_text),
    "sample": ("A sample, the rest placed", scores_text),
}


def text_of(rows):
    parts = []
    for part, (title, text) in TEXTS.items():
        some = [row for row in rows if row["part"] == part]
        if some:
            parts.append(f"## {title}\n\n{text(some)}")
    return "\n\n".join(parts)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args(arguments)
    folder = asked.folder / "beyond_memory"
    folder.mkdir(parents=True, exist_ok=True)
    described = machine.describe("dask", "distributed", "zarr")
    known = {
        (row["data"], row["method"]) for row in machine.merged("beyond_memory", [])
    }
    fewer = {} if asked.rows is None else {"n": asked.rows}
    for part in asked.parts:
        sized = "n" in signature(PARTS[part]).parameters
        for run in PARTS[part](folder, **(fewer if sized else {})):
            told = f"{part}: {run.data}, {run.method}"
            if asked.missing and (run.data, run.method) in known:
                print(f"{told} is there", flush=True)
                continue
            print(f"{time.strftime('%H:%M:%S')} {told} ...", flush=True)
            row = run.measure()
            if fewer:
                print(json.dumps(row), flush=True)
                continue
            rows = machine.merged("beyond_memory", [row])
            title = "Data beyond memory"
            machine.save("beyond_memory", title, described, text_of(rows), rows)


if __name__ == "__main__":
    main()
