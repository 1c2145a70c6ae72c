"""What the framework remembers equals what the plugins would say now, whatever happens between.

Random changes of nodes and pods are applied to a cluster; after each of them attempts for several
kinds of pods are made with the memory and without it, and every verdict and score is compared.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Service
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.growth import MAX_LOGGED, ChangeLog, count_of, indices
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.caches.templates import TemplateCache
from podium.scheduler.framework.caches.vectors import VectorCache
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.profile import Profile
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

NODES = [f"n{i}" for i in range(6)]
WEB = {"matchLabels": {"app": "web"}}
NEAR = {"topologyKey": "zone", "labelSelector": WEB}
LIKED = {"weight": 7, "podAffinityTerm": NEAR}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": WEB,
}
SOFT = {"whenUnsatisfiable": "ScheduleAnyway"}
IN_A = {"key": "zone", "operator": "In", "values": ["a"]}
TO_A = {"weight": 3, "preference": {"matchExpressions": [IN_A]}}
KINDS: list[dict[str, Any]] = [
    {"requests": {"cpu": "500m", "memory": "1Gi"}},
    {"requests": {"cpu": "2"}, "labels": {"app": "web"}},
    {},
    {"requests": {"example.com/gpu": 1, "cpu": "100m"}},
    {"tolerations": [{"operator": "Exists"}], "requests": {"memory": "64Mi"}},
    {"nodeSelector": {"zone": "a"}, "requests": {"cpu": "1", "memory": "2Gi"}},
    {
        "containers": [
            {"name": "c", "image": "big:v1", "ports": [{"containerPort": 80, "hostPort": 80}]}
        ]
    },
    {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [TO_A]}}},
    {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]}}},
    {"labels": {"app": "web"}, "topologySpreadConstraints": [SPREAD]},
    {"labels": {"app": "web"}, "topologySpreadConstraints": [{**SPREAD, **SOFT}]},
    {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [LIKED]}}},
    {"volumes": [{"name": "v", "secret": {"secretName": "s"}}], "requests": {"cpu": "500m"}},
]

resources = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["1", "4", "8"]),
        "memory": st.sampled_from(["1Gi", "8Gi"]),
        "pods": st.sampled_from([1, 3, 110]),
    },
    optional={"example.com/gpu": st.sampled_from([1, 4])},
)
node_changes = st.fixed_dictionaries(
    {
        "allocatable": resources,
        "labels": st.sampled_from([{}, {"zone": "a"}, {"zone": "b"}]),
        "taints": st.sampled_from(
            [(), (("k", "v", "NoSchedule"),), (("k", "v", "PreferNoSchedule"),)]
        ),
        "unschedulable": st.booleans(),
        "images": st.sampled_from([{}, {"big:v1": 900_000_000}]),
    }
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("node"), st.sampled_from(NODES), node_changes),
        st.tuples(st.just("gone"), st.sampled_from(NODES), st.none()),
        *[st.tuples(st.just("pod"), st.sampled_from(NODES), st.integers(0, 2))] * 4,
        st.tuples(st.just("leave"), st.integers(0, 30), st.none()),
        st.tuples(st.just("service"), st.sampled_from(["web", "db"]), st.none()),
        st.tuples(st.just("nominate"), st.sampled_from(NODES), st.integers(0, 2)),
    ),
    max_size=25,
)

guests = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)


def attempt(engine: Engine, profile: Profile, pod: Pod) -> list[Any]:
    """All verdicts and scores of one pod, as plain values."""
    cluster = engine.cluster
    if not cluster.nodes.present_count:
        return []
    cycle = Cycle(cluster.infos.of(pod), cluster)
    outcome = profile.run_pre_filters(cycle)
    rows = cluster.nodes.all_rows() if cluster.nodes.dense() else cluster.node_order()
    result = profile.filter_rows(cycle, rows)
    statuses = [result.status(position) for position in range(result.count)]
    found: list[Any] = [outcome.skipped, outcome.status, statuses, groups(result)]
    for scored in (rows, result.survivors()):
        if not count_of(scored):
            continue
        cycle.skip_score.clear()
        skipped = profile.run_pre_scores(cycle, scored)
        scores, total = profile.score_rows(cycle, scored)
        values = [(s.plugin, s.raw.tolist(), s.normalized.tolist()) for s in scores]
        found.append([skipped, values, total.read().tolist(), total.best(indices(scored)).tolist()])
    return found


def groups(result: FilterResult) -> list[Any]:
    """What is said of which positions; in which order does not matter to anybody."""
    found = [(positions.tolist(), status) for status, positions in result.groups()]
    return sorted(found, key=lambda group: group[0])


def apply(
    engine: Engine, step: tuple[Any, Any, Any], number: int, guests: list[dict[str, Any]]
) -> None:
    what, target, change = step
    cluster = engine.cluster
    if what == "node":
        cluster.put_node(make_node(target, **change))
    elif what == "gone":
        cluster.remove_node(target)
    elif what == "service":
        cluster.catalog.put(Service(metadata=ObjectMeta(name=target, namespace="default")))
    elif what == "nominate":
        rival = make_pod(f"rival{change}", priority=change, requests={"cpu": "2"})
        cluster.nominator.nominate(cluster.infos.of(rival), target)
    elif what == "pod":
        cluster.add_pod(make_pod(f"p{number}", node=target, **guests[change % len(guests)]))
    elif cluster.placements:
        uids = sorted(cluster.placements)
        cluster.remove_pod(uids[target % len(uids)])


@given_examples(60, 300, steps, st.lists(st.sampled_from(KINDS), min_size=1, max_size=2), guests)
def test_remembered_answers_equal_fresh_ones_after_every_change(
    sequence: list[tuple[Any, Any, Any]],
    kinds: list[dict[str, Any]],
    guests: list[dict[str, Any]],
) -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    profile = engine.first_profile
    for name in NODES[:3]:
        engine.cluster.put_node(make_node(name, labels={"zone": name}))
    for number, step in enumerate(sequence):
        apply(engine, step, number, guests)
        for kind in kinds:
            pod = make_pod("pending", **kind)
            memory, profile.vectors = profile.vectors, None
            fresh = attempt(engine, profile, pod)
            profile.vectors = memory
            for _ in range(3):  # the first look, the one that learns, and one that knows
                assert attempt(engine, profile, pod) == fresh


def test_arrays_that_were_handed_out_do_not_change_afterwards() -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    for name in NODES:
        engine.cluster.put_node(make_node(name))
    pod = make_pod("pending", requests={"cpu": "1"})
    before = attempt(engine, engine.first_profile, pod)
    cycle = Cycle(engine.cluster.infos.of(pod), engine.cluster)
    rows = engine.cluster.nodes.all_rows()
    engine.first_profile.run_pre_filters(cycle)
    engine.first_profile.run_pre_scores(cycle, rows)
    scores, _ = engine.first_profile.score_rows(cycle, rows)
    kept = [(s.raw.copy(), s.raw) for s in scores]

    engine.cluster.add_pod(make_pod("other", node="n0", requests={"cpu": "3"}))
    after = attempt(engine, engine.first_profile, pod)

    assert before != after
    assert all(np.array_equal(copy, array) for copy, array in kept)


def test_the_memory_stays_within_its_bytes() -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    profile = engine.first_profile
    profile.vectors = VectorCache(most_bytes=4096)
    for name in NODES:
        engine.cluster.put_node(make_node(name))
    for milli in range(1, 300):
        attempt(engine, profile, make_pod("pending", requests={"cpu": f"{milli}m"}))

    assert profile.vectors.nbytes <= 4096


def test_what_stands_stays_within_its_bytes() -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    profile = engine.first_profile
    profile.templates = TemplateCache(most_bytes=2048)
    for number, name in enumerate(NODES):
        engine.cluster.put_node(make_node(name, labels={"zone": f"z{number}"}))
    for number in range(200):
        tolerations = [{"key": f"k{number}", "operator": "Exists"}]
        zone = {"zone": f"z{number % 6}"}
        pod = make_pod("pending", tolerations=tolerations, nodeSelector=zone)
        attempt(engine, profile, pod)
        assert profile.templates.nbytes <= 2048


def test_a_pod_with_a_volume_of_its_own_is_asked_about_every_time() -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    engine.cluster.put_node(make_node("n0"))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    for pod in [make_pod("p", volumes=volumes), make_pod("q", nodeName="n0")] * 3:
        cycle = Cycle(engine.cluster.infos.of(pod), engine.cluster)
        engine.first_profile.run_pre_filters(cycle)
        assert cycle.template is None


def test_a_log_tells_the_rows_changed_since_a_generation() -> None:
    log = ChangeLog()
    log.note(3)
    then = log.generation
    log.note(5)
    log.note(3)

    assert log.since(then) == [5, 3]
    assert log.since(log.generation) == []


def test_a_log_says_so_when_it_has_forgotten() -> None:
    log = ChangeLog()
    for row in range(3 * MAX_LOGGED):
        log.note(row)

    assert log.since(0) is None
    assert log.since(log.generation - 1) == [3 * MAX_LOGGED - 1]


def test_what_others_prefer_is_weighed_again_when_more_of_them_come() -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    profile, pod = engine.first_profile, make_pod("pending", labels={"app": "web"})
    for name in NODES:
        engine.cluster.put_node(make_node(name, labels={"zone": name}))
    for number, name in enumerate(("n0", "n1", "n1", "n2")):
        liking = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [LIKED]}}
        engine.cluster.add_pod(make_pod(f"p{number}", node=name, affinity=liking))
        memory, profile.vectors = profile.vectors, None
        fresh = attempt(engine, profile, pod)
        profile.vectors = memory
        for _ in range(3):
            assert attempt(engine, profile, pod) == fresh
