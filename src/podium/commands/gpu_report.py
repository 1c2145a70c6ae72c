"""What `podium gpu` shows, put together from what was read."""

from dataclasses import dataclass, replace

import msgspec

from podium.addons.gpu.cards.overview import (
    DevicesView,
    DialectView,
    ModelQuotaView,
    QuotaView,
    quota_text,
    view_devices,
    view_dialect,
    view_model_quotas,
    view_quotas,
)
from podium.addons.gpu.cards.quota import InvalidQuota
from podium.addons.gpu.dialects.dialect_detection import count_unshared
from podium.commands.gpu_reading import GPUCluster

_OF_MODELS = ("gpu-manager", "gpu-scheduler")
"""Dialects of those that know quotas by model."""


@dataclass(frozen=True, slots=True)
class GPUReport:
    dialects: tuple[DialectView, ...]
    quotas: tuple[QuotaView, ...]
    model_quotas: tuple[ModelQuotaView, ...]
    devices: DevicesView
    at: float
    notes: tuple[str, ...]

    def of_node(self, name: str) -> "GPUReport":
        """What there is of one node; figures of the whole cluster stay."""
        dialects = tuple(
            msgspec.structs.replace(
                view,
                nodes=tuple(node for node in view.nodes if node.name == name),
                uncounted=tuple(pod for pod in view.uncounted if pod.node == name),
                waiting=(),
            )
            for view in self.dialects
        )
        devices = tuple(each for each in self.devices.devices if each.node == name)
        return replace(self, dialects=dialects, devices=DevicesView(devices))


def make_report(cluster: GPUCluster) -> GPUReport:
    notes = list(cluster.notes)
    views = tuple(
        view_dialect(dialect, cluster.nodes, cluster.pods, cluster.now, cluster.config_maps)
        for dialect in cluster.dialects
    )
    resources = tuple(
        dict.fromkeys(name for dialect in cluster.dialects for name in dialect.resources)
    )
    model_quotas: list[ModelQuotaView] = []
    text = quota_text(cluster.config_maps)
    for dialect in cluster.dialects:
        if text and dialect.name in _OF_MODELS:
            try:
                model_quotas += view_model_quotas(dialect, text, cluster.nodes, cluster.pods)
            except InvalidQuota as problem:
                notes.append(str(problem))
    unshared = count_unshared(cluster.nodes)
    if unshared:
        notes.append(f"nodes that offer whole GPUs and have no agent that shares them: {unshared}")
    devices = view_devices(cluster.slices, cluster.claims)
    if devices.others:
        notes.append(f"devices of drivers that are not for GPUs are not shown: {devices.others}")
    return GPUReport(
        views,
        tuple(view_quotas(resources, cluster.quotas)),
        tuple(model_quotas),
        devices,
        cluster.now,
        tuple(notes),
    )
