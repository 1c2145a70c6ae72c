"""From kubeconfigs to the server and user of a context."""

import asyncio
import json
from pathlib import Path

import pytest
from support.addons.extenders.extender_servers import answering, serving
from support.waiting import PATIENCE_S

from podium.client.connection import find_settings, transport_for
from podium.client.transport import Request
from podium.golang.errors import InputError

FIRST = """
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: dev
  cluster: {server: "https://dev:6443", certificate-authority: pki/ca.crt}
contexts:
- name: dev
  context: {cluster: dev, user: me}
- name: adrift
  context: {cluster: nowhere}
users:
- name: me
  user: {tokenFile: token}
"""
SECOND = """
current-context: prod
clusters:
- name: prod
  cluster: {server: "https://prod:6443"}
- name: dev
  cluster: {server: "https://other:1"}
contexts:
- name: prod
  context: {cluster: prod, user: me}
- name: nobody
  context: {cluster: prod}
- name: plugin
  context: {cluster: prod, user: plugin}
users:
- name: me
  user: {token: shadowed}
- name: plugin
  user:
    exec:
      command: ./bin/login
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: Never
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "one" / "config", tmp_path / "two" / "config"
    for path, text in ((first, FIRST), (second, SECOND)):
        path.parent.mkdir()
        path.write_text(text)
    return first, second


def test_a_file_that_is_named_wins_and_its_paths_start_beside_it(files: tuple[Path, Path]) -> None:
    settings = find_settings(str(files[0]), environment={"KUBECONFIG": str(files[1])})
    assert settings.cluster.server == "https://dev:6443"
    assert settings.cluster.certificate_authority == str(files[0].parent / "pki/ca.crt")
    assert settings.user.token_file == str(files[0].parent / "token")


def test_of_several_files_the_first_to_name_something_wins(files: tuple[Path, Path]) -> None:
    environment = {"KUBECONFIG": f"{files[0]}:/missing:{files[1]}"}
    assert find_settings(environment=environment).cluster.server == "https://dev:6443"
    prod = find_settings(context="prod", environment=environment)
    assert prod.cluster.server == "https://prod:6443"
    assert prod.user.token_file == str(files[0].parent / "token")
    assert find_settings(context="nobody", environment=environment).user.token == ""
    plugin = find_settings(context="plugin", environment=environment).user.exec
    assert plugin is not None
    assert plugin.command == str(files[1].parent / "bin/login")


def test_the_home_directory_and_then_the_pod_are_looked_at(tmp_path: Path) -> None:
    service = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    in_pod = find_settings(environment={"HOME": str(tmp_path), **service})
    assert in_pod.cluster.server == "https://[fd00::1]:443"
    assert in_pod.user.token_file.endswith("serviceaccount/token")
    usual = tmp_path / ".kube" / "config"
    usual.parent.mkdir()
    usual.write_text(SECOND)
    at_home = find_settings(environment={"HOME": str(tmp_path), **service})
    assert at_home.cluster.server == "https://prod:6443"


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ("devv", 'config: there is no context "devv"'),
        ("adrift", 'there is no cluster "nowhere"'),
    ],
)
def test_what_is_missing_is_named(files: tuple[Path, Path], context: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        find_settings(str(files[0]), context)


def test_kubeconfigs_that_are_missing_or_wrong_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no kubeconfig.*--kubeconfig"):
        find_settings(environment={})
    with pytest.raises(InputError, match=r"none: \$KUBECONFIG: there is no such file"):
        find_settings(environment={"KUBECONFIG": str(tmp_path / "none")})
    with pytest.raises(InputError, match="cannot be read: no such file"):
        find_settings(str(tmp_path / "none"))
    wrong = tmp_path / "wrong"
    wrong.write_text("clusters: 5")
    with pytest.raises(InputError, match="wrong: "):
        find_settings(str(wrong))
    wrong.write_text("contexts: [{name: a}, {name: b}]")
    with pytest.raises(InputError, match="has no current context; --context chooses one of a, b"):
        find_settings(str(wrong))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("apiVersion: v1\nkind: Node", r"is a manifest \(Node\), no kubeconfig; .* with -f FILE"),
        ("kind: List\napiVersion: v1\nitems: []", r"is a manifest \(List\), no kubeconfig"),
        (
            "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1",
            "is a configuration of schedulers, no kubeconfig; give it with --config",
        ),
        ("some words", "is no kubeconfig; a kubeconfig names clusters, as ~/.kube/config does"),
        ("[1, 2]", "is no kubeconfig; a kubeconfig names clusters"),
        ("replicas: 3", "has no current context; a kubeconfig names clusters"),
    ],
)
def test_a_file_of_another_kind_is_told_from_a_kubeconfig(
    text: str, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"given.yaml: {problem.replace('FILE', str(file))}"):
        find_settings(str(file))


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ("ftp://x", 'cluster.server: "ftp://x" is no address'),
        ("https://[::", "is no address of a server"),
    ],
)
def test_addresses_that_are_none_are_refused(tmp_path: Path, server: str, problem: str) -> None:
    file = tmp_path / "config"
    file.write_text(SECOND.replace("https://prod:6443", server))
    with pytest.raises(InputError, match=problem.replace("[", r"\[")):
        transport_for(find_settings(str(file)), user_agent="tests")


def test_ways_to_log_in_that_are_gone_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(SECOND.replace("{token: shadowed}", "{auth-provider: {name: gcp}}"))
    with pytest.raises(InputError, match="auth-provider: is not supported"):
        transport_for(find_settings(str(file)), user_agent="tests")
    file.write_text(SECOND.replace('6443"}', '6443", proxy-url: "socks5://127.0.0.1:1"}'))
    with pytest.raises(InputError, match='"socks5" proxies are not supported'):
        transport_for(find_settings(str(file)), user_agent="tests")


def test_a_user_may_act_as_another(tmp_path: Path) -> None:
    acting = """{token: t, as: someone, as-uid: u1, as-groups: [a, b],
      as-user-extra: {"scopes/x": [one, two]}}"""
    file = tmp_path / "config"

    async def main() -> None:
        async with serving(answering(b"{}")) as server:
            file.write_text(
                SECOND.replace("https://prod:6443", server.url).replace("{token: shadowed}", acting)
            )
            transport = transport_for(find_settings(str(file)), user_agent="tests")
            await transport.send(Request("GET", "/"), timeout_s=PATIENCE_S)
            await transport.close()
            headers = server.requests[0].headers
            assert headers["impersonate-user"] == "someone"
            assert headers["impersonate-uid"] == "u1"
            assert headers["impersonate-extra-scopes%2fx"] == "two"
            assert headers["user-agent"] == "tests"

    asyncio.run(main())


def test_an_exec_plugin_beside_the_kubeconfig_is_asked(tmp_path: Path) -> None:
    login = tmp_path / "bin" / "login"
    login.parent.mkdir()
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "fresh"},
    }
    login.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    login.chmod(0o755)
    file = tmp_path / "config"

    async def main() -> None:
        async with serving(answering(b"{}")) as server:
            file.write_text(SECOND.replace("https://prod:6443", server.url))
            settings = find_settings(str(file), "plugin")
            transport = transport_for(settings, user_agent="tests")
            await transport.send(Request("GET", "/"), timeout_s=PATIENCE_S)
            await transport.close()
            assert server.requests[0].headers["authorization"] == "bearer fresh"

    asyncio.run(main())
