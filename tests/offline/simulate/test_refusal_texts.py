"""What the API server cannot decode, `podium simulate` refuses in the server's words.

The first thing told of an object is what the server answers, to the letter; around it stand the
file, the field and a remedy. What follows is what the server would say next.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.apiserver.api_calls import Api
from support.apiserver.schema_values import objects_of
from support.apiserver.smallest_objects import smallest

from podium.commands import main
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import schema_of
from podium.offline.simulate.admission import served_kinds
from podium.offline.simulate.input_files import InputProblems, Problems
from podium.offline.simulate.inputs import READ_KINDS, read_inputs

Json = dict[str, Any]
GATES = FeatureGates()
SERVED = {
    kind: found[0]
    for api_version, kind in READ_KINDS
    if (found := served_kinds(GATES).find(api_version, kind)) is not None
}
AGAIN = "@again"
"""Behind a name: the field is there a second time."""


def text_of(obj: Json) -> str:
    return re.sub(rf'{AGAIN}\d*"', '"', json.dumps(obj))


def pod(spec: Json, metadata: Json | None = None) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", **(metadata or {})},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def container(**fields: Any) -> Json:
    return pod({"containers": [{"name": "c", "image": "i", **fields}]})


def requesting(amount: Any) -> Json:
    return container(resources={"requests": {"cpu": amount}})


BROKEN: dict[str, Json] = {
    "a text for a list": pod({"containers": "x"}),
    "an object for a list": pod({"containers": {"name": "c"}}),
    "a list for an object": pod({"affinity": []}),
    "a text for an object": pod({"securityContext": "root"}),
    "a number for a text": container(image=5),
    "a boolean for a text": container(image=True),
    "a text for a number": pod({"priority": "10"}),
    "a text for a boolean": pod({"hostNetwork": "true"}),
    "a fraction for an integer": pod({"terminationGracePeriodSeconds": 1.5}),
    "a whole number written as a fraction": pod({"terminationGracePeriodSeconds": 4.0}),
    "beyond 32 bits": pod({"priority": 2**31}),
    "beyond 64 bits": pod({"terminationGracePeriodSeconds": 2**63}),
    "far beyond 64 bits": pod({"activeDeadlineSeconds": 10**30}),
    "a spec that is none": {**pod({}), "spec": 7},
    "metadata that are none": {**pod({}), "metadata": []},
    "a label that is no text": pod({}, {"labels": {"on": True}}),
    "a label that is an object": pod({}, {"labels": {"on": {}}}),
    "an annotation that is a number": pod({}, {"annotations": {"example.com/n": 1}}),
    "a value of a selector": pod({"nodeSelector": {"ssd": True}}),
    "an item of a list": pod({"tolerations": [{"key": "a"}, "b"]}),
    "an item of a list of texts": container(args=["a", 1]),
    "an empty quantity": requesting(""),
    "a quantity without a number": requesting("Ki."),
    "a quantity with an unknown suffix": requesting("1Gb"),
    "a quantity with two suffixes": requesting("1mm"),
    "a quantity that is a word": requesting("lots"),
    "a quantity that is a list": requesting([1]),
    "a quantity that is true": requesting(True),
    "a quantity that is an object": requesting({}),
    "a time that is none": pod({}, {"deletionTimestamp": "yesterday"}),
    "a time that is a number": pod({}, {"deletionTimestamp": 5}),
    "a port that is a list": container(livenessProbe={"httpGet": {"port": []}}),
    "a port beyond 32 bits": container(livenessProbe={"httpGet": {"port": 2**31}}),
    "an unknown field": pod({"nodeselector": {}}),
    "an unknown field at the top": {**pod({}), "sepc": {}},
    "unknown fields in several places": pod({"zzz": 1, "tolerations": [{"a": 1}]}, {"b": 2}),
    "an unknown field below a key of a map": pod({}, {"labels@": {"a.b/c": "d"}}),
    "a field twice": pod({"nodeName": "a", f"nodeName{AGAIN}": "b"}),
    "a label twice": pod({}, {"labels": {"a": "b", f"a{AGAIN}": "c"}}),
    "an unknown field twice": pod({"zzz": 1, f"zzz{AGAIN}": 2}),
    "a field twice and one unknown": pod({"zzz": 1, "nodeName": "a", f"nodeName{AGAIN}": "b"}),
    "a field twice, first of the wrong type": pod({"nodeName": 5, f"nodeName{AGAIN}": "b"}),
    "a struct twice": pod({"affinity": {}, f"affinity{AGAIN}": {"zzz": 1}}),
    "a mistake before one that ends the reading": container(
        image=5, resources={"requests": {"cpu": "x"}}
    ),
    "a mistake and an unknown field": pod({"zzz": 1, "priority": "high"}),
    "two mistakes": pod({"priority": "high", "hostNetwork": 1}),
    "a field of an embedded struct": pod({"volumes": [{"name": "v", "emptyDir": []}]}),
    "a field of two embedded structs": container(
        env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": 5}}}]
    ),
    "null for a required list": pod({"containers": None}),
    "null in a list": pod({"tolerations": [None]}),
    "no name": pod({}, {"name": ""}),
    "a name that is a number": pod({}, {"name": 7}),
    "bytes that are no base64": {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "a"},
        "webhooks": [{"clientConfig": {"caBundle": "a?"}}],
    },
    "a template's container": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": []}]}}},
    },
    "a claim's template": {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "d"},
        "spec": {"volumeClaimTemplates": [{"spec": {"storageClas": "fast"}}]},
    },
    "a budget's percentage": {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1.5},
    },
    "a node's capacity": {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "spec": {"taints": {"key": "a"}},
        "status": {"capacity": {"cpu": "four"}},
    },
}


class Refusal(NamedTuple):
    """What is said of an object as a whole, or of fields of one that could be decoded."""

    message: str = ""
    causes: tuple[tuple[str, str], ...] = ()


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


def on_server(api: Api, obj: Json) -> Refusal:
    """As strictly as kubectl asks."""
    resource = SERVED[obj["kind"]]
    prefix = f"/apis/{resource.group}" if resource.group else "/api"
    namespace = "namespaces/default/" if resource.namespaced else ""
    path = f"{prefix}/{resource.version}/{namespace}{resource.plural}"
    answer = api.ask("POST", f"{path}?fieldValidation=Strict&dryRun=All", text_of(obj).encode())
    if answer.status == 201:
        return Refusal()
    causes = (answer.body.get("details") or {}).get("causes") or ()
    if answer.status == 422:
        return Refusal(causes=tuple((each["field"], each["message"]) for each in causes))
    return Refusal(answer.message)


def in_file(obj: Json, folder: Path) -> list[InputError]:
    """What is wrong with the object, as far as reading tells."""
    path = folder / "input.json"
    path.write_text(text_of(obj))
    problems = Problems()
    read_inputs([str(path)], gates=GATES, problems=problems)
    try:
        problems.raise_if_any()
    except InputProblems as several:
        return list(several.problems)
    except InputError as problem:
        return [problem]
    return []


@pytest.mark.parametrize("name", [name for name in BROKEN if BROKEN[name]["kind"] in SERVED])
def test_a_broken_object_is_refused_in_the_servers_words(
    api: Api, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "input.json"
    path.write_text(text_of(BROKEN[name]))
    refused = on_server(api, BROKEN[name])
    assert refused != Refusal()

    assert main(["simulate", "-f", str(path)]) == 2
    told = " ".join(capsys.readouterr().err.split())

    if refused.message:
        assert refused.message in told
        (first, *_) = in_file(BROKEN[name], tmp_path)
        assert first.problem == refused.message
        assert first.path or "unknown field" in first.problem
    for field, message in refused.causes:
        assert f"{field}: {message}" in told


# --- objects broken at random -------------------------------------------------------------------

WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 4.0, 2**31, 2**63, 10**25, "", "x", "1Gb", "2026-13-01", [], ["x"],
    [None], {}, {"x": 1}, {"name": None},
)  # fmt: skip


def places(value: Any, is_top: bool = True) -> Iterator[tuple[Any, Any]]:
    """Every value in an object as its container and its key there, the status and what an object
    says it is apart."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in list(keys):
        if is_top and key in ("status", "kind", "apiVersion"):
            continue
        yield value, key
        yield from places(value[key], is_top=False)


