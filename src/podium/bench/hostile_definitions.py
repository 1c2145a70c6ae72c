"""Definitions, classes, webhooks and policies that are valid, as large as an object can be, and
hard to keep: whoever may create one must not hold up the server for all others.

Each fills one list of its kind, up to the size of an object in etcd or the number of values that
the server reads of a body. Tests bound the work that they cause.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from podium.bench.hostile_bodies import LazyTable
from podium.bench.hostile_pods import MAX_OBJECT_BYTES, Object, fill_room

_MAX_VALUES: Final = 73_500
"""Values that Podium's server reads of a body, but for those around what is filled."""
_VALUES_OF_CONTAINER: Final = 3
"""It reads so many fewer objects and lists than values."""


def _count_values(value: Any) -> int:
    if isinstance(value, dict):
        return _VALUES_OF_CONTAINER + sum(map(_count_values, value.values()))
    if isinstance(value, list | tuple):
        return _VALUES_OF_CONTAINER + sum(map(_count_values, value))
    return 1


def _room_of(entry: Any) -> int:
    """How many of the values of an object an entry takes the place of, by its size or number."""
    of_bytes = (len(msgspec.json.encode(entry)) + 1) * _MAX_VALUES
    return max(-(-of_bytes // (MAX_OBJECT_BYTES - 4_000)), _count_values(entry))


def fill(make: Callable[[int], Any]) -> list[Any]:
    return fill_room(make, _MAX_VALUES, _room_of)


def fill_map(make: Callable[[int], tuple[str, Any]]) -> dict[str, Any]:
    return dict(fill(make))


def make_definition(properties: Object, **version: Any) -> Object:
    schema = {"type": "object", "properties": {"spec": {"type": "object", **properties}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.hostile.example.com"},
        "spec": {
            "group": "hostile.example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }


def _nest(depth: int) -> Object:
    found: Object = {"type": "string"}
    for _ in range(depth):
        found = {"type": "object", "properties": {"a": found}}
    return found


def _rules(make: Callable[[int], str]) -> Object:
    return {
        "properties": {"n": {"type": "integer"}, "s": {"type": "string", "maxLength": 100}},
        "x-kubernetes-validations": fill(lambda n: {"rule": make(n), "message": "no"}),
    }


def _webhook(kind: str, make: Callable[[int], Object]) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "hostile"},
        "webhooks": fill(
            lambda n: {
                "name": f"w{n}.example.com",
                "clientConfig": {"url": "https://127.0.0.1:9/x"},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                **make(n),
            }
        ),
    }


def _policy(**spec: Any) -> Object:
    constraints = {
        "resourceRules": [
            {
                "apiGroups": ["none.example.com"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["things"],
            }
        ]
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "hostile"},
        "spec": {"matchConstraints": constraints, "validations": [{"expression": "true"}], **spec},
    }


def _slice(make: Callable[[int], Object]) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "hostile"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [make(n) for n in range(128)],
        },
    }


_RULE: Final = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["configmaps"],
}

DEFINITIONS: Final = LazyTable[Object](
    {
        "a definition of many fields": lambda: make_definition(
            {"properties": fill_map(lambda n: (f"f{n}", {"type": "string", "default": "x"}))}
        ),
        "a definition of deep fields": lambda: make_definition({"properties": {"a": _nest(60)}}),
        "a definition of many patterns": lambda: make_definition(
            {"properties": fill_map(lambda n: (f"f{n}", {"type": "string", "pattern": f"^a{n}$"}))}
        ),
        "a definition of a long enumeration": lambda: make_definition(
            {"properties": {"f": {"type": "string", "enum": fill(lambda n: f"v{n}")}}}
        ),
        "a definition of many required fields": lambda: make_definition(
            {"required": fill(lambda n: f"f{n}")}
        ),
        "a definition of many rules": lambda: make_definition(_rules(lambda n: f"self.n > {n}")),
        "a definition of equal rules": lambda: make_definition(_rules(lambda _: "self.n > 0")),
        "a definition of rules that match": lambda: make_definition(
            _rules(lambda n: f"self.s.matches('^a{n}+$')")
        ),
        "a definition of a long rule": lambda: make_definition(
            {
                "properties": {"n": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": " || ".join(["self.n > 1"] * 90_000)}],
            }
        ),
        "a definition of many columns": lambda: make_definition(
            {},
            additionalPrinterColumns=fill(
                lambda n: {"name": f"c{n}", "type": "string", "jsonPath": f".spec.f{n}"}
            ),
        ),
        "a definition of long columns": lambda: make_definition(
            {},
            additionalPrinterColumns=[
                {"name": "c", "type": "string", "jsonPath": ".spec" + ".a" * 600_000}
            ],
        ),
        "a definition of many selectable fields": lambda: make_definition(
            {}, selectableFields=fill(lambda n: {"jsonPath": f".spec.f{n}"})
        ),
        "a definition of many versions": lambda: {
            **(one := make_definition({})),
            "spec": {
                **one["spec"],
                "conversion": {"strategy": "None"},
                "versions": fill(
                    lambda n: {
                        **one["spec"]["versions"][0],
                        "name": f"v{n + 1}",
                        "storage": n == 0,
                    }
                ),
            },
        },
        "a definition of many names": lambda: {
            **(one := make_definition({})),
            "spec": {
                **one["spec"],
                "names": {**one["spec"]["names"], "shortNames": fill(lambda n: f"t{n}")},
            },
        },
        "validating webhooks": lambda: _webhook(
            "ValidatingWebhookConfiguration", lambda _: {"rules": [_RULE]}
        ),
        "mutating webhooks": lambda: _webhook(
            "MutatingWebhookConfiguration", lambda _: {"rules": []}
        ),
        "webhooks with conditions": lambda: _webhook(
            "ValidatingWebhookConfiguration",
            lambda n: {"matchConditions": [{"name": "c", "expression": f"object.n > {n}"}]},
        ),
        "a policy of many validations": lambda: _policy(
            validations=fill(lambda n: {"expression": f"object.spec.n > {n}"})
        ),
        "a policy of many variables": lambda: _policy(
            variables=fill(lambda n: {"name": f"v{n}", "expression": f"{n}"})
        ),
        "a policy of many conditions": lambda: _policy(
            matchConditions=fill(lambda n: {"name": f"c{n}", "expression": f"object.n > {n}"})
        ),
        "a slice of many attributes": lambda: _slice(
            lambda n: {
                "name": f"d{n}",
                "attributes": {f"a{i}": {"string": "x" * 60} for i in range(32)},
            }
        ),
        "a device class of many selectors": lambda: {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "hostile"},
            "spec": {
                "selectors": fill(
                    lambda n: {"cel": {"expression": f"device.driver == 'gpu{n}.example.com'"}}
                )
            },
        },
    }
)


def collection_of(body: Object) -> str:
    """Where such an object is created."""
    kind: str = body["kind"].lower()
    stem, ending = (kind[:-1], "ies") if kind.endswith("y") else (kind, "s")
    ending = "es" if kind.endswith("ss") else ending
    return f"/apis/{body['apiVersion']}/{stem}{ending}"
