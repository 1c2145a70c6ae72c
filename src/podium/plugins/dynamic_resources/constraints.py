"""Conditions that tie the devices of a claim together: same attribute, or different ones.

A constraint is told of every device that is picked or given back and says whether a pick still
satisfies it (spec 8.6).
"""

from collections.abc import Sequence

from podium.api.devices import DeviceAttribute, DeviceConstraint
from podium.plugins.dynamic_resources.inventory import Content

Value = tuple[str, object]
"""The type and the value of an attribute; list attributes have no value here."""


class EmptyConstraintError(ValueError):
    """A constraint of no known kind."""


class Constraint:
    """What both kinds share: which requests they are about, and the attribute they read."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._attribute = attribute

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
    """All devices must have the same value."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self._value: Value | None = None
        self._count = 0

    def add(self, request: str, content: Content) -> bool:  # noqa: ARG002
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        value = _value_of(attribute)
        if self._count and (value is None or value != self._value):
            return False
        if not self._count:
            self._value = value
        self._count += 1
        return True

    def remove(self, request: str) -> None:  # noqa: ARG002
        self._count -= 1


class DistinctAttribute(Constraint):
    """All devices must have different values.

    upstream: one value is remembered per request, the latest, and giving a device back forgets it.
    A request for several devices is therefore compared with its last pick only.
    """

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self._values: dict[str, Value | None] = {}
        self._count = 0

    def add(self, request: str, content: Content) -> bool:
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        value = _value_of(attribute)
        if self._count and self._values and (value is None or value in self._values.values()):
            return False
        self._values[request] = value
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        self._values.pop(request, None)
        self._count -= 1


def constraint_of(written: DeviceConstraint) -> Constraint:
    requests = written.requests or ()
    if written.match_attribute is not None:
        return MatchAttribute(requests, written.match_attribute)
    if written.distinct_attribute is not None:
        return DistinctAttribute(requests, written.distinct_attribute)
    raise EmptyConstraintError("empty constraint (unsupported constraint type?)")


def _value_of(attribute: DeviceAttribute) -> Value | None:
    if attribute.string is not None:
        return "string", attribute.string
    if attribute.int_ is not None:
        return "int", attribute.int_
    if attribute.bool_ is not None:
        return "bool", attribute.bool_
    if attribute.version is not None:
        return "version", attribute.version
    return None
