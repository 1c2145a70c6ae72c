"""Bodies and queries that are as hard to serve as what fits into one request can be.

Each table is of one nature, each entry has once been slow or might be: many equal items, many
distinct ones, long texts, deep trees, lists that operations move about in. Tests bound the work
that they cause; `podium bench apiserver --measure hostile` says how many seconds they take. They
are all within the size that the server reads, so that it has to look at them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

T = TypeVar("T")

MAX_BODY_BYTES: Final = 3 << 20
"""What the API server reads of a request."""
SIZE: Final = MAX_BODY_BYTES - 200
ITEMS: Final = 24_000
MANY: Final = 70_000
OPERATIONS: Final = 9_990


class LazyTable(Mapping[str, T]):
    """Entries by name, each made when asked for: together they have over a hundred mebibytes."""

    def __init__(self, entries: Mapping[str, Callable[[], T]]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> T:
        return self._entries[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


# --- pods ---------------------------------------------------------------------------------------


def make_pod(**container: Any) -> dict[str, Any]:
    main = {"name": "main", "image": "nginx:1.27", **container}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hard"},
        "spec": {"containers": [main]},
    }


def _mount_files(paths: Iterable[str]) -> dict[str, Any]:
    items = [{"key": "k", "path": path} for path in paths]
    pod = make_pod()
    pod["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "c", "items": items}}]
    return pod


PODS: Final = LazyTable[dict[str, Any]](
    {
        "400 equal ports": lambda: make_pod(ports=[{"containerPort": 80}] * 400),
        "equal ports": lambda: make_pod(ports=[{"containerPort": 80}] * ITEMS),
        "ports that differ on the host": lambda: make_pod(
            ports=[{"containerPort": 80, "hostPort": 1 + number} for number in range(20_000)]
        ),
        "ports that differ by address": lambda: make_pod(
            ports=[
                {
                    "containerPort": 80,
                    "hostPort": 80,
                    "hostIP": f"10.0.{number >> 8}.{number & 255}",
                }
                for number in range(12_000)
            ]
        ),
        "equal variables": lambda: make_pod(env=[{"name": "A", "value": "b"}] * ITEMS),
        "equal files": lambda: _mount_files("a" for _ in range(ITEMS)),
        "files twice": lambda: _mount_files(f"x{number % 12_000}" for number in range(ITEMS)),
        "a deep directory": lambda: _mount_files("/".join("a" * depth) for depth in range(1, 1500)),
    }
)

NAMES: Final = [f"n{number}" for number in range(ITEMS)]
FINALIZERS: Final = [f"a/{name}" for name in NAMES]
POD_WITH_VOLUMES: Final[dict[str, Any]] = {
    "metadata": {"name": "v"},
    "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": name} for name in NAMES],
    },
}
POD_WITH_FINALIZERS: Final[dict[str, Any]] = {
    "metadata": {"name": "f", "finalizers": FINALIZERS},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
STRATEGIC_MERGES: Final = LazyTable[dict[str, Any]](
    {
        "an order of objects": lambda: {
            "spec": {
                "$setElementOrder/volumes": [{"name": name} for name in reversed(NAMES)],
                "volumes": [{"name": "v"}],
            }
        },
        "an order of texts": lambda: {
            "metadata": {
                "$setElementOrder/finalizers": FINALIZERS[::-1],
                "finalizers": FINALIZERS[:1],
            }
        },
        "texts to delete": lambda: {
            "metadata": {"$deleteFromPrimitiveList/finalizers": FINALIZERS[::-1]}
        },
        "objects to delete": lambda: {
            "spec": {"volumes": [{"name": name, "$patch": "delete"} for name in reversed(NAMES)]}
        },
        "keys to retain": lambda: {
            "spec": {"volumes": [{"name": "n0", "$retainKeys": ["name", *NAMES]}]}
        },
        "keys to retain in each": lambda: {
            "spec": {
                "volumes": [{"name": name, "$retainKeys": ["name"]} for name in NAMES[: ITEMS // 2]]
            }
        },
        "a list to replace": lambda: {"spec": {"volumes": [{"$patch": "replace"}, {"name": "v"}]}},
    }
)
"""For the pods above."""

# --- metadata -----------------------------------------------------------------------------------

_LABELS: Final = {f"k{number}": "v" for number in range(MANY)}
METADATA: Final = LazyTable[dict[str, Any]](
    {
        "labels": lambda: {"labels": _LABELS},
        "annotations": lambda: {"annotations": _LABELS},
        "finalizers": lambda: {"finalizers": [f"a/f{number}" for number in range(MANY)]},
        "owners": lambda: {
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "K", "name": f"n{number}", "uid": f"u{number}"}
                for number in range(9_000)
            ]
        },
    }
)

# --- custom resources ---------------------------------------------------------------------------

QUEUE_SPECS: Final = LazyTable[dict[str, Any]](
    {
        "keyed items": lambda: {"items": [{"key": f"k{number}"} for number in range(ITEMS)]},
        "equal items": lambda: {"items": [{"key": "k"}] * ITEMS},
        "items without keys": lambda: {"items": [{}] * ITEMS},
        "items of another type": lambda: {"items": ["x"] * MANY},
        "fields to prune": lambda: {f"x{number}": 1 for number in range(MANY)},
        "fields to prune in items": lambda: {
            "items": [{"key": f"k{number}", "x": 1, "y": 2} for number in range(ITEMS)]
        },
        "unknown fields to keep": lambda: {
            "open": {f"x{number}": number for number in range(MANY)}
        },
        "lists to keep": lambda: {"open": {"x": [[number] for number in range(ITEMS)]}},
        "a long text": lambda: {"name": "a" * 2_900_000},
        "a text that does not match": lambda: {"name": "a" * 2_900_000 + "!"},
    }
)
"""Specs of the queues that `QUEUE_DEFINITION` defines."""
_QUEUE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "minimum": 1, "default": 2},
                "name": {"type": "string", "pattern": "^[a-z]+$"},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "items": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    "items": {
                        "type": "object",
                        "required": ["key"],
                        "properties": {"key": {"type": "string"}},
                    },
                },
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
QUEUE_DEFINITION: Final[dict[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "queues.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Queue", "plural": "queues"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "schema": {"openAPIV3Schema": _QUEUE_SCHEMA},
            }
        ],
    },
}

# --- JSON patches -------------------------------------------------------------------------------


def _nest(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"list": ["x"] * 100}
    for _ in range(depth):
        value = {"a": value}
    return value


_LONG_LIST: Final = ["x"] * 40_000
_DEEP: Final = f"/data/l{'/a' * 150}"
_REPEATED: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "add in front": (_LONG_LIST, {"op": "add", "path": "/data/l/0", "value": "y"}),
    "remove in front": (_LONG_LIST, {"op": "remove", "path": "/data/l/0"}),
    "test in front": (_LONG_LIST, {"op": "test", "path": "/data/l/0", "value": "x"}),
    "test a long list": (_LONG_LIST, {"op": "test", "path": "/data/l/39999", "value": "x"}),
    "move by one": (_LONG_LIST, {"op": "move", "from": "/data/l/0", "path": "/data/l/1"}),
    "move to the end": (_LONG_LIST, {"op": "move", "from": "/data/l/0", "path": "/data/l/-"}),
    "move to the front": (_LONG_LIST, {"op": "move", "from": "/data/l/39999", "path": "/data/l/0"}),
    "copy to the front": (_LONG_LIST, {"op": "copy", "from": "/data/l/39999", "path": "/data/l/0"}),
    "add deep down": (_nest(150), {"op": "add", "path": f"{_DEEP}/b", "value": 1}),
    "move deep down": (
        _nest(150),
        {"op": "move", "from": f"{_DEEP}/list", "path": f"{_DEEP}/list"},
    ),
    "test deep down": (
        _nest(150),
        {"op": "test", "path": f"/data/l{'/a' * 100}", "value": _nest(50)},
    ),
}
JSON_PATCHES: Final[dict[str, list[dict[str, Any]]]] = {
    what: [
        {"op": "add", "path": "/data", "value": {"l": content}},
        *[operation] * min(OPERATIONS, 2_500_000 // (len(str(operation)) + 20)),
    ]
    for what, (content, operation) in _REPEATED.items()
}
JSON_PATCHES["test a whole map"] = [
    {"op": "add", "path": "/data", "value": {"l": ["x"] * 30_000}},
    *[{"op": "test", "path": "/data", "value": None}] * 1_000,
]
COPIES_OF_COPIES: Final = [
    {"op": "copy", "from": "/metadata", "path": f"/metadata/x{number}"} for number in range(60)
]

# --- texts of other formats ---------------------------------------------------------------------

_NAMED: Final = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n"
YAML: Final = LazyTable[bytes](
    {
        "a flow list": lambda: _NAMED + b"x: [" + b"a," * (SIZE // 2) + b"a]",
        "a block list": lambda: _NAMED + b"x:\n" + b"- a\n" * (SIZE // 4),
        "numbers": lambda: _NAMED + b"x: [" + b"1," * (SIZE // 2) + b"1]",
        "objects": lambda: _NAMED + b"x: [" + b"{}," * (SIZE // 3) + b"{}]",
        "a map": lambda: (
            _NAMED + b"x:\n" + b"".join(b" k%d: 1\n" % number for number in range(240_000))
        ),
        "anchors": lambda: _NAMED + b"x: [" + b"&a b," * (SIZE // 5) + b"b]",
        "aliases": lambda: _NAMED + b"b: &b c\nx: [" + b"*b," * (SIZE // 3) + b"b]",
        "tags": lambda: _NAMED + b"x: [" + b"!!str a," * (SIZE // 8) + b"a]",
        "documents": lambda: b"---\n" * (SIZE // 4),
        "comments": lambda: _NAMED + b"#\n" * (SIZE // 2),
        "directives": lambda: b"".join(b"%%TAG !a%d! x\n" % number for number in range(180_000)),
        "nested lists": lambda: _NAMED + b"x: " + b"[" * SIZE,
        "a long text": lambda: _NAMED + b"x: " + b"y" * SIZE,
        "a folded text": lambda: _NAMED + b"x: >\n" + b" y\n" * (SIZE // 3),
        "a long number": lambda: _NAMED + b"x: " + b"1" * SIZE,
    }
)
JSON: Final = LazyTable[bytes](
    {
        "repeated fields": lambda: b'{"data":{' + b'"a":"",' * (SIZE // 7) + b'"a":""}}',
        "repeated distinct fields": lambda: (
            b'{"data":{'
            + b",".join(b'"%d":"","%d":""' % (number, number) for number in range(36_000))
            + b"}}"
        ),
        "unknown fields": lambda: (
            b"{" + b",".join(b'"x%d":1' % number for number in range(74_000)) + b"}"
        ),
        "escapes": lambda: b'{"data":{"a":"' + b"\\u0041" * (SIZE // 6) + b'"}}',
        "half characters": lambda: b'{"data":{"a":"' + b"\\ud800" * (SIZE // 6) + b'"}}',
        "a long key": lambda: b'{"data":{"' + b"k" * SIZE + b'":""}}',
        "a long number": lambda: b'{"data":{"a":' + b"9" * SIZE + b"}}",
        "an unclosed text": lambda: b'{"data":{"a":"' + b"x" * SIZE,
        "space": lambda: b'{"data":' + b" " * SIZE + b"}",
    }
)


def _field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message that has a length."""
    length, left = bytearray(), len(content)
    while left > 127:
        length.append(left & 127 | 128)
        left >>= 7
    length.append(left)
    return bytes([number << 3 | 2]) + bytes(length) + content


