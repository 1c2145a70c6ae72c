"""Manifests that use every field of the kinds that people write most, against a strict server.

The manifests lie in `every_field/`. Which fields there are is read from the schema that the server
publishes: a field that no manifest uses fails here, unless it is excepted with a reason.
"""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from support.apiserver.api_calls import PODS, Answer, Api, Json
from support.apiserver.openapi_fields import PublishedFields, written_paths

from podium.golang.yaml_reader import PARSER
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.table import served_resources

FOLDER: Final = Path(__file__).parent / "every_field"
RESOURCES: Final = {
    (each.api_version, each.kind): each for each in served_resources(FeatureGates())
}
LABELS: Final = {"app": "every-field"}

SERVER_WRITES_IT: Final = "the server writes it"
NAMED_FOR_A_POD: Final = "what is made for a pod has its name and owner from the pod"
NOT_FOR_EPHEMERAL: Final = "cannot be set for an ephemeral container"
RUNS_FOREVER: Final = "pods that are kept running have no deadline"
CLAIMED_BY_CONTAINERS: Final = "claims are of containers, not of the resources of a whole pod"
OWN_SELECTORS: Final = "jobs that are made from one template need different selectors"
EXCEPTIONS: Final = {
    **{
        f"*metadata.{field}": SERVER_WRITES_IT
        for field in (
            "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
            "managedFields", "managedFields.*", "resourceVersion", "selfLink", "uid",
        )
    },
    "StatefulSet.spec.volumeClaimTemplates.status*": SERVER_WRITES_IT,
    **{
        f"{holder}.metadata.{field}": NAMED_FOR_A_POD
        for holder in ("*.volumeClaimTemplate", "ResourceClaimTemplate.spec")
        for field in ("name", "generateName", "namespace", "finalizers", "ownerReferences*")
    },
    **{
        f"Pod.spec.ephemeralContainers.{field}": NOT_FOR_EPHEMERAL
        for field in (
            "lifecycle*", "livenessProbe*", "ports*", "readinessProbe*", "resizePolicy*",
            "resources*", "restartPolicy*", "startupProbe*", "volumeMounts.subPath*",
        )
    },
    "*.template.spec.ephemeralContainers*": "cannot be set in templates",
    "*.readinessProbe.terminationGracePeriodSeconds": "a failed readiness probe ends nothing",
    **{
        f"{kind}.spec.template.spec.activeDeadlineSeconds": RUNS_FOREVER
        for kind in ("DaemonSet", "Deployment", "StatefulSet")
    },
    "Pod.spec.resources.claims*": CLAIMED_BY_CONTAINERS,
    "*.template.spec.resources.claims*": CLAIMED_BY_CONTAINERS,
    "CronJob.spec.jobTemplate.spec.manualSelector": OWN_SELECTORS,
    "CronJob.spec.jobTemplate.spec.selector*": OWN_SELECTORS,
    "*.lifecycle.stopSignal": "ContainerStopSignals is off by default",
    "*.projected.sources.clusterTrustBundle*": "ClusterTrustBundleProjection is off by default",
    "*.projected.sources.podCertificate*": "PodCertificateRequest is off by default",
    "*.schedulingGroup*": "GenericWorkload is off by default",
    "*.dataSourceRef.namespace": "CrossNamespaceVolumeDataSource is off by default",
    "StatefulSet.spec.updateStrategy.rollingUpdate.maxUnavailable": (
        "MaxUnavailableStatefulSet is off by default"
    ),
}  # fmt: skip


def read_items(name: str) -> list[Json]:
    found: list[Json] = yaml.load((FOLDER / f"{name}.yaml").read_text(), PARSER)["items"]
    return found


PODS_WRITTEN: Final = read_items("pods")
EPHEMERAL: Final[list[Json]] = yaml.load((FOLDER / "ephemeral_containers.yaml").read_text(), PARSER)


def workloads_of(pod: Json) -> Iterator[Json]:
    """Every sort of workload with a pod as its template."""
    for kind in ("DaemonSet", "Deployment", "StatefulSet"):
        template = template_of(pod, "Always")
        template["spec"].pop("activeDeadlineSeconds", None)
        spec = {"selector": {"matchLabels": LABELS}, "template": template}
        yield workload("apps/v1", kind, pod, spec)
    job = {"template": template_of(pod, "OnFailure")}
    yield workload("batch/v1", "Job", pod, job)
    yield workload("batch/v1", "CronJob", pod, {"schedule": "@daily", "jobTemplate": {"spec": job}})


def template_of(pod: Json, restart_policy: str) -> Json:
    return {
        "metadata": {"labels": LABELS},
        "spec": {**pod["spec"], "restartPolicy": restart_policy},
    }


def workload(api_version: str, kind: str, pod: Json, spec: Json) -> Json:
    name = f"of-{pod['metadata']['name']}"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


