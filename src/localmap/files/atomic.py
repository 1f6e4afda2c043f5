"""Files that are there whole or not at all, one or several at once."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from localmap.files.errors import TableError


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Write aside, then rename; what fails leaves what was there.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_file(folder / "map.csv") as aside:
    ...     _ = aside.write_text("whole")
    >>> (folder / "map.csv").read_text()
    'whole'
    """
    place = _behind(path)
    if place.exists() and not place.is_file():
        kind = errno.EISDIR if place.is_dir() else errno.EINVAL
        raise OSError(kind, "It is no regular file", str(path))
    aside: Path | None = None
    try:
        aside = _aside(place)
        yield aside
        aside.chmod(_mode(place))
        aside.replace(place)
    except OSError as error:
        _name(error, path, aside)
        raise
    finally:
        if aside is not None:
            aside.unlink(missing_ok=True)


class Outputs:
    """Several files that appear together or not at all.

    Used as a context: ask for each output with `file`, write to the path it returns.
    When the block ends without an error, all outputs are moved to their places; if one
    cannot be moved, those moved before it are taken back.

    Parameters
    ----------
    paths : sequence of Path
        All outputs, checked before any work is done.
    inputs : sequence of Path, default=()
        Files that are read: none of them may be written, under any of its names.
    force : bool, default=False
        Whether files that exist may be replaced.

    Raises
    ------
    TableError
        If an output is an input, is named twice, exists without `force`, is a folder,
        or its folder is not there or takes no files.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> table, model = folder / "map.csv", folder / "map.localmap"
    >>> with Outputs([table, model]) as outputs:
    ...     _ = outputs.file(table).write_text("a,b")
    ...     _ = outputs.file(model).write_bytes(b"0")
    >>> table.exists() and model.exists()
    True
    """

    def __init__(
        self, paths: Sequence[Path], *, inputs: Sequence[Path] = (), force: bool = False
    ) -> None:
        self._force = force
        self._asides: dict[Path, Path] = {}
        self._paths = tuple(map(Path, paths))
        for place, path in enumerate(self._paths):
            for given in inputs:
                if _same_file(path, Path(given)):
                    msg = f"cannot write {path}: it is the input; name another output"
                    raise TableError(msg)
            _check_place(path, force=force)
            for other in self._paths[:place]:
                if _same_file(path, other):
                    msg = f"cannot write {path}: two outputs have this name"
                    raise TableError(msg)

    def __enter__(self) -> Self:
        return self

    def file(self, path: Path) -> Path:
        """Return where to write `path` until all outputs are whole."""
        path = Path(path)
        if path not in self._paths:
            msg = f"{path} is not one of the outputs that were announced"
            raise TableError(msg)
        if path not in self._asides:
            try:
                self._asides[path] = _aside(_behind(path))
            except OSError as error:
                raise _cannot_write(path, error) from error
        return self._asides[path]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        try:
            if kind is None:
                self._move_all()
            elif isinstance(error, OSError):
                for path, aside in self._asides.items():
                    if len(self._asides) == 1 or error.filename == str(aside):
                        _name(error, path, aside)
        finally:
            for aside in self._asides.values():
                aside.unlink(missing_ok=True)

    def _places(self) -> list[tuple[Path, Path]]:
        """Return where each belongs, behind links, and where it was written."""
        return [(_behind(path), aside) for path, aside in self._asides.items()]

    def _move_all(self) -> None:
        """Move each to its place; take all back if one cannot go there."""
        moved: list[tuple[Path, Path | None]] = []
        try:
            for path, aside in self._places():
                aside.chmod(_mode(path))
                if not self._force:
                    _put_new(aside, path)
                    moved.append((path, None))
                    continue
                before = _put_by(path)
                moved.append((path, before))
                aside.replace(path)
        except OSError as error:
            for done, before in reversed(moved):
                done.unlink(missing_ok=True)
                if before is not None:
                    before.replace(done)
            raise _cannot_write(path, error) from error
        for _, before in moved:
            if before is not None:
                before.unlink()


def check_output(
    path: Path, *, inputs: Sequence[Path] = (), force: bool = True
) -> None:
    """Refuse an output that could not be written, before any work is done."""
    Outputs([path], inputs=inputs, force=force)


def _check_place(path: Path, *, force: bool) -> None:
    if not path.parent.is_dir():
        msg = f"cannot write {path}: there is no folder {path.parent}"
    elif path.is_dir():
        msg = f"cannot write {path}: it is a folder"
    elif path.is_symlink() and not path.exists():
        msg = f"cannot write {path}: it is a link to a file that is not there"
    elif path.exists() and not path.is_file():
        msg = f"cannot write {path}: it is no regular file"
    elif path.exists() and not force:
        msg = f"cannot write {path}: it exists; the option force replaces it"
    elif not os.access(path.parent, os.W_OK):
        msg = f"cannot write {path}: the folder {path.parent} takes no files"
    else:
        return
    raise TableError(msg)


def _same_file(one: Path, other: Path) -> bool:
    """Tell whether two names lead to one file, through links of either kind."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _put_new(aside: Path, path: Path) -> None:
    """Move to a place that must be free, also if somebody took it meanwhile."""
    try:
        os.link(aside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: look, then move
        if path.exists():
            raise FileExistsError(
                17, "it exists; the option force replaces it"
            ) from None
        aside.replace(path)


def _put_by(path: Path) -> Path | None:
    """Move what is at a place out of the way; return where it is now."""
    if not path.exists():
        return None
    before = _aside(path)
    try:
        path.replace(before)
    except OSError:
        before.unlink()
        raise
    return before


def _behind(path: Path) -> Path:
    """Return the file that a link leads to: it is written, and the link stays."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _name(error: OSError, path: Path, aside: Path | None) -> None:
    """Let an error name the file that was asked for, not the one written aside."""
    if error.errno and (aside is None or error.filename in (None, str(aside))):
        error.filename = str(path)


def _aside(path: Path) -> Path:
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
    )
    os.close(handle)
    return Path(name)


def _mode(path: Path) -> int:
    """Return the rights of the file that is replaced, or those of a new one."""
    if path.is_file():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _cannot_write(path: Path, error: OSError) -> TableError:
    return TableError(f"cannot write {path}: {error.strerror or error}")