def break_object(obj: Json, random: Random) -> None:
    """Change one to three things of an object."""
    for turn in range(random.randint(1, 3)):
        container, key = random.choice(list(places(obj)))
        wrong = deepcopy(random.choice(WRONG))
        match random.randrange(5):
            case 0 if isinstance(container, dict):
                container["unknown"] = wrong
            case 1 if isinstance(container, dict):
                container[f"{key.partition(AGAIN)[0]}{AGAIN}{turn}"] = wrong
            case _:
                container[key] = wrong


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("kind", SERVED)
def test_an_object_broken_at_random_is_refused_in_the_servers_words(
    api: Api, kind: str, data: st.DataObject, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    obj = _sound(SERVED[kind], data)
    break_object(obj, Random(seed))
    folder = tmp_path_factory.getbasetemp()
    refused, told = on_server(api, obj), in_file(obj, folder)

    if refused.message:
        assert told, (obj, refused)
        assert told[0].problem == refused.message, text_of(obj)
    else:
        # What can be decoded is for admission to refuse (`test_one_admission.py`).
        assert [each for each in told if each.path != "metadata.name"] == [], text_of(obj)


def _sound(resource: ApiResource, data: st.DataObject) -> Json:
    schema = schema_of(resource.group, resource.version, resource.kind)
    names = [name for name in schema.root.fields if name not in ("metadata", "status")]
    drawn = data.draw(objects_of(schema, *names))
    obj: Json = json.loads(json.dumps({**smallest(resource), **drawn}))
    return {**obj, "apiVersion": resource.api_version, "kind": resource.kind}
