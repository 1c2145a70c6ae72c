"""Device selectors: expressions over one variable, `device`.

A device is converted once into the maps that expressions read and can then be tested with any
number of selectors. The outer maps give an empty map for a domain they do not have; the inner ones
are ordinary, so a missing attribute is an error. Source: `DeviceMatches` and `newCompiler` in
`staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go`.

With the gate DRAListTypeAttributes (`lists`) an attribute may be a list. Expressions are checked as
those of stored objects are, so `includes` may be called whether it is on or not.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from podium.kubernetes.cel.costs.sizes import VALUES, Declared, Size, SizeOfPath, size_of_path
from podium.kubernetes.cel.environment import Environment, Program
from podium.kubernetes.cel.errors import CelError, CompileError
from podium.kubernetes.cel.evaluation import Meter
from podium.kubernetes.cel.functions.quantities import quantity_of
from podium.kubernetes.cel.functions.versions import VersionError, parse_version
from podium.kubernetes.cel.types import (
    ANY,
    BOOL,
    DYN,
    QUANTITY,
    STRING,
    map_of,
    object_type,
)
from podium.kubernetes.cel.values import type_name
from podium.kubernetes.kinds.devices import DeviceAttribute, DeviceCapacity

_DEVICE = object_type("kubernetes.DRADevice")
_MAX_ENTRIES = 32
"""Attributes and capacities of a device."""
_MAX_ATTRIBUTE = 64
"""Characters of an attribute's value, which is also more than the values of one that is a list."""


def _declare_domains(value: Declared) -> Declared:
    """Domain → name → value."""
    key = Declared(STRING, max_elements=32)
    inner = Declared(map_of(STRING, value.type), _MAX_ENTRIES, key=key, element=value)
    domain = Declared(STRING, max_elements=63)
    return Declared(map_of(STRING, inner.type), _MAX_ENTRIES, key=domain, element=inner)


@cache
def _environment(lists: bool) -> Environment:
    # A type that is only known when it is there cannot be looped over unless it is dynamic.
    attribute = Declared(DYN if lists else ANY, max_elements=_MAX_ATTRIBUTE)
    fields = {
        "driver": Declared(STRING, max_elements=63),
        "allowMultipleAllocations": Declared(BOOL, max_elements=1),
        "attributes": _declare_domains(attribute),
        "capacity": _declare_domains(Declared(QUANTITY)),
    }
    return Environment(
        {"device": _DEVICE},
        {_DEVICE: {name: field.type for name, field in fields.items()}},
        size_of_path=_sizes_below(Declared(_DEVICE, fields=fields)),
    )


def _sizes_below(device: Declared) -> SizeOfPath:
    """Sizes below `device`; every attribute has the same, whatever its name is."""
    known_sizes = size_of_path(device)

    def size(path: Sequence[str]) -> Size | None:
        if path[0] != "device":
            return None
        *above, last = path
        known = known_sizes(path)
        if known is not None or not above:
            return known
        is_attribute = above[1:2] == ["attributes"] and len(above) == 3 and not last.startswith("@")
        return known_sizes((*above, VALUES)) if is_attribute else None

    return size


_EMPTY: dict[str, Any] = {}


class _Domains(dict[str, dict[str, Any]]):
    """Domain → name → value; a domain that is not there reads as an empty one."""

    def __missing__(self, domain: str) -> dict[str, Any]:
        return _EMPTY


class CelSelector:
    """A compiled selector."""

    __slots__ = ("_program", "expression")

    def __init__(self, expression: str, program: Program) -> None:
        self.expression = expression
        self._program = program

    @property
    def max_cost(self) -> int:
        """What testing one device may cost at worst."""
        return self._program.max_cost

    def matches(self, device: Mapping[str, Any], meter: Meter | None = None) -> bool:
        """Whether a device view passes; raises CelError with the text users see. A meter tells
        afterwards what it has cost, if the expression is one that can get expensive."""
        result = self._program.run(device, meter=meter)
        if type(result) is not bool:
            kind = type_name(result)
            raise CelError(
                f"CEL result of type {kind} could not be converted to bool: "
                f"type conversion error from '{kind}' to 'bool'"
            )
        return result


@lru_cache(maxsize=4096)
def compile_selector(expression: str, *, lists: bool = False) -> CelSelector:
    """The selector for an expression; raises CompileError with the text users see."""
    try:
        program = _environment(lists).compile(expression)
    except CompileError as problem:
        raise CompileError(f"compilation failed: {problem}") from None
    if program.result not in (BOOL, ANY, *((DYN,) if lists else ())):
        raise CompileError(f"must evaluate to bool or the unknown type, not {program.result}")
    return CelSelector(expression, program)


def device_view(
    driver: str,
    *,
    multiple: bool,
    attributes: Mapping[str, DeviceAttribute] | None,
    capacity: Mapping[str, DeviceCapacity] | None,
    lists: bool = False,
) -> dict[str, Any]:
    """What the variable `device` holds; raises CelError if an attribute has no usable value. One
    that is a list has one only if `lists` says so."""
    attribute_domains = _Domains()
    for name, attribute in (attributes or {}).items():
        domain, key = _split(name, driver)
        attribute_domains.setdefault(domain, {})[key] = _attribute_value(
            name, attribute, lists=lists
        )
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


def _attribute_value(name: str, attribute: DeviceAttribute, *, lists: bool) -> Any:
    if lists:
        for values in (attribute.ints, attribute.bools, attribute.strings):
            if values is not None:
                return list(values)
        if attribute.versions is not None:
            return [_version(name, text) for text in attribute.versions]
    if attribute.int_ is not None:
        return attribute.int_
    if attribute.bool_ is not None:
        return attribute.bool_
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _version(name, attribute.version)
    raise CelError(f"attribute {name}: unsupported attribute value")


def _version(name: str, text: str) -> Any:
    try:
        return parse_version(text)
    except VersionError as problem:
        raise CelError(f"attribute {name}: parse semantic version: {problem}") from None
