"""A case of Podium's own: many kinds of pods in turn, so that nothing learned of one pod serves
the next.

The reference suite measures pods of one template at a time, which flatters anything that remembers
whole pods. A thousand signatures here are a hundred request vectors, five rules about zones and two
sets of tolerations in every combination; each is an application with a label of its own.
"""

from typing import Any

from podium.bench.scene import Plan, Scene, arrivals
from podium.bench.templates import ZONE, Raw, make_nodes, make_pod, on_node
from podium.kubernetes.kinds.pod import Pod

ZONES = ("zone-1", "zone-2", "zone-3", "zone-4")
_VECTORS = 100
_RULES = 5


def many_signatures(plan: Plan) -> Scene:
    count = max(1, plan.signatures)
    return Scene(
        nodes=make_nodes(plan.nodes, zones=ZONES),
        init=(_pod(f"init-{i}", i % count, **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=arrivals(_pod(f"pod-{i}", i % count) for i in range(plan.pods)),
    )


def _pod(name: str, signature: int, **placed: Any) -> Pod:
    vector = signature % _VECTORS
    requests = {"cpu": f"{10 * (1 + vector % 10)}m", "memory": f"{50 * (1 + vector // 10)}Mi"}
    spec: Raw = {}
    rule = signature // _VECTORS % _RULES
    if rule:
        spec["affinity"] = _zones_but(ZONES[rule - 1])
    if signature // (_VECTORS * _RULES) % 2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
    return make_pod(name, labels={"app": f"app-{signature}"}, requests=requests, **spec, **placed)


def _zones_but(zone: str) -> Raw:
    expression = {"key": ZONE, "operator": "NotIn", "values": [zone]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
