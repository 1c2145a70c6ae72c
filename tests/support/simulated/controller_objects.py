"""Objects as the simulated cluster reads them, short to write; and plans, short to read."""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from podium.kubernetes.controllers.controller import (
    Action,
    CreateAction,
    DeleteAction,
    PatchAction,
    Plan,
)
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.rules.timestamps import Moment

T = TypeVar("T")
WALL_S = 1_800_000_000.0
"""2027-01-15T08:00:00Z, when tests begin."""


def moment(now_s: float = 0.0) -> Moment:
    return Moment(now_s, WALL_S + now_s)


def timestamp(now_s: float = 0.0) -> str:
    return moment(now_s).timestamp


def build(kind: type[T], name: str, namespace: str = "ns", **fields: Any) -> T:
    """An object of any kind; its uid is made from its name unless metadata says otherwise."""
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": timestamp(),
        **fields.pop("metadata", {}),
    }
    return msgspec.convert({"metadata": metadata, **fields}, kind)


def owned_by(kind: str, name: str, uid: str = "") -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "name": name,
            "uid": uid or f"uid-{name}",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def condition(kind: str, status: str = "True", at_s: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, "lastTransitionTime": timestamp(at_s), **more}


def pod(
    name: str,
    phase: str = "Running",
    *,
    node: str = "n1",
    ready: bool | None = None,
    ready_at_s: float = 0.0,
    owner: tuple[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **metadata: Any,
) -> Pod:
    """A pod; a running one is ready unless it is said not to be."""
    is_ready = phase == "Running" if ready is None else ready
    conditions = [condition("Ready", str(is_ready), ready_at_s)]
    owners = {"ownerReferences": owned_by(*owner)} if owner else {}
    return build(
        Pod,
        name,
        metadata={**owners, **metadata},
        spec={"nodeName": node, "containers": [{"name": "c", "image": "i"}], **(spec or {})},
        status={"phase": phase, "conditions": conditions, **(status or {})},
    )


def node(name: str = "n1", *, ready: str | None = "True", **fields: Any) -> Node:
    metadata = {"labels": {"podium.dev/simulated": "true"}, **fields.pop("metadata", {})}
    status = {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}
    if ready is not None:
        status["conditions"] = [condition("Ready", ready)]
    return build(Node, name, "", metadata=metadata, spec=fields.pop("spec", {}), status=status)


def template(**labels: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"metadata": {"labels": labels or {"app": "web"}}, "spec": spec}


def shown(plan: Plan | Iterable[Action]) -> list[str]:
    """Actions in short: `+` creates, `~` changes, `-` deletes."""
    actions = plan.actions if isinstance(plan, Plan) else plan
    return [_shown(action) for action in actions]


def _shown(action: Action) -> str:
    plural = action.resource.plural
    if isinstance(action, CreateAction):
        metadata = action.body["metadata"]
        return f"+{plural} {metadata.get('name') or metadata['generateName'] + '*'}"
    if isinstance(action, DeleteAction):
        grace = f" in {action.grace_period_s}s" if action.grace_period_s is not None else ""
        how = f" {action.propagation}" if action.propagation else ""
        return f"-{plural} {action.name}{grace}{how}"
    where = f"/{action.subresource}" if action.subresource else ""
    return f"~{plural}{where} {action.name}"


def written_status(plan: Plan, plural: str) -> dict[str, Any]:
    """The status that a plan writes to an object of a kind."""
    for action in patches(plan):
        if (action.resource.plural, action.subresource) == (plural, "status"):
            status: dict[str, Any] = action.body["status"]
            return status
    raise AssertionError(f"no status of {plural} in {shown(plan)}")


def creations(plan: Plan) -> list[dict[str, Any]]:
    return [action.body for action in plan.actions if isinstance(action, CreateAction)]


def patches(plan: Plan) -> list[PatchAction]:
    return [action for action in plan.actions if isinstance(action, PatchAction)]
