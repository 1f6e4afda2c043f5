"""Formats that are not text, made here; and what is written."""

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
from scipy import sparse

pd = pytest.importorskip("pandas", reason="needs the cli extra")
pa = pytest.importorskip("pyarrow", reason="needs the cli extra")

from pyarrow import feather  # noqa: E402

from localmap import files  # noqa: E402

FRAME = pd.DataFrame(
    {"name": ["a", "b", "c"], "x": [1.5, 2.5, 4.0], "y": [3, 1, 2], "kind": list("uvv")}
)
X = FRAME[["x", "y"]].to_numpy()


def same(table, names=("x", "y")):
    assert table.names == tuple(names)
    np.testing.assert_array_equal(table.X, X)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_arrow_files(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    getattr(FRAME, f"to_{suffix}")(path)
    table = files.read(path, labels="kind")
    same(table)
    assert table.kept.to_dict("list") == {
        "kind": ["u", "v", "v"],
        "name": ["a", "b", "c"],
    }
    assert table.groups.tolist() == ["u", "v", "v"]
    assert files.read(path).left_out == ("`kind`: is text, first `u`",)


def test_parquet_row_names_missing_cells_and_lists(tmp_path):
    path = tmp_path / "t.parquet"
    frame = FRAME.set_index("name").assign(z=[1.0, None, 2.0], parts=[[1], [2], [3]])
    frame.to_parquet(path)
    with pytest.raises(files.TableError, match=r"1 cell is missing.*`z` in row 2"):
        files.read(path)
    table = files.read(path, missing="drop-columns")
    same(table)
    assert table.kept["name"].tolist() == ["a", "b", "c"]
    assert "`parts`: holds list" in table.left_out[-1]


def test_parquet_of_float32_stays_so(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME[["x", "y"]].astype(np.float32).to_parquet(path)
    assert files.read(path).X.dtype == np.float32


@pytest.mark.parametrize("packed", ["gz", "zst", "zip"])
def test_compressed_text(tmp_path, packed):
    text = FRAME.to_csv(index=False).encode()
    path = tmp_path / f"t.csv.{packed}"
    if packed == "gz":
        path.write_bytes(gzip.compress(text))
    elif packed == "zst":
        codec = pa.Codec("zstd")
        path.write_bytes(codec.compress(text, asbytes=True))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("t.csv", text)
            archive.writestr("__MACOSX/._t.csv", b"litter")
    table = files.read(path)
    same(table)
    assert table.notes[0].endswith({"gz": "gzip", "zst": "zstd", "zip": "zip"}[packed])


def test_damaged_and_crowded_archives_are_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 100)[:-12])
    with pytest.raises(files.TableError, match="gzip compression is damaged"):
        files.read(path)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n")
        archive.writestr("b.csv", "a,b\n")
    with pytest.raises(files.TableError, match=r"it holds 2 \(a.csv, b.csv\)"):
        files.read(tmp_path / "two.zip")


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the xlsx extra")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)


ROWS = [["name", "x", "y"], ["a", 1.5, 3], ["b", 2.5, 1], ["c", 4, 2]]


def test_xlsx_of_one_sheet(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, data=ROWS, empty=[])
    table = files.read(path)
    same(table)
    assert table.kept["name"].tolist() == ["a", "b", "c"]
    assert table.notes[0] == "3 columns, header yes, sheet 'data'"


def test_xlsx_of_two_sheets_is_refused_until_one_is_named(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, data=ROWS, other=ROWS[:2])
    with pytest.raises(
        files.TableError, match=r"2 sheets.*the option sheet settles it"
    ):
        files.read(path)
    same(files.read(path, sheet="data"))
    with pytest.raises(
        files.TableError, match="has no sheet 'dat'; it has data, other"
    ):
        files.read(path, sheet="dat")


def test_xlsx_with_a_title_years_and_text_among_numbers(tmp_path):
    path = tmp_path / "t.xlsx"
    years = [["id", 2015, 2016, 2017], [7, 1.5, 3, "?"], [9, 2.5, 1, 4], [8, 4, 2, 5]]
    workbook(path, data=[["Report"], [], *years])
    with pytest.raises(files.TableError, match="give skip=2"):
        files.read(path)
    table = files.read(path, dialect=files.Dialect(skip=2))
    same(table, ["2015", "2016"])
    assert table.left_out == ("`2017`: 1 of 3 cells is no number, first `?` in line 4",)
    assert table.kept["id"].tolist() == [7, 9, 8]


