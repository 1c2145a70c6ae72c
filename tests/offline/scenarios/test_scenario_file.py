"""Reading scenario files: what is taken, and what is refused with its line and a remedy."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.offline.scenarios.files import WEB, WORKERS, document, read

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import zone_of
from podium.offline.scenarios import load_scenario_file
from podium.offline.scenarios.run_times import parse_duration
from podium.offline.scenarios.scenario_file import read_scenario_file
from podium.offline.simulate.timed_events import ObjectPut, PodArrival


def refusal(**spec: Any) -> str:
    with pytest.raises(InputError) as refused:
        read(**spec)
    return str(refused.value)


def tenant(**fields: Any) -> dict[str, Any]:
    return {**WEB, **fields}


def workload(**fields: Any) -> list[dict[str, Any]]:
    return [tenant(workloads=[{"name": "pod", **fields}])]


def test_durations_have_days() -> None:
    assert parse_duration("7d", "") == 604_800
    assert parse_duration("1d1h30m", "") == 91_800
    assert parse_duration("0s", "") == 0


def test_all_mistakes_are_told_at_once_with_file_line_field_and_remedy() -> None:
    text = """\
apiVersion: podium.dev/v1
kind: Scenario
metadata: {name: wrong}
spec:
  duration: a week
  cluster:
    pools:
    - name: workers
      count: 2
      allocatable: {cpu: 4}
  tenants:
  - name: web
    arrivals:
      poisson: {rate: many}
    workloads:
    - name: pod
      requests: {cpu: 1}
      weight: -1
  autoscaler:
    pools:
    - {pool: worker, max: 3}
