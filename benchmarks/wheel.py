"""What is in a wheel, and that it needs no compiler: from `pip install` to a picture.

``python -m benchmarks.wheel dist/*.whl [--python PYTHON] [--into FOLDER] [--save]``
checks what the wheel holds, makes an environment with no compiler in it, installs the
wheel there with its extra [cli], and runs `localmap demo`. ``--save`` keeps the log in
docs/results; ``--into`` keeps the environment.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path
from time import perf_counter

from benchmarks import machine

MOST_BYTES = 1_000_000
DATA = {"cells.npz", "text.npz"}  # what `localmap demo` shows
TEXT = {".py", ".pyi", ".typed", ".md", ".html", ".tex", ".css", ".mjs"}
LICENCES = {
    "LICENSE": "Apache License",
    "licences/nanobind.txt": "Wenzel Jakob",
    "licences/robin-map.txt": "Thibaut Goetghebuer-Planchon",
}
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")
FOLDERS = re.compile(rb"/(?:tmp|root|home|work|Users)/[\w./-]+")


def faults(wheel):
    """Return what is wrong with the wheel, a line each."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    inside = {
        name: content
        for name, content in files.items()
        if not name.startswith(f"{info}/") and not name.endswith("/")  # a folder
    }
    return [
        *_size(wheel),
        *_strangers(inside),
        *_core(inside, wheel.name.split("-")[3]),
        *_licences(files, info),
    ]


def _size(wheel):
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        yield f"{size:,} bytes, more than {MOST_BYTES:,}"


def _strangers(inside):
    for name in sorted(inside):
        path = Path(name)
        data = path.parts[:3] == ("localmap", "datasets", "shipped")
        known = path.suffix in TEXT or _compiled(path) or (data and path.name in DATA)
        test = any(re.match(r"tests?$|test_|conftest", part) for part in path.parts)
        if path.parts[0] != "localmap" or not known or test:
            yield f"{name} does not belong into a wheel"


def _compiled(path):
    return path.suffix in {".so", ".pyd"} and path.parent.name == "kernels"


def _core(inside, abi):
    cores = [name for name in inside if _compiled(Path(name))]
    if len(cores) != 1:
        yield f"one compiled module is expected; found {cores}"
    for name in cores:
        if (abi == "abi3") != (".abi3." in name or name.endswith("_core.pyd")):
            yield f"{name} is not what the tag {abi} says"
        left = sorted({found.decode() for found in FOLDERS.findall(inside[name])})
        if left:
            yield f"{name} tells where it was built: {left}"


def _licences(files, info):
    for name, owner in LICENCES.items():
        text = files.get(f"{info}/licenses/{name}", b"").decode()
        if owner not in text:
            yield f"the licence {name} is missing, or does not name {owner}"
    told = Parser().parsestr(files[f"{info}/METADATA"].decode())["License-Expression"]
    if told != "Apache-2.0 AND BSD-3-Clause AND MIT":
        yield f"the licence is said to be {told}"


def environment(folder):
    """Return the environment variables of a machine without a compiler."""
    found = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TMPDIR")}
    found |= {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_"))}
    found["PIP_QUIET"] = "0"
    return found | {
        "PATH": str(folder / "bin"),
        "CC": "/bin/false",
        "CXX": "/bin/false",
    }


class Log:
    """Commands as they were typed, what they answered, how long they took."""

    def __init__(self, variables):
        self.variables = variables
        self.lines = []

    def run(self, *command, shown=None):
        command = [str(word) for word in command]
        begin = perf_counter()
        done = subprocess.run(
            command, env=self.variables, capture_output=True, text=True, check=False
        )
        seconds = perf_counter() - begin
        self.lines += [f"$ {shown or ' '.join(command)}", *_plain(done.stdout)]
        if done.returncode:
            sys.exit("\n".join([*self.lines, done.stderr, f"status {done.returncode}"]))
        self.lines.append(f"# {seconds:.1f} s")
        return seconds


def _plain(text):
    """Return what an installation says without where it was fetched from."""
    kept = (line for line in text.splitlines() if "://" not in line)
    return [
        line
        for line in kept
        if not re.match(r"\s*(Using cached|Downl|Looking in|Processing|\S*━)", line)
    ]


def install(wheel, python, folder):
    """Install the wheel where there is no compiler; return log and seconds."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    log = Log(environment(folder))
    here = folder / "bin" / "python"
    which = f"import shutil; print([n for n in {COMPILERS} if shutil.which(n)])"
    log.run(here, "-c", which, shown="which " + " ".join(COMPILERS))
    if log.lines[1] != "[]":
        sys.exit(f"{folder} has compilers: {log.lines[1]}")
    log.lines[1] = "none"
    pip = [here, "-m", "pip", "install", "--only-binary=:all:"]
    shown = f'pip install --only-binary=:all: "{wheel.name}[cli]"'
    installed = log.run(*pip, f"{wheel}[cli]", shown=shown)
    log.run(folder / "bin" / "localmap", "--version", "--verbose", shown=VERSION)
    with tempfile.TemporaryDirectory() as out:
        demo = [folder / "bin" / "localmap", "demo", "--quiet", "--out", out]
        drawn = log.run(*demo, shown="localmap demo --quiet --out demo")
        picture = (Path(out) / "digits.png").read_bytes()
        log.lines = [line.replace(out, "demo") for line in log.lines]
    if not picture.startswith(b"\x89PNG"):
        sys.exit("the demo made no picture")
    return log.lines, installed, drawn


VERSION = "localmap --version --verbose"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable, help="installs the first")
    parser.add_argument("--into", type=Path, help="keep the environment here")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args(arguments)
    found = [f"{w.name}: {fault}" for w in given.wheels for fault in faults(w)]
    if found:
        sys.exit("\n".join(found))
    sizes = {wheel.name: wheel.stat().st_size for wheel in given.wheels}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.into or Path(temporary) / "venv").absolute()
        lines, installed, drawn = install(
            given.wheels[0].absolute(), given.python, folder
        )
    log = "\n".join(lines)
    rows = {"bytes": sizes, "install": installed, "demo": drawn}
    text = (
        f"{machine.table('wheel|bytes', [[k, f'{v:,}'] for k, v in sizes.items()])}\n\n"
        f"From `pip install` to the first picture: {installed:.1f} + {drawn:.1f} s, "
        f"in a new environment without a compiler:\n\n```\n{log}\n```"
    )
    if given.save:
        title = "The wheel: what it weighs, and an install without a compiler"
        machine.save("wheel", title, machine.describe(), text, rows)
    else:
        print(text)


if __name__ == "__main__":
    main()
