"""Whole scheduling cycles with extenders that fail, over real sockets.

One pod asks for what a faulty extender manages, another does not: whatever becomes of the first,
the second is placed.
"""

import asyncio
from typing import Any

import pytest
from support.addons.extenders.extender_servers import (
    Answer,
    Request,
    answering,
    never,
    reply,
    serving_in_thread,
)

from podium.client.extenders.client import BlockingExtenderClient
from podium.client.extenders.objects import TypedObjects
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import PodOutcome, Scenario, Simulation
from podium.offline.simulate.report import PodResult
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

LICENCE = "example.com/licence"
NODES = {
    name: make_node(name, allocatable={"cpu": "4", "memory": "8Gi", "pods": 110, LICENCE: 5})
    for name in ("n1", "n2", "n3")
}
AGREEING = b'{"NodeNames": ["n1", "n2", "n3"]}'


async def close_early(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + AGREEING[:12])
    writer.close()


async def flood(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n" + b'{"NodeNames": ["')
    for _piece in range(1600):
        writer.write(b"x" * 65536)
        await writer.drain()


def decided(answer: Answer, **fields: Any) -> tuple[PodResult, PodResult, str]:
    """What becomes of the pod with a licence and of the other, and the extender's address."""
    pods = (
        make_pod("licensed", requests={LICENCE: 1}, schedulerName="default-scheduler"),
        make_pod("plain", schedulerName="default-scheduler"),
    )
    with serving_in_thread(answer) as server:
        extender = {
            "urlPrefix": server.url,
            "filterVerb": "filter",
            "nodeCacheCapable": True,
            "httpTimeout": "5s",
            "managedResources": [{"name": LICENCE}],
            **fields,
        }
        raw = {"apiVersion": API_VERSION, "kind": KIND, "extenders": [extender]}
        configuration = load_configuration(raw, gates=FeatureGates())
        simulation = Simulation(
            Scenario(tuple(NODES.values()), (), pods),
            configuration,
            in_tree_registry(),
            gates=FeatureGates(),
        )
        with BlockingExtenderClient(
            configuration.extenders, TypedObjects(NODES.__getitem__)
        ) as client:
            report = simulation.run(ask=client.ask)
    results = {result.pod.metadata.name: result for result in report.pods}
    return results["licensed"], results["plain"], server.url


FAULTS = {
    "hangs": (never, {"httpTimeout": "50ms"}, "context deadline exceeded"),
    "garbage": (answering(b"no"), {}, "invalid character 'o' in literal null (expecting 'u')"),
    "floods": (flood, {}, "the answer is larger than 16 MiB"),
    "closes early": (close_early, {}, "unexpected EOF"),
    "unknown node": (
        answering(b'{"NodeNames": ["n1", "n9"]}'),
        {},
        'claims a filtered node "n9" which is not found in the input node list',
    ),
    "bad status": (answering(AGREEING, "500 Oh no"), {}, ", code 500"),
}


@pytest.mark.parametrize(("answer", "fields", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_the_attempt_and_no_other_pod(
    answer: Answer, fields: dict[str, Any], said: str
) -> None:
    licensed, plain, url = decided(answer, **fields)
    assert licensed.outcome is PodOutcome.ERROR
    assert said in licensed.message
    assert url in licensed.message
    assert plain.outcome is PodOutcome.PLACED


@pytest.mark.parametrize(("answer", "fields", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_that_may_be_ignored_changes_nothing(
    answer: Answer, fields: dict[str, Any], said: str
) -> None:
    licensed, plain, _ = decided(answer, **fields, ignorable=True)
    assert licensed.outcome is PodOutcome.PLACED
    assert plain.outcome is PodOutcome.PLACED


@pytest.mark.parametrize(("answer", "fields", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_scores_that_do_not_come_are_done_without(
    answer: Answer, fields: dict[str, Any], said: str
) -> None:
    scoring = {"filterVerb": "", "prioritizeVerb": "prioritize", "weight": 1}
    licensed, plain, _ = decided(answer, **{**fields, **scoring})
    assert licensed.outcome is PodOutcome.PLACED
    assert plain.outcome is PodOutcome.PLACED


def test_an_error_of_the_extender_is_the_pods_message_word_by_word() -> None:
    licensed, _, _ = decided(answering(b'{"Error": "boom"}'))
    assert licensed.message == "boom"


def test_a_node_that_was_never_sent_is_taken_if_it_comes_in_full() -> None:
    invented = b'{"Nodes": {"items": [{"metadata": {"name": "n9"}}]}}'
    licensed, plain, _ = decided(answering(invented), nodeCacheCapable=False)
    assert (licensed.node, plain.outcome) == ("n9", PodOutcome.PLACED)


def test_an_extender_is_sent_the_nodes_that_passed() -> None:
    heard: list[Any] = []

    async def listen(request: Request, writer: asyncio.StreamWriter) -> None:
        heard.append(request.decoded())
        reply(writer, b'{"Nodes": {"items": [{"metadata": {"name": "n2"}}]}}')

    licensed, _, _ = decided(listen, nodeCacheCapable=False)
    assert licensed.node == "n2"
    (sent,) = heard
    assert sent["Pod"]["metadata"]["name"] == "licensed"
    assert {node["metadata"]["name"] for node in sent["Nodes"]["items"]} == set(NODES)
    assert sent["Nodes"]["items"][0]["status"]["allocatable"][LICENCE] == "5"
