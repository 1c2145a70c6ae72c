"""Fields of pods, templates and a few other kinds that a server keeps with their gates only."""

from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Api, Json, pod

from podium.kubernetes.releases.feature_gates import FeatureGates

BUNDLE = {"name": "roots", "path": "roots.pem"}
CERTIFICATE = {
    "signerName": "example.com/signer",
    "keyType": "ED25519",
    "credentialBundlePath": "bundle.pem",
}
GATES = {
    "ContainerStopSignals": True,
    "ClusterTrustBundle": True,
    "ClusterTrustBundleProjection": True,
    "PodCertificateRequest": True,
    "GenericWorkload": True,
    "MaxUnavailableStatefulSet": True,
    "CoordinatedLeaderElection": True,
    "VolumeLimitScaling": True,
}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"


def spec_with_gated_fields() -> Json:
    containers = [
        {"name": "a", "image": "i", "lifecycle": {"stopSignal": "SIGUSR1"}},
        {
            "name": "b",
            "image": "i",
            "lifecycle": {"stopSignal": "SIGUSR1", "preStop": {"sleep": {"seconds": 1}}},
        },
    ]
    sources = [{"clusterTrustBundle": BUNDLE}, {"podCertificate": CERTIFICATE}]
    return {
        "containers": containers,
        "os": {"name": "linux"},
        "schedulingGroup": {"podGroupName": "g"},
        "volumes": [{"name": "v", "projected": {"sources": sources}}],
    }


def gated_fields(spec: Json) -> tuple[Any, ...]:
    return (
        [container.get("lifecycle") for container in spec["containers"]],
        spec["volumes"][0]["projected"]["sources"],
        spec.get("schedulingGroup"),
    )


SLEEP = {"preStop": {"sleep": {"seconds": 1}}}
NONE_KEPT: tuple[Any, ...] = ([None, SLEEP], [{}, {}], None)
ALL_KEPT = gated_fields(spec_with_gated_fields())


def open_api() -> Api:
    return Api(gates=FeatureGates(GATES))


def deployment() -> Json:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": spec_with_gated_fields()}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "d"}, "spec": spec}


def test_a_pod_has_fields_of_closed_gates_dropped() -> None:
    written = pod("p", **spec_with_gated_fields())
    assert gated_fields(Api().create(PODS, written)["spec"]) == NONE_KEPT


def test_a_template_has_fields_of_closed_gates_dropped() -> None:
    made = Api().create(DEPLOYMENTS, deployment())
    assert gated_fields(made["spec"]["template"]["spec"]) == NONE_KEPT


def test_the_template_of_a_cron_job_has_fields_of_closed_gates_dropped() -> None:
    template = {"spec": {**spec_with_gated_fields(), "restartPolicy": "Never"}}
    spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
    made = Api().create(CRON_JOBS, {"metadata": {"name": "c"}, "spec": spec})
    kept = made["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert gated_fields(kept) == NONE_KEPT


def test_a_template_keeps_fields_of_open_gates() -> None:
    made = open_api().create(DEPLOYMENTS, deployment())
    assert gated_fields(made["spec"]["template"]["spec"]) == ALL_KEPT


def test_a_template_that_uses_a_feature_keeps_it_after_its_gate_is_closed() -> None:
    opened = open_api()
    opened.create(DEPLOYMENTS, deployment())
    closed = Api(opened.store)
    found = closed.get(f"{DEPLOYMENTS}/d")
    added = {"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGINT"}}
    found["spec"]["template"]["spec"]["containers"].append(added)
    changed = closed.ask("PUT", f"{DEPLOYMENTS}/d", found).body
    lifecycles, *others = gated_fields(changed["spec"]["template"]["spec"])
    assert lifecycles == [*ALL_KEPT[0], {"stopSignal": "SIGINT"}]
    assert others == list(ALL_KEPT[1:])


def test_the_digest_of_an_image_volume_is_kept_with_its_gate_only() -> None:
    mount = {"name": "v", "mountPath": "/v", "volumeStatus": {"image": {"imageRef": "i@sha256:1"}}}
    running = {"name": "main", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    statuses = [{**running, "volumeMounts": [mount]}]
    for gates, is_kept in ((FeatureGates({"ImageVolumeWithDigest": True}), True), (None, False)):
        api = Api(gates=gates) if gates is not None else Api()
        current = api.create_pod("p")
        current["status"]["containerStatuses"] = statuses
        answer = api.ask("PUT", f"{PODS}/p/status", current)
        [status] = answer.body["status"]["containerStatuses"]
        assert ("volumeStatus" in status["volumeMounts"][0]) is is_kept


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize(
    ("path", "written", "holder", "fields"),
    [
        (
            "/apis/storage.k8s.io/v1/csidrivers",
            {"spec": {"preventPodSchedulingIfMissing": False}},
            ("spec",),
            ("preventPodSchedulingIfMissing",),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            {"spec": {"preferredHolder": "h", "strategy": "OldestEmulationVersion"}},
            ("spec",),
            ("preferredHolder", "strategy"),
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            {
                "spec": {
                    "selector": {"matchLabels": {"app": "a"}},
                    "template": {
                        "metadata": {"labels": {"app": "a"}},
                        "spec": {"containers": [{"name": "c", "image": "i"}]},
                    },
                    "updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}},
                }
            },
            ("spec", "updateStrategy", "rollingUpdate"),
            ("maxUnavailable",),
        ),
    ],
    ids=["CSIDriver", "Lease", "StatefulSet"],
)
def test_other_kinds_keep_gated_fields_with_their_gates_only(
    path: str, written: Json, holder: tuple[str, ...], fields: tuple[str, ...], is_open: bool
) -> None:
    api = open_api() if is_open else Api()
    made = api.create(path, {"metadata": {"name": "a"}, **written})
    for name in holder:
        made = made[name]
    assert all((field in made) is is_open for field in fields)
