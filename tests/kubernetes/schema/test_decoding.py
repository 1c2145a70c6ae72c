"""Reading JSON as Go's types read it: what is refused, dropped, kept and filled in."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import json_objects, objects_of

from podium.kubernetes.schema import DecodeError, Schema, decode, decode_patched, schema_of, zero

POD = schema_of("", "v1", "Pod")
NODE = schema_of("", "v1", "Node")
KINDS = [
    POD,
    NODE,
    schema_of("apps", "v1", "Deployment"),
    schema_of("", "v1", "Service"),
    schema_of("resource.k8s.io", "v1", "ResourceSlice"),
    schema_of("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
]


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def with_container(**fields: Any) -> dict[str, Any]:
    return pod(containers=[{"name": "c", **fields}])


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            pod(containers="str"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type"
            " []v1.Container",
        ),
        (
            pod(terminationGracePeriodSeconds="ten"),
            "json: cannot unmarshal string into Go struct field"
            " PodSpec.spec.terminationGracePeriodSeconds of type int64",
        ),
        (
            with_container(ports=[{"containerPort": "http"}]),
            "json: cannot unmarshal string into Go struct field"
            " ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            with_container(ports=[{"containerPort": 2**31}]),
            "json: cannot unmarshal number 2147483648 into Go struct field"
            " ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            pod(priority=1.5),
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of"
            " type int32",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of"
            " type string",
        ),
        (
            pod(restartPolicy=True),
            "json: cannot unmarshal bool into Go struct field PodSpec.spec.restartPolicy of"
            " type v1.RestartPolicy",
        ),
        (
            pod(overhead=[]),
            "json: cannot unmarshal array into Go struct field PodSpec.spec.overhead of type"
            " v1.ResourceList",
        ),
        (
            pod(nodeSelector="x"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.nodeSelector of"
            " type map[string]string",
        ),
        (
            pod(containers=["x"]),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type"
            " v1.Container",
        ),
        (
            pod(containers=[{"livenessProbe": {"httpGet": {"port": {}}}}]),
            "json: cannot unmarshal object into Go struct field"
            " HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
        ),
        (
            {"metadata": {"creationTimestamp": 5}},
            "json: cannot unmarshal number into Go struct field"
            " ObjectMeta.metadata.creationTimestamp of type string",
        ),
        ({"metadata": {"creationTimestamp": "yesterday"}}, 'parsing time "yesterday" as'),
        (with_container(resources={"limits": {"cpu": "lots"}}), "quantities must match the"),
        (with_container(resources={"limits": {"cpu": "1Kk"}}), "unable to parse quantity's suffix"),
        (with_container(resources={"limits": {"cpu": True}}), "quantities must match the"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_go_s_words(
    obj: dict[str, Any], message: str
) -> None:
    with pytest.raises(DecodeError) as error:
        decode(obj, POD)
    assert error.value.message.startswith(message)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (pod(priority="x"), "unrecognized type: int32"),
        (pod(priority=1.5), "cannot convert float64 to int32"),
        (pod(containers="x"), "cannot restore slice from string"),
        (pod(affinity=[]), "cannot restore struct from: slice"),
        (pod(nodeSelector="x"), "cannot restore map from string"),
        (pod(hostname=5), "cannot convert int64 to string"),
        (pod(hostname=True), "unrecognized type: string"),
    ],
)
def test_after_a_strategic_patch_the_words_are_those_of_another_reader(
    obj: dict[str, Any], message: str
) -> None:
    with pytest.raises(DecodeError) as error:
        decode_patched(obj, POD)
    assert error.value.message == message


def test_unknown_fields_are_told_in_the_order_of_the_document() -> None:
    decoded = decode({"spec": {"z": 1, "containers": [{"imagee": "x"}], "a": {"b": 1}}}, POD)
    assert decoded.problems == [
        'unknown field "spec.z"',
        'unknown field "spec.containers[0].imagee"',
        'unknown field "spec.a"',
    ]
    assert decoded.value["spec"] == {"containers": [{"name": "", "resources": {}}]}


def test_unknown_fields_of_a_strategic_patch_are_sorted() -> None:
    decoded = decode_patched({"spec": {"z": 1}, "a": 1}, NODE)
    assert decoded.problems == ['unknown field "a"', 'unknown field "spec.z"']


def test_field_names_are_case_sensitive() -> None:
    assert decode({"Spec": {}}, POD).problems == ['unknown field "Spec"']


def test_at_most_a_hundred_problems_are_told() -> None:
    assert len(decode({f"f{i}": 1 for i in range(200)}, POD).problems) == 100


def test_what_go_always_writes_is_filled_in() -> None:
    node = decode({"kind": "Node", "status": {"conditions": [{"type": "Ready"}]}}, NODE).value
    assert node == {
        "kind": "Node",
        "metadata": {},
        "spec": {},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "",
                    "lastHeartbeatTime": None,
                    "lastTransitionTime": None,
                }
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
            "nodeInfo": dict.fromkeys(
                (
                    "machineID",
                    "systemUUID",
                    "bootID",
                    "kernelVersion",
                    "osImage",
                    "containerRuntimeVersion",
                    "kubeletVersion",
                    "kubeProxyVersion",
                    "operatingSystem",
                    "architecture",
                ),
                "",
            ),
        },
    }
    assert decode({}, POD).value == {"metadata": {}, "spec": {"containers": None}, "status": {}}


def test_empty_values_are_left_out_unless_they_are_pointers() -> None:
    spec = decode(
        pod(
            containers=[{"name": "c", "tty": False, "command": [], "image": ""}],
            hostname="",
            hostNetwork=False,
            nodeSelector={},
            volumes=[],
            priority=0,
            enableServiceLinks=False,
            securityContext={},
        ),
        POD,
    ).value["spec"]
    assert spec == {
        "containers": [{"name": "c", "resources": {}}],
        "priority": 0,
        "enableServiceLinks": False,
        "securityContext": {},
    }


def test_null_counts_as_absent_and_as_zero_inside_lists_and_maps() -> None:
    obj = {
        "metadata": {"labels": {"a": None}, "annotations": None, "finalizers": [None]},
        "spec": {"containers": [None], "affinity": None},
    }
    value = decode(obj, POD).value
    assert value["metadata"] == {"labels": {"a": ""}, "finalizers": [""]}
    assert value["spec"] == {"containers": [{"name": "", "resources": {}}]}


def test_quantities_times_and_bytes_get_the_server_s_spelling() -> None:
    value = decode(with_container(resources={"requests": {"cpu": "1000m", "memory": 1024}}), POD)
    requests = value.value["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "1", "memory": "1024"}
    meta = decode({"metadata": {"creationTimestamp": "2026-01-01T02:00:00.5+02:00"}}, POD).value
    assert meta["metadata"] == {"creationTimestamp": "2026-01-01T00:00:00Z"}
    secret = schema_of("", "v1", "Secret")
    assert decode({"data": {"a": "YW\nI="}}, secret).value["data"] == {"a": "YWI="}


def test_values_without_a_schema_stay_as_they_are() -> None:
    revision = schema_of("apps", "v1", "ControllerRevision")
    data: dict[str, Any] = {"spec": {"anything": [None, {}]}}
    assert decode({"data": data, "revision": 1}, revision).value["data"] == data


@pytest.mark.parametrize("schema", KINDS, ids=lambda schema: schema.kind)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_decoding_twice_changes_nothing_and_the_input_never_changes(
    schema: Schema, data: st.DataObject
) -> None:
    obj = data.draw(objects_of(schema))
    before = copy.deepcopy(obj)
    once = decode(obj, schema)
    assert obj == before
    assert once.problems == []
    again = decode(once.value, schema)
    assert again.value == once.value


@settings(max_examples=60, deadline=None)
@given(obj=json_objects)
def test_any_object_is_decoded_or_refused_and_nothing_else(obj: dict[str, Any]) -> None:
    for schema in KINDS:
        try:
            value = decode(obj, schema).value
        except DecodeError:
            continue
        assert decode(value, schema).problems == []


def test_the_zero_of_a_kind_is_what_an_empty_document_decodes_to() -> None:
    for schema in KINDS:
        assert decode({}, schema).value == zero(schema.root)
