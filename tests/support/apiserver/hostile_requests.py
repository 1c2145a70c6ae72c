"""Requests that nobody in their right mind would send, for fuzzing the API server.

They start from what is right (served resources, stored objects, valid options) and go wrong in
one place or in many, so that they reach every depth of the server: its paths, its selectors, its
decoders, its validation, its patches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from support.apiserver.hostile_values import (
    CUSTOM,
    JSON_PATCHES,
    ODD_TEXTS,
    RAW_BODIES,
    bodies,
    encoded,
    spoilt,
)

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import builtin_resources


@dataclass(frozen=True)
class Hostile:
    """One request as it comes off the wire."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        shown = self.body if len(self.body) < 2000 else self.body[:2000] + b"..."
        return f"{self.method} {self.path}?{self.query} {dict(self.headers)} {shown!r}"


_SUBRESOURCE_BODIES: dict[str, Any] = {
    "binding": {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "a"},
    },
    "eviction": {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "a"},
        "deleteOptions": {"gracePeriodSeconds": 0, "preconditions": {"uid": "x"}},
    },
    "scale": {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a"},
        "spec": {"replicas": 3},
    },
}
_DELETE_OPTIONS = {
    "apiVersion": "v1",
    "kind": "DeleteOptions",
    "gracePeriodSeconds": 5,
    "propagationPolicy": "Foreground",
    "preconditions": {"uid": "x", "resourceVersion": "1"},
    "dryRun": ["All"],
}
_METHODS = st.sampled_from(
    ("GET", "GET", "POST", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "FOO")
)  # fmt: skip
_SUBRESOURCES = st.sampled_from(
    (
        "", "", "", "status", "scale", "binding", "eviction", "log", "exec", "attach",
        "portforward", "finalize", "ephemeralcontainers", "resize", "proxy", "status/x", "odd",
        "%73tatus",
    )
)  # fmt: skip
_NAMESPACES = st.sampled_from(
    ("ns", "ns", "ns", "default", "missing", "", "A_b", "%2e%2e", "a%2Fb", "%00", "%ff", "a" * 300)
)  # fmt: skip
_NAMES = st.one_of(
    st.sampled_from(("", "", "a", "a", "b", "missing", "queues.example.com", "..", "a b")),
    st.sampled_from(("%61", "%", "%zz", "%00", "%ff%fe", "%2F", "a%2Fb", "b" * 1000, "*", "a;b")),
)  # fmt: skip
_OTHER_PATHS = st.one_of(
    st.sampled_from(
        (
            "", "/", "//", "/api", "/apis", "/api/v1", "/api/v2", "/apis/apps", "/apis/apps/v1",
            "/apis/apps/v2", "/apis/none/v1", "/version", "/healthz", "/livez/ping", "/readyz",
            "/readyz/", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1",
            "/openapi/v3/apis/apps/v1", "/openapi/v3/../..", "/metrics", "/api/v1/watch/pods",
            "/api/v1/watch/namespaces/default/pods/a", "/api/v1/namespaces//pods",
            "/api/v1/namespaces/default/pods/a/status/b/c", "/apis//v1/pods", "/api//v1/pods",
            "api/v1/pods", "/api/v1/proxy/x", "/%2e%2e/etc/passwd", "/API/V1/PODS",
        )
    ),
    st.text(st.characters(max_codepoint=255, exclude_characters="?#"), max_size=30).map(
        lambda text: "/" + text
    ),
)  # fmt: skip

