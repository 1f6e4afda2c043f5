"""A workshop whose arrays are files of one folder, and that remembers what it did.

Finished parts are written down with a checksum of what they wrote. A run that was cut
off is taken up again by what can be verified: parts whose bytes are not what they were
are done anew. The same functions run as in memory, on the same parts.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import DTypeLike, NDArray

from localmap.geometry.blocks import Rows
from localmap.geometry.workshop import Part, Workshop

PREFIX: Final = "localmap-"

# The file by which a fit claims its folder.
CLAIM: Final = "claim"

# What the system says of a disk that is full.
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Bytes that are checked at once.
PIECE: Final = 1 << 24


class ScratchError(OSError):
    """The scratch folder cannot hold what a fit needs."""


class OnDisk(Workshop):
    """Arrays are files, parts are remembered.

    Parameters
    ----------
    n_threads : int
        Threads that work on a part.
    folder : path or None
        Where the files are; None: a new folder among the temporary ones. In a folder
        that was named, what a run leaves unfinished stays, to be taken up again. While
        another fit is at the same work there, a new folder beside its own.
    name : str
        What is worked on: only the same is taken up again.
    verbose : bool
        Show stages, parts and the time left.
    """

    def __init__(
        self,
        n_threads: int = 1,
        folder: str | os.PathLike[str] | None = None,
        name: str = "",
        *,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_threads, verbose=verbose)
        self.resumes = folder is not None
        self._claim: IO[bytes] | None = None
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            return
        # Absolute: workers may be elsewhere.
        self.folder = Path(folder).absolute() / f"{PREFIX}{name}"
        self._claim = _claimed(self.folder)
        if self._claim is None:
            self.resumes = False
            made = tempfile.mkdtemp(prefix=f"{PREFIX}{name}-", dir=self.folder.parent)
            self.folder = Path(made)

    def accept(self, digest: str) -> None:
        """Begin anew if what lies here was made of other data."""
        kept = self.folder / "data"
        if kept.exists() and kept.read_text(encoding="ascii") == digest:
            return
        for file in self.folder.iterdir():
            if file.name != CLAIM:
                file.unlink()
        kept.write_text(digest, encoding="ascii")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the folder; one that was named stays if the run did not end."""
        begun = any(self.folder.glob("*.done"))  # else there is nothing to go on from
        full = isinstance(error, OSError) and error.errno in FULL
        stays = error is not None and self.resumes and begun and not full
        told = self._told_full() if full else ""
        if not stays:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._claim is not None:
            self._claim.close()
        if error is not None and stays:
            error.add_note(
                f"What was finished is kept in {self.folder}: the same fit goes on "
                "from there. Remove it if you do not want to."
            )
        if full and not isinstance(error, ScratchError):
            raise ScratchError(errno.ENOSPC, told) from None

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike
    ) -> NDArray[Any]:
        """Return a file of that name as an array; what it holds stays."""
        path = self.folder / f"{name}.bin"
        size = int(np.dtype(dtype).itemsize * np.prod(shape, dtype=np.int64))
        if not path.exists() or path.stat().st_size != size:
            self._make(path, size)
        return np.memmap(path, dtype=dtype, mode="r+", shape=shape)

    def forget(self, *names: str) -> None:
        """Remove files; a run that may be taken up again keeps its neighbours."""
        for name in names:
            if not (self.resumes and name in ("neighbors", "distances")):
                (self.folder / f"{name}.bin").unlink(missing_ok=True)

    def remembered(
        self, name: str, make: Callable[[], dict[str, NDArray[Any]]]
    ) -> dict[str, NDArray[Any]]:
        """Return a few small arrays, made once."""
        path = self.folder / f"{name}.npz"
        if path.exists():
            try:
                with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
                    return {key: kept[key] for key in kept.files}
            except (OSError, ValueError, zlib.error, EOFError, BadZipFile):
                path.unlink()  # cut off while it was written: made again
        made = make()
        aside = path.with_suffix(".part.npz")
        np.savez(aside, allow_pickle=False, **made)
        aside.replace(path)
        return made

    def finished(self, stage: str) -> bool:
        """Tell whether all parts of a stage are done and as they were written."""
        done = self._done(stage)
        if not done:
            return False
        count = next(iter(done.values()))["of"]
        return len(done) == count and all(map(self._as_written, done.values()))

    def each(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., Any],
        *shared: Any,
        X: Rows | None = None,
        into: Sequence[NDArray[Any]] = (),
        here: bool = False,
    ) -> Iterator[Any]:
        """Do the work on each part that is not done yet; yield what it returns."""
        if not into:
            done_now = self._work(stage, parts, work, shared, X, (), here=here)
            yield from (result for result, _ in done_now)
            return
        done = self._done(stage)
        due = [
            (number, part)
            for number, part in enumerate(parts)
            if not self._is_done(done.get(number), part, into)
        ]
        todo = [part for _, part in due]
        results = self._work(stage, todo, work, shared, X, into, here=here)
        if not self.resumes:  # nobody will ask what was done
            yield from (result for result, _ in results)
            return
        with self._log(stage).open("a", encoding="utf-8") as log:
            for (number, part), (result, checksums) in zip(due, results, strict=True):
                written = [
                    [*_place(array, part.rows), checksum]
                    for array, checksum in zip(into, checksums, strict=True)
                ]
                entry = {"part": number, "of": len(parts), "written": written}
                log.write(json.dumps(entry) + "\n")
                log.flush()
                yield result

    def _work(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        X: Rows | None,
        into: Sequence[NDArray[Any]],
        *,
        here: bool,
    ) -> Iterator[tuple[Any, list[int]]]:
        """Do the work on parts, one after the other; yield checksums as well."""
        del here
        results = super().each(stage, parts, work, *shared, X=X, into=into)
        for part, result in zip(parts, results, strict=True):
            written = [array[part.rows] for array in into if self.resumes]
            yield result, list(map(checksum_of, written))

    def _make(self, path: Path, size: int) -> None:
        """Reserve the room before anything is written: a full disk is told at once."""
        try:
            with path.open("wb") as file:
                if hasattr(os, "posix_fallocate") and size:
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
        except OSError as error:
            path.unlink(missing_ok=True)
            if error.errno not in FULL:
                raise
            need = f", and {path.stem!r} alone needs {size / 1e9:.1f} GB"
            told = self._told_full(need)
            raise ScratchError(error.errno, told) from None

    def _told_full(self, need: str = " left, which is not enough") -> str:
        """Say where there is too little room, and what to do."""
        free = shutil.disk_usage(self.folder).free
        return (
            f"The scratch folder {self.folder.parent} has room for {free / 1e9:.1f} GB"
            f"{need}. Name a folder on a larger disk: scratch=..., or --scratch of the "
            "command."
        )

    def _log(self, stage: str) -> Path:
        return self.folder / f"{stage}.done"

    def _done(self, stage: str) -> dict[int, Any]:
        """Return what was written down of a stage, the last word on each part."""
        done = {}
        if self._log(stage).exists():
            text = self._log(stage).read_text(encoding="utf-8", errors="replace")
            for line in text.splitlines(keepends=True):
                try:
                    entry = json.loads(line)
                    done[int(entry["part"])] = entry
                except (ValueError, KeyError, TypeError):
                    continue  # cut off while it was written: the part is done again
        return done

    def _is_done(self, entry: Any, part: Part, into: Sequence[NDArray[Any]]) -> bool:
        """Tell whether a part was done, to these arrays, and is as it was written."""
        places = [_place(array, part.rows) for array in into]
        return (
            entry is not None
            and [written[:3] for written in entry["written"]] == places
            and self._as_written(entry)
        )

    def _as_written(self, entry: Any) -> bool:
        for name, start, stop, checksum in entry["written"]:
            path = self.folder / name
            if not path.exists() or path.stat().st_size < stop:
                return False
            with path.open("rb") as file:
                file.seek(start)
                if _checksum(file.read, stop - start) != checksum:
                    return False
        return True


