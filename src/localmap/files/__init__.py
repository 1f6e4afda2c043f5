"""Files to tables and maps to files: exactly or not at all.

`read` turns any file that people have into a `Table` or refuses with a `TableError` of
one line; `Dialect` says what is known of a text beforehand. `write` writes a map;
`Outputs` lets several files appear together or not at all.

The steps, in order: `source` finds what a file is; `text` (with `encoding`, `layout`,
`header`, `marks`, `parse`), `workbook`, `arrow_files` and `arrays` read its columns;
`columns` chooses among them, by what `selection` asks for; `missing` completes them.
"""

from __future__ import annotations

from localmap.files.atomic import Outputs, atomic_file, check_output
from localmap.files.dialect import Dialect
from localmap.files.errors import TableError
from localmap.files.read import column_names, read
from localmap.files.selection import Selection
from localmap.files.source import READABLE, Source, find
from localmap.files.table import AXIS, AXIS_NAME, NAMELESS, Table
from localmap.files.write import WRITABLE, check_format, write, write_map

__all__ = [
    "AXIS",
    "AXIS_NAME", "NAMELESS",
    "READABLE",
    "WRITABLE",
    "Dialect",
    "Outputs",
    "Selection",
    "Source",
    "Table",
    "TableError",
    "atomic_file",
    "check_format",
    "check_output",
    "column_names",
    "find",
    "read",
    "write",
    "write_map",
]  # fmt: skip