def test_npy(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, X.astype(np.float32))
    table = files.read(path)
    assert table.X.dtype == np.float32
    assert table.names == ()
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(files.read(path, columns=[2]).X, X[:, 1:])
    np.save(path, X[0])
    with pytest.raises(files.TableError, match="rows and columns; got shape"):
        files.read(path)
    np.save(path, np.array([[None]]), allow_pickle=True)
    with pytest.raises(files.TableError, match="cannot read"):
        files.read(path)


def test_npz_dense_and_sparse(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=np.array(["u", "v", "v"]), other=X)
    table = files.read(path, labels="y")
    np.testing.assert_array_equal(table.X, X)
    assert table.groups.tolist() == ["u", "v", "v"]
    with pytest.raises(files.TableError, match="has no 'z'; it has X, y, other"):
        files.read(path, labels="z")
    np.testing.assert_array_equal(files.read(path, part="other").X, X)
    sparse.save_npz(path, sparse.csc_array(X))
    found = files.read(path).X
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X)
    np.savez(path, a=X, b=X)
    with pytest.raises(files.TableError, match="the option part settles it"):
        files.read(path)


def test_h5ad(tmp_path):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "t.h5ad"
    cells = anndata.AnnData(
        sparse.csr_matrix(X),
        obs=pd.DataFrame({"kind": pd.Categorical(["u", None, "v"])}, index=list("abc")),
        var=pd.DataFrame(index=["g1", "g2"]),
        obsm={"X_pca": X[:, :1]},
    )
    cells.write_h5ad(path)
    table = files.read(path, labels="kind")
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.names == ("g1", "g2")
    assert table.groups.tolist() == ["u", None, "v"]
    assert table.kept["cell"].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(files.read(path, part="X_pca").X, X[:, :1])
    with pytest.raises(files.TableError, match="has no 'umap'; it has X, X_pca"):
        files.read(path, part="umap")
    with pytest.raises(files.TableError, match="no column 'type' in obs; it has kind"):
        files.read(path, labels="type")


