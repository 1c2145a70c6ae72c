"""What admission may ask of the rest of the cluster, and what can be set about it."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from podium.golang.json_values import JsonObject

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

_MAX_SUMS: Final = 64


class RunningSum(Protocol[T_contra]):
    """What summaries add up to."""

    def add(self, summary: T_contra) -> None: ...

    def remove(self, summary: T_contra) -> None:
        """One that was added."""


SumT = TypeVar("SumT", bound=RunningSum[Any])


class Summaries(Generic[T]):
    """What was made of each object of a namespace, by its name, and sums that follow."""

    def __init__(self, pairs: Iterable[tuple[str, T]] = ()) -> None:
        self._summaries = dict(pairs)
        self._sums: dict[Hashable, RunningSum[T]] = {}

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(self._summaries.items())

    def put(self, name: str, summary: T) -> None:
        before = self._summaries.get(name)
        self._summaries[name] = summary
        if summary == before:
            return
        for each in self._sums.values():
            if before is not None:
                each.remove(before)
            each.add(summary)

    def remove(self, name: str) -> None:
        before = self._summaries.pop(name, None)
        if before is not None:
            for each in self._sums.values():
                each.remove(before)

    def sum(self, key: Hashable, begin: Callable[[], SumT]) -> SumT:
        """The sum that `begin` began when it was first asked for; `key` tells sums apart."""
        found: Any = self._sums.get(key)
        if found is None:
            if len(self._sums) >= _MAX_SUMS:
                self._sums.clear()
            found = self._sums[key] = begin()
            for summary in self._summaries.values():
                found.add(summary)
        made: SumT = found
        return made


class Lookup(Protocol):
    """A view into the store. Objects that it gives are read, never changed."""

    def find(
        self, group: str, plural: str, namespace: str, name: str, version: str = "v1"
    ) -> JsonObject | None:
        """One object, None if there is none; `namespace` is empty for cluster-wide resources."""

    def get_derived(
        self, group: str, plural: str, derive: Callable[[Sequence[JsonObject]], T]
    ) -> T:
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
    ) -> Summaries[T]:
        """What `summarise` makes of each object in a namespace.

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
