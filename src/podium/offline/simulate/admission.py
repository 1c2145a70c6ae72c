"""Objects that somebody wrote, admitted as the API server would admit them.

A manifest leaves out what the server fills in, and some of it decides placements: a limit without a
request becomes the request, a class name becomes a priority, `matchLabelKeys` become part of the
selector, limit ranges and runtime classes have their say. And a server refuses what is wrong. Both
are done here by the very functions of the embedded server (`kubernetes.admission.new_objects`);
only the store is another one (`object_lookup.py`).

A status and a time of deletion are kept as they are written: a server has them from others than the
writer of the object, and a file speaks for them all.

Contract: an object that a server has stored (it has a resourceVersion) went through this already.
It keeps what it has and is not refused.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar
from uuid import NAMESPACE_OID, uuid5

import msgspec
from msgspec.structs import replace

from podium.golang.decoding import MAX_TOLD
from podium.golang.errors import ObjectError, raise_first
from podium.golang.json_values import JsonObject, copy_json
from podium.golang.mistakes import StrictProblem, render
from podium.kubernetes.admission.new_objects import admit_new
from podium.kubernetes.admission.priorities import class_of
from podium.kubernetes.admission.rules import admit_create, charge_create, review_create
from podium.kubernetes.kind_rules import Rules, rules_of
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodSpec
from podium.kubernetes.kinds.reading import advice_on, is_in_status, remedy_of
from podium.kubernetes.kinds.storage import PersistentVolume
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourcesByGroup
from podium.kubernetes.rules.nodes import default_allocatable
from podium.kubernetes.schema import Decoded, DecodeError
from podium.kubernetes.status_errors import StatusError, invalid, not_handled, not_strict
from podium.kubernetes.strategy import ServiceAddresses
from podium.offline.simulate.object_lookup import ObjectLookup
from podium.offline.simulate.read_kinds import HOW_TO_DUMP

K = TypeVar("K", bound=KubeObject)

DEFAULT_NAMESPACE: Final = "default"
DEFINITION: Final = "CustomResourceDefinition"
_LOOKED_UP: Final = frozenset({"PriorityClass", "RuntimeClass"})
"""Kinds without whose objects a pod that names them is refused."""
_RUNTIME_CLASSES: Final = ("node.k8s.io", "runtimeclasses")
_PRIORITY: Final = ("priority", "priorityClassName", "preemptionPolicy")
_EPOCH: Final = "1970-01-01T00:00:00Z"
"""When objects are admitted offline: nothing that is decided here depends on it."""


def is_stored(obj: KubeObject) -> bool:
    """Whether an API server has accepted the object already."""
    return bool(obj.metadata.resource_version)


def uid_for(kind: str, namespace: str, name: str) -> str:
    """A UID that follows from the object's identity, so that runs can be compared."""
    return str(uuid5(NAMESPACE_OID, f"{kind}/{namespace}/{name}"))


def assign_uid(obj: K, default_namespace: str = DEFAULT_NAMESPACE) -> K:
    """The object with a namespace (if its kind has them) and a UID."""
    metadata = obj.metadata
    namespace = metadata.namespace
    if obj.cluster_scoped:
        namespace = ""
    elif not namespace:
        namespace = default_namespace
    uid = metadata.uid or uid_for(type(obj).__name__, namespace, metadata.name)
    if namespace == metadata.namespace and uid == metadata.uid:
        return obj
    return _with(obj, metadata=replace(metadata, namespace=namespace, uid=uid))


Served: TypeAlias = tuple[ApiResource, Rules]


