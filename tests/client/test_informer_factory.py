"""Informers by resource, each made once and followed while the factory is open."""

import asyncio

import pytest
from support.live.followed_informer import settle
from support.live.scripted_server import ScriptedServer, bookmark, line, make_object, refusal
from support.live.virtual_loop import run_virtually

from podium.client import KubeClient, Selection, SharedInformerFactory, Unreachable
from podium.client.resources import NODES, PODS
from podium.golang.errors import InputError
from podium.kubernetes.kinds.meta import KubeObject


def test_an_informer_is_made_once_and_followed_from_when_it_is_asked_for() -> None:
    async def main() -> None:
        server = ScriptedServer()
        selection = Selection(namespace="shop", labels="app=web")
        factory = SharedInformerFactory(KubeClient(server), selection=selection)
        pods = factory.informer(PODS, dict)
        assert factory.informer(PODS, dict) is pods
        with pytest.raises(InputError, match="pods are read as dict, not KubeObject"):
            factory.informer(PODS, KubeObject)
        async with factory:
            await settle()
            assert server.requests[0].path == "/api/v1/namespaces/shop/pods"
            assert server.parameters(0)["labelSelector"] == "app=web"
            nodes = factory.informer(NODES, KubeObject)
            await settle()
            for watch, obj in zip(server.watches, ("a", "n1"), strict=True):
                watch.send(line("ADDED", make_object(obj, 3)) + bookmark(9, ends_list=True))
            await factory.wait_for_cache_sync()
            assert len(pods.indexer) == 1
            found = nodes.lister.of_namespace("ns").get("n1")
            assert found is not None
            assert found.metadata.name == "n1"
            assert factory.trouble == {}
        assert len(server.watches) == 2

    run_virtually(main())


def test_a_kind_that_cannot_be_followed_is_named_and_stops_no_other() -> None:
    async def main() -> None:
        server = ScriptedServer(refusal(404, "NotFound", "the server could not find it"))
        server.watch_refusals = [refusal(404, "NotFound")]
        async with SharedInformerFactory(KubeClient(server)) as factory:
            factory.informer(PODS, dict)
            server.answers += [Unreachable("gone")] * 20
            server.watch_refusals += [refusal(404, "NotFound")] * 20
            with pytest.raises(InputError, match="pods \\(v1\\) cannot be followed"):
                await factory.wait_for_cache_sync(within_s=5)
            assert set(factory.trouble) == {"pods"}

    run_virtually(main())


def test_what_goes_wrong_inside_goes_on_as_it_is() -> None:
    async def main() -> None:
        async with SharedInformerFactory(KubeClient(ScriptedServer())) as factory:
            factory.informer(PODS, dict)
            await asyncio.sleep(0)
            raise ValueError("a bug of the user's")

    with pytest.raises(ValueError, match="a bug of the user's"):
        run_virtually(main())
