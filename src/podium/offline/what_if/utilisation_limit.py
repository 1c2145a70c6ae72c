"""How full a cluster may get: a share of what all its nodes have together, for some resources.

`90%` is about every resource that the pods in question request, `cpu=80%,memory=90%` about those
that it names. Contract: the limit is never passed; the pod that would pass it is not placed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from podium.golang.errors import InputError
from podium.scheduler.cluster.load import load_of
from podium.scheduler.engine.scheduler import Engine

_SHARE: Final = re.compile(r"(?:([^=,%\s]+)=)?(\d{1,3}(?:\.\d{1,6})?)%")
_REMEDY: Final = "90%, or cpu=80%,memory=90%"


@dataclass(frozen=True, slots=True)
class UtilisationLimit:
    """`share` is for resources that `shares` does not name; None is no limit."""

    share: Fraction | None = None
    shares: Mapping[str, Fraction] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.share is not None or bool(self.shares)

    def begin(self, engine: Engine) -> "Begun":
        return Begun(self, engine)


class Begun:
    """A limit on a cluster that fills up."""

    def __init__(self, limit: UtilisationLimit, engine: Engine) -> None:
        self._limit = limit
        self._engine = engine
        self._most: dict[str, int] | None = None

    def stopped_by(self, requests: Mapping[str, int]) -> str:
        """The resource of which one more pod would take too much, "" if none."""
        if not self._limit:
            return ""
        table, usage = self._engine.cluster.nodes, self._engine.cluster.usage
        if self._most is None:
            self._most = _most_of(self._engine, self._limit, requests)
        for resource, most in self._most.items():
            amount = requests.get(resource, 0)
            taken = int(usage.requested_of(table.resources.find(resource)).sum())
            if amount and taken + amount > most:
                return resource
        return ""


def _most_of(
    engine: Engine, limit: UtilisationLimit, requests: Mapping[str, int]
) -> dict[str, int]:
    load = load_of(engine.cluster)
    found = {}
    for index, resource in enumerate(engine.cluster.nodes.resources):
        share = limit.shares.get(resource, limit.share)
        if share is not None and requests.get(resource, 0):
            found[resource] = int(int(load.allocatable[index].sum()) * share)
    return found


NO_LIMIT: Final = UtilisationLimit()


def parse_limit(text: str) -> UtilisationLimit:
    """Raises InputError."""
    share: Fraction | None = None
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        read = _SHARE.fullmatch(part.strip())
        if read is None or Fraction(read[2]) > 100:
            raise InputError(f"--until {text}: {part.strip()!r} is no share", remedy=_REMEDY)
        fraction = Fraction(read[2]) / 100
        if read[1]:
            shares[read[1]] = fraction
        else:
            share = fraction
    return UtilisationLimit(share, shares)
