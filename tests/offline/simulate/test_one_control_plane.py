"""What a simulation makes of workloads is what the simulated cluster makes of them."""

import re
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from support.live.virtual_loop import sleep_virtually
from support.scheduler.engine.call_profile import Call, recording
from support.simulated.simulated_clusters import (
    Cluster,
    in_cluster,
    pod_spec,
    template,
    workload,
)

from podium.client.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    ResourceType,
)
from podium.golang.documents import SourceDocument
from podium.kubernetes.controllers.controller import Action, CreateAction
from podium.kubernetes.controllers.memory_stores import ControllerLoop, MemoryStores
from podium.kubernetes.controllers.pod_templates import ResourceClaimTemplate
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.resource_claims import EphemeralVolumes, ResourceClaims
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.timestamps import Moment
from podium.offline.simulate.object_lookup import as_json
from podium.offline.simulate.scenario import Scenario, read_inline_scenario

Json = dict[str, Any]
CLAIM: Json = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
ENDS = {"template": {"spec": pod_spec(restartPolicy="Never")}}
INDEXED = {"completionMode": "Indexed", "completions": 3, "parallelism": 2}
WORKLOADS: dict[str, tuple[ResourceType, Json]] = {
    "Deployment": (DEPLOYMENTS, workload("web", 3)),
    "Deployment that recreates": (DEPLOYMENTS, workload("web", 2, strategy={"type": "Recreate"})),
    "paused Deployment": (DEPLOYMENTS, workload("web", 2, paused=True)),
    "ReplicaSet": (REPLICA_SETS, workload("web", 2)),
    "ReplicationController": (
        REPLICATION_CONTROLLERS,
        {"metadata": {"name": "web"}, "spec": {"replicas": 2, "template": template("web")}},
    ),
    "StatefulSet": (STATEFUL_SETS, workload("web", 3, serviceName="web")),
    "parallel StatefulSet with claims": (
        STATEFUL_SETS,
        workload(
            "web",
            2,
            serviceName="web",
            podManagementPolicy="Parallel",
            volumeClaimTemplates=[CLAIM],
        ),
    ),
    "DaemonSet": (DAEMON_SETS, workload("web")),
    "Job": (JOBS, {"metadata": {"name": "web"}, "spec": {**ENDS, "parallelism": 2}}),
    "indexed Job": (JOBS, {"metadata": {"name": "web"}, "spec": {**ENDS, **INDEXED}}),
    "suspended Job": (JOBS, {"metadata": {"name": "web"}, "spec": {**ENDS, "suspend": True}}),
    "Job of another controller": (
        JOBS,
        {"metadata": {"name": "web"}, "spec": {**ENDS, "managedBy": "example.com/queue"}},
    ),
}
NOT_DECIDED = re.compile("uid|topology")
HOW_OBJECTS_ARE_KEPT = (
    "kubernetes/controllers/indexer.py",
    "kubernetes/controllers/memory_stores.py",
    "kubernetes/controllers/stores.py",
    "simulated/informers.py",
)
NODES = 3
CONTROLLERS = (
    "daemonsets",
    "deployments",
    "jobs",
    "replicasets",
    "replicationcontrollers",
    "statefulsets",
)


def simulate(resource: ResourceType, body: Json, nodes: list[Json]) -> Scenario:
    written = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
    documents = [SourceDocument("input", 1, 1, each, "") for each in (*nodes, written)]
    return read_inline_scenario(documents, gates=FeatureGates())


def shape_of_pod(pod: Json) -> Json:
    """What controllers decide about a pod: without names and UIDs that servers make up, and the
    labels that a pod gets from its node."""
    metadata = pod["metadata"]
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if not NOT_DECIDED.search(k)}
    owners = [(each["kind"], each["name"]) for each in metadata.get("ownerReferences") or ()]
    claims = [each.get("persistentVolumeClaim") for each in pod["spec"].get("volumes") or ()]
    return {
        "labels": labels,
        "annotations": metadata.get("annotations") or {},
        "finalizers": metadata.get("finalizers") or [],
        "owners": owners,
        "claims": [each for each in claims if each],
    }


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_becomes_the_pods_that_the_simulated_cluster_makes(name: str) -> None:
    resource, body = WORKLOADS[name]

    async def in_the_cluster(cluster: Cluster) -> None:
        nodes = [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{n}"}}
            for n in range(NODES)
        ]
        simulated = simulate(resource, body, nodes)
        wanted = [as_json(pod) for pod in simulated.pending]
        await cluster.create(resource, body)

        async def has_all() -> bool:
            return len(await cluster.all(PODS)) == len(wanted)

        await sleep_virtually(5.0)
        await cluster.until(has_all)
        made = await cluster.all(PODS)
        assert sorted(map(repr, map(shape_of_pod, made))) == sorted(
            map(repr, map(shape_of_pod, wanted))
        )

    in_cluster(in_the_cluster, nodes=NODES, controllers=CONTROLLERS)


