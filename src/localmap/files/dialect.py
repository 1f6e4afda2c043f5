"""How the text of a table is written: what is asked for, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from localmap.files.errors import TableError

# Columns that stand apart by any number of blanks.
BLANKS: Final = " "

SHOWN: Final = {"\t": "tab", BLANKS: "blanks"}

# How people call the separators that are hard to type.
SPELLED: Final = {
    "tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|",
    "space": BLANKS, "blanks": BLANKS, "\\s+": BLANKS,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Dialect:
    r"""How a text table is written; what is None is decided by the text itself.

    Parameters
    ----------
    sep : str, optional
        One character between columns; a blank stands for any number of blanks. The
        words tab, comma, semicolon, pipe and space do as well.
    decimal, thousands : str, optional
        Marks inside numbers; ``thousands=""`` says that there are none.
    quote : str, optional
        Character around cells; ``""`` says that there is none.
    escape : str, optional
        Character before a quote inside a quoted cell; ``""``: quotes are doubled.
    encoding : str, optional
        Name of a codec of Python.
    header : bool, optional
        Whether the first line names the columns.
    comment : str, optional
        What lines begin with that are no part of the table; ``""``: there are none.
    skip : int, optional
        Number of lines before the table.

    Examples
    --------
    >>> Dialect(sep="tab", decimal=",").sep
    '\t'
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    header: bool | None = None
    comment: str | None = None
    skip: int | None = None

    def __post_init__(self) -> None:
        if self.sep is not None:
            object.__setattr__(self, "sep", SPELLED.get(self.sep.lower(), self.sep))
        single = {"sep": self.sep, "decimal": self.decimal}
        for name, mark in single.items():
            if mark is not None and len(mark) != 1:
                msg = f"{name} must be one character; got {mark!r}"
                raise TableError(msg)
        for name in ("thousands", "quote", "escape"):
            mark = getattr(self, name)
            if mark is not None and len(mark) > 1:
                msg = f"{name} must be one character or none; got {mark!r}"
                raise TableError(msg)
        if self.sep in ("\n", "\r", '"'):
            msg = f"sep must not be {self.sep!r}"
            raise TableError(msg)
        if self.decimal is not None and self.decimal == self.thousands:
            msg = f"decimal and thousands must differ; both are {self.decimal!r}"
            raise TableError(msg)
        if self.skip is not None and self.skip < 0:
            msg = f"skip must be 0 or more; got {self.skip}"
            raise TableError(msg)

    @property
    def asked(self) -> dict[str, object]:
        """What was asked for, by name."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in given.items() if value is not None}

    def describe(self, columns: int) -> str:
        """Say in one line what was decided.

        Examples
        --------
        >>> decided = Dialect(sep=";", decimal=",", header=True, encoding="Latin-1")
        >>> decided.describe(12)
        "12 columns, header yes, ';' between, decimal ',', Latin-1"
        """
        parts = ["1 column" if columns == 1 else f"{columns} columns"]
        parts.append(f"header {'yes' if self.header else 'no'}")
        if self.sep is not None and columns > 1:
            parts.append(f"{SHOWN.get(self.sep, repr(self.sep))} between")
        if self.decimal is not None:
            parts.append(f"decimal {self.decimal!r}")
        if self.thousands:
            parts.append(f"thousands {self.thousands!r}")
        if self.quote not in (None, "", '"'):
            parts.append(f"quotes {self.quote}")
        if self.escape:
            parts.append(f"escapes {self.escape}")
        if self.comment:
            parts.append(f"comments {self.comment!r}")
        if self.skip:
            parts.append(f"{self.skip} lines skipped")
        if self.encoding is not None:
            parts.append(self.encoding)
        return ", ".join(parts)
