"""Extenders without an event loop."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from support.addons.extenders.extender_servers import (
    answering,
    filter_call,
    make_extender,
    prioritize_call,
    serving_in_thread,
)

from podium.client.extenders.client import BlockingExtenderClient
from podium.client.extenders.objects import TypedObjects
from podium.kubernetes.kinds.node import Node
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.types import ExtenderTLSConfig
from podium.scheduler.framework.asking import CallFailed, FilterAnswer

NODES: dict[str, Node] = {}
NO_NODES = TypedObjects(NODES.__getitem__)


@pytest.fixture
def url() -> Iterator[str]:
    with serving_in_thread(answering(b'{"NodeNames": ["n1"]}')) as server:
        yield server.url


def test_calls_are_answered_in_order(url: str) -> None:
    extender, absent = make_extender(url), make_extender("nowhere")
    with BlockingExtenderClient([extender, absent], NO_NODES) as client:
        answered, failed = client.ask((filter_call(extender), prioritize_call(absent)))
        assert answered == FilterAnswer(node_names=("n1",))
        assert isinstance(failed, CallFailed)
        assert client.ask((filter_call(extender),)) == (FilterAnswer(node_names=("n1",)),)


def test_it_may_be_used_inside_a_loop(url: str) -> None:
    extender = make_extender(url)

    async def story() -> None:
        with BlockingExtenderClient([extender], NO_NODES) as client:
            assert client.ask((filter_call(extender),)) == (FilterAnswer(node_names=("n1",)),)

    asyncio.run(story())


def test_closing_leaves_no_thread_and_may_be_repeated() -> None:
    before = threading.active_count()
    client = BlockingExtenderClient([], NO_NODES)
    assert client.ask(()) == ()
    client.close()
    client.close()
    assert threading.active_count() == before


def test_certificates_that_cannot_be_used_are_told_before_anything_starts() -> None:
    before = threading.active_count()
    extender = make_extender("https://x", tls_config=ExtenderTLSConfig(ca_file="missing.crt"))
    with pytest.raises(ConfigurationError, match=r"open missing\.crt"):
        BlockingExtenderClient([extender], NO_NODES)
    assert threading.active_count() == before
