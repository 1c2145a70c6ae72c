"""Files that hold secrets: who can read them, and where they are never written."""

import os
import stat
from pathlib import Path

import pytest

from podium.golang.errors import InputError
from podium.net.files.private_files import (
    create_private_directory,
    create_private_file,
    narrow_mode,
    read_private_file,
    refuse_shared_directory,
    write_private_file,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def careless() -> object:
    """An owner whose new files everybody can read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("careless")
def test_only_the_owner_can_read_what_is_written(tmp_path: Path) -> None:
    write_private_file(tmp_path / "token", b"secret")
    create_private_file(tmp_path / "objects")
    assert (tmp_path / "token").read_bytes() == b"secret"
    assert mode(tmp_path / "token") == mode(tmp_path / "objects") == 0o600


@pytest.mark.usefixtures("careless")
def test_directories_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    create_private_directory(tmp_path / "a" / "b")
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    create_private_directory(tmp_path / "a" / "b")


def test_a_wider_mode_is_narrowed_when_a_file_is_written_or_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    for use in (
        lambda: write_private_file(path, b"new"),
        lambda: read_private_file(path),
        lambda: create_private_file(path),
        lambda: narrow_mode(path),
    ):
        path.write_bytes(b"old")
        path.chmod(0o666)
        use()
        assert mode(path) == 0o600


def test_a_reader_of_the_old_file_does_not_see_the_new_secret(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"old")
    with path.open("rb") as spying:
        write_private_file(path, b"new secret")
        assert spying.read() == b"old"
    assert path.read_bytes() == b"new secret"
    assert [each.name for each in tmp_path.iterdir()] == ["token"]


def test_nothing_is_written_or_read_through_a_symbolic_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    for exists in (False, True):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        if exists:
            target.write_bytes(b"untouched")
            target.chmod(0o644)
        for use in (
            lambda: write_private_file(link, b"secret"),
            lambda: read_private_file(link),
            lambda: create_private_file(link),
            lambda: narrow_mode(link),
        ):
            with pytest.raises(InputError, match="link: is a symbolic link; name the file that"):
                use()
        assert link.is_symlink()
        assert target.exists() is exists
    assert (target.read_bytes(), mode(target)) == (b"untouched", 0o644)


def test_devices_pipes_and_directories_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "directory", Path("/dev/null")):
        with pytest.raises(InputError, match="is not a regular file"):
            write_private_file(path, b"secret")
        with pytest.raises(InputError, match="is not a regular file"):
            read_private_file(path)


def test_a_file_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"theirs")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="token: belongs to another user"):
        write_private_file(path, b"secret")
    with pytest.raises(InputError, match="token: belongs to another user"):
        read_private_file(path)
    assert path.read_bytes() == b"theirs"


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="token: cannot be written: no space left on device"):
        write_private_file(tmp_path / "token", b"secret")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_reads_as_none(tmp_path: Path) -> None:
    assert read_private_file(tmp_path / "token") is None
    with pytest.raises(InputError, match="cannot be written: no such file or directory"):
        write_private_file(tmp_path / "missing" / "token", b"secret")


@pytest.mark.parametrize("shared", [0o770, 0o707, 0o1777, 0o2775])
def test_a_directory_that_others_can_write_is_refused(tmp_path: Path, shared: int) -> None:
    tmp_path.chmod(shared)
    with pytest.raises(InputError, match=r"others can write it \(mode .*; chmod go-w"):
        refuse_shared_directory(tmp_path)
    tmp_path.chmod(0o755)
    refuse_shared_directory(tmp_path)


def test_a_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = tmp_path.stat().st_uid
    found = os.stat_result((0o40700, 0, 0, 0, owner + 7, 0, 0, 0, 0, 0))
    monkeypatch.setattr(Path, "stat", lambda _: found)
    with pytest.raises(InputError, match=rf"belongs to another user \({owner + 7}\)"):
        refuse_shared_directory(tmp_path)


def test_a_file_in_the_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: cannot be used: is not a directory"):
        create_private_directory(tmp_path / "file")
