"""A scenario in which a hypothesis is true: the objects themselves are changed."""

from collections.abc import Sequence

from msgspec.structs import replace

from podium.kubernetes.controllers.pod_templates import release_claims
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.offline.simulate import Scenario
from podium.scheduler.explain.hypothesis import Hypothesis


def suppose(
    scenario: Scenario, hypothesis: Hypothesis, destinations: Sequence[str] = ()
) -> Scenario:
    """The scenario with all that a proposal would change; preemption is left to the scheduler."""
    pod = hypothesis.pod
    going = {each.metadata.uid for each in (*hypothesis.removed, *hypothesis.moved)}
    moved = [
        replace(each, spec=replace(each.spec, node_name=to))
        for each, to in zip(hypothesis.moved, destinations, strict=True)
    ]
    objects = {_identity(obj): obj for obj in scenario.objects}
    for uid in going:
        claims = [obj for obj in objects.values() if isinstance(obj, ResourceClaim)]
        for before, after in release_claims(uid, claims):
            if after is None:
                del objects[_identity(before)]
            else:
                objects[_identity(before)] = after
    put = {_identity(obj) for obj in hypothesis.objects}
    named = {node.name for node in hypothesis.nodes}
    return Scenario(
        (*(n for n in scenario.nodes if n.name not in named), *hypothesis.nodes),
        (*(p for p in scenario.running if p.metadata.uid not in going), *moved),
        tuple(pod if p.metadata.uid == pod.metadata.uid else p for p in scenario.pending),
        (
            *(obj for identity, obj in objects.items() if identity not in put),
            *hypothesis.objects,
        ),
        scenario.notes,
    )


def _identity(obj: object) -> tuple[str, str, str]:
    assert isinstance(obj, KubeObject)
    return obj.kind, obj.namespace, obj.name
