"""Values as Kubernetes' own Go types print them, for the errors that show whole structs.

Some refusals show the value, or the difference between two, in the form of the types that the
reference server uses inside: fields under their Go names, every field of a struct there, `null`
for what is absent. The fields and their types are those of the schema; here is where the
internal types differ from the served ones: names, order, and the host's namespaces, which live in
a pod's security context.

Worked example: `{"name": "dev"}` as a PodResourceClaim is
`{"Name":"dev","ResourceClaimName":null,"ResourceClaimTemplateName":null}`.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Final

import msgspec

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.shapes import Field, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.schema.catalogue import built_in_struct

_NAMES: Final[Mapping[str, str]] = {
    "apiGroup": "APIGroup",
    "apiGroups": "APIGroups",
    "nonResourceURLs": "NonResourceURLs",
    "cidrs": "CIDRs",
    "apiVersion": "APIVersion",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "cel": "CEL",
    "cephfs": "CephFS",
    "chapAuthDiscovery": "DiscoveryCHAPAuth",
    "chapAuthSession": "SessionCHAPAuth",
    "csi": "CSI",
    "diskURI": "DataDiskURI",
    "dnsConfig": "DNSConfig",
    "dnsPolicy": "DNSPolicy",
    "fc": "FC",
    "fsGroup": "FSGroup",
    "fsGroupChangePolicy": "FSGroupChangePolicy",
    "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk",
    "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName",
    "grpc": "GRPC",
    "httpGet": "HTTPGet",
    "httpHeaders": "HTTPHeaders",
    "ip": "IP",
    "iqn": "IQN",
    "iscsi": "ISCSI",
    "iscsiInterface": "ISCSIInterface",
    "nfs": "NFS",
    "os": "OS",
    "pdName": "PDName",
    "rbd": "RBD",
    "seLinuxChangePolicy": "SELinuxChangePolicy",
    "seLinuxOptions": "SELinuxOptions",
    "sslEnabled": "SSLEnabled",
    "storageos": "StorageOS",
    "tcpSocket": "TCPSocket",
    "tty": "TTY",
    "uid": "UID",
    "wwids": "WWIDs",
}
_RBD: Final = {
    "monitors": "CephMonitors",
    "image": "RBDImage",
    "pool": "RBDPool",
    "user": "RadosUser",
}
_NAMES_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "RBDVolumeSource": _RBD,
    "RBDPersistentVolumeSource": _RBD,
    "DeviceAttribute": {
        name: f"{name[0].upper()}{name[1:].removesuffix('s')}Value{'s' if name[-1] == 's' else ''}"
        for name in ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
    },
    "GlusterfsVolumeSource": {"endpoints": "EndpointsName"},
    "GlusterfsPersistentVolumeSource": {"endpoints": "EndpointsName"},
}
_AFTER: Final[Mapping[str, Mapping[str, str]]] = {
    "PodSpec": {
        "setHostnameAsFQDN": "subdomain",
        "preemptionPolicy": "priority",
        "overhead": "runtimeClassName",
    },
    "PodSecurityContext": {"fsGroupChangePolicy": "fsGroup"},
    "Volume": {"quobyte": "rbd"},
    "PersistentVolumeSpec": {"quobyte": "rbd", "flexVolume": "iscsi"},
}
"""Fields that the internal type has after another one than the served type does."""

_MOVED: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_DROPPED: Final = frozenset({"serviceAccount", *_MOVED})
_ZERO: Final[Mapping[Form, JsonValue]] = {
    Form.BOOL: False,
    Form.INT32: 0,
    Form.INT64: 0,
    Form.FLOAT: 0,
    Form.QUANTITY: "0",
    Form.TIME: None,
    Form.MICRO_TIME: None,
    Form.BYTES: None,
    Form.INT_OR_STRING: 0,
}
_CONTEXT: Final = 3
_MAX_COMPARED_LINES: Final = 2000
"""Finding the smallest difference takes the square of the lines, or worse."""
_MAX_SHOWN_LINES: Final = 500
_MAX_COMPARED_BYTES: Final = 256 * 1024
_MAX_SHOWN_ITEMS: Final = 20


def go_struct(section: str, name: str, value: JsonObject) -> JsonObject:
    """The value of a struct (`core`, `PodSpec`) in Go's form."""
    return _struct(built_in_struct(section, name), value)


def go_form(section: str, name: str, value: JsonObject | None) -> JsonValue:
    """The same of a value that may be absent, which is null."""
    return None if value is None else go_struct(section, name, value)


def go_forms(section: str, name: str, values: Iterable[JsonObject] | None) -> JsonValue:
    """A list of structs in Go's form."""
    return None if values is None else [go_form(section, name, value) for value in values]


def go_selector(selector: JsonObject | None) -> JsonValue:
    """A label selector in Go's form."""
    return go_form("meta", "LabelSelector", selector)


def go_map(values: Mapping[str, JsonValue] | None) -> JsonValue:
    """A map of plain values in Go's form, that is, sorted."""
    return None if values is None else dict(sorted(values.items()))


def difference(
    section: str,
    name: str,
    old: JsonObject,
    new: JsonObject,
    *,
    without: Collection[str] = (),
) -> str:
    """What changed between two structs, as a unified diff of their Go forms.

    `without`: fields that the shown part of the struct does not have.
    """
    struct = built_in_struct(section, name)
    if len(msgspec.json.encode(old)) + len(msgspec.json.encode(new)) > _MAX_COMPARED_BYTES:
        old, new = _excerpts_of_objects(old, new)
    hidden = {shown for shown, field in _fields(struct) if field.name in without}
    before, after = (
        _lines({key: form for key, form in _struct(struct, value).items() if key not in hidden})
        for value in (old, new)
    )
    if len(before) + len(after) > _MAX_COMPARED_LINES:
        return "".join(_coarse_difference(before, after))
    return "".join(list(difflib.unified_diff(before, after, n=_CONTEXT))[2:])


