"""Volumes and claims: phases, and the two spellings of where a claim's data come from."""

from podium.golang.json_values import JsonObject


def prepare_volume(volume: JsonObject, now: str) -> None:
    volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def prepare_volume_status(new: JsonObject, old: JsonObject, now: str) -> None:
    """The time of a phase changes with the phase."""
    status = new.setdefault("status", {})
    before: JsonObject = old.get("status") or {}
    since, earlier = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if status.get("phase") == before.get("phase"):
        if since is None and earlier is not None:
            status["lastPhaseTransitionTime"] = earlier
    elif since is None or since == earlier:
        status["lastPhaseTransitionTime"] = now


def prepare_claim(claim: JsonObject, _now: str) -> None:
    claim["status"] = {"phase": "Pending"}
    _settle_sources(claim["spec"], {})


def prepare_claim_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    _settle_sources(new["spec"], old.get("spec") or {})


def _settle_sources(spec: JsonObject, before: JsonObject) -> None:
    reference = spec.get("dataSourceRef")
    # upstream: references to other namespaces are dropped, their feature gate is off
    if reference is not None and reference.get("namespace") and not before.get("dataSourceRef"):
        del spec["dataSourceRef"]
        reference = None
    # upstream: in the older field, what no volume can be filled from is dropped without a word
    has_source = before.get("dataSource") is not None or before.get("dataSourceRef") is not None
    is_known = has_source or _is_claim_or_snapshot(spec.get("dataSource") or {})
    if reference is None and not is_known:
        spec.pop("dataSource", None)
    _normalise_sources(spec)


def _is_claim_or_snapshot(source: JsonObject) -> bool:
    return (source.get("apiGroup") or "", source.get("kind")) in (
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    )


def _normalise_sources(spec: JsonObject) -> None:
    """`dataSource` and `dataSourceRef` say the same, as far as the older one can."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if old is not None and new is None:
        spec["dataSourceRef"] = dict(old)
    elif new is not None and old is None and not new.get("namespace"):
        spec["dataSource"] = {key: new[key] for key in new if key != "namespace"}