_SELECTORS = st.one_of(
    st.sampled_from(
        (
            "app=a", "app!=a", "app in (a,b)", "!app", "app", "app notin (a)", "a>1", "a<b",
            "app=a,", ",", "(", "x=", "metadata.name=a", "spec.nodeName=", "status.phase!=Running",
            "metadata.name=a,spec.nodeName=b", "odd=1", "metadata.name=a\\,b", "metadata.name=\\",
            "spec.schedulerName==x", "app in (" + "a," * 500 + ")",
        )
    ),
    ODD_TEXTS,
)  # fmt: skip
_QUERY_VALUES: dict[str, st.SearchStrategy[str]] = {
    "labelSelector": _SELECTORS,
    "fieldSelector": _SELECTORS,
    "limit": st.sampled_from(("1", "0", "-1", "x", "99999999999999999999", "9" * 5000)),
    "continue": st.one_of(
        st.sampled_from(
            (
                "x",
                "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0",
                "e30",
                "bnVsbA",
                "W10",
                "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Ii0xIiwic3RhcnQiOjF9",
                "eyJydiI6LTF9",
                "=",
            )
        ),
        ODD_TEXTS,
    ),
    "resourceVersion": st.sampled_from(
        ("0", "", "1", "5", "999", "-1", "abc", "18446744073709551616", "9" * 5000, "\u0661")
    ),
    "resourceVersionMatch": st.sampled_from(("Exact", "NotOlderThan", "odd", "")),
    "watch": st.sampled_from(("true", "1", "false", "", "odd")),
    "timeoutSeconds": st.sampled_from(("1", "0", "-5", "x", "1e3", "9" * 5000)),
    "allowWatchBookmarks": st.sampled_from(("true", "false", "odd")),
    "sendInitialEvents": st.sampled_from(("true", "false", "odd")),
    "dryRun": st.sampled_from(("All", "odd", "")),
    "fieldManager": st.one_of(st.just("me"), ODD_TEXTS),
    "fieldValidation": st.sampled_from(("Strict", "Warn", "Ignore", "odd", "")),
    "force": st.sampled_from(("true", "false", "odd")),
    "gracePeriodSeconds": st.sampled_from(("0", "-1", "30", "x", "99999999999999999999")),
    "propagationPolicy": st.sampled_from(("Foreground", "Background", "Orphan", "odd")),
    "orphanDependents": st.sampled_from(("true", "false")),
    "includeObject": st.sampled_from(("Object", "Metadata", "None", "odd")),
    "pretty": st.sampled_from(("true", "1", "")),
    "verbose": st.just(""),
    "exclude": st.just("ping"),
    "container": ODD_TEXTS,
}
_PARAMETERS = st.sampled_from(sorted(_QUERY_VALUES)).flatmap(
    lambda name: _QUERY_VALUES[name].map(
        lambda value: f"{name}={quote(value, errors='surrogatepass')}"
    )
)
_QUERIES = st.one_of(
    st.just(""),
    st.just("fieldManager=me"),
    st.lists(_PARAMETERS, max_size=4).map("&".join),
    st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="#"),
    max_size=20),
    st.just("&".join(["labelSelector=a"] * 200)),
)  # fmt: skip
_ACCEPTS = st.sampled_from(
    (
        "application/json", "application/json", "*/*", "", "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        "application/yaml;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Odd", "text/html",
        ";;;", ",,,", "application/json;q=x", "a/b;q=0.5,*/*;q=nan", "application/cbor",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "\xff\xfe",
    )
)  # fmt: skip
_TYPES = st.sampled_from(
    (
        "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "",
        "text/plain", "application/cbor", "application/json; charset=utf-8", "application/json;;;",
        "\xff",
    )
)  # fmt: skip
_SANE_TYPES = st.sampled_from(("application/json", "application/json", "application/yaml"))
_SANE_PATCH_TYPES = st.sampled_from(
    (
        "application/merge-patch+json", "application/strategic-merge-patch+json",
        "application/json-patch+json", "application/apply-patch+yaml",
    )
)  # fmt: skip
_PATCH_TYPES = st.sampled_from(
    (
        "application/merge-patch+json", "application/strategic-merge-patch+json",
        "application/json-patch+json", "application/apply-patch+yaml", "application/json", "",
        "application/apply-patch+cbor",
    )
)  # fmt: skip
_MOSTLY = st.sampled_from((True,) * 9 + (False,))
_SELDOM = st.sampled_from((False,) * 19 + (True,))


