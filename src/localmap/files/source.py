"""What a file holds, told by its first bytes rather than by its name."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from localmap.files.errors import TableError

MAGIC: Final = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\x93NUMPY": "npy",
    b"\x89HDF\r\n\x1a\n": "h5ad",
}
GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")

# Formats that people have and that cannot be read here, with the way out.
REFUSED: Final = {
    b"\xd0\xcf\x11\xe0": "an old Excel file: save it as .xlsx or .csv",
    b"SQLite format 3": "a database: export the table as .csv",
    b"BZh": "compressed with bzip2: use .gz, .zst or .zip",
    b"\xfd7zXZ": "compressed with xz: use .gz, .zst or .zip",
    b"7z\xbc\xaf": "a 7z archive: use .gz, .zst or .zip",
    b"Rar!": "a RAR archive: use .gz, .zst or .zip",
    b"%PDF": "a PDF: export the table as .csv",
    b"\x80\x02": "a pickle, which could run code: save it as .csv, .npy or .parquet",
    b"\x80\x03": "a pickle, which could run code: save it as .csv, .npy or .parquet",
    b"\x80\x04": "a pickle, which could run code: save it as .csv, .npy or .parquet",
    b"\x80\x05": "a pickle, which could run code: save it as .csv, .npy or .parquet",
    b"RDX": "an R data file: write it with write.csv",
    b"<!DOCTYPE": "a web page, not a table: was the download refused?",
    b"<html": "a web page, not a table: was the download refused?",
}

# Endings of formats that have first bytes of their own.
BINARY: Final = (".xlsx", ".parquet", ".feather", ".npy", ".npz", ".h5ad")

READABLE: Final = (
    ".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".feather", ".npy", ".npz", ".h5ad"
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A named file: its kind, and its bytes or where they are."""

    name: str
    kind: str  # text, xlsx, parquet, feather, npy, npz or h5ad
    data: bytes | None  # None: not read yet, see `path`
    path: Path | None
    packed: str = ""  # how it was compressed

    def open(self) -> io.BytesIO | Path:
        """Return what a reader of a binary format takes."""
        if self.data is not None:
            return io.BytesIO(self.data)
        assert self.path is not None  # noqa: S101 - one of the two is always there
        return self.path


def find(given: Path | str | Source) -> Source:
    """Look what a file holds; ``-`` is standard input, which can be read once."""
    if isinstance(given, Source):
        return given
    if str(given) == "-":
        return _unpack("standard input", sys.stdin.buffer.read(), "", None)
    path = Path(given)
    try:
        with path.open("rb") as file:
            begin = file.read(16)
            kind = _kind(str(path), begin)
            if kind is not None:
                return Source(str(path), kind, None, path)
            if file.seekable():
                file.seek(0)
                begin = b""
            return _unpack(str(path), begin + file.read(), "", path)
    except FileNotFoundError:
        msg = f"no such file: {path}"
    except IsADirectoryError:
        msg = f"{path} is a folder; name a file in it"
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
    raise TableError(msg)


def _kind(name: str, begin: bytes) -> str | None:
    for magic, kind in MAGIC.items():
        if begin.startswith(magic):
            return kind
    for magic, way_out in REFUSED.items():
        if begin.startswith(magic):
            msg = f"cannot read {name}: it is {way_out}"
            raise TableError(msg)
    return None


def _unpack(name: str, data: bytes, packed: str, path: Path | None) -> Source:
    """Open what is compressed, once; then look again."""
    kind = _kind(name, data[:16])
    if kind is not None:
        return Source(name, kind, data, None, packed)
    if data.startswith(ZIP):
        return _unzip(name, data, packed, path)
    if not data.startswith((GZIP, ZSTD)):
        ending = PurePath(name).suffix.lower()
        if ending in BINARY:
            msg = (
                f"cannot read {name}: by its ending it is {ending[1:].upper()}, by its "
                "first bytes it is not; was it cut off, or is it a text with another "
                "ending?"
            )
            raise TableError(msg)
        return Source(name, "text", data, None, packed)
    if packed:
        msg = f"cannot read {name}: it is compressed twice; unpack it first"
        raise TableError(msg)
    how = "gzip" if data.startswith(GZIP) else "zstd"
    try:
        plain = gzip.decompress(data) if how == "gzip" else _from_zstd(data)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"cannot read {name}: its {how} compression is damaged ({error})"
        raise TableError(msg) from None
    return _unpack(name, plain, how, None)


def _from_zstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.input_stream(pa.BufferReader(data), compression="zstd") as stream:
        plain: bytes = stream.read()
    return plain


def _unzip(name: str, data: bytes, packed: str, path: Path | None) -> Source:
    """Tell a workbook, arrays, or one compressed file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [m for m in archive.namelist() if not _is_litter(m)]
            if "[Content_Types].xml" in members:
                if any(member.startswith("xl/") for member in members):
                    return Source(name, "xlsx", data, None, packed)
                msg = f"cannot read {name}: it is an Office file without a table"
                raise TableError(msg)
            if members and all(member.endswith(".npy") for member in members):
                return Source(name, "npz", None if path else data, path, packed)
            if len(members) != 1:
                shown = ", ".join(members[:8]) + (", ..." if len(members) > 8 else "")
                msg = (
                    f"cannot read {name}: a zip must hold one file; it holds "
                    f"{len(members)} ({shown or 'nothing'})"
                )
                raise TableError(msg)
            if packed:
                msg = f"cannot read {name}: it is compressed twice; unpack it first"
                raise TableError(msg)
            return _unpack(name, archive.read(members[0]), "zip", None)
    except (zipfile.BadZipFile, RuntimeError, zlib.error) as error:
        msg = f"cannot read {name}: its zip is damaged or locked ({error})"
        raise TableError(msg) from None


def _is_litter(member: str) -> bool:
    """Folders, and what some systems add to archives by themselves."""
    name = PurePath(member).name
    return member.endswith("/") or member.startswith("__MACOSX/") or name == ".DS_Store"
