"""The causes that one attempt has, without a driver."""

from typing import Any

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.engine import Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes import find_causes, find_filter_causes
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.explanations.filter_examination import examine_filters
from podium.scheduler.plugins import in_tree_registry


def make_engine(
    *objects: Node | Pod | KubeStruct, gates: dict[str, bool] | None = None, **configuration: Any
) -> Engine:
    """An engine that knows some objects; keywords are fields of the configuration."""
    given = {"apiVersion": API_VERSION, "kind": KIND, **configuration}
    chosen = FeatureGates(gates or {})
    engine = Engine(
        load_configuration(given, gates=chosen), in_tree_registry(), gates=chosen, validate=True
    )
    for obj in objects:
        if isinstance(obj, Node):
            engine.intake.node_put(obj)
        elif isinstance(obj, Pod):
            engine.intake.pod_put(obj)
        else:
            engine.intake.object_put(obj)
    return engine


def causes_of(engine: Engine, pod: Pod, ask: Asker | None = None) -> tuple[Cause, ...]:
    """Why one attempt for a pod fails; nothing if it does not."""
    info = engine.cluster.infos.of(pod)
    examination = examine_filters(engine.profile_of(pod), engine.cluster, info)
    filtered = find_filter_causes(engine, info, examination)
    attempt = engine.schedule(info, ask)
    if attempt.binding is not None:
        engine.undo(attempt.binding)
    return find_causes(engine, attempt.decision, filtered)