def _excerpts(old: JsonValue, new: JsonValue) -> tuple[JsonValue, JsonValue]:
    """Of two large values what differs, and of long lists the first items that do."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _excerpts_of_objects(old, new)
    if isinstance(old, list) or isinstance(new, list):
        return _excerpts_of_lists(
            old if isinstance(old, list) else [], new if isinstance(new, list) else []
        )
    if isinstance(old, dict) or isinstance(new, dict):
        one, other = _excerpts(old or {}, new or {})
        return one if old is not None else None, other if new is not None else None
    return old, new


def _excerpts_of_objects(old: JsonObject, new: JsonObject) -> tuple[JsonObject, JsonObject]:
    pairs = {
        key: _excerpts(old.get(key), new.get(key))
        for key in {**old, **new}
        if old.get(key) != new.get(key) or not isinstance(old.get(key), dict | list)
    }
    return (
        {key: pair[0] for key, pair in pairs.items() if key in old},
        {key: pair[1] for key, pair in pairs.items() if key in new},
    )


def _excerpts_of_lists(old: list[JsonValue], new: list[JsonValue]) -> tuple[JsonValue, JsonValue]:
    start = _common(old, new)
    before, after = old[start:][:_MAX_SHOWN_ITEMS], new[start:][:_MAX_SHOWN_ITEMS]
    excerpts = [_excerpts(one, other) for one, other in zip_longest(before, after)]
    return (
        [one for one, _ in excerpts[: len(before)]],
        [other for _, other in excerpts[: len(after)]],
    )


def _coarse_difference(before: list[str], after: list[str]) -> Iterator[str]:
    """One hunk from the first to the last line that differs, of which the beginning is shown."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    first = max(0, start - _CONTEXT)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    around = start - first + min(end, _CONTEXT)
    yield f"@@ -{first + 1},{len(old) + around} +{first + 1},{len(new) + around} @@\n"
    yield from (f" {line}" for line in before[first:start])
    for sign, lines in (("-", old), ("+", new)):
        yield from (f"{sign}{line}" for line in lines[:_MAX_SHOWN_LINES])
        if len(lines) > _MAX_SHOWN_LINES:
            yield f"{sign}... and {len(lines) - _MAX_SHOWN_LINES} more lines\n"
    yield from (f" {line}" for line in before[len(before) - end :][:_CONTEXT])


def _common(one: Sequence[JsonValue], other: Sequence[JsonValue]) -> int:
    """How many lines or items both start with."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _lines(form: JsonValue) -> list[str]:
    text = msgspec.json.format(msgspec.json.encode(form), indent=1).decode()
    return [f"{line}\n" for line in text.split("\n")]


@cache
def _fields(struct: Struct) -> tuple[tuple[str, Field], ...]:
    """The fields of an internal type in its order, each with its Go name."""
    order = [name for name in struct.fields if struct.name != "PodSpec" or name not in _DROPPED]
    for name, previous in _AFTER.get(struct.name, {}).items():
        if name in order:
            order.remove(name)
            order.insert(order.index(previous) + 1, name)
    special = _NAMES_IN.get(struct.name, {})
    return tuple(
        (special.get(name) or _NAMES.get(name) or name[0].upper() + name[1:], struct.fields[name])
        for name in order
    )


def _struct(struct: Struct, value: JsonObject) -> JsonObject:
    if struct.group == "meta":
        return _meta_struct(struct, value)
    form: JsonObject = {}
    for name, field in _fields(struct):
        found = value.get(field.name)
        if field.name == "metadata":
            # Metadata is embedded: its fields are beside those of the struct.
            form.update(_value(field.shape, found or {}, is_pointer=False))
        else:
            form[name] = _value(field.shape, found, is_pointer=field.is_pointer)
    if struct.name == "PodSpec":
        form["SecurityContext"] = {
            **{_host_name(name): _host_value(name, value) for name in _MOVED},
            **(form["SecurityContext"] or _struct(_security_context(), {})),
        }
    return form


def _meta_struct(struct: Struct, value: JsonObject) -> JsonObject:
    """The types of metadata are shared by all versions: JSON names, and nothing that is empty."""
    return {
        name: _value(field.shape, value[name], is_pointer=False)
        for name, field in struct.fields.items()
        if value.get(name)
    }


def _security_context() -> Struct:
    return built_in_struct("core", "PodSecurityContext")


def _host_name(name: str) -> str:
    return name[0].upper() + name[1:]


def _host_value(name: str, spec: JsonObject) -> JsonValue:
    is_pointer = name in ("shareProcessNamespace", "hostUsers")
    return spec.get(name) if is_pointer else bool(spec.get(name))


def _value(shape: Shape, found: DecodedValue, *, is_pointer: bool) -> DecodedValue:
    if found is None:
        return None if is_pointer else _zero(shape)
    match shape:
        case Struct():
            return _struct(shape, found)
        case ListOf():
            return [_value(shape.item, item, is_pointer=False) for item in found]
        case MapOf():
            return {key: _value(shape.value, found[key], is_pointer=False) for key in sorted(found)}
        case _:
            return found


def _zero(shape: Shape) -> JsonValue:
    match shape:
        case Struct():
            return _struct(shape, {})
        case Scalar():
            return _ZERO.get(shape.form, "")
        case _:
            return None
