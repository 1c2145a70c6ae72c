"""One copy of a collection, and everybody who is told of it, on good days and on bad ones."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.followed_informer import Heard, following, settle, version_text
from support.live.scripted_server import (
    ScriptedServer,
    bookmark,
    line,
    make_list,
    make_object,
    refusal,
    status_object,
)
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import (
    ResourceEventHandlerFuncs,
    Selection,
    SharedInformer,
    Unreachable,
    new_indexer_informer,
)
from podium.client.resources import PODS
from podium.client.shared_informer import Delta, DeltaType, PoppedDeltas
from podium.golang.errors import InputError
from podium.kubernetes.controllers.indexer import Key


def first_list(version: int, *objects: dict[str, Any]) -> bytes:
    return b"".join(line("ADDED", obj) for obj in objects) + bookmark(version, ends_list=True)


async def synced(
    server: ScriptedServer, informer: SharedInformer[Any], version: int, *objects: dict[str, Any]
) -> None:
    """The informer has its first list, and follows from there on."""
    await settle()
    server.watches[0].send(first_list(version, *objects))
    await informer.wait_for_sync()


def owned(name: str, version: int, uid: str) -> dict[str, Any]:
    obj = make_object(name, version)
    obj["metadata"]["uid"] = uid
    return obj


def test_handlers_hear_the_list_and_then_every_change_and_the_indexer_has_it_first() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            found: list[Any] = []
            looks = ResourceEventHandlerFuncs[Any](
                update=lambda _, new: found.append(
                    version_text(informer.lister.of_namespace("ns").get(new["metadata"]["name"]))
                )
            )
            informer.add_event_handler(looks)
            await settle()
            assert not informer.has_synced
            server.watches[0].send(first_list(9, make_object("a", 3), make_object("b", 4)))
            await informer.wait_for_sync()
            assert heard.take() == ["*a@3", "*b@4"]
            server.watches[0].send(
                line("MODIFIED", make_object("a", 10))
                + line("DELETED", make_object("b", 11))
                + line("ADDED", make_object("c", 12))
            )
            await settle()
            assert heard.take() == ["a@3>a@10", "-b@11", "+c@12"]
            assert found == ["a@10"]
            assert [version_text(obj) for obj in informer.lister.list()] == ["a@10", "c@12"]

    run_virtually(scenario())


def test_an_empty_list_is_a_list_too() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            registration = informer.add_event_handler(Heard())
            await synced(server, informer, 9)
            await registration.synced.wait()
            assert heard.take() == []

    run_virtually(scenario())


def test_a_handler_that_comes_late_hears_of_what_is_there() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, _):
            await synced(server, informer, 9, make_object("a", 3))
            late = Heard()
            registration = informer.add_event_handler(late)
            assert registration.synced.is_set()
            assert late.take() == ["*a@3"]
            server.watches[0].send(line("ADDED", make_object("b", 10)))
            await settle()
            assert late.take() == ["+b@10"]
            informer.remove_event_handler(registration)
            server.watches[0].send(line("ADDED", make_object("c", 11)))
            await settle()
            assert late.take() == []

    run_virtually(scenario())


def test_a_handler_that_waits_holds_up_nobody_and_misses_nothing() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        slow: list[str] = []

        async def write_slowly(obj: Any) -> None:
            await sleep_virtually(60)
            slow.append(version_text(obj))

        async with following(server) as (informer, heard):
            registration = informer.add_event_handler(ResourceEventHandlerFuncs(add=write_slowly))
            await settle()
            objects = [make_object(f"p{number}", number) for number in range(1, 4)]
            server.watches[0].send(first_list(9, *objects))
            await settle()
            assert heard.take() == ["*p1@1", "*p2@2", "*p3@3"]
            assert slow == []
            assert registration.waiting > 0
            await registration.synced.wait()
            assert slow == ["p1@1", "p2@2", "p3@3"]

    run_virtually(scenario())


def test_a_handler_that_fails_is_told_of_the_next_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        seen: list[str] = []

        def fail(obj: Any) -> None:
            seen.append(version_text(obj))
            raise ValueError("a bug")

        async def fail_later(obj: Any) -> None:
            fail(obj)

        async with following(server) as (informer, heard):
            informer.add_event_handler(ResourceEventHandlerFuncs(add=fail))
            informer.add_event_handler(ResourceEventHandlerFuncs(add=fail_later))
            await settle()
            server.watches[0].send(first_list(9, make_object("a", 3), make_object("b", 4)))
            await settle()
            assert sorted(seen) == ["a@3", "a@3", "b@4", "b@4"]
            assert heard.take() == ["*a@3", "*b@4"]

    with caplog.at_level(logging.ERROR, "podium.client"):
        run_virtually(scenario())
    assert caplog.text.count("ns/a: a handler has failed") == 2


def test_after_a_watch_that_is_too_old_only_differences_are_told() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            await settle()
            before = [make_object("a", 3), make_object("b", 4), make_object("c", 5)]
            server.watches[0].send(first_list(9, *before))
            await informer.wait_for_sync()
            heard.take()
            server.watches[0].send(line("ERROR", status_object(410, "Expired")))
            await sleep_virtually(5)
            after = [make_object("b", 4), make_object("c", 80), make_object("d", 85)]
            server.watches[1].send(first_list(90, *after))
            await settle()
            assert heard.take() == ["?a@3", "c@5>c@80", "+d@85"]

    run_virtually(scenario())


def test_a_server_that_is_down_is_waited_for_and_one_that_refuses_is_named() -> None:
    async def scenario() -> None:
        server = ScriptedServer(refusal(403, "Forbidden", "pods is forbidden"))
        server.watch_refusals = [
            Unreachable("refused", refused=True),
            Unreachable("refused", refused=True),
            refusal(403, "Forbidden", "pods is forbidden"),
        ]
        async with following(server) as (informer, _):
            with pytest.raises(InputError, match="pods \\(v1\\) cannot be followed: pods is forb"):
                await informer.wait_for_sync(within_s=8)
            server.answers.append(make_list(9, make_object("a", 3)))
            server.watch_refusals.append(refusal(403, "Forbidden"))
            await informer.wait_for_sync()
            assert len(informer.indexer) == 1
            await settle()
            assert informer.trouble == ""

    run_virtually(scenario())


def test_a_restored_server_is_believed_though_its_versions_are_older() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            await synced(server, informer, 50, owned("a", 40, "one"), owned("b", 41, "two"))
            informer.put(owned("a", 60, "one"))
            informer.drop(owned("b", 41, "two"))
            heard.take()
            server.watches[0].send(line("ERROR", status_object(410, "Expired")))
            await sleep_virtually(5)
            server.watches[1].send(first_list(20, owned("a", 10, "one"), owned("b", 11, "two")))
            await settle()
            assert heard.take() == ["a@60>a@10", "+b@11"]

    run_virtually(scenario())


def test_all_objects_are_told_again_to_those_who_asked_for_a_resync() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            often, seldom = Heard(), Heard()
            informer.add_event_handler(often, resync_period_s=60)
            informer.add_event_handler(seldom, resync_period_s=150)
            await synced(server, informer, 9, make_object("a", 3))
            assert (heard.take(), often.take(), seldom.take()) == (["*a@3"],) * 3
            await sleep_virtually(149)
            assert (often.take(), seldom.take()) == (["a@3>a@3"] * 2, [])
            await sleep_virtually(20)
            assert (often.take(), seldom.take()) == ([], ["a@3>a@3"])
            assert heard.take() == []

    run_virtually(scenario())


def test_one_s_own_writes_are_known_at_once_and_the_watch_is_no_news_until_it_caught_up() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            await synced(server, informer, 9, owned("a", 3, "one"))
            informer.put(owned("a", 12, "one"))
            informer.put(owned("new", 13, "two"))
            assert heard.take() == ["*a@3", "a@3>a@12", "+new@13"]
            server.watches[0].send(line("MODIFIED", owned("a", 10, "one")))
            await settle()
            assert heard.take() == []
            # A list that was made before the write lacks what was written.
            server.watches[0].send(line("ERROR", status_object(410, "Expired")))
            await sleep_virtually(5)
            server.watches[1].send(first_list(11, owned("a", 10, "one")))
            await settle()
            assert heard.take() == []
            server.watches[1].send(
                line("MODIFIED", owned("a", 12, "one"))
                + line("ADDED", owned("new", 13, "two"))
                + line("DELETED", owned("new", 14, "two"))
            )
            await settle()
            assert heard.take() == ["-new@14"]

    run_virtually(scenario())


def test_another_object_of_the_same_name_is_a_deletion_and_an_addition() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            await synced(server, informer, 9, owned("a", 3, "one"))
            server.watches[0].send(line("MODIFIED", owned("a", 12, "two")))
            await settle()
            assert heard.take() == ["*a@3", "?a@3", "+a@12"]

    run_virtually(scenario())


def test_what_leaves_a_selection_comes_back_and_late_answers_do_not() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        informer: SharedInformer[Any] = SharedInformer(
            PODS, dict, selection=Selection(labels="app=web")
        )
        async with following(server, informer) as (_, heard):
            await synced(server, informer, 9, owned("a", 3, "one"))
            server.watches[0].send(line("DELETED", owned("a", 12, "one")))
            await settle()
            informer.put(owned("a", 11, "one"))
            assert heard.take() == ["*a@3", "-a@12"]
            server.watches[0].send(line("ADDED", owned("a", 13, "one")))
            await settle()
            assert heard.take() == ["+a@13"]
            # It has left and come back by a write of one's own before the watch told of either.
            informer.put(owned("a", 16, "one"))
            server.watches[0].send(
                line("DELETED", owned("a", 15, "one")), line("ADDED", owned("a", 16, "one"))
            )
            await settle()
            assert heard.take() == ["a@13>a@16"]

    run_virtually(scenario())


def test_an_object_that_cannot_be_read_is_passed_over_and_the_others_are_not() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server) as (informer, heard):
            await settle()
            broken = b'{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"2"}'
            server.watches[0].send(first_list(9, make_object("a", 3)))
            await informer.wait_for_sync()
            server.watches[0].send(broken + b',"spec":01}}\n')
            await sleep_virtually(5)
            server.watches[1].send(first_list(12, make_object("a", 3), make_object("b", 11)))
            await settle()
            assert heard.take() == ["*a@3", "+b@11"]

    run_virtually(scenario())


def test_an_informer_and_its_indexer_are_made_in_one_go() -> None:
    heard = Heard()
    indexer, informer = new_indexer_informer(
        PODS, dict, heard, indexers={"name": lambda obj: (obj["metadata"]["name"],)}
    )
    informer.put(make_object("a", 3))
    assert [version_text(obj) for obj in indexer.by_index("name", "a")] == ["a@3"]
    assert heard.take() == ["+a@3"]


HISTORY = st.lists(st.sampled_from(["put", "delete"]), min_size=1, max_size=12)


@given(HISTORY, st.data())
def test_whatever_comes_twice_or_late_the_end_is_the_same(steps: list[str], data: Any) -> None:
    """Each version is heard from a watch, and from a write's answer before, after or never."""
    events: list[tuple[str, Any]] = []
    life = 0
    alive = False
    for number, step in enumerate(steps, 1):
        if step == "delete" and alive:
            events.append(("delete", owned("a", number, f"life-{life}")))
            alive = False
        elif step == "put":
            life += not alive
            alive = True
            events.append(("put", owned("a", number, f"life-{life}")))
    informer: SharedInformer[Any] = SharedInformer(PODS, dict)
    key = Key("ns", "a")
    watched = written = 0
    while watched < len(events):
        if written < len(events) and data.draw(st.booleans()):
            kind, obj = events[written]
            (informer.put if kind == "put" else informer.drop)(obj)
            written += 1
            continue
        kind, obj = events[watched]
        delta = Delta(DeltaType.UPDATED if kind == "put" else DeltaType.DELETED, obj)
        informer.handle_deltas(PoppedDeltas(key, [delta], is_in_initial_list=False))
        watched += 1
    expected = events[-1][1] if events and events[-1][0] == "put" else None
    assert informer.indexer.get("ns", "a") == expected
