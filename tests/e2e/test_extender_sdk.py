"""An extender in a process of its own, asked over real sockets by the client."""

import asyncio
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
import trustme
from support.addons.extenders.extender_servers import (
    ask,
    filter_call,
    make_extender,
    prioritize_call,
)
from support.commands.command_line import EXAMPLES
from support.waiting import PATIENCE_S

from podium.commands import main
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_written
from podium.scheduler.config.types import ExtenderTLSConfig
from podium.scheduler.config.written import read_written
from podium.scheduler.framework.asking import CallFailed, FilterAnswer, PrioritizeAnswer
from podium.testing import make_node, make_pod

EXAMPLE = str(EXAMPLES / "extenders" / "rack_power.py")
NODES = [
    make_node(name, labels={"example.com/spare-watts": watts})
    for name, watts in (("n1", "1500"), ("n2", "250"), ("n3", "900"))
]
HUNGRY = make_pod("render", metadata={"annotations": {"example.com/watts": "300"}})

SLOW = """
import threading, sys
from podium.addons.extenders import Extender
class Slow(Extender):
    def filter(self, pod, nodes):
        print("called", flush=True)
        sys.stdin.readline()
        return {}
"""


class Process:
    """`podium extender serve` on a free port, as someone else would start it."""

    def __init__(self, *arguments: str) -> None:
        command = (sys.executable, "-m", "podium", "extender", "serve", *arguments, "--port", "0")
        self.running = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.announced = self.line()
        found = re.search(r"https?://\S+", self.announced)
        assert found is not None, self.running.communicate()
        self.url = found[0]

    def line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline().strip()

    def stopped(self, number: int = signal.SIGTERM) -> int:
        self.running.send_signal(number)
        self.running.communicate(timeout=PATIENCE_S)
        return self.running.returncode


@contextmanager
def process(*arguments: str) -> Iterator[Process]:
    started = Process(*arguments)
    try:
        yield started
    finally:
        if started.running.poll() is None:
            started.running.kill()
            started.running.communicate()


def get(url: str) -> str:
    with urlopen(url, timeout=PATIENCE_S) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.slow
def test_the_example_is_served_asked_watched_and_stopped() -> None:
    with process(EXAMPLE) as served:
        assert served.announced == f"RackPower serves filter, prioritize on {served.url}"
        assert get(f"{served.url}/healthz") == "ok\n"
        assert get(f"{served.url}/readyz") == "ok\n"

        extender = make_extender(served.url, node_cache_capable=False)
        filtered, scored = asyncio.run(
            ask(
                filter_call(extender, HUNGRY),
                prioritize_call(extender, HUNGRY),
                nodes=NODES,
            )
        )
        assert isinstance(filtered, FilterAnswer)
        assert filtered.nodes is not None
        assert [node.metadata.name for node in filtered.nodes] == ["n1", "n3"]
        assert filtered.nodes[0].metadata.labels == NODES[0].metadata.labels
        assert filtered.unresolvable == {"n2": "rack(s) cannot give 300 W more"}
        assert scored == PrioritizeAnswer((("n1", 7), ("n2", 1), ("n3", 4)))

        unserved = asyncio.run(ask(filter_call(make_extender(served.url, filter_verb="preempt"))))
        assert isinstance(unserved[0], CallFailed)
        assert unserved[0].problem.endswith("/preempt, code 404")

        metrics = get(f"{served.url}/metrics")
        assert 'podium_extender_requests_total{code="200",verb="filter"} 1.0' in metrics
        assert 'podium_extender_requests_total{code="404",verb="preempt"} 1.0' in metrics
        assert served.stopped() == 0


@pytest.mark.slow
def test_a_call_under_way_is_answered_before_the_process_ends(tmp_path: Path) -> None:
    code = tmp_path / "slow.py"
    code.write_text(SLOW)

    async def story(served: Process) -> object:
        extender = make_extender(served.url, "30s")
        calling = asyncio.ensure_future(ask(filter_call(extender)))
        assert await asyncio.to_thread(served.line) == "called"
        served.running.send_signal(signal.SIGTERM)
        assert served.running.stdin is not None
        served.running.stdin.write("go\n")
        served.running.stdin.flush()
        (answer,) = await calling
        return answer

    with process(str(code)) as served:
        answer = asyncio.run(story(served))
        assert answer == FilterAnswer(node_names=("n1", "n2", "n3"))
        served.running.communicate(timeout=PATIENCE_S)
        assert served.running.returncode == 0


