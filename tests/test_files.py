"""Files as people have them: each is read exactly, or refused with one exact line."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas", reason="needs the cli extra")
pytest.importorskip("pyarrow", reason="needs the cli extra")

from localmap import files

FOLDER = Path(__file__).parent / "files"
CASES = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))


def without_path(text, path):
    return text.replace(str(path), "").removeprefix(": ").strip()


def test_the_corpus_is_complete():
    named = {case.get("file", title) for title, case in CASES.items()}
    assert named == {path.name for path in FOLDER.iterdir()} - {"expected.toml"}
    assert len(named) >= 60


@pytest.mark.parametrize("title", CASES)
def test_corpus(title):
    case = CASES[title]
    path = FOLDER / case.get("file", title)
    options = case.get("options", {})
    dialect = files.Dialect(**case["dialect"]) if "dialect" in case else None
    if "error" in case:
        with pytest.raises(files.TableError) as refusal:
            files.read(path, dialect=dialect, **options)
        assert without_path(str(refusal.value), path) == case["error"]
        return
    table = files.read(path, dialect=dialect, **options)
    assert table.names == tuple(case["names"])
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, np.array(case["X"], dtype=float))
    assert table.kept.to_dict("list") == case.get("kept", {})
    assert list(table.left_out) == case.get("left_out", [])
    if "says" in case:
        assert table.notes[0] == case["says"]
    assert set(case.get("notes", [])) <= set(table.notes)
    if "groups" in case:
        assert [group or "" for group in table.groups] == case["groups"]
    if "rows" in case:
        assert table.rows.tolist() == case["rows"]
