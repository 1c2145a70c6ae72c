"""What `podium gpu -o json` holds: all that the tables show, and more. Memory is in bytes."""

from collections.abc import Iterable

from podium.addons.gpu.cards.card import UNLIMITED
from podium.addons.gpu.cards.fragmentation import Fragmentation
from podium.addons.gpu.cards.overview import (
    CardOwner,
    CardView,
    DeviceHolder,
    DeviceView,
    DialectView,
    ModelQuotaView,
    NodeView,
    QuotaView,
    WaitingPod,
)
from podium.addons.gpu.cards.requests import ContainerRequest
from podium.commands.gpu_report import GPUReport
from podium.kubernetes.rules.timestamps import time_text

Fields = dict[str, object]


def overview_document(report: GPUReport) -> Fields:
    return {
        "at": time_text(report.at),
        "dialects": [_dialect(view) for view in report.dialects],
        "quotas": [_quota(each) for each in report.quotas],
        "modelQuotas": [_model_quota(each) for each in report.model_quotas],
        "devices": [_device(each) for each in report.devices.devices],
        "unknownDevices": [
            {"device": name, **_holder(holder)} for name, holder in report.devices.unknown
        ],
        "notes": list(report.notes),
    }


def _dialect(view: DialectView) -> Fields:
    unit = view.memory_unit
    return {
        "name": view.dialect,
        "memoryUnitBytes": unit,
        **_pieces(view.fragmentation, unit),
        "nodes": [_node(node, unit) for node in view.nodes],
        "waiting": [_waiting(pod, unit) for pod in view.waiting],
        "uncounted": [
            {"pod": f"{pod.namespace}/{pod.name}", "node": pod.node or None, "reason": pod.why}
            for pod in view.uncounted
        ],
    }


def _pieces(pieces: Fragmentation, unit: int) -> Fields:
    return {
        "cards": pieces.cards,
        "idleCards": pieces.idle_cards,
        "partialCards": pieces.partial_cards,
        "freeCores": pieces.free_cores,
        "freeCoresInPieces": pieces.free_cores_in_pieces,
        "freeMemoryBytes": pieces.free_memory * unit,
        "freeMemoryInPiecesBytes": pieces.free_memory_in_pieces * unit,
        "fragmentationOfCores": round(pieces.of_cores, 4),
        "fragmentationOfMemory": round(pieces.of_memory, 4),
    }


def _node(node: NodeView, unit: int) -> Fields:
    refusal = node.refusal
    return {
        "name": node.name,
        "refusal": None
        if refusal is None
        else {"code": refusal.code, "message": refusal.phrase, "detail": node.detail},
        **{
            key: value for key, value in _pieces(node.fragmentation, unit).items() if key != "cards"
        },
        "cards": [_card(card, unit) for card in node.cards],
    }


def _card(view: CardView, unit: int) -> Fields:
    card, used = view.card, view.used
    return {
        "index": card.index,
        "uuid": card.uuid,
        "model": card.model,
        "healthy": card.healthy,
        "cordoned": card.cordoned,
        "mode": card.mode,
        "mig": bool(card.profiles),
        "numaNode": card.numa if card.numa >= 0 else None,
        "cores": card.cores,
        "usedCores": used.cores,
        "memoryBytes": card.memory * unit,
        "usedMemoryBytes": used.memory * unit,
        "slots": card.slots if card.slots < UNLIMITED else None,
        "usedSlots": used.slots,
        "owners": [_owner(owner, unit) for owner in view.owners],
    }


def _owner(owner: CardOwner, unit: int) -> Fields:
    return {
        "pod": owner.key,
        "phase": owner.phase.value,
        "cores": owner.use.cores,
        "memoryBytes": owner.use.memory * unit,
        "instances": [{"profile": name, "placement": at} for name, at in owner.instances],
    }


def _waiting(pod: WaitingPod, unit: int) -> Fields:
    containers = (*pod.request.init_containers, *pod.request.containers)
    return {
        "pod": f"{pod.namespace}/{pod.name}",
        "requests": [_request(each, unit) for each in containers if each is not None],
    }


def _request(request: ContainerRequest, unit: int) -> Fields:
    percent = 100 if request.whole else request.memory_percent
    return {
        "cards": request.cards,
        "cores": request.cores,
        "memoryBytes": None if percent is not None else request.memory * unit,
        "memoryPercent": percent,
        "exclusive": request.exclusive or request.whole,
        "mig": request.wants_mig(),
    }


def _quota(quota: QuotaView) -> Fields:
    return {
        "namespace": quota.namespace,
        "name": quota.name,
        "resource": quota.resource,
        "hard": quota.hard,
        "used": quota.used or None,
    }


def _model_quota(quota: ModelQuotaView) -> Fields:
    return {
        "namespace": quota.namespace,
        "model": quota.model,
        "cards": quota.cards,
        "usedCores": quota.used_cores,
        "pools": list(quota.pools),
    }


def _device(device: DeviceView) -> Fields:
    return {
        "driver": device.driver,
        "pool": device.pool,
        "name": device.name,
        "node": device.node or None,
        "model": device.model,
        "capacity": dict(device.capacity),
        "tainted": device.tainted,
        "holders": _holders(device.holders),
    }


def _holders(holders: Iterable[DeviceHolder]) -> list[Fields]:
    return [_holder(each) for each in holders]


def _holder(holder: DeviceHolder) -> Fields:
    return {"claim": f"{holder.namespace}/{holder.claim}", "pods": list(holder.pods)}
