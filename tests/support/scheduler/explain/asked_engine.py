"""A small cluster and the question what would make one pod fit in it."""

from itertools import count
from typing import Any

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.explain.proposals.proposal import Proposal
from podium.scheduler.explain.proposals.search import ProposalAnswer, find_proposals
from podium.scheduler.explain.trial import Trial
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node

GPU = ("gpu", "yes", "NoSchedule")


def node(name: str, cpu: int = 4, **more: Any) -> Node:
    labels = {"kubernetes.io/hostname": name, **more.pop("labels", {})}
    return make_node(
        name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": 10}, labels=labels, **more
    )


def engine_with(*objects: KubeObject, **gates: bool) -> Engine:
    """An engine on whose clock every look takes a moment."""
    moments = count()
    chosen = FeatureGates(gates)
    engine = Engine(
        load_configuration(None, gates=chosen),
        in_tree_registry(),
        gates=chosen,
        validate=True,
        clock=lambda: next(moments) / 1e6,
    )
    for obj in sorted(objects, key=lambda each: not isinstance(each, Node)):
        engine.intake.put(obj)
    return engine


def ask(pod: Pod, *objects: KubeObject, **gates: bool) -> ProposalAnswer:
    return find_proposals(Trial(engine_with(*objects, **gates), pod))


def sentences(answer: ProposalAnswer) -> list[str]:
    return [proposal.sentence for proposal in answer.proposals]


def proposal(answer: ProposalAnswer, code: str) -> Proposal:
    found = [each for each in answer.proposals if each.code == code]
    assert found, sentences(answer)
    return found[0]


def owned_by(kind: str, name: str, api_version: str = "apps/v1") -> dict[str, Any]:
    """Metadata of a pod that a controller has made."""
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "controller": True}
    return {"ownerReferences": [owner]}