def _envelop(kind: str, message: bytes) -> bytes:
    described = _field(1, b"v1") + _field(2, kind.encode())
    return b"k8s\x00" + _field(1, described) + _field(2, message)


def _envelop_pod(spec: bytes) -> bytes:
    return _envelop("Pod", _field(1, _field(1, b"p")) + _field(2, spec))


PROTOBUF: Final = LazyTable[bytes](
    {
        "empty containers": lambda: _envelop_pod(_field(2, b"") * (SIZE // 2)),
        "empty variables": lambda: _envelop_pod(_field(2, _field(7, b"") * (SIZE // 2 - 10))),
        "the same number": lambda: _envelop_pod(b"\x20\x01" * (SIZE // 2)),
        "unknown fields": lambda: _envelop_pod(b"\x88\x7d\x01" * (SIZE // 3)),
        "empty entries": lambda: _envelop("ConfigMap", _field(2, b"") * (SIZE // 2)),
        "envelopes": lambda: b"k8s\x00" + _field(1, b"") * (SIZE // 2),
        "messages": lambda: b"k8s\x00" + _field(2, b"") * (SIZE // 2),
    }
)

# --- queries ------------------------------------------------------------------------------------

QUERIES: Final = LazyTable[str](
    {
        "labels": lambda: "labelSelector=" + ",".join(f"k{n}%3Dv{n}" for n in range(MANY)),
        "values": lambda: "labelSelector=k in (" + ",".join(f"v{n}" for n in range(120_000)) + ")",
        "values that are not": lambda: (
            "labelSelector=k notin (" + ",".join("v" for n in range(400_000)) + ")"
        ),
        "not": lambda: "labelSelector=" + "!" * 1_000_000,
        "equal": lambda: "labelSelector=" + "%3D" * 300_000,
        "open": lambda: "labelSelector=" + "(" * 1_000_000,
        "long": lambda: "labelSelector=" + "a" * 1_000_000,
        "fields": lambda: "fieldSelector=" + ",".join("metadata.name!%3Dx" for _ in range(55_000)),
        "escapes": lambda: "fieldSelector=" + "\\" * 1_000_000,
        "percent": lambda: "labelSelector=" + "%61" * 340_000,
        "many parameters": lambda: "&".join(f"p{n}=1" for n in range(110_000)),
        "the same parameter": lambda: "&".join("labelSelector=a" for n in range(60_000)),
    }
)