class BuiltinKinds:
    """The kinds that a server knows, with the rules of each."""

    def __init__(
        self, gates: FeatureGates, custom: Mapping[tuple[str, str], Served] = MappingProxyType({})
    ) -> None:
        """Those of the embedded server, and `custom` ones by apiVersion and kind."""
        self.gates: Final = gates
        self.table: Final = ResourcesByGroup(gates)
        self._rules: dict[tuple[str, str], Served | None] = {**custom}

    def find(self, api_version: str, kind: str) -> Served | None:
        """None for a kind that is not built in and that no definition is known of."""
        key = (api_version, kind)
        if key not in self._rules:
            group, _, version = api_version.rpartition("/")
            resource = self.table.find_kind(group, version, kind)
            self._rules[key] = None if resource is None else (resource, self._rules_of(resource))
        return self._rules[key]

    def _rules_of(self, resource: ApiResource) -> Rules:
        if resource.kind != DEFINITION:
            return rules_of(resource, self.table.find)
        # Only here: few inputs have definitions, whose rules are many.
        from podium.kubernetes.crds import DefinitionRules

        return DefinitionRules(resource)

    def with_definitions(self, definitions: Iterable[JsonObject]) -> "BuiltinKinds":
        """The same, and what these CustomResourceDefinitions define. A definition in which
        something is wrong defines nothing."""
        custom = {
            (resource.api_version, resource.kind): (resource, rules)
            for definition in definitions
            for resource, rules in _defined_by(definition)
            if self.find(resource.api_version, resource.kind) is None
        }
        return BuiltinKinds(self.gates, custom) if custom else self

    def decode(self, raw: JsonObject) -> Decoded | None:
        """The object as the server reads it, with what it does not know; None for a kind that is
        not built in. Raises ObjectError: first what the server says, then what it would say once
        that is mended."""
        found = self.find(raw.get("apiVersion") or "", raw.get("kind") or "")
        if found is None:
            return None
        resource, rules = found
        try:
            return rules.decode(raw)
        except DecodeError as problem:
            kind, version = resource.kind, resource.version
            wrong = [
                ObjectError(
                    render(each.path),
                    not_handled(kind, version, kind, each.message).message,
                    remedy_of(each),
                )
                for each in problem.mistakes
            ]
            raise_first([*wrong, *self.strict_refusal(raw, problem.strict)])
            # Of a custom object nobody says where the mistake is.
            told = not_handled(kind, version, kind, problem.message).message
            raise ObjectError("", told) from None

    def strict_refusal(
        self, raw: JsonObject, found: Iterable[StrictProblem]
    ) -> tuple[ObjectError, ...]:
        """What the server says of fields that do not exist, or are there twice; nothing if there
        are none. What is in a status is taken as it is written."""
        told = [each for each in found if not is_in_status(each.way)]
        if not told:
            return ()
        version = raw["apiVersion"].rpartition("/")[2]
        texts = list(dict.fromkeys(each.text for each in told))[:MAX_TOLD]
        path = render(told[0].field_path) if len(texts) == 1 else ""
        message = not_strict(raw["kind"], version, texts).message
        return (ObjectError(path, message, advice_on(told)),)


def _defined_by(definition: JsonObject) -> list[Served]:
    # Only here: few inputs have definitions, whose rules are many.
    from podium.kubernetes import crds

    value = copy_json(definition)
    crds.default_definition(value)
    if crds.validate_definition(value):
        return []
    return [(each, crds.CustomRules(value, each)) for each in crds.resources_of_definition(value)]


def refuse_unknown(raw: JsonObject, texts: Iterable[str]) -> ObjectError:
    """What the server says of fields of a custom object that its definition does not have."""
    version = raw["apiVersion"].rpartition("/")[2]
    return ObjectError("", not_strict(raw["kind"], version, texts).message)


@cache
def served_kinds(gates: FeatureGates) -> BuiltinKinds:
    """Those of a server with these gates."""
    return BuiltinKinds(gates)


