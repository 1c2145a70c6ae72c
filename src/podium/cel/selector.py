"""Device selectors: expressions over one variable, `device`.

A device is converted once into the maps that expressions read and can then be tested with any
number of selectors. The outer maps give an empty map for a domain they do not have; the inner ones
are ordinary, so a missing attribute is an error. Contract: spec 9.1 to 9.3.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from podium.api.devices import DeviceAttribute, DeviceCapacity
from podium.cel.costs.declarations import VALUES, Declared, size_of_path
from podium.cel.costs.sizes import Size
from podium.cel.environment import Environment, Program
from podium.cel.errors import CelError, CompileError
from podium.cel.functions.quantities import quantity_of
from podium.cel.functions.versions import VersionError, parse_version
from podium.cel.types import (
    ANY,
    BOOL,
    QUANTITY,
    STRING,
    map_of,
    object_type,
)
from podium.cel.values import type_name

_DEVICE = object_type("kubernetes.DRADevice")
_MAX_ENTRIES = 32
"""Attributes and capacities of a device."""
_ATTRIBUTE = Declared(ANY, max_elements=64)


def _declare_domains(value: Declared) -> Declared:
    """Domain → name → value."""
    key = Declared(STRING, max_elements=32)
    inner = Declared(map_of(STRING, value.type), _MAX_ENTRIES, key=key, element=value)
    domain = Declared(STRING, max_elements=63)
    return Declared(map_of(STRING, inner.type), _MAX_ENTRIES, key=domain, element=inner)


_DECLARED = Declared(
    _DEVICE,
    fields={
        "driver": Declared(STRING, max_elements=63),
        "allowMultipleAllocations": Declared(BOOL, max_elements=1),
        "attributes": _declare_domains(_ATTRIBUTE),
        "capacity": _declare_domains(Declared(QUANTITY)),
    },
)


def _size_of_path(path: Sequence[str]) -> Size | None:
    """Sizes below `device`; every attribute has the same, whatever its name is."""
    if path[0] != "device":
        return None
    *above, last = path
    known = _KNOWN_SIZES(path)
    if known is None and above:
        parent = _KNOWN_SIZES((*above, VALUES))
        is_attribute = above[1:2] == ["attributes"] and len(above) == 3 and not last.startswith("@")
        return parent if is_attribute else None
    return known


_KNOWN_SIZES = size_of_path(_DECLARED)
_ENVIRONMENT = Environment(
    {"device": _DEVICE},
    {_DEVICE: {name: field.type for name, field in _DECLARED.fields.items()}},
    size_of_path=_size_of_path,
)
_EMPTY: dict[str, Any] = {}


class _Domains(dict[str, dict[str, Any]]):
    """Domain → name → value; a domain that is not there reads as an empty one."""

    def __missing__(self, domain: str) -> dict[str, Any]:
        return _EMPTY


class Selector:
    """A compiled selector."""

    __slots__ = ("_program", "expression")

    def __init__(self, expression: str, program: Program) -> None:
        self.expression = expression
        self._program = program

    @property
    def max_cost(self) -> int:
        """What testing one device may cost at worst."""
        return self._program.max_cost

    def matches(self, device: Mapping[str, Any]) -> bool:
        """Whether a device view passes; raises CelError with the text users see."""
        result = self._program.run(device)
        if type(result) is not bool:
            kind = type_name(result)
            raise CelError(
                f"CEL result of type {kind} could not be converted to bool: "
                f"type conversion error from '{kind}' to 'bool'"
            )
        return result


@lru_cache(maxsize=4096)
def compile_selector(expression: str) -> Selector:
    """The selector for an expression; raises CompileError with the text users see."""
    try:
        program = _ENVIRONMENT.compile(expression)
    except CompileError as problem:
        raise CompileError(f"compilation failed: {problem}") from None
    if program.result not in (BOOL, ANY):
        raise CompileError(f"must evaluate to bool or the unknown type, not {program.result}")
    return Selector(expression, program)


def device_view(
    driver: str,
    *,
    multiple: bool,
    attributes: Mapping[str, DeviceAttribute] | None,
    capacity: Mapping[str, DeviceCapacity] | None,
) -> dict[str, Any]:
    """What the variable `device` holds; raises CelError if an attribute has no usable value."""
    attribute_domains = _Domains()
    for name, attribute in (attributes or {}).items():
        domain, key = _split(name, driver)
        attribute_domains.setdefault(domain, {})[key] = _attribute_value(name, attribute)
    capacity_domains = _Domains()
    for name, amount in (capacity or {}).items():
        domain, key = _split(name, driver)
        capacity_domains.setdefault(domain, {})[key] = quantity_of(amount.value)
    return {
        "driver": driver,
        "allowMultipleAllocations": multiple,
        "attributes": attribute_domains,
        "capacity": capacity_domains,
    }


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, key = name.partition("/")
    return (domain, key) if slash else (driver, name)


def _attribute_value(name: str, attribute: DeviceAttribute) -> Any:
    if attribute.int_ is not None:
        return attribute.int_
    if attribute.bool_ is not None:
        return attribute.bool_
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        try:
            return parse_version(attribute.version)
        except VersionError as problem:
            raise CelError(f"attribute {name}: parse semantic version: {problem}") from None
    raise CelError(f"attribute {name}: unsupported attribute value")
