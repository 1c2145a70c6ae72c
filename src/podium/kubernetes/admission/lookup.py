"""What admission may ask of the rest of the cluster, and what can be set about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from podium.golang.json_values import JsonObject

T = TypeVar("T")


class Lookup(Protocol):
    """A view into the store. Objects that it gives are read, never changed."""

    def find(
        self, group: str, plural: str, namespace: str, name: str, version: str = "v1"
    ) -> JsonObject | None:
        """One object, None if there is none; `namespace` is empty for cluster-wide resources."""

    def derived(self, group: str, plural: str, derive: Callable[[Sequence[JsonObject]], T]) -> T:
        """What `derive` makes of all objects of a resource, kept until one of them changes.

        `derive` is a module-level function: it is the key under which its answer is kept.
        """

    def summaries(
        self,
        group: str,
        plural: str,
        namespace: str,
        summarise: Callable[[JsonObject], T],
        version: str = "v1",
    ) -> list[tuple[str, T]]:
        """Names of the objects in a namespace, and what `summarise` makes of each.

        A summary is kept until its object changes; `summarise` is a module-level function.
        """


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """What an administrator can choose."""

    not_ready_toleration_s: int = 300
    unreachable_toleration_s: int = 300
    taint_new_nodes: bool = False
    """Give new nodes the not-ready taint, for somebody to remove once they are ready."""


DEFAULT_SETTINGS: Final = AdmissionSettings()