def test_content_tells_the_format_not_the_name(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_parquet(path)
    same(files.read(path))


def test_standard_input_and_output(monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(FRAME.to_csv(index=False).encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    table = files.read("-")
    same(table)
    files.write("-", table.X, table.kept)
    assert capsys.readouterr().out.splitlines()[:2] == [
        "name,localmap_1,localmap_2",
        "a,1.5,3.0",
    ]


@pytest.mark.parametrize("content", [b"\x80\x04\x95abc", b"\xd0\xcf\x11\xe0\xa1\xb1"])
def test_what_is_never_read(tmp_path, content):
    path = tmp_path / "t.bin"
    path.write_bytes(content)
    with pytest.raises(files.TableError, match=r"a pickle|an old Excel"):
        files.read(path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path = tmp_path / f"map{suffix}"
    Y = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    files.write(path, Y, FRAME[["name", "kind"]])
    table = files.read(path, labels="kind")
    assert table.names == ("localmap_1", "localmap_2")
    np.testing.assert_array_equal(table.map.astype(np.float32), Y)
    assert table.kept["name"].tolist() == ["a", "b", "c"]


def test_a_kept_column_never_hides_the_map(tmp_path):
    with pytest.raises(files.TableError, match="called localmap_1"):
        files.write(tmp_path / "m.csv", X, pd.DataFrame({"localmap_1": [1, 2, 3]}))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(files.TableError, match="expected one of"):
        files.write(tmp_path / "m.docx", X, FRAME)


def test_options_that_do_not_apply_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path)
    with pytest.raises(files.TableError, match="the option sep does not apply"):
        files.read(path, dialect=files.Dialect(sep=","))
    with pytest.raises(files.TableError, match="missing must be one of"):
        files.read(path, missing="ignore")


def test_large_files_are_read_as_small_ones(tmp_path):
    """What stands behind the lines on which the dialect was decided counts, too."""
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(30_000, 3)), 4)
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(values, columns=list("abc"))
    frame.to_csv(path, index=False)
    assert path.stat().st_size > 2 * (1 << 18)
    np.testing.assert_array_equal(files.read(path).X, values)
    text = path.read_text().splitlines()
    text[25_000] = "1,2,?"
    path.write_text("\n".join(text))
    with pytest.raises(
        files.TableError,
        match=r"`c`: 1 of 30000 cells is no number, first `\?` in line 25001; the opt",
    ):
        files.read(path)
    text[25_000] = '1,2,"1,065"'
    path.write_text("\n".join(text))
    assert files.read(path).X[24_999].tolist() == [1, 2, 1065]
    text[25_000] = "1,2"
    path.write_text("\n".join(text))
    with pytest.raises(files.TableError, match="line 25001 has 2 cells, the others 3"):
        files.read(path)
    text[25_000] = ",,\n1,2,3"
    path.write_text("\n".join(text))
    assert files.read(path).X.shape == (30_000, 3)
    text[25_000] = "# a remark\n\n1,2,3,"
    path.write_text("\n".join(["# above", *text]))
    assert files.read(path).X[24_999].tolist() == [1, 2, 3]


def test_whole_numbers_above_a_late_point_are_not_trusted(tmp_path):
    """Until line 60,000 nothing tells whether a point is for decimals or thousands."""
    path = tmp_path / "t.csv"
    lines = ["a;b", *(f"{i % 7};{i % 11}" for i in range(100_000))]
    lines[60_000] = "1.065;3"
    path.write_text("\n".join(lines))
    with pytest.raises(files.TableError, match="decimal or a thousands mark"):
        files.read(path)
    lines[60_000] = "1.5;3"
    path.write_text("\n".join(lines))
    assert files.read(path).X[59_999].tolist() == [1.5, 3]


def test_notes_are_text(tmp_path):
    """Names and cells of a file are shown, on one line, and nothing else."""
    path = tmp_path / "t.csv"
    path.write_text('"<b>\n",x\n{0!r},1\n{0!r},2.5\nz,3\n')
    told = files.read(path).left_out
    assert json.loads(json.dumps(told)) == [
        "`<b>`: is text, first `{0!r}` in line 3",
    ]


def test_names_of_several_columns(tmp_path):
    path = tmp_path / "t.feather"
    columns = [pa.array([1.5, 2.5]), pa.array([3.0, 1.0]), pa.array([4.0, 2.0])]
    feather.write_feather(pa.table(columns, names=["1", "1", "b"]), path)
    assert files.column_names(path) == ("1", "1.1", "b")
    with pytest.raises(
        files.TableError,
        match=r"`1` is the name of 2 columns; say which by number: 1-1 or 2-2$",
    ):
        files.read(path, columns=["1"])
    assert files.read(path, columns=["2-2"]).X.tolist() == [[3.0], [1.0]]


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_names_of_several_genes(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.arange(12.0).reshape(4, 3))
    cells.var_names = ["g", "h", "g"]
    cells.write_h5ad(tmp_path / "t.h5ad")
    with pytest.raises(files.TableError, match="`g` is the name of 2 columns"):
        files.read(tmp_path / "t.h5ad", columns=["g"])
    assert files.read(tmp_path / "t.h5ad", columns=[3]).X[0].tolist() == [2.0]


def test_names_of_several_columns_are_told(tmp_path):
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{i}.5,{i * 7 % 5}.5,{i % 3}.5,9.5" for i in range(20))
    path.write_text(f"a,b,a,b\n{rows}\n")
    table = files.read(path)
    told = "names that stand for several columns: `a` as a, a.1; `b` as b, b.1"
    assert told in table.notes


@pytest.mark.parametrize("write", ["to_parquet", "to_feather"])
def test_numbers_that_are_categories_are_no_data(tmp_path, write):
    path = tmp_path / f"t.{write[3:]}"
    frame = pd.DataFrame({"a": [1.5, 2.0, 4.5], "c": pd.Categorical([3, 1, 3])})
    getattr(frame, write)(path)
    table = files.read(path)
    assert table.names == ("a",)
    assert table.left_out == ("`c`: holds categories, not numbers",)
    assert files.read(path, labels="c").groups.tolist() == [3, 1, 3]
    with pytest.raises(files.TableError, match="`c` cannot be embedded: holds categ"):
        files.read(path, columns=["a", "c"])


@pytest.mark.parametrize(
    ("first", "unclear"),
    [("1,2,3,4", True), ("0,1,2,3", True), ("20,21,22,23", False), ("3,1,4,1", None)],
)
def test_whole_numbers_that_count_on_over_whole_numbers(tmp_path, first, unclear):
    path = tmp_path / "t.csv"
    numbers = np.random.default_rng(0).integers(0, 10, (60, 4))
    rows = "\n".join(",".join(map(str, row)) for row in numbers)
    path.write_text(f"{first}\n{rows}\n")
    if unclear:
        with pytest.raises(files.TableError, match="it counts on; the option header"):
            files.read(path)
    else:
        assert len(files.read(path).X) == (61 if unclear is None else 60)


def test_seven_numbers_that_count_on_are_names(tmp_path):
    path = tmp_path / "t.csv"
    numbers = np.random.default_rng(0).integers(0, 10, (60, 7))
    rows = "\n".join(",".join(map(str, row)) for row in numbers)
    path.write_text(f"0,1,2,3,4,5,6\n{rows}\n")
    assert files.read(path).names == tuple("0123456")


def test_a_name_that_is_its_own_number_is_no_news(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,3,4,5\n0.5,2.5,1,3,7\n7,1,3.5,9,2\n")
    table = files.read(path, columns=["1", "2"])
    assert table.X[0].tolist() == [0.5, 2.5]
    assert len(table.notes) == 1


@pytest.mark.parametrize(
    ("cell", "mark"),
    [
        ("EUR {:.2f}", "EUR"), ("{:.1f} °C", "°C"), ("{:.0f} kg/m²", "kg/m²"),
        ("<{:.2f}", "<"), ("-{:.2f}%", "%"), ("{:.2f}µm", "µm"), ("{:.1e} s", "s"),
        ("P{:.0f}", ""), ("{:.0f}-01-02", ""), ("sample {:.0f}", ""),
    ],
)  # fmt: skip
def test_units_are_no_names_of_rows(tmp_path, cell, mark):
    path = tmp_path / "t.parquet"
    texts = [cell.format(13.7 * i + 1) for i in range(40)]
    pd.DataFrame({"a": texts, "b": np.arange(40) % 7}).to_parquet(path)
    table = files.read(path)
    assert table.names == ("b",)
    assert ("a" in table.kept) == (not mark)
    if mark:
        assert table.left_out[0].startswith(f"`a`: numbers with `{mark}` in each cell")
    pd.DataFrame({"case_id": texts, "b": np.arange(40) % 7}).to_parquet(path)
    assert files.read(path).kept["case_id"].tolist() == texts


def test_a_gene_with_a_number_for_a_name(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.arange(12.0).reshape(4, 3))
    cells.var_names = ["2", "3", "1"]
    cells.write_h5ad(tmp_path / "t.h5ad")
    table = files.read(tmp_path / "t.h5ad", columns=["1"])
    assert table.X[0].tolist() == [2.0]
    assert "`1` is taken for the column of that name, not for the first column" in (
        table.notes
    )


@pytest.mark.parametrize(
    "options", [{}, {"columns": ["d"]}, {"labels": "d"}, {"ids": ["d"]}]
)
@pytest.mark.parametrize("some", [False, True])
def test_formulas_without_stored_values_are_refused(tmp_path, options, some):
    path = tmp_path / "t.xlsx"
    rows = [["a", "b", "d"], *([i * 7 % 5, i / 2, f"=A{i + 2}*2"] for i in range(12))]
    if some:
        rows[1][2] = 3.5
    workbook(path, data=rows)
    with pytest.raises(
        files.TableError,
        match=r"`d` holds formulas without stored values: open and save the file in E",
    ):
        files.read(path, **options)
    assert files.read(path, drop=["d"]).names == ("a", "b")
    assert files.read(path, columns=["a"]).names == ("a",)


@pytest.mark.parametrize("asked", [None, ",", "."])
def test_numbers_of_a_sheet_have_no_marks(tmp_path, asked):
    path = tmp_path / "t.xlsx"
    rows = [[i * 7 % 5 + 0.125, (1001 + i * 1700 % 7000) / 1000] for i in range(12)]
    workbook(path, data=[["a", "b"], *rows])
    dialect = files.Dialect(decimal=asked)
    np.testing.assert_array_equal(files.read(path, dialect=dialect).X, rows)


@pytest.mark.parametrize("texts", [{3}, set(range(12))])
def test_texts_of_a_sheet_whose_mark_is_unclear_are_refused(tmp_path, texts):
    path = tmp_path / "t.xlsx"
    rows = [[i * 7 % 5 + 0.125, (1001 + i * 1700 % 7000) / 1000] for i in range(12)]
    written = [
        [a, str(b).replace(".", ",") if i in texts else b]
        for i, (a, b) in enumerate(rows)
    ]
    workbook(path, data=[["a", "b"], *written])
    with pytest.raises(
        files.TableError, match="a decimal or a thousands mark; the opt"
    ):
        files.read(path)
    table = files.read(path, dialect=files.Dialect(decimal=","))
    np.testing.assert_array_equal(table.X, rows)
    table = files.read(path, dialect=files.Dialect(decimal="."))
    assert table.X[3, 1] == 1000 * rows[3][1]
    assert "thousands ','" in table.notes[0]


def test_texts_of_a_sheet_tell_their_mark(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [[i * 7 % 5 + 0.125, f"{i},25", "x,y"] for i in range(12)]
    rows[2][1] = "1.234,5"
    rows[5][1] = 7.5
    workbook(path, data=[["a", "b", "d"], *rows])
    table = files.read(path)
    assert table.X[[1, 2, 5], 1].tolist() == [1.25, 1234.5, 7.5]
    assert table.X[:, 0].tolist() == [row[0] for row in rows]
    assert "decimal ','" in table.notes[0]
    assert files.read(path, labels="b", columns=["a"]).labels[2] == "1.234,5"


def test_only_formulas_are_refused_as_well(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, data=[[f"=ROW()*{i}", f"=ROW()+{i}"] for i in range(5)])
    with pytest.raises(files.TableError, match="formulas without stored values"):
        files.read(path)


def test_a_formula_with_an_empty_text_for_a_value_is_an_empty_cell(tmp_path):
    path, saved = tmp_path / "t.xlsx", tmp_path / "saved.xlsx"
    rows = [["a", "d"], *([i * 7 % 5, i * i / 2] for i in range(12))]
    rows[3][1] = "=IF(A4>9,A4,A5)"
    workbook(path, data=rows)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(saved, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.startswith("xl/worksheets/"):
                # As Excel writes =IF(A4>9,A4,"").
                assert text.count(b'<c r="B4">') == 1
                text = text.replace(b'<c r="B4">', b'<c r="B4" t="str">')
            new.writestr(name, text)
    with pytest.raises(files.TableError, match="`d` holds formulas without stored"):
        files.read(path)
    with pytest.raises(files.TableError, match=r"1 cell is missing.*`d` in line 4"):
        files.read(saved)
    assert files.read(saved, missing="drop-rows").X.shape == (11, 2)


def test_text_that_begins_as_a_formula_is_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x\n=1+1,2.5\n=2+2,3.5\n")
    assert files.read(path).kept["name"].tolist() == ["=1+1", "=2+2"]


def test_an_axis_that_counts_rows_is_an_axis(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "localmap_1,localmap_2\n" + "".join(f"{i},{i * 7 % 11}\n" for i in range(20))
    )
    kept = list(files.read(path).kept.columns)
    assert kept == ["localmap_1"]
    table = files.read(path, ids=kept, columns=["localmap_1", "localmap_2"])
    assert table.map.shape == (20, 2)


def test_an_empty_column_speaks_for_no_separator(tmp_path):
    """``;`` in a cell, or an empty cell and a decimal comma: nobody can tell."""
    path = tmp_path / "x.csv"
    path.write_text(";,0\n;,1\n")
    with pytest.raises(files.TableError, match=r"may divide the columns.*option sep"):
        files.read(path)
    assert files.read(path, dialect=files.Dialect(sep=",")).X.tolist() == [[0], [1]]
