"""No request makes the server work for long: a budget for whatever fits into one.

Every request of up to 3 MiB is answered within `MAX_YARDSTICKS` of work. The fields to fill are
drawn from the schemas of all kinds, always the same ones; `PODIUM_SEED=n` draws others,
`PODIUM_SEED=random` others each time, and a failure shows the seed. `PODIUM_LONG=1` tries them all,
which takes hours. What once was hard is always tried.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC
from support.apiserver.apiserver_process import RunningServer, serving
from support.apiserver.hostile_shapes import Place, all_places
from support.apiserver.metered_server import Meter, encoded, seed_of
from support.apiserver.populated_server import collection
from support.suite.requirements import PROC
from support.suite.slow_cases import few_of
from support.waiting import PATIENCE_S

from podium.apiserver import protobuf
from podium.bench import hostile_bodies
from podium.bench.hostile_bodies import COPIES_OF_COPIES, make_pod

LONG = bool(os.environ.get("PODIUM_LONG"))
SEED = seed_of(os.environ.get("PODIUM_SEED"))
SAMPLE = 12
FEW = 1
PODS = "/api/v1/namespaces/ns/pods"
CONFIG_MAPS = "/api/v1/namespaces/ns/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def without_first(content: Any) -> Any:
    """What is left without the first item; items of a list in another order."""
    if isinstance(content, dict):
        return dict(list(content.items())[1:])
    return content[:0:-1] if isinstance(content, list) else content[1:]


def write_in_all_ways(meter: Meter, place: Place, form: str) -> None:
    """Send what a place can hold in every way in which it can be sent."""
    content = place.content(form, place.largest(form))
    fewer = without_first(content)
    all_of_it = collection(place.resource)
    for name in ("new", "applied"):
        meter.api.ask("DELETE", f"{all_of_it}/{name}?gracePeriodSeconds=0")
    one, applied = f"{all_of_it}/a", f"{all_of_it}/applied?fieldManager=m&force=true"
    body, changed = encoded(place.object(content)), encoded(place.object(fewer))
    meter.ask("create", "POST", f"{all_of_it}?fieldValidation=Strict", place.object(content, "new"))
    meter.ask("show as a table", "GET", f"{all_of_it}/new", accept=TABLE)
    meter.ask("show as protobuf", "GET", f"{all_of_it}/new", accept=protobuf.MEDIA_TYPE)
    meter.ask("replace", "PUT", f"{one}?dryRun=All", body)
    if place.path[0] == "status":
        one = f"{one}/status"
        meter.ask("replace the status", "PUT", f"{one}?dryRun=All", body)
    meter.ask("merge", "PATCH", f"{one}?dryRun=All", body, content_type=MERGE)
    meter.ask("merge strategically", "PATCH", f"{one}?dryRun=All", body, content_type=STRATEGIC)
    added = [
        {"op": "add", "path": f"/{place.path[0]}", "value": json.loads(body).get(place.path[0])}
    ]
    meter.ask("patch", "PATCH", f"{one}?dryRun=All", added, content_type=JSON_PATCH)
    first, again = place.object(content, "applied"), place.object(fewer, "applied")
    meter.ask("apply", "PATCH", applied, first, content_type=APPLY)
    meter.ask("apply again", "PATCH", applied, again, content_type=APPLY)
    meter.ask("apply as another", "PATCH", applied.replace("=m", "=n"), first, content_type=APPLY)
    again["metadata"] = {}
    meter.ask(
        "merge what is there",
        "PATCH",
        applied.split("?", maxsplit=1)[0],
        again,
        content_type=STRATEGIC,
    )
    conflicting = applied.replace("=m&force=true", "=o")
    meter.ask("apply in conflict", "PATCH", conflicting, first, content_type=APPLY)
    nothing = place.object(content[:0] if isinstance(content, list | str) else {}, "applied")
    meter.ask("give everything up", "PATCH", applied, nothing, content_type=APPLY)
    meter.ask("delete", "DELETE", f"{all_of_it}/a?dryRun=All", changed)


def draw_places(count: int) -> Iterator[tuple[Place, str]]:
    found = [(place, form) for place in all_places() for form in place.forms]
    yield from found if LONG else Random(SEED).sample(found, count)


def assert_within_budget(places: Iterator[tuple[Place, str]]) -> None:
    meter = Meter()
    for place, form in places:
        write_in_all_ways(meter, place, form)

        assert meter.beyond_budget() == {}, f"PODIUM_SEED={SEED} {place} [{form}]"


def test_a_field_that_is_full_makes_no_more_work_than_the_budget() -> None:
    assert_within_budget(draw_places(FEW))


@pytest.mark.slow
def test_no_field_can_hold_more_than_the_budget() -> None:
    assert_within_budget(draw_places(SAMPLE))


@pytest.mark.parametrize("what", few_of(hostile_bodies.PODS, 3))
def test_pods_that_are_hard_to_warn_of_are_answered_within_the_budget(what: str) -> None:
    meter = Meter()

    meter.ask(what, "POST", PODS, hostile_bodies.PODS[what])

    assert meter.beyond_budget() == {}


def test_values_of_one_term_are_told_apart_in_time() -> None:
    meter = Meter()
    values = [f"v{number}" for number in range(70_000)]
    terms = [{"matchLabelExpressions": [{"key": "zone", "values": values}]}]
    storage_class = {"metadata": {"name": "s"}, "provisioner": "p", "allowedTopologies": terms}

    meter.ask("values", "POST", "/apis/storage.k8s.io/v1/storageclasses", storage_class)

    assert meter.beyond_budget() == {}


def test_copies_of_copies_are_refused_at_once() -> None:
    meter = Meter()

    answer = meter.ask("copy", "PATCH", f"{PODS}/a", COPIES_OF_COPIES, content_type=JSON_PATCH)

    assert answer.status == 422
    assert answer.message == "the server rejected our request due to an error in our request"
    assert meter.beyond_budget() == {}


def test_an_object_that_etcd_would_not_take_is_refused() -> None:
    meter = Meter()
    pod = make_pod(env=[{"name": f"A{number}", "value": "x" * 100} for number in range(19_000)])

    answer = meter.ask("create", "POST", PODS, pod)

    assert answer.status == 500
    assert answer.message == "etcdserver: request is too large"
    assert meter.beyond_budget() == {}


def test_an_object_that_is_too_large_by_its_managed_fields_is_stored_without_them() -> None:
    meter = Meter()
    pod = make_pod(env=[{"name": f"A{number}", "value": "x" * 100} for number in range(10_500)])

    created = meter.ask("create", "POST", PODS, pod)

    assert created.status == 201
    assert "managedFields" not in created.body["metadata"]


@pytest.mark.parametrize("what", few_of(hostile_bodies.YAML, 4))
def test_yaml_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()

    body = hostile_bodies.YAML[what]
    meter.ask(what, "POST", CONFIG_MAPS, body, content_type="application/yaml")

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize("what", few_of(hostile_bodies.JSON, 3))
def test_json_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()

    for validation in ("Strict", "Warn"):
        path = f"{CONFIG_MAPS}?fieldValidation={validation}"
        meter.ask(f"{what}, {validation}", "POST", path, hostile_bodies.JSON[what])

    assert meter.beyond_budget() == {}


def resident_mib(server: RunningServer, field: str) -> int:
    """`VmRSS` is what a server has in memory, `VmHWM` the most it ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    kib = dict(line.split(":", 1) for line in status.splitlines())[field]
    return int(kib.split()[0]) >> 10


@PROC.skip_unless(Path("/proc/self/status").exists())
def test_a_server_answers_within_its_memory(tmp_path: Path) -> None:
    flow_list = hostile_bodies.YAML["a flow list"]
    pods = "/api/v1/namespaces/default/pods"
    requests = [
        ("POST", pods, encoded(hostile_bodies.PODS["400 equal ports"]), "application/json"),
        ("POST", pods, encoded(hostile_bodies.PODS["equal variables"]), "application/json"),
        ("PATCH", f"{pods}/hard", encoded(COPIES_OF_COPIES), JSON_PATCH),
        ("POST", "/api/v1/namespaces/default/configmaps", flow_list, "application/yaml"),
    ]
    with serving(tmp_path) as server:
        server.ask("GET", pods)
        for method, path, body, content_type in requests:
            before = resident_mib(server, "VmRSS")
            connection = server.connect(PATIENCE_S)
            authorization = f"Bearer {server.token}"
            headers = {"Content-Type": content_type, "Authorization": authorization}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            connection.close()

            assert response.status < 500
            assert resident_mib(server, "VmHWM") - before < 100
