"""`podium nodes`: what is refused before anything is simulated."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.addons.extenders.extender_servers import Request, reply, serving_in_thread
from support.commands.command_line import podium

from podium.commands.node_options import NodeOptions


@pytest.fixture
def nowhere(tmp_path: Path) -> str:
    """A kubeconfig of a server that does not listen."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return kubeconfig(tmp_path, f"http://127.0.0.1:{port}")


def kubeconfig(directory: Path, server: str) -> str:
    path = directory / "kubeconfig"
    path.write_text(
        json.dumps(
            {
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            }
        )
    )
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--controllers", "jobz"), 'there is no controller "jobz"; did you mean jobs?'),
        (("--controllers", "all,jobs"), 'there is no controller "all"'),
        (("--speed", "0"), "--speed 0 is too much or too little"),
        (("--cpu", "many"), '"many" is no amount of cpu'),
        (("-1",), "-1"),
        (("--template", "missing.yaml"), "missing.yaml: cannot be read: no such file"),
        (("--stages", "missing.yaml"), "missing.yaml: cannot be read: no such file"),
        (("--kubeconfig", "missing"), "missing: cannot be read: no such file"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str], nowhere: str
) -> None:
    where = () if "--kubeconfig" in arguments else ("--kubeconfig", nowhere)
    done = podium(capsys, "nodes", *arguments, *where)
    assert done.code == 2
    assert problem in done.err
    assert "Traceback" not in done.err


def test_sizes_are_for_nodes_without_a_template(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, nowhere: str
) -> None:
    template = tmp_path / "node.yaml"
    template.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: big}\n")
    where = ("--kubeconfig", nowhere, "--template", str(template))
    assert "are for nodes without a template" in podium(capsys, "nodes", "--cpu", "2", *where).err
    assert "status.capacity: is missing" in podium(capsys, "nodes", *where).err


def test_a_template_without_a_count_is_one_node_of_its_name(tmp_path: Path) -> None:
    template = tmp_path / "node.yaml"
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: NAME}\nstatus: {capacity: {cpu: 1}}\n"
    template.write_text(node.replace("NAME", "node-01") + "---\n" + node.replace("NAME", "b"))

    def names(count: int | None, *templates: Path) -> list[str]:
        made = NodeOptions(template=list(templates)).read_nodes(count, "")
        return [each["metadata"]["name"] for each in made]

    assert names(None, template) == ["node-01", "b"]
    assert names(1, template) == ["node-01"]
    assert names(None) == ["node-0", "node-1", "node-2"]
    assert names(1) == ["node-0"]


def test_a_server_that_does_not_answer_is_named(
    capsys: pytest.CaptureFixture[str], nowhere: str
) -> None:
    done = podium(capsys, "nodes", "--kubeconfig", nowhere)
    assert done.code == 2
    assert "cannot be reached" in done.err
    assert "http://127.0.0.1:" in done.err


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[str]:
    """A cluster in which kube-controller-manager is at work, and which forbids the rest."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/version":
            reply(writer, b"{}")
        elif request.path.endswith("/leases/kube-controller-manager"):
            spec = {"holderIdentity": "me", "renewTime": "2999-01-01T00:00:00.000000Z"}
            reply(writer, json.dumps({"metadata": {}, "spec": spec}).encode())
        else:
            status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "not you"}
            reply(writer, json.dumps(status).encode(), "403 Forbidden")

    with serving_in_thread(answer) as server:
        yield kubeconfig(tmp_path, server.url)


def test_controllers_do_not_work_beside_others(
    capsys: pytest.CaptureFixture[str], busy: str
) -> None:
    done = podium(capsys, "nodes", "--kubeconfig", busy)
    assert done.code == 2
    assert "kube-controller-manager is at work in this cluster" in done.err
    assert "use --controllers none" in done.err
