"""Plugins that kube-scheduler has given up and old configurations still name."""

from podium.cluster.growth import Mask
from podium.config.legacy_args import NodeLabelArgs, ServiceAffinityArgs
from podium.explain.causes.attempt_view import AttemptView
from podium.explain.causes.finding import Finding
from podium.explain.causes.wording import joined
from podium.plugins.legacy_volume_limits.plugin import LegacyVolumeLimits
from podium.plugins.node_label import NodeLabel
from podium.plugins.service_affinity import ServiceAffinity


def find_label_presence(view: AttemptView, among: Mask) -> list[Finding]:
    """NodeLabel: labels that the configuration wants to be there, or not to be."""
    plugin = view.plugin(NodeLabel.name)
    args = plugin.args if plugin is not None else None
    if not isinstance(args, NodeLabelArgs):
        return []
    parts = [f"label {label}" for label in args.present_labels]
    parts += [f"no label {label}" for label in args.absent_labels]
    wanted = joined(parts)
    clause = f"the scheduler's NodeLabel rule wants {wanted}; {view.say(among, 'does', 'do')} not"
    return [Finding("node-label-rule", wanted, among, clause, f"NodeLabel wants {wanted}")]


def find_service_affinity(view: AttemptView, among: Mask) -> list[Finding]:
    """ServiceAffinity: nodes that are unlike those on which the service's pods run."""
    plugin = view.plugin(ServiceAffinity.name)
    args = plugin.args if plugin is not None else None
    if not isinstance(args, ServiceAffinityArgs):
        return []
    keys = joined(args.affinity_labels)
    clause = (
        f"the scheduler's ServiceAffinity rule keeps pods of a service on nodes alike in {keys};"
        f" {view.say(among, 'differs', 'differ')}"
    )
    text = f"the node differs in {keys} from where the pods of the service run"
    return [Finding("service-affinity", keys, among, clause, text)]


def find_disk_limits(view: AttemptView, among: Mask, name: str) -> list[Finding]:
    """EBSLimits and its like: so many disks of a kind, whatever the driver says."""
    plugin = view.plugin(name)
    if not isinstance(plugin, LegacyVolumeLimits):
        return []
    limits = {
        position: plugin.limit(view.examination.objects[view.names[position]])
        for position in view.positions(among)
    }
    most, kind = max(limits.values()), plugin.disk.name
    clause = f"{view.say(among, 'has', 'have')} no place for another {kind} disk"
    clause += f"; the largest limit is {most}"
    return [
        Finding(
            "volume-limit",
            kind,
            among,
            clause,
            f"no place for another {kind} disk",
            lambda position: f"at most {limits[position]} {kind} disks, and they are there",
            facts={"kind": kind, "limit": most},
        )
    ]