@st.composite
def hostile_requests(draw: st.DrawFn) -> Hostile:
    """Any request: most are about something that is served, some mean nothing at all."""
    sane = draw(_MOSTLY)
    headers = {"accept": "application/json" if sane and draw(_MOSTLY) else draw(_ACCEPTS)}
    resource, subresource, name = None, "", ""
    if draw(_MOSTLY):
        resource = draw(st.sampled_from((*builtin_resources(), CUSTOM)))
        path, name, subresource = draw(_sane_paths(resource) if sane else _odd_paths(resource))
    else:
        path = draw(_OTHER_PATHS)
    method = draw(_sane_methods(name, subresource) if sane else _METHODS)
    body = b""
    if method in ("POST", "PUT", "PATCH", "DELETE", "FOO"):
        media_type = draw(_media_types(method, sane=sane))
        headers["content-type"] = media_type
        body = draw(_payloads(method, media_type, resource, subresource))
    if draw(_SELDOM):
        headers["authorization"] = draw(st.sampled_from(("", "Bearer", "Bearer x", "Basic \xff")))
    if draw(_SELDOM):
        headers["impersonate-user"] = draw(st.sampled_from(("x", "system:anonymous", "\xff")))
    if draw(_SELDOM):
        headers["accept-encoding"] = "gzip"
    if draw(_SELDOM):
        headers["user-agent"] = draw(st.sampled_from(("", "/", "x" * 300, "\xff", "a/b (x)")))
    query = draw(_QUERIES)
    return Hostile(method, path, query, tuple(headers.items()), body)


def _sane_methods(name: str, subresource: str) -> st.SearchStrategy[str]:
    if subresource in ("binding", "eviction"):
        return st.just("POST")
    if name:
        return st.sampled_from(("PUT", "PATCH", "PATCH", "PATCH", "GET", "DELETE"))
    return st.sampled_from(("POST", "POST", "POST", "POST", "GET", "GET", "GET", "DELETE"))


def _media_types(method: str, *, sane: bool) -> st.SearchStrategy[str]:
    if method == "PATCH":
        return _SANE_PATCH_TYPES if sane else _PATCH_TYPES
    return _SANE_TYPES if sane else _TYPES


@st.composite
def _sane_paths(draw: st.DrawFn, resource: ApiResource) -> tuple[str, str, str]:
    name = draw(st.sampled_from(("", "", "a")))
    subresource = ""
    if name and resource.subresources and not draw(_MOSTLY):
        subresource = draw(st.sampled_from(resource.subresources)).name
    namespace = "ns" if resource.namespaced else None
    return _path(resource, namespace, name, subresource), name, subresource


@st.composite
def _odd_paths(draw: st.DrawFn, resource: ApiResource) -> tuple[str, str, str]:
    placed = resource.namespaced if draw(_MOSTLY) else not resource.namespaced
    name, subresource = draw(_NAMES), draw(_SUBRESOURCES)
    namespace = draw(_NAMESPACES) if placed else None
    return _path(resource, namespace, name, subresource), name, subresource


def _path(resource: ApiResource, namespace: str | None, name: str, subresource: str) -> str:
    parts = [f"/apis/{resource.group}/{resource.version}" if resource.group else "/api/v1"]
    if namespace is not None:
        parts += ["namespaces", namespace]
    parts.append(resource.plural)
    if name:
        parts += [name, *([subresource] if subresource else [])]
    return "/".join(parts)


@st.composite
def _payloads(
    draw: st.DrawFn, method: str, media_type: str, resource: ApiResource | None, subresource: str
) -> bytes:
    if resource is None or not draw(_MOSTLY):
        return draw(RAW_BODIES)
    value: Any
    if method == "DELETE":
        value = draw(st.one_of(st.none(), spoilt(_DELETE_OPTIONS)))
        return b"" if value is None else encoded(value, media_type)
    if "json-patch" in media_type:
        value = draw(JSON_PATCHES)
    elif subresource in _SUBRESOURCE_BODIES:
        value = draw(spoilt(_SUBRESOURCE_BODIES[subresource]))
    else:
        value = draw(bodies(resource))
        if method == "POST" and isinstance(value, dict) and draw(st.booleans()):
            metadata = value.get("metadata")
            value["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "name": "b"}
    return encoded(value, media_type)


def sequences(most: int) -> st.SearchStrategy[Sequence[Hostile]]:
    """Several requests in a row: what one leaves behind is what the next finds."""
    return st.lists(hostile_requests(), min_size=1, max_size=most)


FORMS = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
)


@st.composite
def creations(draw: st.DrawFn) -> Hostile:
    """The creation of an object `b` with any of the fields of its kind, more or less right."""
    resource = draw(st.sampled_from((*builtin_resources(), CUSTOM)))
    value = draw(bodies(resource))
    if isinstance(value, dict):
        metadata = value.get("metadata")
        value["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "name": "b"}
    path = _path(resource, "ns" if resource.namespaced else None, "", "")
    headers = (("accept", "application/json"), ("content-type", "application/json"))
    return Hostile("POST", path, "", headers, encoded(value, ""))