def plan_of(calls: list[Call], controller: str) -> list[str]:
    """The functions of the first plan in which a controller makes something."""
    names = [call.function for call in calls]
    begun = names.index(f"{controller}.plan")
    while True:
        plan = []
        for call in calls[begun:]:
            if call.file in HOW_OBJECTS_ARE_KEPT:
                continue
            if not call.file.startswith(("kubernetes/", "golang/")):
                break
            plan.append(f"{call.file}:{call.function}")
        if any(each.endswith((":pod_from_template", ":replica_set_of")) for each in plan):
            return list(dict.fromkeys(plan))
        begun = names.index(f"{controller}.plan", begun + 1)


def test_a_deployment_becomes_pods_by_the_functions_of_the_simulated_cluster() -> None:
    recorded: list[list[Call]] = []

    async def in_the_cluster(cluster: Cluster) -> None:
        for name in ("first", "second"):  # what is worked out once is there for the second
            with recording() as calls:
                await cluster.create(DEPLOYMENTS, workload(name, 2))

                async def has_all(app: str = name) -> bool:
                    return len(await cluster.all(PODS, f"app={app}")) == 2

                await cluster.until(has_all)
            recorded.append(calls)

    in_cluster(in_the_cluster, nodes=1, controllers=CONTROLLERS)
    for name in ("first", "second"):
        with recording() as offline:
            simulate(DEPLOYMENTS, workload(name, 2), [])

    for controller in ("Deployments", "ReplicaSets"):
        assert plan_of(offline, controller) == plan_of(recorded[-1], controller)
        assert len(plan_of(offline, controller)) > 10


DECIDERS = "kubernetes/controllers/resource_claims.py"
WITH_CLAIMS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "labels": {"a": "b"}},
    "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [
            {
                "name": "scratch",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {"labels": {"kept": "yes"}},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {"requests": {"storage": "1Gi"}},
                        },
                    }
                },
            }
        ],
        "resourceClaims": [
            {"name": "gpu", "resourceClaimTemplateName": "one"},
            {"name": "none", "resourceClaimTemplateName": "missing"},
        ],
    },
}
TEMPLATE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "one", "namespace": "default"},
    "spec": {
        "metadata": {"labels": {"kept": "too"}},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    },
}


def shape_of_claim(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """What of a claim depends neither on names that are made up nor on defaults."""
    metadata = body["metadata"]
    owners = [
        (each["kind"], each["name"], each.get("controller")) for each in metadata["ownerReferences"]
    ]
    requests = (body["spec"].get("devices") or {}).get("requests") or []
    return {
        "kind": kind,
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "owners": owners,
        "size": body["spec"].get("resources"),
        "devices": [(each["name"], each["exactly"]["deviceClassName"]) for each in requests],
    }


def test_the_claims_of_a_pod_are_those_that_the_controllers_make() -> None:
    stores = MemoryStores()
    loop = ControllerLoop((EphemeralVolumes(stores), ResourceClaims(stores)), max_plans=1)
    stores.claim_templates.put(msgspec.convert(TEMPLATE, ResourceClaimTemplate))
    with_uid = {**WITH_CLAIMS, "metadata": {**WITH_CLAIMS["metadata"], "uid": "u"}}
    stores.pods.put(msgspec.convert(with_uid, Pod))
    made: list[dict[str, Any]] = []

    def carry_out(action: Action) -> None:
        assert isinstance(action, CreateAction)
        made.append(action.body)

    with suppress(RuntimeError), recording() as in_the_cluster:
        # A claim that is not put into the stores is made again, and again.
        loop.settle(carry_out, Moment(0.0, 0.0))
    documents = [
        SourceDocument("objects", at, 1, each) for at, each in enumerate((TEMPLATE, WITH_CLAIMS))
    ]
    with recording() as offline:
        scenario = read_inline_scenario(documents, gates=FeatureGates())

    shapes = [
        shape_of_claim(type(obj).__name__, as_json(obj))
        for obj in scenario.objects
        if isinstance(obj, PersistentVolumeClaim | ResourceClaim)
    ]
    assert len(shapes) == 2
    controlled = [shape_of_claim(each["kind"], each) for each in made]
    assert sorted(map(repr, shapes)) == sorted(map(repr, controlled))
    (pod,) = scenario.pending
    (status,) = pod.status.resource_claim_statuses or ()
    assert status.name == "gpu"
    for calls in (in_the_cluster, offline):
        names = {f"{call.file}:{call.function}" for call in calls}
        assert {f"{DECIDERS}:volume_claims", f"{DECIDERS}:device_claims"} <= names
