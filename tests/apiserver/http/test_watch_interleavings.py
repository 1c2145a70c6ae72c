"""Whatever the interleaving of writers and watchers on the wire, no change is lost or told twice.

Clients follow a collection as informers do: list, watch from there, go on from the last revision
they saw when a watch is cut, list again when they are told 410. Some stop reading for a while.
hypothesis chooses who does what when, and how short the history is. In the end every client has
what is stored, and each got there by changes that were new, in order, and fitted what it knew.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import CONFIG_MAPS, Api, config_map, good
from support.apiserver.asgi_client import Exchange, in_virtual_time

from podium.apiserver.http.app import Application
from podium.apiserver.store.collection import History

NAMES = ("a", "b", "c")
SELECTORS = ("", "labelSelector=app%3Dx", "fieldSelector=metadata.name%3Da")
_TURNS = 60
"""Steps of the event loop after which everybody has done what there is to do."""


@dataclass
class Gated(Exchange):
    """A client that reads only while its gate is open."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.gate.wait()
        await super()._send(message)


class Follower:
    """A client that keeps a copy of what matches its selector."""

    def __init__(self, api: Api, application: Application, selector: str) -> None:
        self._api = api
        self._application = application
        self._selector = selector
        self._gate = asyncio.Event()
        self._gate.set()
        self.relists = 0
        self._list()

    def _list(self) -> None:
        listed = self._api.get(f"{CONFIG_MAPS}?{self._selector}")
        self.known = {
            item["metadata"]["name"]: item["metadata"]["resourceVersion"]
            for item in listed["items"]
        }
        self.revision = int(listed["metadata"]["resourceVersion"])
        self.relists += 1
        self._watch()

    def _watch(self) -> None:
        path = f"{CONFIG_MAPS}?watch=true&resourceVersion={self.revision}&{self._selector}"
        self._stream = Gated(self._application, "GET", path, gate=self._gate)
        self._task = asyncio.ensure_future(self._stream.run())
        self._taken = 0

    def stall(self) -> None:
        self._gate.clear()

    def go_on(self) -> None:
        self._gate.set()

    async def cut(self) -> None:
        """Lose the connection, keep what has arrived, and connect again."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if not self._take():
            self._watch()

    def catch_up(self) -> None:
        """Take what has arrived; connect again if the server has ended the watch."""
        if not self._take() and self._stream.ended:
            self._watch()

    def _take(self) -> bool:
        """Take events as they came; true if there was to be a new list."""
        lines = self._stream.lines
        fresh, self._taken = lines[self._taken :], len(lines)
        for event in fresh:
            if event["type"] == "ERROR":
                assert event["object"]["code"] == 410
                self._list()
                return True
            self._apply(event["type"], event["object"]["metadata"])
        return False

    def _apply(self, kind: str, metadata: dict[str, Any]) -> None:
        name, revision = metadata["name"], int(metadata["resourceVersion"])
        assert revision > self.revision, "told twice or out of order"
        assert (name in self.known) == (kind != "ADDED"), "does not fit what was told before"
        self.revision = revision
        if kind == "DELETED":
            del self.known[name]
        else:
            self.known[name] = str(revision)


def write(api: Api, name: str, deed: str) -> None:
    path = f"{CONFIG_MAPS}/{name}"
    if api.ask("GET", path).status == 404:
        if deed != "delete":
            labels = {"app": deed}
            obj = config_map(name)
            api.create(CONFIG_MAPS, {**obj, "metadata": {**obj["metadata"], "labels": labels}})
    elif deed == "delete":
        good(api.ask("DELETE", path))
    else:
        serial = str(api.store.revision)
        api.patch(path, {"metadata": {"labels": {"app": deed}}, "data": {"serial": serial}})


WHO = st.integers(0, len(SELECTORS) - 1)
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(("x", "y", "delete"))),
    st.tuples(st.just("turns"), st.integers(1, 5)),
    st.tuples(st.sampled_from(("cut", "stall", "go on", "catch up")), WHO),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=60), st.integers(2, 20))
def test_followers_end_up_with_what_is_stored(
    steps: list[tuple[Any, ...]], history_length: int
) -> None:
    async def run() -> None:
        api = Api()
        collection = api.store.collection("configmaps")
        collection.history = History(api.store.revision, max_changes=history_length)
        application = Application(api.service, api.registry.randomness)
        followers = [Follower(api, application, selector) for selector in SELECTORS]
        for step in steps:
            match step:
                case ("write", name, deed):
                    write(api, name, deed)
                case ("turns", int(count)):
                    await turns(count)
                case ("cut", int(who)):
                    await followers[who].cut()
                case ("stall", int(who)):
                    followers[who].stall()
                case ("go on", int(who)):
                    followers[who].go_on()
                case (_, int(who)):
                    followers[who].catch_up()
        for follower in followers:
            follower.go_on()
        for _ in range(3):  # a watch that was ended, a list because of 410, and what came then
            await turns(_TURNS)
            for follower in followers:
                follower.catch_up()
        for follower, selector in zip(followers, SELECTORS, strict=True):
            stored = api.get(f"{CONFIG_MAPS}?{selector}")["items"]
            assert follower.known == {
                item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in stored
            }
        application.stop()
        await turns(_TURNS)

    in_virtual_time(run())


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_a_follower_that_is_cut_resumes_without_a_new_list() -> None:
    async def run() -> None:
        api = Api()
        application = Application(api.service, api.registry.randomness)
        follower = Follower(api, application, "")
        for name in ("a", "b"):
            write(api, name, "x")
            await turns(10)
            await follower.cut()
        write(api, "a", "delete")
        await turns(10)
        follower.catch_up()
        assert set(follower.known) == {"b"}
        assert follower.relists == 1
        application.stop()
        await turns(_TURNS)

    in_virtual_time(run())


def test_a_follower_that_the_history_has_passed_is_told_to_list_again() -> None:
    async def run() -> None:
        api = Api()
        collection = api.store.collection("configmaps")
        collection.history = History(api.store.revision, max_changes=2)
        application = Application(api.service, api.registry.randomness)
        follower = Follower(api, application, "")
        follower.stall()
        for number in range(20):
            write(api, NAMES[number % 3], "x")
            await turns(2)
        follower.go_on()
        for _ in range(3):
            await turns(_TURNS)
            follower.catch_up()
        assert set(follower.known) == set(NAMES)
        assert follower.relists == 2
        application.stop()
        await turns(_TURNS)

    in_virtual_time(run())
