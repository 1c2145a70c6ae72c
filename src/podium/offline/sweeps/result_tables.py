"""Results as tables for other programs: Parquet, or CSV where pyarrow is not installed.

A table is written piece by piece, so that it takes no more memory than its largest piece and
`ROWS_TOGETHER` rows. The same rows give the same bytes: their order is the caller's, compression
is fixed, and neither times nor places of files are in them.

Contract: a table appears under its name when it is whole. Until then it is written beside its
place; one that is not finished is removed.
"""

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from podium.golang.errors import InputError

ROWS_TOGETHER: Final = 65_536
"""In one group of rows, at least; the last may have fewer."""

Value = str | int | float | None
Row = Sequence[Value]
TableFormat = Literal["parquet", "csv"]


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is Arrow's name of it: string, int64 or double."""

    name: str
    type: Literal["string", "int64", "double"]


class Table(Protocol):
    def append(self, rows: Iterable[Row]) -> None: ...

    def finish(self) -> None:
        """Write what is left and let go of the file."""
        ...


def require_format(form: TableFormat) -> None:
    """Raises InputError for Parquet without pyarrow."""
    if form == "parquet" and find_spec("pyarrow") is None:
        raise InputError(
            "pyarrow is not installed", remedy="pip install 'podium[sweeps]', or write CSV: --csv"
        )


@contextmanager
def open_table(
    directory: Path, name: str, columns: Sequence[Column], form: TableFormat
) -> Iterator[Table]:
    """A new table in place of one that may be there. Raises InputError."""
    require_format(form)
    path = directory / f"{name}.{form}"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            table = (_ParquetTable if form == "parquet" else _CsvTable)(beside, columns)
            try:
                yield table
            finally:
                table.finish()
            os.replace(beside, path)
        finally:
            with suppress(OSError):
                beside.unlink()
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"cannot be written: {reason}", source=str(path)) from None


class _ParquetTable:
    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        import pyarrow
        from pyarrow import parquet

        types = {"string": pyarrow.string(), "int64": pyarrow.int64(), "double": pyarrow.float64()}
        self._schema: Any = pyarrow.schema([(each.name, types[each.type]) for each in columns])
        self._make_table = pyarrow.Table.from_arrays
        self._make_array = pyarrow.array
        self._writer: Any = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def append(self, rows: Iterable[Row]) -> None:
        self._rows.extend(rows)
        if len(self._rows) >= ROWS_TOGETHER:
            self._flush()

    def finish(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [
            self._make_array(list(values), type=field.type)
            for values, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(
            self._make_table(arrays, schema=self._schema), row_group_size=len(self._rows)
        )
        self._rows.clear()


class _CsvTable:
    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._file = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(each.name for each in columns)
        self._doubles = [each.type == "double" for each in columns]

    def append(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._writer.writerow(
                float(value) if is_double and value is not None else value
                for value, is_double in zip(row, self._doubles, strict=True)
            )

    def finish(self) -> None:
        self._file.close()