MANIFESTS: Final = [
    *PODS_WRITTEN,
    *read_items("workloads"),
    *read_items("claims"),
    *(each for pod in PODS_WRITTEN for each in workloads_of(pod)),
]
KINDS: Final = sorted({(each["apiVersion"], each["kind"]) for each in MANIFESTS})


OLD_SOURCES: Final = {
    "git": "gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
    "gluster": "glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "rbd": "rbd: deprecated in v1.28, non-functional in v1.31+",
    "ceph": "cephfs: deprecated in v1.28, non-functional in v1.31+",
    "flocker-name": "flocker: deprecated in v1.22, non-functional in v1.25+",
    "flocker-uuid": "flocker: deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "quobyte: deprecated in v1.22, non-functional in v1.25+",
    "photon": "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleio": "scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "storageos": "storageOS: deprecated in v1.22, non-functional in v1.25+",
}
"""By the name of a volume of the pod `old-volumes`: the warning that belongs to it."""


def expected_warnings(manifest: Json) -> list[str]:
    if not manifest["metadata"]["name"].endswith("old-volumes"):
        return []
    path, spec = "spec", manifest["spec"]
    for holder in ("jobTemplate", "spec", "template", "spec"):
        if holder in spec:
            path, spec = f"{path}.{holder}", spec[holder]
    return [
        f'299 - "{path}.volumes[{index}].{OLD_SOURCES[volume["name"]]}"'
        for index, volume in enumerate(spec["volumes"])
        if volume["name"] in OLD_SOURCES
    ]


def title_of(manifest: Json) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


@pytest.fixture
def api() -> Api:
    api = Api()
    for manifest in read_items("surroundings"):
        assert send_strictly(api, manifest).status == 201
    return api


def send_strictly(api: Api, manifest: Json) -> Answer:
    return api.ask("POST", f"{collection_of(manifest)}?fieldValidation=Strict", manifest)


def collection_of(manifest: Json) -> str:
    resource = RESOURCES[manifest["apiVersion"], manifest["kind"]]
    root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    namespace = manifest["metadata"].get("namespace", "default")
    place = f"namespaces/{namespace}/" if resource.namespaced else ""
    return f"{root}/{place}{resource.plural}"


def lost_fields(sent: Any, stored: Any, at: str) -> list[str]:
    """What was sent and is not stored as it was; the server may have added to it."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [
            lost
            for name, value in sent.items()
            for lost in lost_fields(value, stored.get(name), f"{at}.{name}")
        ]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) <= len(stored):
        pairs = enumerate(zip(sent, stored, strict=False))
        return [lost for index, pair in pairs for lost in lost_fields(*pair, f"{at}[{index}]")]
    return [] if sent == stored else [f"{at}: sent {sent!r}, stored {stored!r}"]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=title_of)
def test_a_manifest_is_created_and_every_field_is_kept(api: Api, manifest: Json) -> None:
    answer = send_strictly(api, manifest)
    assert answer.status == 201, answer.text.decode()
    assert answer.header("warning") == expected_warnings(manifest)
    stored = api.get(f"{collection_of(manifest)}/{manifest['metadata']['name']}")
    assert lost_fields(manifest, stored, manifest["kind"]) == []


def test_every_field_of_an_ephemeral_container_is_kept(api: Api) -> None:
    send_strictly(api, PODS_WRITTEN[0])
    path = f"{PODS}/{PODS_WRITTEN[0]['metadata']['name']}"
    pod = api.get(path)
    pod["spec"]["ephemeralContainers"] = EPHEMERAL
    answer = api.ask("PUT", f"{path}/ephemeralcontainers?fieldValidation=Strict", pod)
    assert answer.status == 200, answer.text.decode()
    assert answer.header("warning") == []
    assert lost_fields(EPHEMERAL, api.get(path)["spec"]["ephemeralContainers"], "") == []


def paths_of(api: Api, api_version: str, kind: str) -> set[str]:
    """The fields of a kind's metadata and spec."""
    published = PublishedFields(api).paths(RESOURCES[api_version, kind])
    return {f"{kind}.{path}" for path in published if path.startswith(("metadata", "spec"))}


@pytest.mark.parametrize(("api_version", "kind"), KINDS)
def test_no_field_of_a_kind_is_left_out(api: Api, api_version: str, kind: str) -> None:
    wanted = paths_of(api, api_version, kind)
    excepted = {path for path in wanted if any(fnmatch(path, each) for each in EXCEPTIONS)}
    manifests = [each for each in MANIFESTS if each["kind"] == kind]
    if kind == "Pod":
        manifests.append({"spec": {"ephemeralContainers": EPHEMERAL}})
    written = {f"{kind}.{path}" for each in manifests for path in written_paths(each)}
    assert sorted(wanted - excepted - written) == []
    assert sorted(excepted & written) == []


def test_there_is_a_field_for_every_exception(api: Api) -> None:
    paths = set[str]().union(*(paths_of(api, *kind) for kind in KINDS))
    assert [each for each in EXCEPTIONS if not any(fnmatch(path, each) for path in paths)] == []
