"""Proposals as plain data, for `-o json` and `-o yaml`, every change with what it leads to."""

from typing import Any

import msgspec

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.explain.proposals.object_writes import spec_patch
from podium.scheduler.explain.proposals.proposal import Proposal
from podium.scheduler.explain.proposals.search import Answer
from podium.scheduler.explain.proposals.workload import Workload


def answer_document(answer: Answer, *, runs_on: str) -> dict[str, Any]:
    metadata = answer.pod.metadata
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "fits": bool(answer.node),
        "node": answer.node or None,
        "victims": list(answer.victims),
        "runsOn": runs_on or None,
        "turnedAwayFrom": answer.turned_away_from or None,
        "message": answer.reason or None,
        "workload": _workload(answer.workload) if answer.workload is not None else None,
        "trials": answer.trials,
        "complete": answer.is_complete,
        "proposals": [_proposal(proposal, answer.pod) for proposal in answer.proposals],
    }


def _proposal(proposal: Proposal, pod: Pod) -> dict[str, Any]:
    return {
        "code": proposal.code,
        "sentence": proposal.sentence,
        "disturbance": proposal.disturbance,
        "nodes": proposal.nodes,
        "node": proposal.node,
        "steps": [
            {"code": step.code, "sentence": step.sentence, "disturbance": step.disturbance}
            for step in proposal.steps
        ],
        "changes": _changes(proposal, pod),
        "commands": list(proposal.commands),
        "disruptions": list(proposal.disruptions),
        "pods": {
            "wanted": proposal.outcome.wanted,
            "before": proposal.outcome.before,
            "after": proposal.outcome.after,
        },
    }


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "kind": workload.owner.kind,
        "name": workload.owner.name,
        "wanted": workload.wanted,
        "placed": len(workload.placed),
        "waiting": len(workload.waiting),
    }


def _changes(proposal: Proposal, pod: Pod) -> dict[str, Any]:
    """What would be different: a strategic merge patch for the pod's spec, whole objects for the
    rest."""
    supposed = proposal.hypothesis
    return {
        "podSpec": spec_patch(pod.spec, supposed.pod.spec, for_template=False),
        "objects": [_body(obj) for obj in (*supposed.nodes, *supposed.objects)],
        "evict": [object_key(each.metadata) for each in supposed.removed],
        "preempt": [object_key(each.metadata) for each in supposed.preempted],
        "replicas": supposed.replicas,
        "move": [
            {"pod": object_key(each.metadata), "from": each.spec.node_name, "to": to}
            for each, to in zip(supposed.moved, proposal.destinations, strict=True)
        ],
    }


def _body(obj: KubeObject) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(obj)
    return {"apiVersion": obj.api_version, "kind": obj.kind, **body}
