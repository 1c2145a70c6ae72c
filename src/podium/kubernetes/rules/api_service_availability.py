"""Whether the service of an APIService can be asked, as far as stored objects tell.

upstream: `remote_available_controller.go`, whose reasons and texts these are. The rest is found
out by asking the service itself.
"""

from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject


class Availability(NamedTuple):
    """The condition Available of an APIService, without its time."""

    status: str
    reason: str
    message: str

    def condition(self, now: str) -> JsonObject:
        return {
            "type": "Available",
            "status": self.status,
            "lastTransitionTime": now,
            "reason": self.reason,
            "message": self.message,
        }


LOCAL: Final = Availability("True", "Local", "Local APIServices are always available")
PASSED: Final = Availability("True", "Passed", "all checks passed")


def failed_discovery(why: str) -> Availability:
    return Availability("False", "FailedDiscoveryCheck", why)


def condition_of(api_service: JsonObject) -> JsonObject | None:
    for each in (api_service.get("status") or {}).get("conditions") or ():
        if each.get("type") == "Available":
            found: JsonObject = each
            return found
    return None


def is_available(api_service: JsonObject) -> bool:
    condition = condition_of(api_service)
    return condition is not None and condition.get("status") == "True"
