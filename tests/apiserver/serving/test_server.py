"""What a server refuses to start with."""

import socket
from pathlib import Path

import pytest
from command_line import podium

from podium.api.errors import InputError
from podium.apiserver.serving.server import ApiServer, ServerOptions


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
