"""Comma-separated lists on a command line: the first record of Go's `encoding/csv`.

`--requestheader-allowed-names='a,"b,c"'` has two entries. Python's `csv` forgives stray quotation
marks that Go refuses, so the few rules are written out. Columns in messages count bytes from 1.
"""

from typing import Final

_BARE: Final = 'bare " in non-quoted field'
_UNBALANCED: Final = 'extraneous or missing " in quoted-field'


def read_list(text: str) -> tuple[str, ...]:
    """The entries of a list; an empty text has none. Raises ValueError with Go's text."""
    if not text:
        return ()
    rest = text.replace("\r\n", "\n").lstrip("\n")
    if not rest:
        raise ValueError("EOF")
    record = _Record(rest, 1 + len(text) - len(text.lstrip("\r\n")))
    return tuple(record.fields())


class _Record:
    """One record, read from left to right; a quoted field may go on over several lines."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._at = 0
        self._start_line = line

    def fields(self) -> list[str]:
        found = []
        while True:
            is_quoted = self._text[self._at : self._at + 1] == '"'
            found.append(self._quoted_field() if is_quoted else self._plain_field())
            if self._text[self._at : self._at + 1] != ",":
                return found
            self._at += 1

    def _plain_field(self) -> str:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in ",\n":
            self._at += 1
        field = self._text[start : self._at]
        if '"' in field:
            raise self._refusal(start + field.index('"'), _BARE)
        return field

    def _quoted_field(self) -> str:
        field = ""
        self._at += 1
        while True:
            end = self._text.find('"', self._at)
            if end < 0:
                raise self._refusal(len(self._text), _UNBALANCED)
            field += self._text[self._at : end]
            self._at = end + 1
            following = self._text[self._at : self._at + 1]
            if following != '"':
                if following not in ("", ",", "\n"):
                    raise self._refusal(end, _UNBALANCED)
                return field
            field += '"'
            self._at += 1

    def _refusal(self, at: int, problem: str) -> ValueError:
        before = self._text[:at]
        line = self._start_line + before.count("\n")
        column = len(before.rpartition("\n")[2].encode(errors="surrogateescape")) + 1
        where = f"parse error on line {line}, column {column}: {problem}"
        if line != self._start_line:
            where = f"record on line {self._start_line}; {where}"
        return ValueError(where)
