"""What a configuration may say of GPUShare, and plugins that say which card a pod is to have.

Plugins that say which card of a node a pod is to have a share of. GPUShare holds the cards and
knows which will do. Of several that will, a plugin beside it in the profile may prefer one, by the
same rule by which it scored the node.
"""

from typing import Annotated, Final, Literal

import msgspec

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL
from podium.addons.gpu.cards.requests import CardKey, NodePolicy, PodRequest
from podium.addons.gpu.dialects import UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.plugin import Cycle, Handle, Plugin, Pod
from podium.scheduler.framework.registry import ArgumentsError

NODE_POLICIES: Final = {policy.value: policy for policy in NodePolicy}
CARD_ORDERS: Final = {"binpack": (CardKey.FULLEST,), "spread": (CardKey.EMPTIEST,)}


class QuotaSettings(msgspec.Struct, frozen=True, rename="camel"):
    """Where the document `gpu_quota` is, and which labels have the models and pools of nodes."""

    file: str = ""
    config_map: str = ""
    model_label: str = MODEL_LABEL
    pool_label: str = POOL_LABEL


class GPUShareArgs(ArgsHeader, frozen=True, kw_only=True, rename="camel"):
    dialect: str = "hami"
    node_policy: Literal["none", "binpack", "spread", "free-cores", "most-free-cores"] | None = None
    card_policy: Literal["binpack", "spread"] | None = None
    resource_quota: bool = True
    quota: QuotaSettings | None = None
    grace_period_seconds: Annotated[int, msgspec.Meta(ge=1)] = 30
    node_lock: bool | None = None
    """Whether nodes are locked while pods are being bound, where the dialect has a lock; if nothing
    is said, where there is an API server, as elsewhere there is no agent to unlock them."""


def dialect_of(args: GPUShareArgs) -> Dialect:
    """Raises ArgumentsError for arguments that contradict each other, too."""
    try:
        dialect = find_dialect(args.dialect)
    except UnknownDialect as problem:
        raise ArgumentsError("args.dialect", str(problem)) from None
    if args.card_policy is not None and dialect.chooses_shared_card:
        raise ArgumentsError(
            "args.cardPolicy",
            f"the agent of {dialect.name} chooses shared cards by its own rule",
            "leave it out: pods would fail on the node",
        )
    quota = args.quota
    if quota is not None and bool(quota.file) == bool(quota.config_map):
        raise ArgumentsError("args.quota", "name either a file or a configMap")
    if quota is not None and quota.config_map and quota.config_map.count("/") != 1:
        raise ArgumentsError("args.quota.configMap", "right would be NAMESPACE/NAME")
    return dialect


def apply_policies(
    args: GPUShareArgs, dialect: Dialect, pod: Pod, request: PodRequest
) -> PodRequest:
    """The request with the cluster's policies, where the pod names none itself."""
    read = pod.metadata.annotation
    if args.node_policy is not None and not (
        dialect.node_policy_key and read(dialect.node_policy_key)
    ):
        policy = NODE_POLICIES[args.node_policy]
        request = msgspec.structs.replace(request, node_policy=policy)
    if args.card_policy is not None and not (
        dialect.card_policy_key and read(dialect.card_policy_key)
    ):
        order = CARD_ORDERS[args.card_policy]
        request = msgspec.structs.replace(request, card_order=order)
    return request


class CardChooser(Plugin):
    def choose_card(self, cycle: Cycle, row: int) -> int | None:
        """The index of the card on this row that goes before others; None to leave it open."""
        raise NotImplementedError


def find_chooser(handle: Handle) -> CardChooser | None:
    """The first of the profile, if it has one."""
    found = (each for each in handle.profile.plugins.values() if isinstance(each, CardChooser))
    return next(found, None)


def preferred_card(
    handle: Handle, dialect: Dialect, args: GPUShareArgs, cycle: Cycle, row: int
) -> int | None:
    """The index of a card, where neither the pod, the configuration nor the agent says which."""
    chooser = find_chooser(handle)
    if chooser is None or dialect.chooses_shared_card or args.card_policy is not None:
        return None
    named = dialect.card_policy_key
    if named and cycle.pod.pod.metadata.annotation(named):
        return None
    return chooser.choose_card(cycle, row)
