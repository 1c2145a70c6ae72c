"""Whatever the cluster: who fails has a cause, and every filter says what it has against a node."""

from hypothesis import strategies as st
from support.scheduler.engine import storage_shapes
from support.scheduler.engine.pod_shapes import NODE_NAMES, nodes
from support.scheduler.engine.storage_shapes import claiming_pods
from support.scheduler.explain.caused import make_engine
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine import Engine
from podium.scheduler.explain.causes import describe_nodes, find_causes, find_filter_causes
from podium.scheduler.explain.causes.refusals import explains_nodes
from podium.scheduler.framework.explanations.filter_examination import examine_filters


@st.composite
def engines(draw: st.DrawFn) -> Engine:
    names = draw(st.sets(st.sampled_from(NODE_NAMES), min_size=1))
    found: list[KubeStruct] = [draw(nodes(name)) for name in sorted(names)]
    for kind, keys in storage_shapes.NAMES.items():
        chosen = draw(st.sets(st.sampled_from(keys)))
        found.extend(draw(storage_shapes.objects(kind, key, 1)) for key in sorted(chosen))
    for number in range(draw(st.integers(0, 6))):
        node = draw(st.sampled_from(sorted(names)))
        found.append(draw(claiming_pods(f"runs-{number}", f"runs-{number}", node=node)))
    return make_engine(*found, gates={"DRAExtendedResource": draw(st.booleans())})


@given_examples(20, 60, engines(), claiming_pods("p", "p"))
def test_an_attempt_that_fails_has_a_cause_and_one_that_does_not_has_none(
    engine: Engine, pod: Pod
) -> None:
    if not engine.state.responsible(pod):
        return
    info = engine.cluster.infos.of(pod)
    examination = examine_filters(engine.profile_of(info.pod), engine.cluster, info)
    filtered = find_filter_causes(engine, info, examination)
    findings = describe_nodes(engine, info, examination)
    attempt = engine.schedule(info)
    if attempt.binding is not None:
        engine.undo(attempt.binding)
    causes = find_causes(engine, attempt.decision, filtered)
    assert bool(causes) == (attempt.decision.bound is None)
    for cause in causes:
        assert cause.code != "other"
        assert cause.sentence.endswith(".")
        assert "  " not in cause.sentence
        assert set(cause.nodes) <= set(examination.nodes)
    filters = {plugin.name: plugin for plugin in engine.profile_of(info.pod).filter}
    for position, node in enumerate(examination.nodes):
        for plugin in examination.objections(node):
            if explains_nodes(filters[plugin]):
                told = [f.on(position) for f in findings[plugin] if f.nodes[position]]
                assert told
                assert all(told)
