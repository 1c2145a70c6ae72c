"""Counts of pods that fit as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from podium.offline.what_if.capacity_answer import CapacityAnswer, Room


def capacity_document(answer: CapacityAnswer, notes: Iterable[str]) -> dict[str, Any]:
    return {
        "enough": answer.is_enough,
        "wanted": answer.wanted,
        "pods": [_room(room) for room in answer.alone],
        "together": [_room(room) for room in answer.together],
        "add": _purchase(answer),
        "notes": list(notes),
    }


def _room(room: Room) -> dict[str, Any]:
    metadata = room.template.pod.metadata
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "workload": room.template.workload or None,
        "fits": room.fits,
        "message": room.message or None,
        "stoppedBy": room.stopped_by or None,
        "reasons": [
            {"reason": reason, "nodes": nodes}
            for reason, nodes in sorted(room.reasons.items(), key=lambda kv: (-kv[1], kv[0]))
        ],
        "nodes": [
            {"name": each.node, "fits": each.fits, "reasons": list(each.reasons)}
            for each in room.nodes
        ],
    }


def _purchase(answer: CapacityAnswer) -> dict[str, Any] | None:
    if answer.purchase is None:
        return None
    mix = answer.purchase.mix
    if mix is None:
        return {"found": False, "nodes": [], "fits": 0, "price": None, "cheapest": False}
    return {
        "found": True,
        "nodes": [{"shape": shape, "nodes": nodes} for shape, nodes in mix.nodes.items()],
        "fits": mix.fits,
        "price": None if mix.price is None else float(mix.price),
        "cheapest": mix.proven,
    }
