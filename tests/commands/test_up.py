"""`podium up`: what is refused before there is a cluster."""

import socket
from pathlib import Path

import pytest
from support.commands.command_line import podium

pytestmark = pytest.mark.usefixtures("own_modules")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-1",), "-1"),
        (("--speed", "0"), "--speed 0 is too much or too little"),
        (("--cpu", "many"), '"many" is no amount of cpu'),
        (("--template", "none.yaml"), "none.yaml: cannot be read: no such file"),
        (("--stages", "none.yaml"), "none.yaml: cannot be read: no such file"),
        (("--config", "none.yaml"), "none.yaml: cannot be read: no such file"),
        (("--config", "wrong.yaml"), 'wrong.yaml: strict decoding error: unknown field "profile"'),
        (("--plugin", "none.py"), "none.py: cannot be read: no such file"),
        (("--plugin", "empty.py"), "empty.py: holds no plugin"),
        (("--feature-gates", "Nonsense=true"), "Nonsense"),
        (("--apply", "none.yaml"), "none.yaml: cannot be read: no such file"),
        (("--apply", "broken.yaml"), "broken.yaml: line 2"),
        (("--kubeconfig-out", "wrong.yaml/x"), "wrong.yaml/x: cannot be written"),
        (("--data", "wrong.yaml"), "wrong.yaml"),
    ],
)
def test_wrong_input_is_told_with_its_place(
    arguments: tuple[str, ...],
    problem: str,
    capsys: pytest.CaptureFixture[str],
    elsewhere: Path,
) -> None:
    (elsewhere / "wrong.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofile: 1\n"
    )
    (elsewhere / "empty.py").write_text("")
    (elsewhere / "broken.yaml").write_text("a: b\n  c: d\n")
    done = podium(capsys, "up", "--port", "0", *arguments)
    assert done.code == 2
    assert problem in done.err
    assert "Traceback" not in done.err


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = podium(capsys, "up", "--port", str(port))
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.err
    assert not list(elsewhere.iterdir())
