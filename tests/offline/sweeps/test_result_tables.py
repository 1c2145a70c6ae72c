"""Tables: the same rows give the same bytes, and none is there until it is whole."""

from pathlib import Path

import pytest
from support.suite.late_imports import LateImport

from podium.golang.errors import InputError
from podium.offline.sweeps import result_tables
from podium.offline.sweeps.result_tables import Column, TableFormat, open_table

parquet = LateImport("pyarrow.parquet")
COLUMNS = (Column("name", "string"), Column("number", "int64"), Column("share", "double"))
ROWS = [("a", 1, 0.5), ("b", 2, None), (None, 3, 1)]


def write(directory: Path, form: TableFormat, repeat: int = 1) -> Path:
    with open_table(directory, "rows", COLUMNS, form) as table:
        for _ in range(repeat):
            table.append(ROWS)
    return directory / f"rows.{form}"


def interrupt_writing(directory: Path, form: TableFormat) -> None:
    with open_table(directory, "rows", COLUMNS, form) as table:
        table.append([("half", 1, 1.0)])
        raise KeyboardInterrupt


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_same_rows_give_the_same_bytes(form: TableFormat, tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, form).read_bytes() for name in ("one", "two"))
    assert first == second
    assert str(tmp_path).encode() not in first


def test_parquet_has_types_and_empty_values(tmp_path: Path) -> None:
    table = parquet.read_table(write(tmp_path, "parquet"))
    assert [str(each) for each in table.schema.types] == ["string", "int64", "double"]
    assert table.to_pylist() == [
        {"name": "a", "number": 1, "share": 0.5},
        {"name": "b", "number": 2, "share": None},
        {"name": None, "number": 3, "share": 1.0},
    ]


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_tables, "ROWS_TOGETHER", 5)
    found = parquet.ParquetFile(write(tmp_path, "parquet", repeat=5)).metadata
    groups = [found.row_group(number).num_rows for number in range(found.num_row_groups)]
    assert groups == [6, 6, 3]


def test_csv_has_numbers_as_parquet_has_them(tmp_path: Path) -> None:
    text = write(tmp_path, "csv").read_text()
    assert text == "name,number,share\na,1,0.5\nb,2,\n,3,1.0\n"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_table_that_was_not_finished_leaves_nothing(form: TableFormat, tmp_path: Path) -> None:
    before = write(tmp_path, form).read_bytes()
    with pytest.raises(KeyboardInterrupt):
        interrupt_writing(tmp_path, form)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written: (file exists|not a directory)"):
        write(tmp_path / "file", "parquet")


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_tables, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'podium\[sweeps\]'"):
        write(tmp_path, "parquet")
    write(tmp_path, "csv")