@pytest.mark.slow
def test_tls_and_client_certificates(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.crt"))
    server, client = authority.issue_cert("127.0.0.1"), authority.issue_cert("scheduler")
    server.cert_chain_pems[0].write_to_path(str(tmp_path / "tls.crt"))
    server.private_key_pem.write_to_path(str(tmp_path / "tls.key"))
    trusting = ExtenderTLSConfig(ca_file=str(tmp_path / "ca.crt"))
    presenting = ExtenderTLSConfig(
        ca_file=str(tmp_path / "ca.crt"),
        cert_data=client.cert_chain_pems[0].bytes(),
        key_data=client.private_key_pem.bytes(),
    )
    files = ("--tls-cert", "tls.crt", "--tls-key", "tls.key", "--client-ca", "ca.crt")
    paths = [word if word.startswith("-") else str(tmp_path / word) for word in files]
    with process(EXAMPLE, *paths) as served:
        assert served.url.startswith("https://127.0.0.1:")
        known, unknown = (
            make_extender(served.url, enable_https=True, tls_config=tls, node_cache_capable=False)
            for tls in (presenting, trusting)
        )
        (welcome,) = asyncio.run(ask(filter_call(known, HUNGRY), nodes=NODES))
        (refused,) = asyncio.run(ask(filter_call(unknown, HUNGRY), nodes=NODES))
        assert isinstance(welcome, FilterAnswer)
        assert isinstance(refused, CallFailed)
        with pytest.raises((ssl.SSLError, OSError)):
            get(f"{served.url}/healthz")


def test_the_configuration_beside_the_example_names_what_it_serves() -> None:
    written = read_written((EXAMPLES / "extenders" / "scheduler.yaml").read_bytes())
    (extender,) = load_written(written, gates=FeatureGates()).extenders
    assert extender.url_prefix == "http://127.0.0.1:8888"
    assert (extender.filter_verb, extender.prioritize_verb) == ("filter", "prioritize")
    assert (extender.preempt_verb, extender.bind_verb) == ("", "")
    assert extender.node_cache_capable is False


# the page about extenders

PAGE = (EXAMPLES.parent / "docs" / "extenders.md").read_text()


def documented() -> list[str]:
    fenced = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [line for block in fenced for line in block.splitlines() if line.startswith("podium ")]


@pytest.mark.slow
def test_documented_commands_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    monkeypatch.setenv("COLUMNS", "140")
    commands = documented()
    serving = "podium extender serve examples/extenders/rack_power.py"
    assert serving in commands
    with process(EXAMPLE) as served:
        config = tmp_path / "scheduler.yaml"
        written = (EXAMPLES / "extenders" / "scheduler.yaml").read_text()
        config.write_text(written.replace("http://127.0.0.1:8888", served.url))
        for command in commands:
            if command == serving:
                continue
            words = command.replace("examples/extenders/scheduler.yaml", str(config)).split()
            assert main(words[1:]) in (0, 1), command
            captured = capsys.readouterr()
            assert captured.err == ""
            if words[1] == "explain":
                assert "1   Extender   rack(s) cannot give 350 W more   of no use   rack-b" in (
                    captured.out
                )


def test_code_on_the_page_is_the_code_of_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```(?:python|yaml)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for name in ("rack_power.py", "scheduler.yaml"):
        (shown,) = [b for b in blocks if b.startswith(f"# examples/extenders/{name}")]
        code = (EXAMPLES / "extenders" / name).read_text()
        assert code.endswith(shown.split("\n", 1)[1])
    (trial,) = [block for block in blocks if "assert " in block]
    monkeypatch.syspath_prepend(str(EXAMPLES / "extenders"))
    exec(compile(trial, "docs/extenders.md", "exec"), {})
