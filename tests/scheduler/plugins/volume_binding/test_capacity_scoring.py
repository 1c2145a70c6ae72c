"""Scoring by storage, against the sums written out."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_capacity,
    make_claim,
    make_class,
    make_driver,
    make_volume,
    put,
)

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import (
    UtilizationShapePoint,
    VolumeBindingArgs,
    fill_defaults,
)
from podium.scheduler.plugins.resources.allocation import curve
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volume_binding.plugin import VolumeState
from podium.testing import cycle_for, make_cluster, make_handle, make_node, make_pod, present_rows

HOST = "kubernetes.io/hostname"
GATES = {"StorageCapacityScoring": True}
GI = 2**30


def plugin_for(cluster: Cluster, *shape: tuple[int, int]) -> VolumeBinding:
    points = tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in shape) or None
    args = fill_defaults(VolumeBindingArgs(shape=points), FeatureGates(GATES))
    return VolumeBinding(args, make_handle(cluster, **GATES))


def cluster_of(*objects: Any) -> Cluster:
    cluster = make_cluster(make_node(name, labels={HOST: name}) for name in ("n", "m"))
    put(cluster, make_class("s"), make_class("t"), make_driver("csi.example.com"), *objects)
    return cluster


def scores(plugin: VolumeBinding, cluster: Cluster, *claims: str) -> list[int]:
    pod = make_pod("p", volumes=[claim_volume(c, f"v{i}") for i, c in enumerate(claims)])
    cycle, rows = cycle_for(pod, cluster), present_rows(cluster)
    plugin.pre_filter(cycle)
    plugin.filter(cycle, rows)
    assert plugin.pre_score(cycle, rows) is None
    found = plugin.score(cycle, rows)
    assert plugin.normalize(cycle, rows, found) is found
    return [int(score) for score in found]


def test_a_volume_that_is_mostly_used_scores_low_by_default() -> None:
    cluster = cluster_of(
        make_volume("v", capacity="100Gi", storage_class="s", nodes=["n"]),
        make_claim("c", request="25Gi", storage_class="s"),
    )
    plugin = plugin_for(cluster)
    assert scores(plugin, cluster, "c") == [75, 0]
    assert scores(plugin_for(cluster, (0, 0), (100, 10)), cluster, "c") == [25, 0]


def test_volumes_to_be_made_count_by_the_room_there_is() -> None:
    cluster = cluster_of(
        make_driver("csi.example.com", storageCapacity=True),
        make_capacity("r1", "s", topology={HOST: "n"}, capacity="100Gi"),
        make_capacity("r2", "s", topology={HOST: "m"}, largest="50Gi"),
        make_claim("c", request="20Gi", storage_class="s"),
        make_claim("d", request="30Gi", storage_class="s"),
    )
    # Two claims share the room of 100Gi on n; on m nobody says how much there is in all.
    assert scores(plugin_for(cluster), cluster, "c", "d") == [50, 0]


def test_the_score_is_the_rounded_mean_over_classes() -> None:
    cluster = cluster_of(
        make_volume("v", capacity="4Gi", storage_class="s"),
        make_volume("w", capacity="8Gi", storage_class="t"),
        make_claim("c", request="1Gi", storage_class="s"),
        make_claim("d", request="1Gi", storage_class="t"),
    )
    # 25 and 12 percent used: 75 and 88 points, 81.5 on average.
    assert scores(plugin_for(cluster), cluster, "c", "d") == [82, 82]


def test_pods_without_unbound_claims_score_nothing() -> None:
    cluster = cluster_of(make_volume("v"), make_claim("c", volume="v"))
    assert scores(plugin_for(cluster), cluster, "c") == [0, 0]
    assert scores(plugin_for(cluster), cluster) == [0, 0]


sizes = st.integers(1, 9)
classes = st.sampled_from(("s", "t"))


@given(
    volumes=st.lists(st.tuples(sizes, classes, st.sampled_from((None, "n", "m"))), max_size=4),
    rooms=st.lists(st.tuples(sizes, classes, st.sampled_from(("n", "m"))), max_size=4),
    claims=st.lists(st.tuples(sizes, classes), min_size=1, max_size=3),
    shape=st.sampled_from((((0, 10), (100, 0)), ((0, 0), (30, 7), (100, 10)))),
)
def test_columns_score_as_the_plan_of_each_node_does(
    volumes: list[tuple[int, str, str | None]],
    rooms: list[tuple[int, str, str]],
    claims: list[tuple[int, str]],
    shape: tuple[tuple[int, int], ...],
) -> None:
    cluster = cluster_of(make_driver("csi.example.com", storageCapacity=True))
    for i, (size, group, host) in enumerate(volumes):
        where = [host] if host else None
        put(cluster, make_volume(f"v{i}", capacity=f"{size}Gi", storage_class=group, nodes=where))
    for i, (size, group, host) in enumerate(rooms):
        put(cluster, make_capacity(f"r{i}", group, topology={HOST: host}, capacity=f"{size}Gi"))
    for i, (size, group) in enumerate(claims):
        put(cluster, make_claim(f"c{i}", request=f"{size}Gi", storage_class=group))
    plugin = plugin_for(cluster, *shape)
    pod = make_pod("p", volumes=[claim_volume(f"c{i}") for i in range(len(claims))])
    cycle, rows = cycle_for(pod, cluster), present_rows(cluster)
    assert plugin.pre_filter(cycle) is None
    plugin.filter(cycle, rows)
    found = plugin.score(cycle, rows).tolist()
    findings = cycle.read("VolumeBinding", VolumeState).findings
    assert findings is not None
    points = curve([UtilizationShapePoint(utilization=u, score=s) for u, s in shape])
    for row in range(2):
        plan = findings.volumes_on(row)
        by_class: dict[str, list[int]] = {}
        for binding in plan.bindings if plan is not None else []:
            sums = by_class.setdefault(binding.volume.spec.storage_class_name, [0, 0])
            sums[0] += gib((binding.claim.spec.resources.requests or {})["storage"])
            sums[1] += gib((binding.volume.spec.capacity or {})["storage"])
        if plan is not None and not plan.bindings:
            for provision in plan.provisions:
                assert provision.capacity is not None
                sums = by_class.setdefault(provision.claim.spec.storage_class_name or "", [0, 0])
                sums[0] += gib((provision.claim.spec.resources.requests or {})["storage"])
                sums[1] = gib(provision.capacity.capacity)
        marks = [
            points[100 if used > there else used * 100 // there]
            for used, there in by_class.values()
        ]
        expected = int(sum(marks) / len(marks) + 0.5) if marks else 0
        assert found[row] == expected


def gib(written: Any) -> int:
    return int(str(written).removesuffix("Gi"))
