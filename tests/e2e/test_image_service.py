"""`podium image-service` as a process: docker, crictl and a file behind it."""

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
import yaml
from support.commands.command_line import EXAMPLES, podium
from support.waiting import PATIENCE_S

from podium.commands.processes.image_listing import compile_pattern, matches

pytestmark = pytest.mark.slow

IMAGE = "registry.example/tools/build:2"
LISTED = {
    "images": [
        {"id": "sha256:aa", "repoTags": ["docker.io/library/nginx:1.25"], "repoDigests": []},
        {"id": "sha256:bb", "repoTags": [IMAGE, "registry.example/tools/build:latest"]},
        {"id": "sha256:cc", "repoTags": None, "repoDigests": ["registry.example/odd@sha256:dd"]},
    ]
}


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[str]:
    command = [sys.executable, "-m", "podium", "image-service", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("podium: images are listed at http://"), line
        yield line.split()[-1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def ask(url: str, reference: str, path: str = "/") -> tuple[int, str]:
    try:
        with urlopen(f"{url}{path}?reference={reference}", timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as problem:
        with problem:
            return problem.code, problem.read().decode()


class FakeDocker(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        (filters,) = parse_qs(urlsplit(self.path).query)["filters"]
        (reference,) = json.loads(filters)["reference"]
        broken = reference == "broken"
        found = [{"Id": "sha256:aa"}, {"Id": "sha256:aa"}] if reference == "nginx:1.25" else []
        body = json.dumps({"message": "no space left"} if broken else found).encode()
        self.send_response(500 if broken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "docker"

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_docker_is_asked_on_its_socket(tmp_path: Path) -> None:
    socket = str(tmp_path / "docker.sock")
    with socketserver.ThreadingUnixStreamServer(socket, FakeDocker) as docker:
        threading.Thread(target=docker.serve_forever, daemon=True).start()
        with serving("--docker-socket", socket, "--port", "0") as url:
            assert ask(url, "nginx:1.25") == (200, "sha256:aa\n")
            assert ask(url, "nginx:1.25", "/any/path") == (200, "sha256:aa\n")
            assert ask(url, "redis") == (200, "")
            assert ask(url, "broken") == (500, "docker says 500: no space left\n")
            assert ask(url, "") == (400, "say which image: ?reference=IMAGE\n")
        docker.shutdown()


def test_a_runtime_is_asked_by_crictl(tmp_path: Path) -> None:
    crictl = tmp_path / "crictl"
    crictl.write_text(
        f"#!/bin/sh\n[ \"$2\" = unix:///x.sock ] || exit 3\necho '{json.dumps(LISTED)}'\n"
    )
    crictl.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    given = ("--images", "cri", "--port", "0", "--cri-endpoint")
    with serving(*given, "unix:///x.sock", PATH=path) as url:
        assert ask(url, IMAGE) == (200, "sha256:bb\n")
        assert ask(url, "nginx") == (200, "sha256:aa\n")
        assert ask(url, "redis") == (200, "")
    with serving(*given, "unix:///y.sock", PATH=path) as url:
        assert ask(url, IMAGE)[0] == 500


def test_references_are_bounded_in_length_and_number(tmp_path: Path) -> None:
    (tmp_path / "images.json").write_text(json.dumps(LISTED))
    given = ("--images", "file", "--file", str(tmp_path / "images.json"), "--port", "0")
    with serving(*given) as url:
        assert ask(url, "*" * 1024) == (200, "sha256:aa\n")
        assert ask(url, "*" * 1025) == (
            400,
            "the reference has 1025 characters; 1024 are the most\n",
        )
        assert ask(url, "nginx&reference=redis") == (
            400,
            "2 references are queried: one at a time\n",
        )


def test_few_patterns_are_kept() -> None:
    for at in range(1000):
        assert not matches(f"*{at}" * 200, "docker.io/library/nginx:1.25")
    assert compile_pattern.cache_info().currsize <= 64


def test_a_scheduler_finds_the_node_that_has_the_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "with.json").write_text(json.dumps(LISTED))
    (tmp_path / "without.json").write_text(json.dumps({"images": []}))
    with_it = ("--images", "file", "--file", str(tmp_path / "with.json"))
    without = ("--images", "file", "--file", str(tmp_path / "without.json"))
    with serving(*with_it, "--host", "127.0.0.2", "--port", "0") as url:
        port = url.rpartition(":")[2]
        with serving(*without, "--host", "127.0.0.3", "--port", port):
            (tmp_path / "map.json").write_text('{"a": "127.0.0.3", "b": "127.0.0.2"}')
            configuration = yaml.safe_load((EXAMPLES / "wyq" / "scheduler.yaml").read_text())
            (profile,) = configuration["profiles"]
            arguments = {"nodeMapFile": str(tmp_path / "map.json"), "port": int(port)}
            profile["pluginConfig"] = [
                {"name": "randScore", "args": {**arguments, "images": [IMAGE]}}
            ]
            (tmp_path / "scheduler.yaml").write_text(yaml.safe_dump(configuration))
            nodes = [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name},
                    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110}},
                }
                for name in ("a", "b", "c")
            ]
            variable = {"name": "PUBLICIMAGE", "value": IMAGE}
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "rebuild"},
                "spec": {
                    "schedulerName": profile["schedulerName"],
                    "containers": [{"name": "c", "image": "builder", "env": [variable]}],
                },
            }
            (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all([*nodes, pod]))
            done = podium(
                capsys,
                *("explain", "rebuild", "-f", str(tmp_path / "objects.yaml")),
                *("--config", str(tmp_path / "scheduler.yaml")),
            )
    assert "✓ b, the best of 3 that fit" in done.out, done
    assert "100 → 100 → 30000" in done.out


@pytest.mark.parametrize(
    ("reference", "name", "found"),
    [
        ("nginx", "docker.io/library/nginx:1.25", True),
        ("nginx", "docker.io/bitnami/nginx:1.25", False),
        ("bitnami/nginx", "docker.io/bitnami/nginx:1.25", True),
        ("*/nginx:1.*", "docker.io/bitnami/nginx:1.25", True),
        ("localhost:5000/app", "localhost:5000/app:v1", True),
        ("localhost:5000/app:v2", "localhost:5000/app:v1", False),
        ("app@sha256:aa", "docker.io/library/app@sha256:aa", True),
    ],
)
def test_references_are_matched_as_docker_does(reference: str, name: str, found: bool) -> None:
    assert matches(reference, name) is found


def test_a_file_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "image-service", "--images", "file")
    assert done.code == 2
    assert "--file images.json" in done.err
