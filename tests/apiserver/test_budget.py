"""No request makes the server work for long: a budget for whatever fits into one.

Every request of up to 3 MiB is answered within `BUDGET_S` of the process's CPU time. The fields to
fill are drawn from the schemas of all kinds, always the same ones; `PODIUM_SEED=n` draws others,
`PODIUM_SEED=random` others each time, and a failure shows the seed. `PODIUM_LONG=1` tries them all,
which takes hours. What once was hard is always tried. CPU time is what is counted, since the time
on the clock belongs to everybody.
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
from support.apiserver.metered_server import BUDGET_S, Meter, count_better_of_two, encoded, seed_of
from support.apiserver.populated_server import collection

from podium.apiserver import protobuf
from podium.apiserver.http.messages import MAX_BODY_BYTES

LONG = bool(os.environ.get("PODIUM_LONG"))
SEED = seed_of(os.environ.get("PODIUM_SEED"))
SAMPLE = 12
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


def drawn() -> Iterator[tuple[Place, str]]:
    found = [(place, form) for place in all_places() for form in place.forms]
    yield from found if LONG else Random(SEED).sample(found, SAMPLE)


def test_no_field_can_hold_more_than_the_server_has_time_for() -> None:
    meter = Meter()
    for place, form in drawn():
        write_in_all_ways(meter, place, form)
        if meter.beyond_budget():  # the fewest seconds of two attempts count: others work here too
            first = dict(meter.spent)
            write_in_all_ways(meter, place, form)
            meter.spent = {what: min(spent, first[what]) for what, spent in meter.spent.items()}

        assert meter.beyond_budget() == {}, f"PODIUM_SEED={SEED} {place} [{form}]"


def pod_with(**container: Any) -> dict[str, Any]:
    main = {"name": "main", "image": "nginx:1.27", **container}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hard"},
        "spec": {"containers": [main]},
    }


def files(paths: Iterator[str]) -> dict[str, Any]:
    items = [{"key": "k", "path": path} for path in paths]
    pod = pod_with()
    pod["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "c", "items": items}}]
    return pod


HARD_PODS: dict[str, dict[str, Any]] = {
    "400 equal ports": pod_with(ports=[{"containerPort": 80}] * 400),
    "equal ports": pod_with(ports=[{"containerPort": 80}] * 24_000),
    "ports that differ on the host": pod_with(
        ports=[{"containerPort": 80, "hostPort": 1 + number} for number in range(20_000)]
    ),
    "ports that differ by address": pod_with(
        ports=[
            {"containerPort": 80, "hostPort": 80, "hostIP": f"10.0.{number >> 8}.{number & 255}"}
            for number in range(12_000)
        ]
    ),
    "equal variables": pod_with(env=[{"name": "A", "value": "b"}] * 24_000),
    "equal files": files("a" for _ in range(24_000)),
    "files twice": files(f"x{number % 12_000}" for number in range(24_000)),
    "a deep directory": files("/".join("a" * depth) for depth in range(1, 1500)),
}


@pytest.mark.parametrize("what", HARD_PODS)
@count_better_of_two
def test_pods_that_are_hard_to_warn_of_are_answered_within_the_budget(what: str) -> None:
    meter = Meter()

    meter.ask(what, "POST", PODS, HARD_PODS[what])

    assert meter.beyond_budget() == {}


@count_better_of_two
def test_values_of_one_term_are_told_apart_in_time() -> None:
    meter = Meter()
    values = [f"v{number}" for number in range(70_000)]
    terms = [{"matchLabelExpressions": [{"key": "zone", "values": values}]}]
    storage_class = {"metadata": {"name": "s"}, "provisioner": "p", "allowedTopologies": terms}

    meter.ask("values", "POST", "/apis/storage.k8s.io/v1/storageclasses", storage_class)

    assert meter.beyond_budget() == {}


@count_better_of_two
def test_copies_of_copies_are_refused_at_once() -> None:
    meter = Meter()
    doubling = [{"op": "copy", "from": "/metadata", "path": f"/metadata/x{n}"} for n in range(60)]

    answer = meter.ask("copy", "PATCH", f"{PODS}/a", doubling, content_type=JSON_PATCH)

    assert answer.status == 422
    assert answer.message == "the server rejected our request due to an error in our request"
    assert meter.beyond_budget() == {}


@count_better_of_two
def test_ten_thousand_operations_on_a_long_list_stay_within_the_budget() -> None:
    meter = Meter()
    operations: list[dict[str, Any]] = [
        {"op": "replace", "path": "/data", "value": {"l": ["x"] * 40_000}},
        *({"op": "move", "from": "/data/l/0", "path": "/data/l/1"} for _ in range(9_999)),
    ]

    meter.ask("move", "PATCH", f"{CONFIG_MAPS}/a", operations, content_type=JSON_PATCH)

    assert meter.beyond_budget() == {}


@count_better_of_two
def test_an_object_that_etcd_would_not_take_is_refused() -> None:
    meter = Meter()
    pod = pod_with(env=[{"name": f"A{number}", "value": "x" * 100} for number in range(19_000)])

    answer = meter.ask("create", "POST", PODS, pod)

    assert answer.status == 500
    assert answer.message == "etcdserver: request is too large"
    assert meter.beyond_budget() == {}


def test_an_object_that_is_too_large_by_its_managed_fields_is_stored_without_them() -> None:
    meter = Meter()
    pod = pod_with(env=[{"name": f"A{number}", "value": "x" * 100} for number in range(10_500)])

    created = meter.ask("create", "POST", PODS, pod)

    assert created.status == 201
    assert "managedFields" not in created.body["metadata"]


SIZE = MAX_BODY_BYTES - 200
NAMED = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n"
HARD_YAML = {
    "a flow list": b"x: [" + b"a," * (SIZE // 2) + b"a]",
    "a block list": b"x:\n" + b"- a\n" * (SIZE // 4),
    "numbers": b"x: [" + b"1," * (SIZE // 2) + b"1]",
    "objects": b"x: [" + b"{}," * (SIZE // 3) + b"{}]",
    "a map": b"x:\n" + b"".join(b" k%d: 1\n" % number for number in range(240_000)),
    "anchors": b"x: [" + b"&a b," * (SIZE // 5) + b"b]",
    "aliases": b"b: &b c\nx: [" + b"*b," * (SIZE // 3) + b"b]",
    "tags": b"x: [" + b"!!str a," * (SIZE // 8) + b"a]",
    "documents": b"---\n" * (SIZE // 4),
    "comments": b"#\n" * (SIZE // 2),
    "directives": b"".join(b"%%TAG !a%d! x\n" % number for number in range(180_000)),
    "nested lists": b"x: " + b"[" * SIZE,
    "a long text": b"x: " + b"y" * SIZE,
    "a folded text": b"x: >\n" + b" y\n" * (SIZE // 3),
    "a long number": b"x: " + b"1" * SIZE,
}


@pytest.mark.parametrize("what", HARD_YAML)
@count_better_of_two
def test_yaml_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()
    head = b"" if what in ("documents", "directives") else NAMED

    meter.ask(what, "POST", CONFIG_MAPS, head + HARD_YAML[what], content_type="application/yaml")

    assert meter.beyond_budget() == {}


HARD_JSON = {
    "repeated fields": b'{"data":{' + b'"a":"",' * (SIZE // 7) + b'"a":""}}',
    "repeated distinct fields": b'{"data":{'
    + b",".join(b'"%d":"","%d":""' % (n, n) for n in range(36_000))
    + b"}}",
    "unknown fields": b"{" + b",".join(b'"x%d":1' % n for n in range(74_000)) + b"}",
    "escapes": b'{"data":{"a":"' + b"\\u0041" * (SIZE // 6) + b'"}}',
    "half characters": b'{"data":{"a":"' + b"\\ud800" * (SIZE // 6) + b'"}}',
    "a long key": b'{"data":{"' + b"k" * SIZE + b'":""}}',
    "a long number": b'{"data":{"a":' + b"9" * SIZE + b"}}",
    "an unclosed text": b'{"data":{"a":"' + b"x" * SIZE,
    "space": b'{"data":' + b" " * SIZE + b"}",
}


@pytest.mark.parametrize("what", HARD_JSON)
@count_better_of_two
def test_json_is_read_or_refused_within_the_budget(what: str) -> None:
    meter = Meter()

    for validation in ("Strict", "Warn"):
        path = f"{CONFIG_MAPS}?fieldValidation={validation}"
        meter.ask(f"{what}, {validation}", "POST", path, HARD_JSON[what])

    assert meter.beyond_budget() == {}


@pytest.mark.parametrize(
    "query",
    [
        "labelSelector=" + ",".join(f"k{n}=v{n}" for n in range(20_000)),
        "labelSelector=k in (" + ",".join(f"v{n}" for n in range(40_000)) + ")",
        "labelSelector=" + "!" * 200_000,
        "labelSelector=" + "=" * 200_000,
        "labelSelector=" + "(" * 200_000,
        "labelSelector=" + "a" * 200_000,
        "fieldSelector=" + ",".join("metadata.name!=x" for _ in range(12_000)),
        "fieldSelector=" + "\\" * 200_000,
    ],
    ids=["labels", "values", "not", "equal", "open", "long", "fields", "escapes"],
)
@count_better_of_two
def test_selectors_of_any_length_are_read_within_the_budget(query: str) -> None:
    meter = Meter()

    meter.ask("list", "GET", f"{PODS}?{query.replace('=', '%3D').replace('%3D', '=', 1)}")

    assert meter.beyond_budget() == {}


def cpu_s(server: RunningServer) -> float:
    """What a server has worked since it started."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(server: RunningServer, field: str) -> int:
    """`VmRSS` is what a server has in memory, `VmHWM` the most it ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    kib = dict(line.split(":", 1) for line in status.splitlines())[field]
    return int(kib.split()[0]) >> 10


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_server_stays_within_the_budget_and_its_memory(tmp_path: Path) -> None:
    doubling = [{"op": "copy", "from": "/metadata", "path": f"/metadata/x{n}"} for n in range(60)]
    equal = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\nx: [" + b"a," * (SIZE // 2)
    pods = "/api/v1/namespaces/default/pods"
    requests = [
        ("POST", pods, encoded(HARD_PODS["400 equal ports"]), "application/json"),
        ("POST", pods, encoded(HARD_PODS["equal variables"]), "application/json"),
        ("PATCH", f"{pods}/hard", encoded(doubling), JSON_PATCH),
        ("POST", "/api/v1/namespaces/default/configmaps", equal + b"a]", "application/yaml"),
    ]
    with serving(tmp_path) as server:
        server.ask("GET", pods)
        for method, path, body, content_type in requests:
            worked, before = cpu_s(server), resident_mib(server, "VmRSS")
            connection = server.connect(120)
            authorization = f"Bearer {server.token}"
            headers = {"Content-Type": content_type, "Authorization": authorization}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            connection.close()

            assert response.status < 500
            assert cpu_s(server) - worked < BUDGET_S
            assert resident_mib(server, "VmHWM") - before < 100
