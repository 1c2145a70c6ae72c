"""Conditions that tie the devices of a claim together: same attribute, or different ones.

A constraint is told of every device that is picked or given back and says whether a pick still
satisfies it.

Sources: `matchAttributeConstraint` in `allocator_incubating.go` and `distinctAttributeConstraint`
in `constraint.go`, both in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating`.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.devices import DeviceAttribute, DeviceConstraint
from podium.scheduler.plugins.dynamic_resources.inventory import Content

Value = tuple[str, object]
"""The type and a value of an attribute."""

Values = frozenset[Value]
"""All values of an attribute: one, or with the gate DRAListTypeAttributes those of a list. Without
it a list has none."""


class EmptyConstraintError(ValueError):
    """A constraint of no known kind."""


class Constraint:
    """What both kinds share: which requests they are about, and the attribute they read."""

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool) -> None:
        self._requests = frozenset(requests)
        self._attribute = attribute
        self._lists = lists

    def concerns(self, request: str, alternative: str) -> bool:
        """Whether picks for a request (or its alternative) are bound by this constraint."""
        return (
            not self._requests
            or request in self._requests
            or (bool(alternative) and f"{request}/{alternative}" in self._requests)
        )

    def add(self, request: str, content: Content) -> bool:
        """Take note of a pick if it satisfies the constraint."""
        raise NotImplementedError

    def remove(self, request: str) -> None:
        """Undo a successful `add`."""
        raise NotImplementedError


class MatchAttribute(Constraint):
    """All devices must have the same value, or all lists of values one in common."""

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool = False) -> None:
        super().__init__(requests, attribute, lists=lists)
        self._common: list[Values] = []
        """What the picks so far have in common, after each of them."""

    def add(self, request: str, content: Content) -> bool:  # noqa: ARG002
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        values = values_of(attribute, lists=self._lists)
        common = values & self._common[-1] if self._common else values
        if not common and (self._common or self._lists):
            return False
        self._common.append(common)
        return True

    def remove(self, request: str) -> None:  # noqa: ARG002
        self._common.pop()


class DistinctAttribute(Constraint):
    """All devices must have different values, or lists without a value in common.

    upstream: one value is remembered per request, the latest, and giving a device back forgets it.
    A request for several devices is therefore compared with its last pick only.
    """

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool = False) -> None:
        super().__init__(requests, attribute, lists=lists)
        self._values: dict[str, Values] = {}
        self._count = 0

    def add(self, request: str, content: Content) -> bool:
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        values = values_of(attribute, lists=self._lists)
        if self._count:
            others = self._values.values()
            if not values and (others or self._lists):
                return False
            if any(values & other for other in others):
                return False
        self._values[request] = values
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        self._values.pop(request, None)
        self._count -= 1


def constraint_of(written: DeviceConstraint, *, lists: bool) -> Constraint:
    """`lists` is the gate DRAListTypeAttributes."""
    requests = written.requests or ()
    if written.match_attribute is not None:
        return MatchAttribute(requests, written.match_attribute, lists=lists)
    if written.distinct_attribute is not None:
        return DistinctAttribute(requests, written.distinct_attribute, lists=lists)
    raise EmptyConstraintError("empty constraint (unsupported constraint type?)")


def values_of(attribute: DeviceAttribute, *, lists: bool) -> Values:
    """The values of an attribute, each with its type."""
    if lists:
        for kind, listed in (
            ("int", attribute.ints),
            ("bool", attribute.bools),
            ("string", attribute.strings),
            ("version", attribute.versions),
        ):
            if listed:
                return frozenset((kind, value) for value in listed)
    for kind, value in (
        ("string", attribute.string),
        ("int", attribute.int_),
        ("bool", attribute.bool_),
        ("version", attribute.version),
    ):
        if value is not None:
            return frozenset({(kind, value)})
    return frozenset()
