"""What a server refuses to start with."""

import os
import socket
import stat
from pathlib import Path

import pytest
from support.commands.command_line import podium

from podium.apiserver.serving.server import ApiServer, ServerOptions
from podium.golang.errors import InputError


def test_a_plain_server_listens_on_loopback_only() -> None:
    with pytest.raises(InputError, match=r"would let everybody in who reaches 0\.0\.0\.0"):
        ApiServer(ServerOptions(host="0.0.0.0", plain=True))


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}"):
            ApiServer(ServerOptions(port=port))


def test_an_unknown_host_is_named() -> None:
    with pytest.raises(InputError, match=r"cannot listen on no\.such\.host\.invalid:0"):
        ApiServer(ServerOptions(host="no.such.host.invalid"))


def test_the_port_and_the_token_are_known_before_it_serves(tmp_path: Path) -> None:
    server = ApiServer(ServerOptions(data=tmp_path / "d"))

    assert server.url.startswith("https://127.0.0.1:")
    assert len(server.token) > 40
    server.close()


def test_a_server_in_the_same_directory_keeps_token_and_authority(tmp_path: Path) -> None:
    first = ApiServer(ServerOptions(data=tmp_path))
    first.close()
    second = ApiServer(ServerOptions(data=tmp_path))
    second.close()

    assert second.token == first.token
    assert first.certificates is not None
    assert second.certificates is not None
    assert second.certificates.authority == first.certificates.authority


def test_two_servers_cannot_share_a_directory(tmp_path: Path) -> None:
    first = ApiServer(ServerOptions(data=tmp_path))
    with pytest.raises(InputError, match="in use by another server"):
        ApiServer(ServerOptions(data=tmp_path))
    first.close()


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, "cannot be read"), ("short", "holds no token of at least 16"), ("a b" * 9, "spaces")],
)
def test_a_token_file_must_hold_a_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, text: str
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content)

    outcome = podium(capsys, "apiserver", "--port", "0", "--token-file", str(path))

    assert outcome.code == 2
    assert text in outcome.err
    assert "Traceback" not in outcome.err


def test_a_kubeconfig_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "folder"
    target.mkdir()

    outcome = podium(capsys, "apiserver", "--port", "0", "--kubeconfig-out", str(target))

    assert outcome.code == 2
    assert str(target) in outcome.err


def test_everything_in_a_data_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "token").write_text("a-token-of-an-earlier-server")
    (tmp_path / "token").chmod(0o644)
    before = os.umask(0)
    try:
        server = ApiServer(ServerOptions(data=tmp_path))
    finally:
        os.umask(before)
    assert server.token == "a-token-of-an-earlier-server"
    for path in tmp_path.rglob("*"):
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path
    server.close()


def test_a_token_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="token: is a symbolic link"):
        ApiServer(ServerOptions(data=tmp_path))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("command", ["apiserver", "up"])
def test_a_command_says_why_it_does_not_use_a_directory(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tmp_path.chmod(0o777)
    done = podium(capsys, command, "--port", "0", "--data", str(tmp_path))
    assert done.code == 2
    assert done.err == (
        f"podium: {tmp_path}: others can write it (mode 0777) and could exchange what is kept"
        f" in it; chmod go-w {tmp_path}, or name a directory that does not exist yet\n"
    )


@pytest.mark.parametrize("command", ["apiserver", "up"])
def test_a_command_writes_no_kubeconfig_through_a_link(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    link = tmp_path / "kubeconfig"
    link.symlink_to(tmp_path / "elsewhere")
    done = podium(capsys, command, "--port", "0", "--kubeconfig-out", str(link))
    assert done.code == 2
    assert "kubeconfig: is a symbolic link" in done.err
    assert not (tmp_path / "elsewhere").exists()


def test_a_server_in_the_same_directory_keeps_tokens_of_accounts(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        server = ApiServer(ServerOptions(data=tmp_path / "data"))
        server.close()
        keys.append((tmp_path / "data" / "certificates" / "service-accounts.key").read_bytes())
    assert keys[0] == keys[1]


def test_a_key_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    ApiServer(ServerOptions(data=tmp_path / "data")).close()
    path = tmp_path / "data" / "certificates" / "service-accounts.key"
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be used") as problem:
        ApiServer(ServerOptions(data=tmp_path / "data"))
    assert str(path) in str(problem.value)
