"""Commands that run an engine really ask the extenders of its configuration."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import node, pod, podium, writer

from podium.commands.decide import decide_stream

Answer = Callable[[str, dict[str, Any]], Any]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """An extender on a port of this machine; `answer` gets the verb and the arguments."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            reply = json.dumps(answer(self.path.rpartition("/")[2], body)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/e"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def picky(verb: str, body: dict[str, Any]) -> Any:
    """Takes n1 away, likes n3."""
    if verb == "prioritize":
        return [{"Host": "n3", "Score": 10}]
    left = [name for name in body["NodeNames"] if name != "n1"]
    return {"NodeNames": left, "FailedNodes": {"n1": "too noisy"}}


def config(url: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [
            {
                "urlPrefix": url,
                "filterVerb": "filter",
                "prioritizeVerb": "prioritize",
                "weight": 5,
                "nodeCacheCapable": True,
                **more,
            }
        ],
    }


@pytest.fixture
def files(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    objects = writer(tmp_path)(node("n1"), node("n2"), node("n3"), pod("p"))

    def arguments(url: str, **more: Any) -> tuple[str, ...]:
        written = tmp_path / "scheduler.json"
        written.write_text(json.dumps(config(url, **more)))
        return ("-f", objects, "--config", str(written))

    return arguments


def test_simulate_asks_extenders(
    files: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(picky) as url:
        done = podium(capsys, "simulate", *files(url), "-o", "json")
    assert done.code == 0, done.err
    assert [placed["node"] for placed in done.decoded()["pods"]] == ["n3"]


def test_explain_tells_what_extenders_said(
    files: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(picky) as url:
        shown = podium(capsys, "explain", "p", *files(url))
        told = podium(capsys, "explain", "p", *files(url), "-o", "json").decoded()
    assert "too noisy" in shown.out
    assert "Extenders" in shown.out
    attempt = told["attempts"][-1]
    assert attempt["extenders"] == [
        {
            "urlPrefix": url,
            "verb": verb,
            "asked": asked,
            "kept": kept,
            "problem": None,
            "ignored": False,
        }
        for verb, asked, kept in (("filter", 3, 2), ("prioritize", 2, 1))
    ]
    by_name = {entry["name"]: entry for entry in attempt["nodes"]}
    assert by_name["n3"]["scores"][url]["weighted"] == 500
    assert by_name["n1"]["status"] == {
        "plugin": "Extender",
        "code": "Unschedulable",
        "reasons": ["too noisy"],
    }


def test_an_extender_that_is_not_there_is_told_as_the_pods_problem(
    files: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(picky) as url:
        pass
    done = podium(capsys, "simulate", *files(url), "-o", "json")
    assert done.code == 1
    assert url in done.decoded()["pods"][0]["message"]


def test_certificates_that_are_not_there_are_told_as_a_mistake_in_the_file(
    files: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(
        capsys, "simulate", *files("https://127.0.0.1:1", tlsConfig={"caFile": "no-such.crt"})
    )
    assert done.code == 2
    assert "couldn't build extenders: open no-such.crt: no such file or directory" in done.err
    assert "scheduler.json" in done.err


def test_decide_asks_extenders(tmp_path: Path) -> None:
    with serving(picky) as url:
        case = {
            "name": "extended",
            "config": config(url),
            "objects": [node("n1"), node("n2"), node("n3")],
            "steps": [{"pod": pod("p")}],
        }
        source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text(json.dumps(case) + "\n")
        with source.open("rb") as lines, target.open("wb") as decided:
            decide_stream(lines, decided)
    expect = json.loads(target.read_bytes())["steps"][0]["expect"]
    assert expect["bound"] == "n3"
    assert expect["filter"]["n1"] == {
        "plugin": "Extender",
        "code": "Unschedulable",
        "reasons": ["too noisy"],
    }
    assert expect["scores"][url]["n3"] == {"raw": 10, "normalized": 10, "weighted": 500}
