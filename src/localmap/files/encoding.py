"""Bytes to UTF-8: which encoding a text is in, by what the bytes can mean."""

from __future__ import annotations

import codecs
import re
from typing import Final

from localmap.files.errors import TableError

# Marks at the beginning of a text; the longer before those they begin with.
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with mark"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)

# Of a text in UTF-16 without a mark, nearly every other byte is zero where cells are
# numbers; names in other scripts leave fewer.
SHARE_OF_ZEROS: Final = 0.3

# Bytes above 127 in a row: words of Western Europe have one or two at a time, words in
# Cyrillic, Greek, Chinese or Japanese encodings have many.
RUN: Final = re.compile(rb"[\x80-\xff]{3,}")

# In cp1252 these are signs and stand beside words, never inside them (but for the
# apostrophe and the Catalan middle dot, which are not in the list); in encodings of
# Central Europe they are letters. A capital inside a word of small letters: Mac Roman.
SIGN_IN_WORD: Final = re.compile(
    "[a-z\\xe0-\\xf6\\xf8-\\xff]"
    "[\\xa1-\\xa9\\xab-\\xb4\\xb6\\xb8\\xb9\\xbb-\\xbf\\xd7\\xf7"
    "\\u2018\\u201a-\\u201e\\u2020-\\u2026\\u2030\\u2039\\u203a\\u20ac\\u2122\\u02c6\\u02dc]"
    "[a-z\\xe0-\\xf6\\xf8-\\xff]"
)
CAPITAL_IN_WORD: Final = re.compile("[a-z][À-ÖØ-ÞŠŽŒŸ][a-z]")


def to_utf8(data: bytes, asked: str | None, name: str) -> tuple[bytes, str]:
    """Return the text in UTF-8 without a mark, and the name of what it was in."""
    if asked is not None:
        return _as_asked(data, asked, name)
    for mark, codec, called in MARKS:
        if data.startswith(mark):
            return _recode(data[len(mark) :], codec, called, name), called
    if b"\0" in data:
        return _without_mark(data, name)
    if data.isascii():
        return data, "UTF-8"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _western(data, name)
    return data, "UTF-8"


def _as_asked(data: bytes, asked: str, name: str) -> tuple[bytes, str]:
    try:
        codec = codecs.lookup(asked)
    except LookupError:
        msg = f"encoding {asked!r} is not known; try utf-8, latin-1, cp1252 or utf-16"
        raise TableError(msg) from None
    text = _recode(data, codec.name, asked, name)
    return text.removeprefix(codecs.BOM_UTF8), asked


def _recode(data: bytes, codec: str, called: str, name: str) -> bytes:
    try:
        text = data.decode(codec)
    except (UnicodeDecodeError, ValueError) as error:
        where = data[: getattr(error, "start", 0)].count(b"\n") + 1
        msg = (
            f"{name} is no {called} text: line {where} breaks it; the option encoding "
            "settles it"
        )
        raise TableError(msg) from None
    if "\0" in text:
        raise _no_text(name)
    return text.encode("utf-8")


def _without_mark(data: bytes, name: str) -> tuple[bytes, str]:
    """UTF-16 without its mark, or no text at all."""
    begin = data[: 1 << 16]
    even, odd = begin[0::2].count(0), begin[1::2].count(0)
    if len(data) % 2 == 0 and max(even, odd) > SHARE_OF_ZEROS * len(begin) / 2:
        codec = "utf-16-le" if odd > even else "utf-16-be"
        if min(even, odd) == 0:
            return _recode(data, codec, "UTF-16", name), "UTF-16"
    raise _no_text(name)


def _western(data: bytes, name: str) -> tuple[bytes, str]:
    """Latin-1 or cp1252, unless the bytes look like another script."""
    unclear = (
        f"{name} is no UTF-8 and does not look like Latin-1 either; the option "
        "encoding settles it"
    )
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise TableError(unclear) from None
    if RUN.search(data) or SIGN_IN_WORD.search(text) or CAPITAL_IN_WORD.search(text):
        raise TableError(unclear)
    latin = not re.search(rb"[\x80-\x9f]", data)
    return text.encode("utf-8"), "Latin-1" if latin else "cp1252"


def _no_text(name: str) -> TableError:
    return TableError(
        f"{name} holds zero bytes: it is no text and no format known here"
    )