"""
    with pytest.raises(InputError) as refused:
        read_scenario_file(text.encode(), "week.yaml", gates=FeatureGates())
    told = str(refused.value)
    for line in (
        'week.yaml: line 5: spec.duration: "a week" is no length of time; write it as 30s,',
        'line 14: spec.tenants[0].arrivals.poisson.rate: "many" is no rate; write it as 5/s',
        "line 18: spec.tenants[0].workloads[0].weight: -1 is out of range; at least 0",
        "line 21: spec.autoscaler.pools[0].pool: there is no pool worker; did you mean workers?",
    ):
        assert line in told


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"duration": ""}, "spec.duration: is missing; how long the run is, such as 7d"),
        ({"duration": "500d"}, "spec.duration: is longer than 400d"),
        ({"duraton": "7d"}, "spec.duraton: unknown field; did you mean duration?"),
        ({"seed": "one"}, 'spec.seed: expected an integer, got the string "one"'),
        ({"tenants": []}, "spec.tenants: is missing"),
        ({"tenants": [WEB, WEB]}, "spec.tenants: web is there twice; names must differ"),
        ({"tenants": [tenant(name="")]}, "spec.tenants[0].name: is missing"),
        ({"tenants": [tenant(workloads=[])]}, "spec.tenants[0].workloads: is missing"),
        (
            {"tenants": [tenant(arrivals={})]},
            "arrivals: is empty; give exactly one of poisson, diurnal, interval, burst, trace",
        ),
        (
            {"tenants": [tenant(arrivals={"poisson": {"rate": "1/h"}, "burst": {}})]},
            "arrivals: has poisson and burst; give exactly one of",
        ),
        ({"tenants": [tenant(arrivals={"burst": {"count": 0}})]}, "count: must be at least 1"),
        (
            {"tenants": [tenant(arrivals={"burst": {"every": "1h", "over": "2h"}})]},
            "over: is longer than every, and bursts would overlap",
        ),
        (
            {"tenants": [tenant(runTime={"uniform": {"min": "2h", "max": "1h"}})]},
            "runTime.uniform.max: is less than min",
        ),
        ({"tenants": workload()}, "give exactly one of requests, pod, manifests, file"),
        ({"tenants": workload(requests={"cpu": "x"})}, "workloads[0].requests"),
        (
            {"tenants": workload(pod={"spec": {"priorityClassName": "high"}})},
            "no PriorityClass with name high was found",
        ),
        (
            {"tenants": workload(pod={"spec": {"containrs": []}})},
            'unknown field "spec.containrs"; did you mean containers?',
        ),
        ({"tenants": workload(requests={"cpu": 1}, replicas=0)}, "replicas: must be from 1"),
        ({"cluster": {"pools": [{**WORKERS, "count": -1}]}}, "pools[0].count: must be from 0"),
        ({"cluster": {"pools": [{**WORKERS, "price": 0}]}}, "pools[0].price: the pool has price"),
        ({"cluster": {"pools": [{"name": "w"}]}}, "give exactly one of allocatable, node"),
        (
            {"nodeFailures": [{"name": "x", "zone": "z", "times": ["1h"]}]},
            "nodeFailures[0].zone: no node is in z; zones: none",
        ),
        ({"nodeFailures": [{"name": "x"}]}, "give exactly one of mtbf, times"),
        (
            {"autoscaler": {"pools": [{"pool": "workers", "min": 0, "max": 1}]}},
            "min 0, the pool's count 2 and max 1 are not in this order",
        ),
        ({"featureGates": {"Nonsense": True}}, "spec.featureGates: "),
    ],
)
def test_what_is_wrong_is_named(spec: dict[str, Any], problem: str) -> None:
    assert problem in refusal(**spec)


def test_the_version_may_have_its_earlier_spelling_which_is_noted() -> None:
    text = yaml.safe_dump({**document(), "apiVersion": "podium/v1"}).encode()
    found = read_scenario_file(text, "test.yaml", gates=FeatureGates())
    assert found.name == "test"
    (note,) = found.cluster.notes
    assert note.endswith("podium/v1 is an old spelling: write podium.dev/v1")
    assert read().cluster.notes == ()


def test_another_kind_and_broken_yaml_are_refused() -> None:
    with pytest.raises(InputError, match=r"Pod \(v1\) is no scenario; it begins with apiVersion"):
        read_scenario_file(b"apiVersion: v1\nkind: Pod\n", "pod.yaml", gates=FeatureGates())
    with pytest.raises(InputError, match=r"cut\.yaml"):
        read_scenario_file(b"a: [", "cut.yaml", gates=FeatureGates())
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario_file("/nowhere/at/all.yaml", gates=FeatureGates())


def test_pools_make_numbered_nodes_in_their_zones() -> None:
    pool = {**WORKERS, "zones": ["a", "b"], "price": 0.5, "labels": {"disk": "ssd"}}
    made = read(cluster={"pools": [pool]}).pools[0]
    nodes = [made.make(number) for number in range(3)]
    assert [node.metadata.name for node in nodes] == ["workers-0", "workers-1", "workers-2"]
    assert [zone_of(node) for node in nodes] == ["a", "b", "a"]
    assert nodes[0].metadata.label("disk") == "ssd"
    assert nodes[0].metadata.annotation("podium.dev/price") == "0.5"
    assert nodes[0].metadata.label("podium.dev/pool") == "workers"
    assert nodes[0].metadata.label("podium/pool") == "workers"


def test_a_manifest_brings_the_pods_of_its_controller(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sweep}\n"
        "spec: {parallelism: 3, completions: 3, template: {spec: {restartPolicy: Never,"
        " containers: [{name: c, image: c}]}}}\n"
    )
    tenants = [tenant(workloads=[{"name": "sweep", "file": "job.yaml"}])]
    (shape,) = read(str(tmp_path), tenants=tenants).tenants[0].workloads
    arrived = [event for event in shape.arrive(4, 1.0, 60.0) if isinstance(event, PodArrival)]
    assert [event.pod.metadata.name for event in arrived] == ["sweep-0-4", "sweep-1-4", "sweep-2-4"]
    assert len({event.pod.metadata.uid for event in arrived}) == 3
    owner = arrived[0].pod.metadata.controller
    assert owner is not None
    assert owner.kind == "Job"
    assert arrived[0].pod.metadata.namespace == "web"


def test_a_gang_has_a_group_for_each_arrival() -> None:
    tenants = workload(requests={"cpu": 1}, replicas=3, gang=True)
    (shape,) = read(tenants=tenants).tenants[0].workloads
    group, *pods = shape.arrive(0, 1.0, None)
    assert isinstance(group, ObjectPut)
    assert len(pods) == 3
    for event in pods:
        assert isinstance(event, PodArrival)
        assert event.pod.spec.scheduling_group is not None
        assert event.pod.spec.scheduling_group.pod_group_name == "pod-0"


def test_gates_of_the_command_hold_for_pods_of_a_scenario() -> None:
    """A field of a closed gate is dropped, as an API server drops it."""
    containers = [{"name": "c", "image": "i"}]
    spec = {"containers": containers, "schedulingGroup": {"podGroupName": "g"}}
    tenants = workload(pod={"spec": spec})
    opened = FeatureGates({"GenericWorkload": True})

    for gates, group in ((FeatureGates(), None), (opened, "g")):
        (found,) = read(tenants=tenants, gates=gates).tenants
        member = found.workloads[0].pods[0].spec.scheduling_group
        assert (member.pod_group_name if member is not None else None) == group


def test_requests_of_what_cannot_be_overcommitted_have_limits() -> None:
    requests = {"hugepages-2Mi": "4Mi", "nvidia.com/gpu": "1", "cpu": "1"}

    (found,) = read(tenants=workload(requests=requests)).tenants

    (container,) = found.workloads[0].pods[0].spec.containers or ()
    assert container.resources is not None
    assert container.resources.limits == {"hugepages-2Mi": "4Mi", "nvidia.com/gpu": "1"}