class Admission:
    """Creates objects in the cluster that an input describes."""

    def __init__(
        self,
        gates: FeatureGates,
        stored: Iterable[KubeObject] = (),
        *,
        knows_classes: bool = True,
        checks: bool = True,
        served: BuiltinKinds | None = None,
    ) -> None:
        """`stored` are objects that are there already; without `knows_classes` a runtime class
        that is not among the objects may be in the cluster all the same. Without `checks` nothing
        is refused: all objects have been in some cluster. `served` are the kinds of the server, if
        definitions bring more than the built-in ones."""
        self._checks = checks
        self._served = served or served_kinds(gates)
        self._lookup = ObjectLookup(self._served.table, stored)
        self._knows_classes = knows_classes
        self.unknown_classes: Counter[str] = Counter()
        """Runtime classes that pods name and nobody has seen."""
        self._addresses = ServiceAddresses()
        self._last_pod: tuple[object, JsonObject, Pod] | None = None

    def create(self, raw: JsonObject, struct: type[K]) -> K:
        """The typed object that the server would store. Raises ObjectError if it would refuse it.

        `raw` has its name and namespace, and is as the server decodes it.
        """
        return _apply_controllers(convert_object(self.store(raw), struct, strict=False), raw)

    def admit_leniently(self, raw: JsonObject, struct: type[K]) -> K:
        """The same for an object that some cluster has had, or that a controller makes of a sound
        one: what is wrong with it is left alone as far as it can be read."""
        try:
            decoded = self._served.decode(raw)
        except ObjectError:
            convert_object(raw, struct, strict=False)  # says more exactly where, if it reads it
            raise
        obj = self._store(raw if decoded is None else decoded.value, is_checked=False)
        return _apply_controllers(convert_object(obj, struct, strict=False), raw)

    def store(self, raw: JsonObject) -> JsonObject:
        """What the server would store of an object. Raises ObjectError if it would refuse it."""
        return self._store(raw, is_checked=self._checks)

    def create_pod(self, body: JsonObject) -> Pod:
        """The same for a pod that a controller makes. Pods of one template share what the server
        makes of its spec."""
        spec, metadata = body["spec"], body["metadata"]
        last = self._last_pod
        if (
            last is not None
            and last[0] is spec
            and _is_alike(metadata, last[1])
            and not self._lookup.has_quotas(metadata["namespace"])
        ):
            return self._create_alike(metadata, last[1], last[2])
        decoded = self._served.decode(body)
        assert decoded is not None
        pod = self.create(decoded.value, Pod)
        self._last_pod = (spec, metadata, pod)
        return pod

    def _create_alike(self, metadata: JsonObject, like: JsonObject, pod: Pod) -> Pod:
        """A pod of the same spec, labels, annotations and namespace."""
        made = msgspec.convert(metadata, ObjectMeta)
        written, stored = like.get("annotations") or {}, pod.metadata.annotations or {}
        added = {key: value for key, value in stored.items() if key not in written}
        made = replace(made, generation=pod.metadata.generation)
        if added:
            made = replace(made, annotations={**(made.annotations or {}), **added})
        if pod.spec.runtime_class_name in self.unknown_classes:
            self.unknown_classes[pod.spec.runtime_class_name or ""] += 1
        return Pod(metadata=made, spec=pod.spec, status=pod.status)

    def create_in_part(self, raw: JsonObject, struct: type[K]) -> K:
        """The same for an object of which only what scheduling reads is known: whether what is left
        out would be valid is not asked."""
        obj = self._store(raw, is_checked=False, is_charged=True)
        return _apply_controllers(convert_object(obj, struct, strict=False), raw)

    def remove(self, obj: KubeObject) -> None:
        """An object is gone, and takes nothing of a quota any more."""
        found = self._served.find(obj.api_version, obj.kind)
        if found is not None:
            self._lookup.remove(found[0], obj.namespace, obj.name)

    def roll_back_on_exit(self) -> AbstractContextManager[None]:
        """While it is open, what is created and removed is so for the time being."""
        return self._lookup.roll_back_on_exit()

    def has(self, api_version: str, kind: str, namespace: str, name: str) -> bool:
        """Whether there is an object of a kind that the server knows."""
        found = self._served.find(api_version, kind)
        if found is None:
            return False
        resource = found[0]
        return self._lookup.find(resource.group, resource.plural, namespace, name) is not None

    def create_made(self, body: JsonObject, struct: type[K]) -> K:
        """The same for an object of another kind."""
        decoded = self._served.decode(body)
        assert decoded is not None
        return self.create(decoded.value, struct)

    def read_stored(self, obj: K) -> K:
        """An object that a server has stored, with what older servers left to the scheduler."""
        if isinstance(obj, Pod):
            return _same(obj, self._settle_pod(obj))
        return _apply_controllers(obj, {})

    def _store(self, raw: JsonObject, *, is_checked: bool, is_charged: bool = False) -> JsonObject:
        found = self._served.find(raw["apiVersion"], raw["kind"])
        if found is None:
            return raw
        resource, rules = found
        self._lookup.missing = None
        obj = dict(raw)
        metadata = obj["metadata"] = dict(obj.get("metadata") or {})
        status, leaving_at = obj.get("status"), metadata.get("deletionTimestamp")
        if status is not None:
            obj["status"] = dict(status)  # which defaults change
        namespace = metadata.get("namespace") or "" if resource.namespaced else ""
        if not resource.namespaced:
            metadata.pop("namespace", None)
        kept = self._take_out_kept_fields(obj, is_checked=is_checked or is_charged)
        try:
            rules.set_defaults(obj)
            if is_checked:
                admit_new(resource, namespace, obj, rules=rules, lookup=self._lookup, now=_EPOCH)
                self._give_addresses(obj)
            else:
                admit_create(resource, namespace, obj, self._lookup)
                rules.prepare_create(obj, _EPOCH)
            if is_charged:
                review_create(resource, obj, self._lookup)
                charge_create(resource, obj, self._lookup)
        except StatusError as refusal:
            raise_first(self._problems(refusal))
        if "priority" in kept:
            for name in _PRIORITY:
                obj["spec"].pop(name, None)
        obj.get("spec", {}).update(kept)
        self._lookup.put(resource, obj)
        if status:
            obj["status"] = status
        if leaving_at:
            metadata["deletionTimestamp"] = leaving_at
        return obj

    def _give_addresses(self, obj: JsonObject) -> None:
        """A service's, or the refusal of those that it wants."""
        if (obj["apiVersion"], obj["kind"]) != ("v1", "Service"):
            return
        problems = self._addresses.allocate(obj, dry_run=False)
        if problems:
            raise invalid("", obj["kind"], obj["metadata"]["name"], problems)

    def _take_out_kept_fields(self, obj: JsonObject, *, is_checked: bool) -> JsonObject:
        """What of a pod's spec is kept as it is: a runtime class that only its cluster knows, and
        the priority of a pod that some cluster has had."""
        if obj["kind"] != "Pod":
            return {}
        spec = obj["spec"] = dict(obj.get("spec") or {})
        names: tuple[str, ...] = ()
        if not is_checked and spec.get("priority") is not None:
            names += _PRIORITY
        runtime = spec.get("runtimeClassName")
        is_lenient = not is_checked or not self._knows_classes
        if runtime and is_lenient and self._lookup.find(*_RUNTIME_CLASSES, "", runtime) is None:
            self.unknown_classes[runtime] += 1
            names += ("runtimeClassName",)
        return {name: spec.pop(name) for name in names if name in spec}

    def _problems(self, refusal: StatusError) -> list[ObjectError]:
        causes = (refusal.details or {}).get("causes") or ()
        if causes:
            return [ObjectError(each.get("field", ""), each["message"]) for each in causes]
        kind, name = self._lookup.missing or ("", "")
        remedy = ""
        if kind in _LOOKED_UP and name in refusal.message:
            remedy = f"add the {kind} to the input; {HOW_TO_DUMP}"
        return [ObjectError("", refusal.message, remedy)]

    def _settle_pod(self, pod: Pod) -> Pod:
        spec = pod.spec
        if spec.priority is None:
            try:
                pods = self._served.table.get_required("pods")
                chosen = class_of(pods, pod.name, spec.priority_class_name, self._lookup)
            except StatusError:
                chosen = None  # the class went, and nobody wrote down what it was worth
            spec = replace(spec, priority=0 if chosen is None else chosen.value)
        if not spec.scheduler_name:
            spec = replace(spec, scheduler_name=PodSpec().scheduler_name)
        return pod if spec is pod.spec else replace(pod, spec=spec)


def _is_alike(metadata: JsonObject, other: JsonObject) -> bool:
    """Whether two pods of one spec differ in nothing that admission looks at."""
    return all(
        metadata.get(field) == other.get(field) for field in ("namespace", "labels", "annotations")
    )


def _apply_controllers(obj: K, written: JsonObject) -> K:
    """The object after the controllers whose work scheduling waits for."""
    match obj:
        case Node():
            return _same(obj, default_allocatable(obj))
        case PersistentVolume() if not is_stored(obj) and not _phase_of(written):
            phase = "Bound" if obj.spec.claim_ref else "Available"
            return _with(obj, status=replace(obj.status, phase=phase))
    return obj


def _phase_of(written: JsonObject) -> str:
    phase: str = (written.get("status") or {}).get("phase") or ""
    return phase


def _with(obj: K, **changes: Any) -> K:
    changed: K = replace(obj, **changes)
    return changed


def _same(before: K, after: KubeObject) -> K:
    """`after`, known to be of the type of `before`."""
    if not isinstance(after, type(before)):
        raise TypeError(f"{type(before).__name__} became {type(after).__name__}")
    return after
