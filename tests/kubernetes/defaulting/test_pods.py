"""Defaults of pods that the recorded cases do not show."""

from typing import Any

import pytest
from support.apiserver.written_objects import Object, pod_written, read, resource_of

from podium.kubernetes.defaulting.pods import pull_policy

POD = resource_of("Pod")


def spec_of(**spec: Any) -> Object:
    found: Object = read(POD, pod_written("p", **spec))["spec"]
    return found


def container_of(**fields: Any) -> Object:
    found: Object = spec_of(containers=[{"name": "c", "image": "i", **fields}])["containers"][0]
    return found


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("registry.example:5000/nginx", "Always"),
        ("registry.example:5000/team/nginx:2", "IfNotPresent"),
        (f"nginx@sha256:{'a' * 64}", "IfNotPresent"),
        (f"nginx:latest@sha256:{'a' * 64}", "Always"),
        ("a__b/c--d.e", "Always"),
        ("[::1]:5000/nginx", "Always"),
        ("Registry.example/nginx:latest", "Always"),
        ("nginx-:latest", "IfNotPresent"),
        ("a-/b", "IfNotPresent"),
        ("a___b", "IfNotPresent"),
        ("a//b", "IfNotPresent"),
        ("registry-.example/Nginx", "IfNotPresent"),
        (f"nginx:latest@sha256.:{'a' * 64}", "IfNotPresent"),
        ("Not A Reference", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_images_that_may_move_are_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_a_pull_policy_that_was_chosen_stays() -> None:
    assert container_of(imagePullPolicy="Never")["imagePullPolicy"] == "Never"


def test_a_container_requests_what_it_limits_and_nothing_less() -> None:
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    assert container_of(resources=resources)["resources"] == {
        "limits": {"cpu": "2", "memory": "1Gi"},
        "requests": {"cpu": "1", "memory": "1Gi"},
    }


def test_amounts_of_resources_are_written_in_their_canonical_form() -> None:
    resources = {"requests": {"cpu": "1000m", "memory": "1024Mi", "ephemeral-storage": "0.0001"}}
    assert container_of(resources=resources)["resources"]["requests"] == {
        "cpu": "1",
        "memory": "1Gi",
        "ephemeral-storage": "1m",
    }


def test_probes_get_their_periods_and_http_checks_their_path_and_scheme() -> None:
    probe = {"httpGet": {"port": 80}, "periodSeconds": 3}
    assert container_of(readinessProbe=probe)["readinessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "periodSeconds": 3,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_handlers_of_a_container_s_life_get_path_and_scheme() -> None:
    lifecycle = {"preStop": {"httpGet": {"port": 80}}}
    found = container_of(lifecycle=lifecycle)["lifecycle"]["preStop"]["httpGet"]
    assert (found["path"], found["scheme"]) == ("/", "HTTP")


def test_grpc_probes_ask_for_the_unnamed_service() -> None:
    assert container_of(livenessProbe={"grpc": {"port": 9}})["livenessProbe"]["grpc"] == {
        "port": 9,
        "service": "",
    }


def test_variables_from_fields_are_of_version_v1() -> None:
    env = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    found = container_of(env=env)["env"][0]["valueFrom"]["fieldRef"]
    assert found == {"apiVersion": "v1", "fieldPath": "metadata.name"}


def test_ports_are_exposed_on_the_host_of_a_pod_on_the_host_network() -> None:
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]
    port = spec_of(hostNetwork=True, containers=containers)["containers"][0]["ports"][0]
    assert port == {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}


def test_a_negative_grace_period_is_the_shortest_one() -> None:
    assert spec_of(terminationGracePeriodSeconds=-5)["terminationGracePeriodSeconds"] == 1
    assert spec_of(terminationGracePeriodSeconds=0)["terminationGracePeriodSeconds"] == 0


def test_both_names_of_the_service_account_say_the_same() -> None:
    spec = spec_of(serviceAccount="old")
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("old", "old")


@pytest.mark.parametrize(
    ("volume", "with_defaults"),
    [
        ({}, {"emptyDir": {}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                }
            },
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {},
                            "volumeMode": "Filesystem",
                        },
                    }
                }
            },
        ),
    ],
)
def test_volumes_get_the_defaults_of_their_source(volume: Object, with_defaults: Object) -> None:
    assert spec_of(volumes=[{"name": "v", **volume}])["volumes"] == [{"name": "v", **with_defaults}]


def container_with(name: str, amounts: Object, **fields: Any) -> Object:
    return {"name": name, "image": "i", "resources": amounts, **fields}


def test_pod_level_requests_are_what_the_containers_request_together() -> None:
    spec = spec_of(
        resources={"limits": {"cpu": "4", "memory": "4Gi"}},
        containers=[
            container_with("a", {"requests": {"cpu": "500m"}}),
            container_with("b", {"requests": {"cpu": "1"}}),
        ],
    )
    assert spec["resources"]["requests"] == {"cpu": "1500m", "memory": "4Gi"}


def test_sidecars_count_beside_containers_and_init_containers_only_at_their_peak() -> None:
    spec = spec_of(
        resources={"limits": {"cpu": "9"}},
        containers=[container_with("a", {"requests": {"cpu": "1"}})],
        initContainers=[
            container_with("side", {"requests": {"cpu": "1"}}, restartPolicy="Always"),
            container_with("start", {"requests": {"cpu": "5"}}),
        ],
    )
    assert spec["resources"]["requests"] == {"cpu": "6"}


def test_huge_pages_of_a_pod_are_limited_to_those_of_its_containers() -> None:
    pages = {"hugepages-2Mi": "4Mi"}
    spec = spec_of(
        resources={"requests": {"cpu": "1"}},
        containers=[container_with("a", {"limits": pages, "requests": pages})],
    )
    assert spec["resources"] == {
        "limits": pages,
        "requests": {"cpu": "1", **pages},
    }


def test_addresses_of_a_pod_are_given_in_both_fields() -> None:
    status = read(POD, {**pod_written(), "status": {"podIP": "10.1.0.1"}})["status"]
    assert status["podIPs"] == [{"ip": "10.1.0.1"}]
    status = read(POD, {**pod_written(), "status": {"podIPs": [{"ip": "10.1.0.2"}]}})["status"]
    assert status["podIP"] == "10.1.0.2"
