"""Objects, patches and bodies that went wrong in one place or in many, for fuzzing."""

import copy
import json
from typing import Any

import yaml
from hypothesis import strategies as st
from support.apiserver.schema_values import json_values, objects_of
from support.apiserver.smallest_objects import KINDS, smallest

from podium.bench.hostile_bodies import QUEUE_DEFINITION
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import schema_of

CUSTOM = ApiResource(
    "example.com", "v1", "Queue", "queues", "queue", namespaced=True, is_custom=True
)
QUEUE = {"spec": {"replicas": 3, "name": "abc", "items": [{"key": "a"}], "open": {"x": [1]}}}

DEEP: Any = "x"
for _ in range(80):
    DEEP = {"spec": [DEEP]}

ODD_TEXTS = st.sampled_from(
    (
        "", " ", "a", "A_b", "a" * 300, "\x00", "\x7f", "\u00e9", "\U0001f4a5", "\ud800", "-1",
        "0", "1e400", "99999999999999999999Gi", "1e99999", "0x10", "NaN", "Inf", "1.5.5", "%",
        "../..", "a/b/c", "$(X)", "2026-13-45T00:00:00Z", "9999-12-31T23:59:60Z",
        "0001-01-01T00:00:00Z", "100%", "-5%", "10.0.0.1", "::1", "[a", "(a+)+$", "*", "==",
        "k in (a", "!k", "true", "null", "{}", "\r\n", "b" * 70 + "." + "c" * 70,
    )
)  # fmt: skip
_ODD_SCALARS = st.one_of(
    ODD_TEXTS,
    st.sampled_from((None, True, False, 0, -1, 1 << 31, 1 << 63, -(1 << 63) - 1, 1 << 70, 10**400)),
    st.sampled_from((1.5, -0.0, 1e308, 1e-320)),
)
_ODD_VALUES = st.one_of(
    _ODD_SCALARS,
    st.sampled_from(
        (
            [], {}, [[]], [None], [{}], {"": ""}, {"a": None}, {"$patch": "delete"},
            [{"$patch": "replace"}],
            {"$retainKeys": ["x"]}, {"$deleteFromPrimitiveList/x": [1]},
            {"$setElementOrder/containers": [1]},
            {"$setElementOrder/containers": [{"name": "main"}],
            "containers": [{"$patch": "delete"}]},
            {"f:metadata": {"f:labels": {".": {}}}}, [1, "a", None, {}], {"name": {"name": []}},
            DEEP,
        )
    ),
    json_values,
    st.lists(_ODD_SCALARS, max_size=3),
)  # fmt: skip
_ODD_KEYS = st.one_of(
    ODD_TEXTS,
    st.sampled_from(
        (
            "name", "namespace", "labels", "annotations", "finalizers", "ownerReferences",
            "managedFields", "uid", "resourceVersion", "generation", "creationTimestamp",
            "deletionTimestamp", "generateName", "deletionGracePeriodSeconds", "spec", "status",
            "data", "metadata", "kind", "apiVersion", "$patch", "containers", "replicas",
            "selector", "matchExpressions", "nodeName", "conditions", "volumes",
        )
    ),
)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, value: Any, most: int = 3) -> Any:
    """The value with some of its parts replaced, removed or added."""
    root = {"": copy.deepcopy(value)}
    for _ in range(draw(st.integers(0, most))):
        holder: Any = root
        key: Any = ""
        while isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 5)):
            holder = holder[key]
            keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
            key = draw(st.sampled_from(keys))
        match draw(st.integers(0, 3)):
            case 0 if isinstance(holder[key], dict):
                holder[key] = {**holder[key], draw(_ODD_KEYS): copy.deepcopy(draw(_ODD_VALUES))}
            case 1 if isinstance(holder[key], list):
                holder[key] = [*holder[key], *holder[key], copy.deepcopy(draw(_ODD_VALUES))]
            case 2 if holder is not root:
                del holder[key]
            case _:
                holder[key] = copy.deepcopy(draw(_ODD_VALUES))
    return root[""]


def _written(resource: ApiResource) -> dict[str, Any]:
    if resource == CUSTOM:
        known: dict[str, Any] = {"metadata": {"name": "a"}, **QUEUE}
    elif resource in KINDS:
        known = smallest(resource)
    elif resource.kind == "CustomResourceDefinition":
        return QUEUE_DEFINITION
    else:
        known = {"metadata": {"name": "a"}}
    return {"apiVersion": resource.api_version, "kind": resource.kind, **known}


def bodies(resource: ApiResource) -> st.SearchStrategy[Any]:
    """Objects of a resource's kind: small ones, and ones with any of its fields."""
    written = _written(resource)
    if resource == CUSTOM:
        return spoilt(written)
    schema = schema_of(resource.group, resource.version, resource.kind)
    rich = objects_of(schema).map(lambda found: {**found, "metadata": written.get("metadata", {})})
    return st.one_of(spoilt(written), rich.flatmap(lambda found: spoilt(found, 1)))


_POINTERS = st.sampled_from(
    (
        "", "/", "/metadata", "/metadata/labels", "/metadata/labels/a", "/metadata/name", "/spec",
        "/spec/containers", "/spec/containers/0", "/spec/containers/0/image", "/spec/containers/-",
        "/spec/containers/-1", "/~", "/~2", "/spec/containers/99999999999999999999", "/a~1b", "x",
        "/status", "/kind", "/data",
    )
)  # fmt: skip
JSON_PATCHES = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(("add", "remove", "replace", "move", "copy", "test")),
                "path": _POINTERS,
            },
            optional={"from": _POINTERS, "value": _ODD_VALUES},
        ),
        _ODD_VALUES,
    ),
    max_size=4,
)

BOMB = b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (level, level, b",".join([b"*a%d" % (level - 1)] * 10))
    for level in range(1, 10)
)
"""YAML whose aliases stand for ten billion values."""
RAW_BODIES = st.one_of(
    st.binary(max_size=60),
    st.binary(max_size=60).map(lambda tail: b"k8s\x00" + tail),
    st.sampled_from(
        (
            b"", b"null", b"[]", b"{", b"0", b'"x"', b"{}", b"[" * 100_000, b'{"a":' * 5000,
            b"[" * 5000 + b"]" * 5000, b'{"metadata":{"name":"\xff\xfe"}}',
            b'{"kind":"Pod","kind":"Pod","apiVersion":"v1"}',
            b'{"apiVersion":"v1","kind":"Pod","spec":{"priority":' + b"9" * 5000 + b"}}",
            b'{"a":1e999}', b'{"a":NaN}', b'{"a":"\\ud800"}', b'{"a":"\\u0000"}',
            b"\xef\xbb\xbf{}", b"\x00", b"- a\n- b\n", b"a: &a [*a]\n", b"? {a: b}\n: c\n",
            BOMB,
            b"!!python/object/apply:os.system [ls]", b"--- {}\n--- {}\n",
            b"a: 2026-01-01\nb: 0o17\n1: 2\nnull: 3\n", b"%YAML 9.9\n",
        )
    ),
)  # fmt: skip


def encoded(value: Any, media_type: str) -> bytes:
    if "yaml" in media_type:
        try:
            return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")
        except (yaml.YAMLError, RecursionError):
            pass
    return json.dumps(value).encode()
