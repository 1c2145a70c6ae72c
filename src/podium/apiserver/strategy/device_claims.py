"""Claims on devices: reports go with the devices that they are about."""

from podium.api.json_values import JsonObject
from podium.apiserver.validation.claim_statuses import allocated_devices, device_key


def drop_reports_of_released_devices(new: JsonObject, old: JsonObject) -> None:
    """Whoever takes back an allocation need not know what drivers have reported."""
    status: JsonObject = new.get("status") or {}
    if not status.get("devices"):
        return
    released = allocated_devices(old.get("status") or {}) - allocated_devices(status)
    kept = [device for device in status["devices"] if device_key(device) not in released]
    if kept:
        status["devices"] = kept
    else:
        del status["devices"]
