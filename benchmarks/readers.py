"""How many files of tests/files each reader reads right, with its defaults.

``python -m benchmarks.readers [--out docs/results/readers.md]``. A file is read right
if every column of numbers that is in it comes out as numbers, to the last bit, in as
many rows as there are. Some files cannot be read without being told more: there the
right answer is to refuse.
"""

import argparse
import importlib.metadata
import re
import tomllib
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "files"
# What a second column of the same name is called differs, and is nobody's mistake.
NUMBERED = re.compile(r".*\.1|mean|sd")
INTRODUCTION = (
    "`python -m benchmarks.readers`: {} files of `tests/files` that hold one table, "
    "and {} that cannot be read without being told more. Each with its defaults, "
    "without options. The files were written for localmap's tests: that localmap reads "
    "them all is what the tests demand, not a measurement; the other rows show what "
    "its users would have got."
)
HEAD = (
    "| reader | read right | read wrong, no word | refused | to be refused: refused "
    "| to be refused: read anyway |"
)
KINDS = ("right", "wrong, no word", "refused", "refused, rightly", "guessed")


def by_localmap(path):
    from localmap import files

    table = files.read(path)
    return dict(zip(table.names, table.X.T, strict=True))


def by_pandas(path):
    import pandas as pd

    return numeric(pd.read_csv(path))


def by_pandas_sniffing(path):
    import pandas as pd

    return numeric(pd.read_csv(path, sep=None, engine="python"))


def by_polars(path):
    import polars as pl

    frame = pl.read_csv(path)
    numbers = [c for c in frame.columns if frame[c].dtype.is_numeric()]
    return {name: frame[name].to_numpy() for name in numbers}


def by_duckdb(path):
    import duckdb

    query = f"SELECT * FROM read_csv('{path}')"  # noqa: S608 - our own files
    return numeric(duckdb.sql(query).df())


def by_clevercsv(path):
    import clevercsv

    return numeric(clevercsv.read_dataframe(str(path)))


def numeric(frame):
    numbers = frame.select_dtypes(include=["number", "bool"])
    return {str(name): numbers[name].to_numpy(dtype=float) for name in numbers}


READERS = {
    "localmap": by_localmap,
    "pandas": by_pandas,
    "pandas, sep=None": by_pandas_sniffing,
    "polars": by_polars,
    "duckdb": by_duckdb,
    "clevercsv": by_clevercsv,
}


def is_right(found, case):
    """Tell whether all columns are there, by name where the file gives it one."""
    found = {name.strip(): values for name, values in found.items()}
    wanted = dict(zip(case["names"], np.array(case["X"], dtype=float).T, strict=True))
    for name, values in wanted.items():
        if name.startswith("column ") or NUMBERED.fullmatch(name):
            if not any(np.array_equal(values, other) for other in found.values()):
                return False
        elif name not in found or not np.array_equal(values, found[name]):
            return False
    return True


def judge(reader, path, case):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reader(path)
    except Exception:  # noqa: BLE001 - readers refuse in many ways
        return "refused, rightly" if "error" in case else "refused"
    if "error" in case:
        return "guessed"
    return "right" if is_right(found, case) else "wrong, no word"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args(arguments).out
    cases = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))
    plain = {t: c for t, c in cases.items() if not {"options", "dialect"} & set(c)}
    tables = sum("error" not in case for case in plain.values())
    lines = [
        "# Readers and the files that people have",
        "",
        INTRODUCTION.format(tables, len(plain) - tables),
        "",
        HEAD,
        "|---|---|---|---|---|---|",
    ]
    failed = {}
    for name, reader in READERS.items():
        try:
            version = importlib.metadata.version(name.split(",")[0])
        except importlib.metadata.PackageNotFoundError:
            continue
        seen = {t: judge(reader, FOLDER / t, case) for t, case in plain.items()}
        counts = Counter(seen.values())
        numbers = " | ".join(str(counts[kind]) for kind in KINDS)
        lines.append(f"| {name} {version} | {numbers} |")
        failed[name] = [t for t, kind in seen.items() if kind == "wrong, no word"]
    lines += ["", "Read wrong without a word:", ""]
    lines += [f"- {name}: {', '.join(t) or 'none'}" for name, t in failed.items()]
    text = "\n".join(lines) + "\n"
    print(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
