"""Files that users name: how much of them is read."""

import io
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_file, read_input, read_lines

LIMIT = 3 * 1024 * 1024


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
def test_up_to_the_limit_a_file_is_read_whole(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert len(read_input(str(path), LIMIT)) == size


def test_above_it_the_error_names_file_limit_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(InputError) as raised:
        read_input(str(path), LIMIT)
    assert str(raised.value) == (
        f"{path}: larger than 3 MiB; split the file, or leave out what is not needed"
    )


def test_of_a_regular_file_that_is_too_large_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="larger than 3 MiB"):
        read_file(path, LIMIT)


def test_a_device_without_an_end_is_read_up_to_the_limit() -> None:
    with pytest.raises(InputError, match="/dev/zero: larger than 3 MiB"):
        read_input("/dev/zero", LIMIT)


def test_standard_input_has_the_same_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x" * (LIMIT + 5))))
    with pytest.raises(InputError, match="standard input: larger than 3 MiB"):
        read_input("-", LIMIT, source="standard input")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a: 1")))
    assert read_input("-", LIMIT) == b"a: 1"


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"a: 1"))
    writer.start()
    assert read_input(str(pipe), LIMIT) == b"a: 1"
    writer.join()


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    for path, reason in (
        (str(tmp_path), "is a directory"),
        (str(tmp_path / "no"), "no such file or directory"),
        ("a\0b", "the name has a zero byte"),
    ):
        with pytest.raises(InputError, match=f"cannot be read: {reason}"):
            read_input(path)


def test_lines_are_read_one_by_one_up_to_a_limit_each() -> None:
    assert list(read_lines(io.BytesIO(b"ab\n\ncd"), 3, "x")) == [b"ab\n", b"\n", b"cd"]
    lines = read_lines(io.BytesIO(b"ab\n" + b"c" * 3000000), 1024 * 1024, "cases")
    assert next(lines) == b"ab\n"
    with pytest.raises(InputError, match="cases: line 2: the line is larger than 1 MiB"):
        next(lines)
