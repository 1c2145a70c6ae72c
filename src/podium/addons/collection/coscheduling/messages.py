"""What the plugin says; upstream's texts but for NO_ROOM."""

from typing import Final

GROUP_NOT_FOUND: Final = "PodGroup not found"
NO_GROUP: Final = "can not find pod group"
FAILED_RECENTLY: Final = "podGroup {} failed recently"
DENIED: Final = "pod with pgName: {} last failed in {}, deny"
TOO_FEW_MEMBERS: Final = (
    "pre-filter pod {} cannot find enough sibling pods, current pods number: {},"
    " minMember of group: {}"
)
GATED_MEMBERS: Final = "pre-filter pod {} cannot proceed due to gated pods in the same PodGroup"
RESOURCE_GAP: Final = "resource gap: {}"
NO_ROOM: Final = "there is no room for {} of PodGroup {} at once"
REJECTED: Final = "PodGroup {} gets rejected due to Pod {} is unschedulable even after PostFilter"
OPTIMISTIC_REJECTION: Final = "optimistic rejection in PostFilter"
REJECTION_IN_UNRESERVE: Final = "rejection in Unreserve"


def says(message: str, template: str) -> bool:
    """Whether a message was made from a template."""
    parts = [part for part in template.split("{}") if part]
    return all(part in message for part in parts)


def is_recent_failure(message: str) -> bool:
    return says(message, FAILED_RECENTLY) or says(message, DENIED)