def _claimed(folder: Path) -> IO[bytes] | None:
    """Keep a folder for one fit until the file returned is closed; None if it is taken.

    Two fits of the same shape would write to the same files. The system lets go of what
    a process that died has claimed.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = (folder / CLAIM).open("ab")
        except FileNotFoundError:  # removed by a fit that has just ended
            continue
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / CLAIM).stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        except ImportError:  # no POSIX: nothing to claim with
            return file
        except FileNotFoundError:
            pass  # removed meanwhile: make it again
        except OSError:
            file.close()
            return None
        file.close()


def _place(array: NDArray[Any], rows: slice) -> list[Any]:
    """Return the file and the bytes in it that rows of an array take."""
    assert isinstance(array, np.memmap)  # noqa: S101 - made by `OnDisk.array`
    row = array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
    return [Path(str(array.filename)).name, rows.start * row, rows.stop * row]


def checksum_of(*arrays: NDArray[Any]) -> int:
    """Return a checksum of the bytes of arrays, one after the other."""
    checksum = 0
    for array in arrays:
        part = bytes_in(array)
        for start in range(0, len(part), PIECE):
            checksum = zlib.crc32(part[start : start + PIECE], checksum)
    return checksum


def bytes_in(array: NDArray[Any]) -> memoryview:
    """Return the numbers of an array as bytes."""
    return memoryview(np.ascontiguousarray(array).data).cast("B")


def _checksum(read: Callable[[int], bytes], size: int) -> int:
    checksum = 0
    while size > 0:
        piece = read(min(PIECE, size))
        if not piece:
            break
        checksum = zlib.crc32(piece, checksum)
        size -= len(piece)
    return checksum
